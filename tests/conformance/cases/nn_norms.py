"""Normalisation over batches and neighbours, and the translation of data formats."""

from framework import *
from definitions import for_dtypes
from values import *




for op, dtypes in (("FusedBatchNorm", ["float"]), ("FusedBatchNormV2", ["float", "half", "bfloat16"]), ("FusedBatchNormV3", ["float", "half", "bfloat16"])):
    for dtype in dtypes:
        x, scale, offset = values(dtype, 3, 4, 5, 2), f32(2), f32(2)
        none, mean, variance = f32(0), f32(2), f32(2, kind="positive")
        case(op, [x, scale, offset, none, none], close=32)
        case(op, [x, scale, offset, mean, variance], exponential_avg_factor=0.25, close=32)
        case(op, [values(dtype, 3, 2, 4, 5), scale, offset, none, none], data_format="NCHW", close=32)
        case(op, [values(dtype, 1, 1, 1, 2), scale, offset, none, none], close=32)
        case(op, [values(dtype, 1, 4, 4, 0), none, none, none, none])
        grad = op.replace("Norm", "NormGrad")
        saved = [f32(0)] if op.endswith("V3") else []
        case(grad, [values(dtype, 3, 4, 5, 2), x, scale, mean, variance, *saved], close=64)
        case(grad, [values(dtype, 3, 4, 5, 2), x, scale, mean, variance, *saved], is_training=False, close=64)
        case(grad, [values(dtype, 3, 2, 4, 5), values(dtype, 3, 2, 4, 5), scale, mean, variance, *saved], data_format="NCHW", close=64)
        case(grad, [values(dtype, 0, 4, 5, 2), values(dtype, 0, 4, 5, 2), scale, mean, variance, *saved])
    X, V = f32(1, 4, 4, 2), f32(2)
    for inputs in ([f32(4, 2), V, V, f32(0), f32(0)], [X, f32(3), V, f32(0), f32(0)], [X, V, f32(3), f32(0), f32(0)], [X, f32(1, 2), V, f32(0), f32(0)]):
        refuse(op, inputs)
    for inputs in ([X, V, V, f32(0), f32(0)], [X, V, V, f32(3), f32(3)], [X, V, V, f32(1, 2), V]):
        refuse(op, inputs, is_training=False)
    refuse(op, [X, V, V, f32(3), f32(3)], exponential_avg_factor=0.5)
    for inputs in ([f32(4, 2), X, V, V, V], [X, f32(4, 2), V, V, V], [X, f32(2, 4, 4, 2), V, V, V], [X, X, f32(3), V, V], [X, X, V, f32(3), V], [X, X, V, V, f32(3)],
                   [X, X, V, V, f32(1, 2)]):  # fmt: skip
        refuse(grad, [*inputs, *saved])
case("FusedBatchNormV3", [f32(2, 3, 4, 5, 2), f32(2), f32(2), f32(0), f32(0)], data_format="NDHWC", close=32)
case("FusedBatchNormV3", [f32(2, 2, 3, 4, 5), f32(2), f32(2), f32(0), f32(0)], data_format="NCDHW", close=32)


@graph("FusedBatchNormV3", close=32)
def outside_of_training():
    y, mean, variance, *_ = tf.raw_ops.FusedBatchNormV3(
        x=feed(f32(2, 3, 4, 3)), scale=feed(f32(3)), offset=feed(f32(3)), mean=feed(f32(3)), variance=feed(f32(3, kind="positive")), is_training=False
    )
    return [y, mean, variance]


for dtype in for_dtypes("LRN"):
    x = values(dtype, 2, 3, 2, 9)
    case("LRN", [x], close=32)
    case("LRN", [x], depth_radius=2, bias=0.5, alpha=0.3, beta=0.75, close=32)
    case("LRN", [values(dtype, 1, 2, 2, 1)], depth_radius=0, close=32)
    case("LRN", [values(dtype, 0, 3, 2, 9)])
    y = values(dtype, 2, 3, 2, 9)
    case("LRNGrad", [values(dtype, 2, 3, 2, 9), x, y], close=128)
    case("LRNGrad", [values(dtype, 2, 3, 2, 9), x, y], depth_radius=2, bias=0.5, alpha=0.3, beta=0.75, close=128)
    case("LRNGrad", [values(dtype, 0, 3, 2, 9)] * 3)
refuse("LRN", [f32(4, 2)])
refuse("LRN", [f32(1, 1, 1, 2)], depth_radius=-1)
refuse("LRNGrad", [f32(1, 4, 4, 2), f32(2, 4, 4, 2), f32(1, 4, 4, 2)])
refuse("LRNGrad", [f32(4, 2), f32(1, 4, 4, 2), f32(1, 4, 4, 2)])

for dtype in ("int32", "int64"):
    case("DataFormatDimMap", [tensor([0, 1, 2, 3, -1, -2, -3, -4], dtype)])
    case("DataFormatDimMap", [tensor([[0, 4], [-5, 2]], dtype)], src_format="NDHWC", dst_format="NCDHW")
    case("DataFormatDimMap", [tensor(4, dtype)])
    case("DataFormatDimMap", [values(dtype, 0)])
    for n in (4, 2):
        case("DataFormatVecPermute", [values(dtype, n)])
        case("DataFormatVecPermute", [values(dtype, n, 2)], src_format="NCHW", dst_format="NHWC")
    case("DataFormatVecPermute", [values(dtype, 5)], src_format="NDHWC", dst_format="NCDHW")
    case("DataFormatVecPermute", [values(dtype, 3)], src_format="NDHWC", dst_format="NCDHW")
for op in ("DataFormatDimMap", "DataFormatVecPermute"):
    for source, target in (("NHWCD", "NCHW"), ("NH", "HN"), ("NHWC", "NCHX"), ("NHWC", "WWWW")):
        refuse(op, [i32(4, kind="zeros")], src_format=source, dst_format=target)
for shape in ((3,), (3, 2), (4, 3), (1, 4, 2), (5,)):
    refuse("DataFormatVecPermute", [i32(*shape)])
exempt("DataFormatVecPermute", "empty", why="a vector of sizes is never empty")
