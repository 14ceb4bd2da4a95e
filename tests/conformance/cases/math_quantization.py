"""Quantisation: to integers and back in every mode, and the roundings that pretend it."""

from framework import *
from values import *

X = [-10.0, -1.5, -0.5, 0.0, 0.25, 0.5, 1.5, 2.5, 10.0]
MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")

for dtype in QUANTIZED:
    for mode in MODES:
        case("QuantizeV2", [tensor(X), tensor(-2.0), tensor(2.5)], T=dtype, mode=mode)
        case("Dequantize", [tensor([0, 1, 100, 127], dtype), tensor(-2.0), tensor(2.5)], mode=mode)
    case("QuantizeV2", [tensor(X), tensor(1.0), tensor(2.0)], T=dtype)
    case("QuantizeV2", [tensor(X), tensor(-3.0), tensor([-2.0])], T=dtype)
    case("Dequantize", [tensor([0, 1, 100, 127], dtype), tensor(-2.0), tensor(2.5)], dtype="bfloat16")
case("QuantizeV2", [tensor(X), tensor(0.0), tensor(0.0)], T="quint8")
case("QuantizeV2", [tensor(X), tensor(-2.0), tensor(2.5)], T="qint8", mode="SCALED", round_mode="HALF_TO_EVEN")
case("QuantizeV2", [tensor(X), tensor(-2.0), tensor(2.5)], T="qint8", mode="SCALED", narrow_range=True)
case("QuantizeV2", [tensor(X), tensor(-2.0), tensor(2.5)], T="qint8", ensure_minimum_range=10.0)
case("QuantizeV2", [f32(0, 3), tensor(-2.0), tensor(2.5)], T="quint8")
for mode in MODES:
    case("QuantizeV2", [f32(2, 3, 2), tensor([-1.0, -2.0, -3.0]), tensor([4.0, 5.0, 6.0])], T="qint8", axis=1, mode=mode)
refuse("QuantizeV2", [tensor(X), tensor(-2.0), tensor(2.5)], T="qint8", round_mode="HALF_TO_EVEN")
refuse("QuantizeV2", [tensor(X), tensor(3.0), tensor(2.5)], T="qint8")
refuse("QuantizeV2", [tensor(X), tensor([1.0, 2.0]), tensor(2.5)], T="qint8")
refuse("QuantizeV2", [f32(2, 2), f32(2), f32(2)], T="qint8", axis=2)
refuse("QuantizeV2", [f32(2, 2), f32(3), f32(3)], T="qint8", axis=1)

bytes_ = tensor([[-128, 1], [100, 127]], "qint8")
case("Dequantize", [bytes_, tensor(-2.0), tensor(2.5)], mode="SCALED", narrow_range=True)
for mode in ("MIN_COMBINED", "SCALED"):
    case("Dequantize", [bytes_, tensor([-2.0, -1.0]), tensor([2.5, 3.0])], axis=0, mode=mode)
    case("Dequantize", [bytes_, tensor([-2.0, -1.0]), tensor([2.5, 3.0])], axis=1, mode=mode)
case("Dequantize", [tensor([], "qint8"), tensor(-2.0), tensor(2.5)])
refuse("Dequantize", [bytes_, tensor([-2.0, -1.0]), tensor([2.5, 3.0])], axis=0, mode="MIN_FIRST")
refuse("Dequantize", [bytes_, tensor([-2.0, 3.0]), tensor(2.5)])
refuse("Dequantize", [bytes_, tensor(-2.0), tensor([2.5, 3.0])])
refuse("Dequantize", [bytes_, f32(2), f32(2)], axis=2)
refuse("Dequantize", [bytes_, tensor(-2.0), tensor(2.5)], mode="SCALED", dtype="bfloat16")

G = [float(i) for i in range(len(X))]
for narrow in (False, True):
    for bits in (2, 8, 16):
        case("FakeQuantWithMinMaxArgs", [tensor(X)], num_bits=bits, narrow_range=narrow)
        case("FakeQuantWithMinMaxVars", [tensor(X), tensor(-3.0), tensor(2.0)], num_bits=bits, narrow_range=narrow)
        case("FakeQuantWithMinMaxVarsGradient", [tensor(G), tensor(X), tensor(-1.0), tensor(2.0)], num_bits=bits, narrow_range=narrow)
case("FakeQuantWithMinMaxArgs", [tensor(X)], min=1.0, max=3.0)
case("FakeQuantWithMinMaxArgs", [f32(0)])
case("FakeQuantWithMinMaxArgsGradient", [tensor(G), tensor(X)])
case("FakeQuantWithMinMaxVars", [tensor(X), tensor(0.0), tensor(0.0)])
case("FakeQuantWithMinMaxVarsGradient", [tensor(G), tensor(X), tensor(0.0), tensor(0.0)])
case("FakeQuantWithMinMaxVarsPerChannel", [f32(4, 3), tensor([-3.0, -1.0, 0.0]), tensor([3.0, 1.0, 0.0])])
case("FakeQuantWithMinMaxVarsPerChannel", [f32(3), tensor([-3.0, -1.0, 0.0]), tensor([3.0, 1.0, 0.0])])
case("FakeQuantWithMinMaxVarsPerChannelGradient", [f32(4, 3), f32(4, 3), tensor([-3.0, -1.0, 0.0]), tensor([3.0, 1.0, 0.0])], sums=8)
refuse("FakeQuantWithMinMaxArgs", [tensor(X)], min=3.0, max=1.0)
refuse("FakeQuantWithMinMaxArgs", [tensor(X)], num_bits=17)
refuse("FakeQuantWithMinMaxArgsGradient", [f32(3), tensor(X)])
refuse("FakeQuantWithMinMaxVars", [tensor(X), tensor([3.0]), tensor(1.0)])
refuse("FakeQuantWithMinMaxVars", [tensor(X), tensor(3.0), tensor([1.0])])
refuse("FakeQuantWithMinMaxVarsGradient", [f32(3), tensor(X), tensor(0.0), tensor(1.0)])
refuse("FakeQuantWithMinMaxVarsPerChannel", [f32(4, 3), f32(2), f32(3)])
refuse("FakeQuantWithMinMaxVarsPerChannel", [f32(4, 3), f32(3), f32(2)])
refuse("FakeQuantWithMinMaxVarsPerChannel", [f32(4, 3), f32(), f32(3)])
refuse("FakeQuantWithMinMaxVarsPerChannelGradient", [f32(1, 3), f32(4, 3), f32(3), f32(3)])

for op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"):
    for dtype in ("float", "double"):
        x, low, high = tensor(X, dtype), tensor(-3, dtype), tensor(2, dtype)
        case(op, [x, low, high])
        case(op, [x, low, high], range_given=True)
        case(op, [x, low, high], range_given=True, signed_input=False)
        case(op, [x, low, high], range_given=True, narrow_range=True)
        case(op, [x, low, high], range_given=True, num_bits=3, round_mode="HALF_UP")
        case(op, [x, low, high], signed_input=False, num_bits=4)
    case(op, [f32(2, 3), tensor([-5.0, -1.0]), tensor([4.0, 3.0])], range_given=True, axis=0)
    case(op, [f32(2, 3), tensor([-5.0, -1.0]), tensor([4.0, 3.0])], axis=1)
    case(op, [f32(0), tensor(0.0), tensor(0.0)])
    refuse(op, [f32(3), tensor(5.0), tensor(4.0)], range_given=True)
    refuse(op, [f32(3), tensor(-5.0), tensor(4.0)], range_given=True, num_bits=64)
    refuse(op, [f32(2, 3), f32(2), f32(2)], range_given=True, axis=1)
case("QuantizeAndDequantizeV3", [tensor(X), tensor(-3.0), tensor(4.0), tensor(8)])
refuse("QuantizeAndDequantizeV3", [tensor(X), tensor(-3.0), tensor(4.0), tensor(64)])
refuse("QuantizeAndDequantizeV3", [tensor(X), tensor(-3.0), tensor(4.0), tensor([8])])
case("QuantizeAndDequantizeV4Grad", [tensor(G), tensor(X), tensor(-1.0), tensor(2.0)])
case("QuantizeAndDequantizeV4Grad", [f32(2, 3), f32(2, 3), tensor([-5.0, -1.0]), tensor([4.0, 3.0])], axis=0)
case("QuantizeAndDequantizeV4Grad", [f32(0, 3), f32(0, 3), tensor(-1.0), tensor(2.0)])
refuse("QuantizeAndDequantizeV4Grad", [f32(1, 3), f32(2, 3), f32(2), f32(2)], axis=0)
refuse("QuantizeAndDequantizeV4Grad", [f32(2, 3), f32(2, 3), f32(2), f32(2)])
refuse("QuantizeAndDequantizeV4Grad", [f32(2, 3), f32(2, 3), f32(3), f32(2)], axis=0)
