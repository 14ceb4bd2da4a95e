"""Pooling of images and volumes with its gradients."""

from framework import *
from definitions import for_dtypes
from values import *

KIND = dict(ksize=[1, 3, 2, 1], strides=[1, 2, 1, 1])
for dtype in for_dtypes("MaxPool"):
    if dtype in ("uint32", "uint64"):
        continue
    x = values(dtype, 2, 6, 5, 3)
    case("MaxPool", [x], padding="VALID", **KIND)
    case("MaxPool", [x], padding="SAME", **KIND)
    case("MaxPool", [x], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 1, 0, 0, 0], **KIND)
    case("MaxPool", [values(dtype, 2, 3, 3, 6)], ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID")
    case("MaxPool", [values(dtype, 0, 6, 5, 3)], padding="VALID", **KIND)
    sizes, steps_ = tensor([1, 3, 2, 1], "int32"), tensor([1, 2, 1, 1], "int32")
    case("MaxPoolV2", [x, sizes, steps_], padding="VALID")
    case("MaxPoolV2", [x, sizes, steps_], padding="SAME")
    case("MaxPoolV2", [values(dtype, 0, 6, 5, 3), sizes, steps_], padding="SAME")
for dtype in for_dtypes("MaxPoolGrad"):
    x, y = values(dtype, 2, 6, 5, 3), values(dtype, 2, 3, 5, 3)
    sizes, steps_ = tensor([1, 3, 2, 1], "int32"), tensor([1, 2, 1, 1], "int32")
    case("MaxPoolGrad", [x, y, values(dtype, 2, 3, 5, 3)], padding="SAME", sums=16, **KIND)
    case("MaxPoolGrad", [x, values(dtype, 2, 2, 4, 3), values(dtype, 2, 2, 4, 3)], padding="VALID", sums=16, **KIND)
    case("MaxPoolGrad", [values(dtype, 0, 6, 5, 3), values(dtype, 0, 3, 5, 3), values(dtype, 0, 3, 5, 3)], padding="SAME", **KIND)
    case("MaxPoolGradV2", [x, y, values(dtype, 2, 3, 5, 3), sizes, steps_], padding="SAME", sums=16)
    case("MaxPoolGradV2", [x, values(dtype, 2, 2, 4, 3), values(dtype, 2, 2, 4, 3), sizes, steps_], padding="VALID", sums=16)
    case("MaxPoolGradV2", [values(dtype, 0, 6, 5, 3), values(dtype, 0, 3, 5, 3), values(dtype, 0, 3, 5, 3), sizes, steps_], padding="SAME")
    for index in ("int32", "int64"):
        case("MaxPoolWithArgmax", [x], padding="SAME", Targmax=index, **KIND)
        case("MaxPoolWithArgmax", [x], padding="VALID", Targmax=index, include_batch_in_index=True, **KIND)
        case("MaxPoolWithArgmax", [values(dtype, 0, 6, 5, 3)], padding="SAME", Targmax=index, **KIND)
    places = values("int64", 2, 3, 5, 3, low=0, high=90)
    case("MaxPoolGradWithArgmax", [x, y, places], padding="SAME", sums=16, **KIND)
    case("MaxPoolGradWithArgmax", [x, y, places + np.array([0, 90]).reshape(2, 1, 1, 1)], padding="SAME", include_batch_in_index=True, sums=16, **KIND)
    case("MaxPoolGradWithArgmax", [values(dtype, 0, 6, 5, 3), values(dtype, 0, 3, 5, 3), i64(0, 3, 5, 3)], padding="SAME", **KIND)


def pooled(x):
    """Largest values of windows of 2 x 2 with stride 1, as the gradient of the gradient wants them."""
    return np.maximum(np.maximum(x[:, :-1, :-1], x[:, 1:, :-1]), np.maximum(x[:, :-1, 1:], x[:, 1:, 1:]))


for dtype in for_dtypes("MaxPoolGradGrad"):
    x = values(dtype, 2, 4, 5, 3)
    y = pooled(x.astype(np.float64)).astype(x.dtype)
    case("MaxPoolGradGrad", [x, y, values(dtype, 2, 4, 5, 3)], ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID")
    case("MaxPoolGradGrad", [x[:0], y[:0], x[:0]], ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID")
    case("MaxPoolGradGradV2", [x, y, values(dtype, 2, 4, 5, 3), tensor([1, 2, 2, 1]), tensor([1, 1, 1, 1])], padding="VALID")

for dtype in ("float", "double", "half", "bfloat16"):
    for depth in (3, 11):
        case("MaxPool", [values(dtype, 2, 6, 5, depth, kind="special")], padding="SAME", **KIND)
    case("MaxPool", [values(dtype, 2, 3, 3, 6, kind="special")], ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID")
X, Y, PLAIN = f32(1, 4, 4, 2), f32(1, 3, 3, 2), dict(ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID")
refuse("MaxPool", [f32(4, 4, 2)], **PLAIN)
for ksize in ([2, 2, 2, 1], [1, 1, 1, 2], [1, 2, 1, 2], [1, 6, 6, 1], [1, 0, 2, 1]):
    refuse("MaxPool", [X], ksize=ksize, strides=[1, 1, 1, 1], padding="VALID")
refuse("MaxPool", [X], ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID")
refuse("MaxPool", [f64(1, 2, 4, 4)], ksize=[1, 1, 2, 2], strides=[1, 1, 1, 1], padding="VALID", data_format="NCHW")
refuse("MaxPool", [f32(1, 2, 4, 4)], ksize=[1, 2, 1, 1], strides=[1, 2, 1, 1], padding="VALID", data_format="NCHW")
refuse("MaxPoolV2", [f32(1, 2, 4, 4), tensor([1, 1, 2, 2]), tensor([1, 1, 1, 1])], padding="VALID", data_format="NCHW")
refuse("MaxPool", [X], ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 2, 1, 1, 1, 0, 0])
for ksize, strides in [([1, 2, 2], [1, 1, 1, 1]), ([1, 2, 2, 1], [1, 1, 1]), ([2, 2, 2, 1], [1, 1, 1, 1]), ([1, 0, 2, 1], [1, 1, 1, 1]), ([1, 2, 2, 1], [1, 0, 1, 1])]:
    refuse("MaxPoolV2", [X, tensor(ksize, "int32"), tensor(strides, "int32")], padding="VALID")
for op, g in (("MaxPoolGrad", Y), ("MaxPoolGradGrad", X)):
    for inputs in ([f32(4, 4, 2), Y, g], [X, f32(3, 3, 2), g], [X, Y, f32(3, 3, 2)], [X, f32(1, 2, 3, 2), g], [X, Y, f32(1, 2, 3, 2)]):
        refuse(op, inputs, **PLAIN)
    refuse(op, [X, Y, g], ksize=[1, 2, 2, 2], strides=[1, 1, 1, 1], padding="VALID")
    refuse(op, [f64(1, 2, 4, 4), f64(1, 2, 3, 3), f64(1, 2, 3, 3)], data_format="NCHW", **PLAIN)
    refuse(op + "V2", [X, Y, g, tensor([1, 2, 2]), tensor([1, 1, 1, 1])], padding="VALID")
refuse("MaxPoolWithArgmax", [f32(4, 4, 2)], **PLAIN)
refuse("MaxPoolWithArgmax", [X], ksize=[1, 2, 2, 2], strides=[1, 1, 1, 1], padding="VALID")
refuse("MaxPoolGradWithArgmax", [X, f32(3, 3, 2), i64(1, 3, 3, 2, kind="zeros")], **PLAIN)
refuse("MaxPoolGradWithArgmax", [X, Y, i64(1, 2, 3, 2, kind="zeros")], **PLAIN)

for dtype in for_dtypes("AvgPool"):
    x = values(dtype, 2, 6, 5, 3)
    case("AvgPool", [x], padding="VALID", sums=8, **KIND)
    case("AvgPool", [x], padding="SAME", sums=8, **KIND)
    case("AvgPool", [values(dtype, 0, 6, 5, 3)], padding="SAME", **KIND)
    case("AvgPoolGrad", [tensor([2, 6, 5, 3], "int32"), values(dtype, 2, 3, 5, 3)], padding="SAME", sums=16, **KIND)
    case("AvgPoolGrad", [tensor([2, 6, 5, 3], "int32"), values(dtype, 2, 2, 4, 3)], padding="VALID", sums=16, **KIND)
    case("AvgPoolGrad", [tensor([0, 6, 5, 3], "int32"), values(dtype, 0, 2, 4, 3)], padding="VALID", **KIND)
refuse("AvgPool", [f32(4, 4, 2)], **PLAIN)
for ksize in ([1, 1, 1, 2], [2, 1, 1, 1], [1, 0, 1, 1]):
    refuse("AvgPool", [X], ksize=ksize, strides=[1, 1, 1, 1], padding="VALID")
refuse("AvgPool", [f64(1, 2, 4, 4)], ksize=[1, 1, 2, 2], strides=[1, 1, 1, 1], padding="VALID", data_format="NCHW")
for sizes, g in [([4, 4, 2], Y), ([1, 4, 4, 2], f32(3, 3, 2)), ([1, -4, 4, 2], Y), ([[1, 4, 4, 2]], Y)]:
    refuse("AvgPoolGrad", [tensor(sizes, "int32"), g], **PLAIN)

KIND3 = dict(ksize=[1, 2, 3, 2, 1], strides=[1, 1, 2, 1, 1])
for dtype in for_dtypes("MaxPool3D"):
    x, y = values(dtype, 2, 3, 6, 5, 2), values(dtype, 2, 3, 3, 5, 2)
    for op in ("MaxPool3D", "AvgPool3D"):
        case(op, [x], padding="SAME", sums=16, **KIND3)
        case(op, [x], padding="VALID", sums=16, **KIND3)
        case(op, [values(dtype, 0, 3, 6, 5, 2)], padding="VALID", **KIND3)
    case("MaxPool3DGrad", [x, y, values(dtype, 2, 3, 3, 5, 2)], padding="SAME", sums=16, **KIND3)
    case("MaxPool3DGrad", [values(dtype, 0, 3, 6, 5, 2), values(dtype, 0, 3, 3, 5, 2), values(dtype, 0, 3, 3, 5, 2)], padding="SAME", **KIND3)
    case("AvgPool3DGrad", [tensor([2, 3, 6, 5, 2], "int32"), values(dtype, 2, 3, 3, 5, 2)], padding="SAME", sums=16, **KIND3)
    case("AvgPool3DGrad", [tensor([2, 3, 6, 5, 2], "int32"), values(dtype, 2, 2, 2, 4, 2)], padding="VALID", sums=16, **KIND3)
    case("AvgPool3DGrad", [tensor([0, 3, 6, 5, 2], "int32"), values(dtype, 0, 3, 3, 5, 2)], padding="SAME", **KIND3)
    x = values(dtype, 1, 2, 3, 3, 2, kind="distinct")
    y = np.maximum(pooled(x[:, 0].astype(np.float32)), pooled(x[:, 1].astype(np.float32))).astype(x.dtype)[:, None]
    case("MaxPool3DGradGrad", [x, y, values(dtype, 1, 2, 3, 3, 2)], ksize=[1, 2, 2, 2, 1], strides=[1] * 5, padding="VALID")
    case("MaxPool3DGradGrad", [x, y, values(dtype, *x.shape)], ksize=[1, 2, 2, 2, 1], strides=[1] * 5, padding="VALID")
    case("MaxPool3DGradGrad", [x[:0], y[:0], x[:0]], ksize=[1, 2, 2, 2, 1], strides=[1] * 5, padding="VALID")
X3, Y3, PLAIN3 = f32(1, 3, 4, 4, 2), f32(1, 2, 3, 3, 2), dict(ksize=[1, 2, 2, 2, 1], strides=[1] * 5, padding="VALID")
for op in ("MaxPool3D", "AvgPool3D"):
    refuse(op, [X], **PLAIN3)
    for ksize in ([2, 2, 2, 2, 1], [1, 2, 2, 2, 2], [1, 0, 2, 2, 1], [1, 6, 2, 2, 1]):
        refuse(op, [X3], ksize=ksize, strides=[1] * 5, padding="VALID")
for op, g in (("MaxPool3DGrad", Y3), ("MaxPool3DGradGrad", X3)):
    for inputs in ([X, Y3, g], [X3, Y, g], [X3, Y3, Y], [X3, f32(1, 2, 3, 2, 2), g], [X3, Y3, f32(1, 2, 3, 2, 2)]):
        refuse(op, inputs, **PLAIN3)
    refuse(op, [X3, Y3, g], ksize=[1, 2, 2, 2, 2], strides=[1] * 5, padding="VALID")
for sizes, g in [([3, 4, 4, 2], Y3), ([1, 3, 4, 4, 2], Y), ([1, -3, 4, 4, 2], Y3), ([1, 3, 4, 4, 3], Y3)]:
    refuse("AvgPool3DGrad", [tensor(sizes, "int32"), g], **PLAIN3)

for dtype in ("float", "double", "half"):
    x = values(dtype, 2, 6, 5, 3, kind="special")
    case("MaxPoolGrad", [x, values(dtype, 2, 3, 5, 3), values(dtype, 2, 3, 5, 3)], padding="SAME", sums=16, **KIND)
    case("MaxPoolWithArgmax", [x], padding="SAME", **KIND)
case("MaxPool3D", [f32(2, 3, 6, 5, 2, kind="special")], padding="SAME", **KIND3)
