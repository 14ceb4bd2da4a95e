"""Quantised sums, products and layers."""

from framework import *
from values import *

import numpy as np
import tensorflow as tf

RANGES = ((-1.0, 3.0), (0.0, 1.0), (-128.0, 127.0), (2.5, 7.0))


def off_by_one(reference, ours):
    """Scales are floats, whose last bit decides where a number lies between two integers."""
    if reference.dtype.kind in "fV":
        return None if np.allclose(reference.astype(np.float64), ours.astype(np.float64), rtol=1e-6) else f"{ours} instead of {reference}"
    most = np.max(np.abs(reference.astype(np.int64) - ours.astype(np.int64)), initial=0)
    return None if most <= 1 else f"off by {most}"


def f(x):
    return tensor(x, "float")


def bytes_(*shape, signed=False):
    return values("qint8" if signed else "quint8", *shape)


for op in ("QuantizedAdd", "QuantizedMul"):
    for (a, b), (c, d) in zip(RANGES, RANGES[1:] + RANGES[:1]):
        case(op, [bytes_(40), bytes_(40), f(a), f(b), f(c), f(d)], Toutput=13)
    case(op, [bytes_(3, 5), bytes_(5), f(-1.0), f(3.0), f(-2.0), f(5.0)], Toutput=13)
    case(op, [bytes_(3, 5), bytes_(), f(-1.0), f(3.0), f(-2.0), f(5.0)], Toutput=13)
    case(op, [bytes_(), bytes_(7), f(-1.0), f(3.0), f(-2.0), f(5.0)], Toutput=13)
    case(op, [bytes_(0, 5), bytes_(0, 5), f(-1.0), f(3.0), f(-2.0), f(5.0)], Toutput=13)
    refuse(op, [bytes_(3), bytes_(2), f(-1.0), f(3.0), f(-2.0), f(5.0)], Toutput=13)
    refuse(op, [bytes_(3), bytes_(3), f(4.0), f(3.0), f(-2.0), f(5.0)], Toutput=13)
    refuse(op, [bytes_(3), bytes_(3), f(-4.0), f(3.0), f(2.0), f(-5.0)], Toutput=13)
    refuse(op, [bytes_(3), bytes_(3), f([-4.0]), f(3.0), f(-2.0), f(5.0)], Toutput=13)
    refuse(op, [bytes_(3), bytes_(3), f(-4.0), f(3.0), f(-2.0), f([5.0, 1.0])], Toutput=13)

for ta, tb in ((False, False), (True, False), (False, True), (True, True)):
    case("QuantizedMatMul", [bytes_(*((4, 3) if ta else (3, 4))), bytes_(*((5, 4) if tb else (4, 5))), f(-1.0), f(3.0), f(-2.0), f(5.0)], transpose_a=ta, transpose_b=tb, Toutput=13)
case("QuantizedMatMul", [bytes_(17, 33), bytes_(33, 9), f(0.0), f(255.0), f(0.0), f(1.0)], Toutput=13)
case("QuantizedMatMul", [bytes_(0, 3), bytes_(3, 2), f(0.0), f(255.0), f(0.0), f(1.0)], Toutput=13)
refuse("QuantizedMatMul", [bytes_(2, 3), bytes_(2, 3), f(0.0), f(255.0), f(0.0), f(1.0)], Toutput=13)
refuse("QuantizedMatMul", [bytes_(2), bytes_(2, 3), f(0.0), f(255.0), f(0.0), f(1.0)], Toutput=13)

for signed in (False, True):
    for (a, b), (c, d) in zip(RANGES, RANGES[1:] + RANGES[:1]):
        case("QuantizedBiasAdd", [bytes_(3, 5, signed=signed), bytes_(5, signed=signed), f(a), f(b), f(c), f(d)], out_type=13, check=off_by_one)
    case("QuantizedBiasAdd", [bytes_(0, 5, signed=signed), bytes_(5, signed=signed), f(-1.0), f(1.0), f(-1.0), f(1.0)], out_type=13, check=off_by_one)
refuse("QuantizedBiasAdd", [bytes_(3, 5), bytes_(4), f(-1.0), f(1.0), f(-1.0), f(1.0)], out_type=13)

for op in ("QuantizedRelu", "QuantizedRelu6"):
    for dtype in ("quint8", "qint32"):
        for a, b in RANGES + ((-10.0, 30.0),):
            case(op, [values(dtype, 30), f(a), f(b)], out_type=number_of(dtype))
        case(op, [values(dtype, 0, 3), f(0.0), f(1.0)], out_type=number_of(dtype))
        refuse(op, [values(dtype, 3), f([0.0]), f(1.0)], out_type=number_of(dtype))

for op in ("QuantizedMaxPool", "QuantizedAvgPool"):
    for dtype in ("quint8", "qint8"):
        for padding in ("VALID", "SAME"):
            case(op, [values(dtype, 2, 5, 6, 3), f(-1.0), f(3.0)], ksize=[1, 2, 3, 1], strides=[1, 2, 1, 1], padding=padding)
            case(op, [values(dtype, 1, 4, 4, 1), f(-1.0), f(3.0)], ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding=padding)
    case(op, [values("quint8", 0, 4, 4, 1), f(-1.0), f(3.0)], ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME")
    refuse(op, [values("quint8", 4, 4), f(-1.0), f(3.0)], ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME")
    refuse(op, [values("quint8", 1, 4, 4, 1), f([-1.0]), f(3.0)], ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME")

for dtype in ("quint8", "qint32"):
    for (a, b), (c, d) in zip(RANGES, RANGES[1:] + RANGES[:1]):
        case("QuantizedConcat", [tensor(1, "int32"), [values(dtype, 2, 3), values(dtype, 2, 2)], [f(a), f(c)], [f(b), f(d)]])
    case("QuantizedConcat", [tensor(0, "int32"), [values(dtype, 2, 3), values(dtype, 1, 3), values(dtype, 0, 3)], [f(-1.0)] * 3, [f(1.0)] * 3])
    case("QuantizedConcat", [tensor(0, "int32"), [values(dtype, 0, 3), values(dtype, 0, 3)], [f(-1.0)] * 2, [f(1.0)] * 2])
    case("QuantizedReshape", [values(dtype, 2, 6), tensor([3, -1], "int32"), f(-1.0), f(2.0)])
    case("QuantizedReshape", [values(dtype, 2, 6), tensor([12], "int64"), f(-1.0), f(2.0)])
    case("QuantizedReshape", [values(dtype, 0, 6), tensor([6, 0], "int32"), f(-1.0), f(2.0)])
    refuse("QuantizedReshape", [values(dtype, 2, 6), tensor([5, -1], "int32"), f(-1.0), f(2.0)])
    refuse("QuantizedReshape", [values(dtype, 2, 6), tensor([5], "int32"), f(-1.0), f(2.0)])
    refuse("QuantizedReshape", [values(dtype, 2, 6), tensor([12], "int32"), f([-1.0]), f(2.0)])
refuse("QuantizedConcat", [tensor(2, "int32"), [values("quint8", 2, 3), values("quint8", 2, 2)], [f(0.0)] * 2, [f(1.0)] * 2])
refuse("QuantizedConcat", [tensor(0, "int32"), [values("quint8", 2, 3), values("quint8", 2, 2)], [f(0.0)] * 2, [f(1.0)] * 2])



def wide(*shape):
    return values("qint32", *shape)


for a, b in ((-100.0, 100.0), (-1e6, 1e6), (0.0, 1.0), (-0.5, 0.0)):
    for out in ("quint8", "qint8"):
        for c, d in ((-50.0, 70.0), (0.0, 1.0), (-1.0, 0.0), (-1e-3, 1e-3)):
            case("Requantize", [wide(30), f(a), f(b), f(c), f(d)], out_type=number_of(out), check=off_by_one)
    case("QuantizeDownAndShrinkRange", [wide(30), f(a), f(b)], out_type=number_of("quint8"))
    case("RequantizationRange", [wide(30), f(a), f(b)])
    case("RequantizationRange", [wide(3, 0), f(a), f(b)])
case("Requantize", [wide(0), f(-1.0), f(1.0), f(-1.0), f(1.0)], out_type=number_of("quint8"), check=off_by_one)
case("QuantizeDownAndShrinkRange", [wide(0), f(-1.0), f(1.0)], out_type=number_of("quint8"))
refuse("Requantize", [wide(3), f(-1.0), f(1.0), f(5.0), f(70.0)], out_type=number_of("quint8"))
refuse("Requantize", [wide(3), f(-1.0), f(1.0), f(-5.0), f(-70.0)], out_type=number_of("quint8"))
for i in range(4):
    refuse("Requantize", [wide(3), *(f([-1.0]) if i == k else f(-1.0) for k in range(4))], out_type=number_of("quint8"))
for i in range(2):
    refuse("QuantizeDownAndShrinkRange", [wide(3), *(f([-1.0]) if i == k else f(-1.0) for k in range(2))], out_type=number_of("quint8"))
    refuse("RequantizationRange", [wide(3), *(f([]) if i == k else f(-1.0) for k in range(2))])

op = "QuantizedInstanceNorm"
for shape in ((1, 2, 2, 2), (2, 5, 4, 3), (3, 16, 16, 8)):
    x = values("quint8", *shape, low=0, high=255)
    for a, b in ((-1.0, 1.0), (0.0, 3.0), (-5.0, -2.0)):
        case(op, [x, f(a), f(b)], close=16)
        case(op, [x, f(a), f(b)], output_range_given=True, given_y_min=-2.0, given_y_max=2.0)
    case(op, [x, f(-1.0), f(1.0)], variance_epsilon=0.1, min_separation=5.0, close=16)
for a, b in ((f(0.0), f(0.0)), (f(2.0), f(1.0)), (f([0.0]), f(1.0)), (f(0.0), f([1.0]))):
    refuse(op, [x, a, b])
refuse(op, [x, f(0.0), f(1.0)], output_range_given=True, given_y_min=2.0, given_y_max=-2.0)
exempt(op, "empty", why="TensorFlow looks for the least of no values")

op = "QuantizedResizeBilinear"
for dtype in ("quint8", "qint32", "float"):
    for wanted in ((5, 7), (2, 2), (9, 1), (6, 8)):
        for options in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
            case(op, [values(dtype, 2, 3, 4, 2), tensor(list(wanted), "int32"), f(-1.0), f(3.0)], **options)
    refuse(op, [values(dtype, 0, 3, 4, 2), tensor([2, 2], "int32"), f(-1.0), f(3.0)])
    refuse(op, [values(dtype, 2, 3, 4, 2), tensor([0, 2], "int32"), f(-1.0), f(3.0)])
    refuse(op, [values(dtype, 2, 3, 4, 2), tensor([2, 2, 2], "int32"), f(-1.0), f(3.0)])
    refuse(op, [values(dtype, 3, 4, 2), tensor([2, 2], "int32"), f(-1.0), f(3.0)])
    case(op, [values(dtype, 2, 3, 4, 2), tensor([9, 9], "int32"), f(-1.0), f(3.0)], align_corners=True, half_pixel_centers=True)
refuse(op, [values("quint8", 2, 3, 4, 2), tensor([2, 2], "int32"), f([-1.0]), f(3.0)])
refuse(op, [values("quint8", 2, 3, 4, 2), tensor([2, 2], "int32"), f(-1.0), f([3.0, 1.0])])

# By name only, as long as oneDNN does not take their place.
image, window = values("quint8", 1, 3, 3, 1), values("qint8", 1, 1, 1, 1)
scalars = [f(0.0), f(1.0)]
layer = dict(strides=[1, 1, 1, 1], padding="SAME")
CONVOLUTIONS = {
    "QuantizedConv2DPerChannel": [image, window, *scalars, f([0.0]), f([1.0])],
    "QuantizedConv2DAndRelu": [image, window, *scalars * 2],
    "QuantizedConv2DAndReluAndRequantize": [image, window, *scalars * 3],
    "QuantizedConv2DAndRequantize": [image, window, *scalars * 3],
    "QuantizedConv2DWithBias": [image, window, f([0.0]), *scalars * 2],
    "QuantizedConv2DWithBiasAndRelu": [image, window, f([0.0]), *scalars * 2],
    "QuantizedConv2DWithBiasAndReluAndRequantize": [image, window, f([0.0]), *scalars * 3],
    "QuantizedConv2DWithBiasAndRequantize": [image, window, f([0.0]), *scalars * 3],
    "QuantizedConv2DWithBiasSumAndRelu": [image, window, f([0.0]), *scalars * 2, f([[0.0]])],
    "QuantizedConv2DWithBiasSumAndReluAndRequantize": [image, window, f([0.0]), *scalars * 3, image, *scalars],
    "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize": [image, window, f([0.0]), *scalars * 3, values("qint8", 1, 3, 3, 1), *scalars],
    "QuantizedDepthwiseConv2D": [image, window, *scalars * 2],
    "QuantizedDepthwiseConv2DWithBias": [image, window, f([0.0]), *scalars * 2],
    "QuantizedDepthwiseConv2DWithBiasAndRelu": [image, window, f([0.0]), *scalars * 2],
    "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize": [image, window, f([0.0]), *scalars * 3],
}
for op, inputs in CONVOLUTIONS.items():
    refuse(op, inputs, **layer)
    exempt(op, "values", "empty", "refusal", why="gives nothing, whatever the types")
a, b = values("quint8", 2, 2), values("qint8", 2, 2)
for op, out in {"": 13, "AndDequantize": 1, "AndRelu": 13, "AndReluAndRequantize": 12, "AndRequantize": 12}.items():
    op, more = "QuantizedMatMulWithBias" + op, scalars if "quantize" in op else []
    refuse(op, [a, b, f([0.0, 1.0]), *scalars * 2, *more], Toutput=out)
    exempt(op, "values", "empty", "refusal", why="gives nothing, whatever the types")
for dtype in ("quint8", "qint8"):
    refuse("QuantizedConcatV2", [[values(dtype, 2, 3)] * 2, tensor(0, "int32"), [f(0.0)] * 2, [f(1.0)] * 2])
exempt("QuantizedConcatV2", "values", "empty", "refusal", why="gives nothing, whatever the types")
