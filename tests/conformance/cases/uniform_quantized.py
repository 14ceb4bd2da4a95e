"""Numbers as integers with a scale and a zero point."""

from framework import *
from values import *


def scales(*numbers):
    return tensor(numbers[0] if len(numbers) == 1 else list(numbers), "float")


def zeros(*numbers):
    return tensor(numbers[0] if len(numbers) == 1 else list(numbers), "int32")


def q8(*shape):
    return values("qint8", *shape)


def q32(*shape):
    return values("qint32", *shape, low=-1000000, high=1000000)


BYTE = dict(quantization_min_val=-128, quantization_max_val=127)
WIDE = dict(quantization_min_val=-(2**31), quantization_max_val=2**31 - 1)


def of(side, bounds):
    return {f"{side}_{name}": bound for name, bound in bounds.items()}


x = f32(3, 4, 2, low=-20, high=20)
for dtype, bounds in (("qint8", BYTE), ("qint32", WIDE)):
    q = q8(3, 4, 2) if dtype == "qint8" else q32(3, 4, 2)
    case("UniformQuantize", [x, scales(0.3), zeros(4)], Tout=dtype, **bounds)
    case("UniformQuantize", [x, scales(0.1), zeros(-4)], Tout=dtype, quantization_min_val=-100, quantization_max_val=90)
    case("UniformQuantize", [x, scales(0.1, 0.2, 0.3, 0.4), zeros(1, 2, 3, 4)], Tout=dtype, quantization_axis=1, **bounds)
    case("UniformQuantize", [f32(0, 2), scales(0.1), zeros(0)], Tout=dtype, **bounds)
    case("UniformDequantize", [q, scales(0.3), zeros(4)], Tout="float", **bounds)
    case("UniformDequantize", [q, scales(0.1, 0.2, 0.3, 0.4), zeros(1, 2, 3, 4)], Tout="float", quantization_axis=1, **bounds)
    case("UniformDequantize", [q[:0], scales(0.3), zeros(4)], Tout="float", **bounds)
    both = dict(Tout="qint8", **of("input", bounds), **of("output", BYTE))
    case("UniformRequantize", [q, scales(0.3), zeros(4), scales(0.7), zeros(-2)], **both)
    case("UniformRequantize", [q, scales(0.1, 0.2, 0.3), zeros(1, 2, 3), scales(0.7), zeros(-2)], input_quantization_axis=0, **both)
    case("UniformRequantize", [q, scales(0.3), zeros(4), scales(0.1, 0.2, 0.3), zeros(1, 2, 3)], output_quantization_axis=0, **both)
    case("UniformRequantize", [q, scales(0.1, 0.2, 0.3), zeros(1, 2, 3), scales(0.3, 0.7, 0.2), zeros(3, 2, 1)], input_quantization_axis=0, output_quantization_axis=0, **both)
    case("UniformRequantize", [q[:0], scales(0.3), zeros(4), scales(0.7), zeros(-2)], **both)
    for wrong in ([scales(0.1, 0.2), zeros(0)], [scales(0.1, 0.2), zeros(0, 1)]):
        refuse("UniformQuantize", [x, *wrong], Tout=dtype, **bounds)
        refuse("UniformDequantize", [q, *wrong], Tout="float", **bounds)
        refuse("UniformRequantize", [q, *wrong, scales(0.7), zeros(-2)], **both)
        refuse("UniformRequantize", [q, scales(0.7), zeros(-2), *wrong], **both)
    refuse("UniformRequantize", [q, scales(0.1, 0.2, 0.3), zeros(1, 2, 3), scales(0.3, 0.2), zeros(3, 1)], input_quantization_axis=0, output_quantization_axis=2, **both)
for axis, s, z in [(1, scales(0.1, 0.2), zeros(0, 1)), (3, scales(0.1), zeros(0)), (-2, scales(0.1), zeros(0)), (0, scales(0.1), zeros(0))]:
    refuse("UniformQuantize", [x, s, z], Tout="qint8", quantization_axis=axis, **BYTE)
case("UniformQuantize", [tensor([0.25, 0.75, -0.25, -0.75, 1e9, -1e9, np.nan, np.inf], "float"), scales(0.5), zeros(0)], Tout="qint8", **BYTE)

a, b, c, z = q32(2, 3), q32(3), q32(2, 1), q32(0, 3)
ADD = {**of("lhs", WIDE), **of("rhs", WIDE), **of("output", WIDE)}
for rhs in (a, b, c):
    case("UniformQuantizedAdd", [a, rhs, scales(0.5), zeros(1), scales(0.3), zeros(2), scales(0.1), zeros(3)], **ADD)
three = [scales(0.5, 0.4, 0.3), zeros(1, 2, 3)]
case("UniformQuantizedAdd", [a, b, *three, scales(0.3), zeros(2), scales(0.1), zeros(3)], lhs_quantization_axis=1, **ADD)
case("UniformQuantizedAdd", [a, b, *three, *three, *three], lhs_quantization_axis=1, rhs_quantization_axis=0, output_quantization_axis=1, **ADD)
case("UniformQuantizedAdd", [a, b, scales(0.5), zeros(1), scales(0.3), zeros(2), scales(0.1), zeros(3)], **{**ADD, "output_quantization_min_val": -50, "output_quantization_max_val": 60})
case("UniformQuantizedAdd", [z, b, scales(0.5), zeros(1), scales(0.3), zeros(2), scales(0.1), zeros(3)], **ADD)
refuse("UniformQuantizedAdd", [a, q32(2), scales(0.5), zeros(1), scales(0.3), zeros(2), scales(0.1), zeros(3)], **ADD)
refuse("UniformQuantizedAdd", [a, a, *three, scales(0.3), zeros(2), scales(0.1, 0.2), zeros(3, 3)], lhs_quantization_axis=1, output_quantization_axis=0, **ADD)
refuse("UniformQuantizedAdd", [a, a, scales(0.3), zeros(2), *three, scales(0.1), zeros(3)], **ADD)

CLIP = "UniformQuantizedClipByValue"
case(CLIP, [q32(2, 3), tensor(-200000, "qint32"), tensor(300000, "qint32"), scales(0.5), zeros(0)], **WIDE)
case(CLIP, [q32(2, 3), tensor([-5, -2000, 7], "qint32"), tensor([50000, 90000, 100000], "qint32"), *three], quantization_axis=1, **WIDE)
case(CLIP, [q32(2, 3), tensor(5, "qint32"), tensor(-5, "qint32"), scales(0.5), zeros(0)], **WIDE)
case(CLIP, [z, tensor(5, "qint32"), tensor(-5, "qint32"), scales(0.5), zeros(0)], **WIDE)
refuse(CLIP, [q32(2, 3), q32(2), q32(3), *three], quantization_axis=1, **WIDE)
refuse(CLIP, [q32(2, 3), q32(3), q32(2), *three], quantization_axis=1, **WIDE)
refuse(CLIP, [q32(2, 3), q32(2), q32(2), *three], quantization_axis=0, **WIDE)

DOT, HYBRID = "UniformQuantizedDot", "UniformQuantizedDotHybrid"
BYTES = {**of("lhs", BYTE), **of("rhs", BYTE), **of("output", WIDE), "Tout": "qint32"}
l, r = q8(4, 5), q8(5, 3)
plain = [scales(0.5), zeros(1), scales(0.3), zeros(2), scales(0.1), zeros(3)]
case(DOT, [l, r, *plain], **BYTES)
case(DOT, [l, r, scales(0.5), zeros(1), *three, scales(0.1), zeros(3)], rhs_quantization_axis=1, **BYTES)
case(DOT, [l, r, scales(0.5), zeros(1), *three, scales(0.1, 0.3, 0.2), zeros(3, 4, 5)], rhs_quantization_axis=1, output_quantization_axis=1, **BYTES)
case(DOT, [l[:0], r, *plain], **BYTES)
case(DOT, [l[:, :0], r[:0], *plain], **BYTES)
for lhs, rhs in [(l, r[:4]), (l[0], r), (l, r[0])]:
    refuse(DOT, [lhs, rhs, *plain], **BYTES)
for side in ("lhs", "rhs", "output"):
    refuse(DOT, [l, r, *plain], **{f"{side}_quantization_axis": 0}, **BYTES)
refuse(DOT, [l, r, *plain[:4], *three], output_quantization_axis=1, **BYTES)
case(DOT, [l, r, *plain[:2], *three, *plain[4:]], **BYTES)
refuse(DOT, [l, r, *plain[:2], scales(0.1, 0.2), zeros(1, 2), *plain[4:]], rhs_quantization_axis=1, **BYTES)
RIGHT = {**of("rhs", BYTE), "Tout": "float"}
y = f32(4, 5, low=-3, high=9)
case(HYBRID, [y, r, scales(0.3), zeros(2)], close=4, **RIGHT)
case(HYBRID, [np.abs(y), r, *three], rhs_quantization_axis=1, close=4, **RIGHT)
case(HYBRID, [np.zeros_like(y), r, scales(0.3), zeros(2)], **RIGHT)
case(HYBRID, [-np.abs(y), r, scales(0.3), zeros(2)], close=4, **RIGHT)
case(HYBRID, [y[:0], r, scales(0.3), zeros(2)], **RIGHT)
for lhs, rhs in [(y, r[:4]), (y[0], r), (y, r[0])]:
    refuse(HYBRID, [lhs, rhs, scales(0.3), zeros(2)], **RIGHT)
refuse(HYBRID, [y, r, *three], rhs_quantization_axis=0, **RIGHT)
refuse(HYBRID, [y, r, scales(0.1, 0.2), zeros(1, 2)], rhs_quantization_axis=1, **RIGHT)

CONV, CONV_HYBRID = "UniformQuantizedConvolution", "UniformQuantizedConvolutionHybrid"
OIHW = {**of("lhs", BYTE), **of("rhs", BYTE), **of("output", WIDE), "Tout": "qint32", "padding": "VALID"}
x, w = q8(2, 2, 4, 5), q8(4, 2, 2, 3)
four = [scales(0.1, 0.2, 0.3, 0.4), zeros(1, 2, 3, 4)]
ways = [dict(), dict(padding="SAME"), dict(padding="SAME", window_strides=[2, 3]), dict(padding="EXPLICIT", explicit_padding=[1, 2, 0, 1]), dict(lhs_dilation=[2, 1]),
        dict(rhs_dilation=[2, 1]), dict(lhs_dilation=[2, 3], rhs_dilation=[1, 2], padding="SAME"), dict(batch_group_count=2)]  # fmt: skip
for way in ways:
    case(CONV, [x, w, *plain], **{**OIHW, **way})
    case(CONV_HYBRID, [f32(2, 2, 4, 5, low=-3, high=9), w, scales(0.3), zeros(2)], close=4, **{**RIGHT, "padding": "VALID", **way})
    case(CONV_HYBRID, [f32(2, 2, 4, 5, low=-3, high=9), w, *four], rhs_quantization_axis=0, close=4, **{**RIGHT, "padding": "VALID", **way})
case(CONV, [x, w[:, :1], *plain], feature_group_count=2, **OIHW)
case(CONV, [x, w, *plain[:2], *four, *plain[4:]], rhs_quantization_axis=0, **OIHW)
case(CONV, [x, w, *plain[:2], *four, *four], rhs_quantization_axis=0, output_quantization_axis=1, **OIHW)
case(CONV, [x[:0], w, *plain], **OIHW)
case(CONV, [q8(1, 2, 4), q8(2, 2, 3), *plain], **OIHW)
case(CONV, [q8(1, 2, 4, 3, 2), q8(2, 2, 2, 1, 2), *plain], **OIHW)
case(CONV_HYBRID, [f32(0, 2, 4, 5), w, scales(0.3), zeros(2)], padding="VALID", **RIGHT)


def numbers(**changes):
    from tensorflow.core.util.quantization import uniform_quant_ops_attr_pb2

    nhwc = dict(input_feature_dimension=3, input_spatial_dimensions=[1, 2], kernel_input_feature_dimension=2, kernel_output_feature_dimension=3,
                kernel_spatial_dimensions=[0, 1], output_feature_dimension=3, output_spatial_dimensions=[1, 2])  # fmt: skip
    return uniform_quant_ops_attr_pb2.UniformQuantizedConvolutionDimensionNumbersAttr(**{**nhwc, **changes}).SerializeToString()


case(CONV, [q8(2, 4, 5, 2), q8(2, 3, 2, 4), *plain], dimension_numbers=numbers(), **{**OIHW, "padding": "SAME"})
case(CONV, [q8(2, 4, 5, 2), q8(2, 3, 2, 4), *plain[:2], *four, *four], dimension_numbers=numbers(), rhs_quantization_axis=3, output_quantization_axis=3, **OIHW)
case(CONV_HYBRID, [f32(2, 4, 5, 2), q8(2, 3, 2, 4), scales(0.3), zeros(2)], dimension_numbers=numbers(), close=4, padding="SAME", **RIGHT)
for changes in (dict(input_spatial_dimensions=[1]), dict(input_spatial_dimensions=[1, 5])):
    refuse(CONV, [q8(2, 4, 5, 2), q8(2, 3, 2, 4), *plain], dimension_numbers=numbers(**changes), **OIHW)
refuse(CONV, [x, w, *plain], dimension_numbers=b"zzz", **OIHW)
for a, b in [(x[0], w[0]), (x, w[0]), (x[0, 0], w[0, 0]), (x[:, :1], w), (x, q8(4, 3, 2, 3))]:
    refuse(CONV, [a, b, *plain], **OIHW)
    refuse(CONV_HYBRID, [values("float", *a.shape), b, scales(0.3), zeros(2)], padding="VALID", **RIGHT)
for way in (dict(batch_group_count=3), dict(feature_group_count=3), dict(window_strides=[2]), dict(window_strides=[0, 1]), dict(lhs_dilation=[2]), dict(rhs_dilation=[0, 1]),
            dict(padding="EXPLICIT", explicit_padding=[1, 2]), dict(padding="EXPLICIT", explicit_padding=[1, 2, -1, 0]), dict(padding="SAME", explicit_padding=[1, 2, 1, 0]),
            dict(padding="FOO"), dict(lhs_quantization_axis=1), dict(rhs_quantization_axis=1), dict(output_quantization_axis=0)):  # fmt: skip
    refuse(CONV, [x, w, *plain], **{**OIHW, **way})
refuse(CONV, [x, w, *plain[:4], *four], output_quantization_axis=1, **OIHW)
refuse(CONV, [x, w[:, :1], *plain], feature_group_count=1, **OIHW)
refuse(CONV, [x, w[:3, :1], *plain], feature_group_count=2, **OIHW)
