"""Convolutions of images and volumes, by channel too, dilation, and the gradients of them all."""

from framework import *
from definitions import for_dtypes
from values import *

ONES = [1, 1, 1, 1]
SUMS = 64

for dtype in for_dtypes("Conv2D"):
    x, w = values(dtype, 2, 7, 6, 3), values(dtype, 3, 2, 3, 4)
    case("Conv2D", [x, w], strides=ONES, padding="VALID", sums=SUMS)
    case("Conv2D", [x, w], strides=ONES, padding="SAME", sums=SUMS)
    case("Conv2D", [x, w], strides=[1, 2, 3, 1], padding="SAME", sums=SUMS)
    case("Conv2D", [x, w], strides=[1, 2, 1, 1], padding="VALID", sums=SUMS)
    case("Conv2D", [x, values(dtype, 2, 2, 3, 4)], strides=ONES, padding="SAME", dilations=[1, 2, 3, 1], sums=SUMS)
    case("Conv2D", [x, w], strides=[1, 2, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 3, 0, 0], sums=SUMS)
    case("Conv2D", [x, values(dtype, 1, 1, 3, 4)], strides=ONES, padding="VALID", sums=SUMS)
    case("Conv2D", [values(dtype, 2, 4, 4, 4), values(dtype, 2, 2, 2, 6)], strides=ONES, padding="VALID", sums=SUMS)
    case("Conv2D", [values(dtype, 0, 4, 4, 2), values(dtype, 2, 2, 2, 3)], strides=ONES, padding="VALID")
    case("Conv2D", [values(dtype, 1, 4, 4, 2), values(dtype, 2, 2, 2, 0)], strides=ONES, padding="VALID")
    case("Conv2DBackpropInput", [tensor([2, 7, 6, 3], "int32"), w, values(dtype, 2, 5, 5, 4)], strides=ONES, padding="VALID", sums=SUMS)
    case("Conv2DBackpropInput", [tensor([2, 7, 6, 3], "int32"), w, values(dtype, 2, 4, 2, 4)], strides=[1, 2, 3, 1], padding="SAME", sums=SUMS)
    case("Conv2DBackpropInput", [tensor([2, 7, 6, 3], "int32"), values(dtype, 1, 1, 3, 4), values(dtype, 2, 7, 6, 4)], strides=ONES, padding="SAME", sums=SUMS)
    case("Conv2DBackpropInput", [tensor([7, 6], "int32"), w, values(dtype, 2, 5, 5, 4)], strides=ONES, padding="VALID", sums=SUMS)
    case("Conv2DBackpropInput", [tensor([0, 7, 6, 3], "int32"), w, values(dtype, 0, 5, 5, 4)], strides=ONES, padding="VALID")
for dtype in for_dtypes("Conv2DBackpropFilter"):
    x, sizes = values(dtype, 2, 7, 6, 3), tensor([3, 2, 3, 4], "int32")
    case("Conv2DBackpropFilter", [x, sizes, values(dtype, 2, 5, 5, 4)], strides=ONES, padding="VALID", sums=SUMS)
    case("Conv2DBackpropFilter", [x, sizes, values(dtype, 2, 4, 2, 4)], strides=[1, 2, 3, 1], padding="SAME", sums=SUMS)
    case("Conv2DBackpropFilter", [x, tensor([1, 1, 3, 4], "int32"), values(dtype, 2, 7, 6, 4)], strides=ONES, padding="SAME", sums=SUMS)
    case("Conv2DBackpropFilter", [values(dtype, 0, 7, 6, 3), sizes, values(dtype, 0, 5, 5, 4)], strides=ONES, padding="VALID")
case("Conv2D", [f32(1, 40, 40, 16), f32(3, 3, 16, 32)], strides=ONES, padding="SAME", sums=512)
case("Conv2DBackpropInput", [tensor([1, 40, 40, 16], "int32"), f32(3, 3, 16, 32), f32(1, 40, 40, 32)], strides=ONES, padding="SAME", sums=512)
case("Conv2DBackpropFilter", [f32(1, 40, 40, 16), tensor([3, 3, 16, 32], "int32"), f32(1, 40, 40, 32)], strides=ONES, padding="SAME", sums=2048)

X, W, PLAIN = f32(1, 4, 4, 2), f32(2, 2, 2, 3), dict(strides=ONES, padding="VALID")
for x, w in [(f32(4, 4, 2), W), (X, f32(2, 2, 2)), (X, f32(2, 2, 3, 3)), (X, f32(2, 2, 1, 3)), (X, f32(6, 6, 2, 1)), (X, f32(2, 2, 0, 3)), (X, f32(0, 2, 2, 3))]:
    refuse("Conv2D", [x, w], **PLAIN)
refuse("Conv2D", [f64(1, 2, 4, 4), f64(2, 2, 2, 3)], data_format="NCHW", **PLAIN)
for strides in ([2, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1]):
    refuse("Conv2D", [X, W], strides=strides, padding="VALID")
for dilations in ([1, 1, 1, 2], [1, 0, 1, 1]):
    refuse("Conv2D", [X, W], dilations=dilations, **PLAIN)
for paddings in ([0, 0, 1], [1, 0, 1, 1, 1, 1, 0, 0], [0, 0, 1, -1, 1, 1, 0, 0]):
    refuse("Conv2D", [X, W], strides=ONES, padding="EXPLICIT", explicit_paddings=paddings)
G = f32(1, 3, 3, 3)
for sizes, w, g in [([4, 4, 2], W, G), ([[1, 4, 4, 2]], W, G), ([1, 4, 4, 2], f32(2, 2, 2), G), ([1, 4, 4, 2], W, f32(3, 3, 3)), ([1, 4, 4, 2], W, f32(1, 2, 3, 3)),
                    ([1, 4, 4, 2], W, f32(1, 3, 3, 4)), ([1, 4, 4, 2], W, f32(2, 3, 3, 3)), ([1, 4, 4, 3], W, G), ([-1, 4, 4, 2], W, G)]:  # fmt: skip
    refuse("Conv2DBackpropInput", [tensor(sizes, "int32"), w, g], **PLAIN)
refuse("Conv2DBackpropInput", [tensor([1, 2, 4, 4], "int32"), f64(2, 2, 2, 3), f64(1, 3, 3, 3)], data_format="NCHW", **PLAIN)
refuse("Conv2DBackpropInput", [tensor([1, 4, 4, 2], "int32"), f64(2, 2, 1, 4), f64(1, 3, 3, 4)], **PLAIN)
for x, sizes, g in [(X, [2, 2, 2], G), (X, [2, 2, 2, 4], G), (X, [2, 2, 2, 3], f32(1, 2, 2, 3)), (f32(4, 4, 2), [2, 2, 2, 3], G), (X, [-2, 2, 2, 3], G),
                    (X, [2, 2, 2, 3], f32(2, 3, 3, 3))]:  # fmt: skip
    refuse("Conv2DBackpropFilter", [x, tensor(sizes, "int32"), g], **PLAIN)
refuse("Conv2DBackpropFilter", [f64(1, 2, 4, 4), tensor([2, 2, 2, 3], "int32"), f64(1, 3, 3, 3)], data_format="NCHW", **PLAIN)
refuse("Conv2DBackpropFilter", [f64(1, 4, 4, 2), tensor([2, 2, 1, 4], "int32"), f64(1, 3, 3, 4)], **PLAIN)
# Of gradients only those of floats know dilation, and not with explicit paddings.
for dtype, options in [(t, dict(padding="SAME")) for t in ("double", "half")] + [("float", dict(padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 1, 1, 0, 0]))]:
    x, w, g = values(dtype, 1, 6, 6, 2), values(dtype, 2, 2, 2, 3), values(dtype, 1, 6, 6, 3)
    refuse("Conv2DBackpropInput", [tensor([1, 6, 6, 2], "int32"), w, g], strides=ONES, dilations=[1, 2, 2, 1], **options)
    refuse("Conv2DBackpropFilter", [x, tensor([2, 2, 2, 3], "int32"), g], strides=ONES, dilations=[1, 2, 2, 1], **options)
    case("Conv2DBackpropInput", [tensor([1, 5, 5, 2], "int32"), w, g], strides=ONES, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 2, 0, 0, 0], sums=SUMS)
    case("Conv2DBackpropFilter", [x[:, :5, :5], tensor([2, 2, 2, 3], "int32"), g], strides=ONES, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 2, 0, 0, 0], sums=SUMS)

FIVE = [1, 1, 1, 1, 1]
for dtype in for_dtypes("Conv3D"):
    x, w = values(dtype, 2, 4, 5, 6, 2), values(dtype, 2, 3, 2, 2, 3)
    case("Conv3D", [x, w], strides=FIVE, padding="VALID", sums=SUMS)
    case("Conv3D", [x, w], strides=[1, 2, 1, 3, 1], padding="SAME", sums=SUMS)
    case("Conv3D", [x, values(dtype, 1, 1, 1, 2, 3)], strides=FIVE, padding="SAME", sums=SUMS)
    case("Conv3D", [values(dtype, 0, 4, 5, 6, 2), w], strides=FIVE, padding="VALID")
    for sizes in (tensor([2, 4, 5, 6, 2], "int32"), tensor([2, 4, 5, 6, 2], "int64")):
        case("Conv3DBackpropInputV2", [sizes, w, values(dtype, 2, 3, 3, 5, 3)], strides=FIVE, padding="VALID", sums=SUMS)
    case("Conv3DBackpropInputV2", [tensor([2, 4, 5, 6, 2], "int32"), w, values(dtype, 2, 2, 5, 2, 3)], strides=[1, 2, 1, 3, 1], padding="SAME", sums=SUMS)
    case("Conv3DBackpropInputV2", [tensor([0, 4, 5, 6, 2], "int32"), w, values(dtype, 0, 3, 3, 5, 3)], strides=FIVE, padding="VALID")
    sizes = tensor([2, 3, 2, 2, 3], "int32")
    case("Conv3DBackpropFilterV2", [x, sizes, values(dtype, 2, 3, 3, 5, 3)], strides=FIVE, padding="VALID", sums=SUMS)
    case("Conv3DBackpropFilterV2", [x, sizes, values(dtype, 2, 2, 5, 2, 3)], strides=[1, 2, 1, 3, 1], padding="SAME", sums=SUMS)
X3, W3, G3, PLAIN3 = f32(1, 3, 4, 4, 2), f32(2, 2, 2, 2, 3), f32(1, 2, 3, 3, 3), dict(strides=FIVE, padding="VALID")
for x, w in [(X, W3), (X3, W), (X3, f32(2, 2, 2, 3, 3)), (X3, f32(2, 2, 2, 1, 3)), (X3, f32(2, 2, 2, 0, 3)), (X3, f32(5, 2, 2, 2, 3))]:
    refuse("Conv3D", [x, w], **PLAIN3)
refuse("Conv3D", [f64(1, 2, 3, 4, 4), f64(2, 2, 2, 2, 3)], data_format="NCDHW", **PLAIN3)
refuse("Conv3D", [f64(1, 3, 4, 4, 2), f64(2, 2, 2, 2, 3)], dilations=[1, 1, 2, 1, 1], **PLAIN3)
refuse("Conv3D", [X3, W3], dilations=[2, 1, 1, 1, 1], **PLAIN3)
refuse("Conv3D", [X3, W3], strides=[2, 1, 1, 1, 1], padding="VALID")
for sizes, w, g in [([1, 3, 4, 4, 2], W3, G), ([1, 3, 4, 4], W3, G3), ([1, 3, 4, 4, 2], W3, f32(1, 2, 2, 3, 3)), ([1, 3, 4, 4, 2], W3, f32(1, 2, 3, 3, 2)), ([1, 3, 4, 4, 2], W, G3)]:
    refuse("Conv3DBackpropInputV2", [tensor(sizes, "int32"), w, g], **PLAIN3)
for x, sizes, g in [(X3, [2, 2, 2, 3], G3), (X, [2, 2, 2, 2, 3], G3), (X3, [2, 2, 2, 2, 3], f32(1, 2, 2, 3, 3)), (X3, [2, 2, 2, 2, 4], G3)]:
    refuse("Conv3DBackpropFilterV2", [x, tensor(sizes, "int32"), g], **PLAIN3)

for dtype in for_dtypes("DepthwiseConv2dNative"):
    op, x, w = "DepthwiseConv2dNative", values(dtype, 2, 7, 6, 3), values(dtype, 3, 2, 3, 2)
    case(op, [x, w], strides=ONES, padding="VALID", sums=SUMS)
    case(op, [x, w], strides=[1, 2, 2, 1], padding="SAME", sums=SUMS)
    case(op, [x, w], strides=ONES, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 3, 0, 0], sums=SUMS)
    case(op, [values(dtype, 0, 7, 6, 3), w], strides=ONES, padding="VALID")
    sizes, filters = tensor([2, 7, 6, 3], "int32"), tensor([3, 2, 3, 2], "int32")
    case(op + "BackpropInput", [sizes, w, values(dtype, 2, 5, 5, 6)], strides=ONES, padding="VALID", sums=SUMS)
    case(op + "BackpropInput", [sizes, w, values(dtype, 2, 4, 3, 6)], strides=[1, 2, 2, 1], padding="SAME", sums=SUMS)
    case(op + "BackpropInput", [tensor([0, 7, 6, 3], "int32"), w, values(dtype, 0, 5, 5, 6)], strides=ONES, padding="VALID")
    case(op + "BackpropFilter", [x, filters, values(dtype, 2, 5, 5, 6)], strides=ONES, padding="VALID", sums=SUMS)
    case(op + "BackpropFilter", [x, filters, values(dtype, 2, 4, 3, 6)], strides=[1, 2, 2, 1], padding="SAME", sums=SUMS)
    # TensorFlow does not set the memory of this one.
    case(op + "BackpropFilter", [values(dtype, 0, 7, 6, 3), filters, values(dtype, 0, 5, 5, 6)], strides=ONES, padding="VALID", check="shape")
op, W, G = "DepthwiseConv2dNative", f32(2, 2, 2, 3), f32(1, 3, 3, 6)
for x, w in [(f32(4, 4, 2), W), (X, f32(2, 2, 2)), (X, f32(2, 2, 3, 3)), (X, f32(6, 6, 2, 1))]:
    refuse(op, [x, w], **PLAIN)
refuse(op, [f64(1, 4, 4, 2), f64(2, 2, 2, 3)], strides=[1, 1, 2, 1], padding="VALID")
refuse(op, [X, W], strides=[2, 1, 1, 1], padding="VALID")
refuse(op, [f64(1, 4, 4, 2), f64(2, 2, 2, 3)], dilations=[1, 2, 2, 1], **PLAIN)
refuse(op, [f64(1, 2, 4, 4), f64(2, 2, 2, 3)], data_format="NCHW", **PLAIN)
for sizes, w, g in [([4, 4, 2], W, G), ([1, 4, 4, 2], f32(2, 2, 2), G), ([1, 4, 4, 2], W, f32(3, 3, 6)), ([1, 4, 4, 2], W, f32(1, 2, 3, 6)), ([1, 4, 4, 2], W, f32(1, 3, 3, 5)),
                    ([2, 4, 4, 2], W, G), ([1, 4, 4, 3], W, G), ([1, -4, 4, 2], W, G), ([[1, 4, 4, 2]], W, G)]:  # fmt: skip
    refuse(op + "BackpropInput", [tensor(sizes, "int32"), w, g], **PLAIN)
for x, sizes, g in [(X, [2, 2, 2], G), (f32(4, 4, 2), [2, 2, 2, 3], G), (X, [2, 2, 2, 4], G), (X, [2, 2, 2, 3], f32(1, 2, 3, 6)), (X, [2, 2, 3, 3], G), (X, [-2, 2, 2, 3], G)]:
    refuse(op + "BackpropFilter", [x, tensor(sizes, "int32"), g], **PLAIN)

for dtype in for_dtypes("Dilation2D"):
    x, w = values(dtype, 2, 7, 6, 3), values(dtype, 3, 2, 3)
    case("Dilation2D", [x, w], strides=ONES, rates=ONES, padding="VALID")
    case("Dilation2D", [x, w], strides=[1, 2, 3, 1], rates=[1, 2, 1, 1], padding="SAME")
    case("Dilation2D", [values(dtype, 0, 7, 6, 3), w], strides=ONES, rates=ONES, padding="VALID")
    for grad in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter"):
        case(grad, [x, w, values(dtype, 2, 5, 5, 3)], strides=ONES, rates=ONES, padding="VALID", sums=SUMS)
        case(grad, [x, w, values(dtype, 2, 4, 2, 3)], strides=[1, 2, 3, 1], rates=[1, 2, 1, 1], padding="SAME", sums=SUMS)
        case(grad, [values(dtype, 0, 7, 6, 3), w, values(dtype, 0, 5, 5, 3)], strides=ONES, rates=ONES, padding="VALID")
FLAT = dict(strides=ONES, rates=ONES, padding="VALID")
for x, w in [(f32(4, 4, 2), f32(2, 2, 2)), (X, f32(2, 2)), (X, f32(2, 2, 3)), (X, f32(6, 6, 2))]:
    refuse("Dilation2D", [x, w], **FLAT)
    refuse("Dilation2DBackpropInput", [x, w, f32(1, 3, 3, 2)], **FLAT)
    refuse("Dilation2DBackpropFilter", [x, w, f32(1, 3, 3, 2)], **FLAT)
refuse("Dilation2D", [X, f32(2, 2, 2)], strides=[2, 1, 1, 1], rates=ONES, padding="VALID")
refuse("Dilation2D", [X, f32(2, 2, 2)], strides=ONES, rates=[1, 1, 1, 2], padding="VALID")
for grad in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter"):
    refuse(grad, [X, f32(2, 2, 2), f32(1, 2, 3, 2)], **FLAT)
    refuse(grad, [X, f32(2, 2, 2), f32(3, 3, 2)], **FLAT)

BOUNDS = [tensor(v, "float") for v in (-1.0, 2.0, -0.5, 0.7)]
op = "QuantizedConv2D"
x, w = values("quint8", 2, 6, 5, 3, low=0, high=255), values("quint8", 3, 2, 3, 4, low=0, high=255)
for stride in (1, 2, 3):
    for padding in ("SAME", "VALID"):
        case(op, [x, w, *BOUNDS], strides=[1, stride, stride, 1], padding=padding)
case(op, [x, w, tensor(1.0), tensor(2.0), tensor(0.5), tensor(0.7)], strides=ONES, padding="SAME")
case(op, [x, w, tensor(0.0), tensor(255.0), tensor(-3.0), tensor(-3.0)], strides=ONES, padding="SAME")
case(op, [values("quint8", 1, 1, 1, 1), values("quint8", 1, 1, 1, 1), *BOUNDS], strides=ONES, padding="VALID")
exempt(op, "empty", why="TensorFlow aborts on it")
refuse(op, [x, values("qint8", 3, 2, 3, 4), *BOUNDS], strides=ONES, padding="SAME")
for k in range(4):
    refuse(op, [x, w, *BOUNDS[:k], f32(1), *BOUNDS[k + 1 :]], strides=ONES, padding="SAME")
refuse(op, [values("quint8", 4, 4, 3), w, *BOUNDS], strides=ONES, padding="SAME")
refuse(op, [x, values("quint8", 2, 3, 4), *BOUNDS], strides=ONES, padding="SAME")
refuse(op, [x, values("quint8", 2, 2, 2, 4), *BOUNDS], strides=ONES, padding="SAME")
for strides in ([1, 2, 1, 1], [2, 1, 1, 1], [1, 1, 1, 2]):
    refuse(op, [x, w, *BOUNDS], strides=strides, padding="SAME")
for dilations in ([1, 2, 2, 1], [2, 1, 1, 1], [1, 1, 1, 2]):
    refuse(op, [x, w, *BOUNDS], strides=ONES, padding="SAME", dilations=dilations)

FIVE = [1] * 5
for dtype in for_dtypes("Conv"):
    x, w = values(dtype, 2, 6, 5, 4), values(dtype, 3, 2, 4, 2)
    case("Conv", [x, w], strides=ONES, padding="SAME", sums=SUMS)
    case("Conv", [x, w], strides=[1, 2, 3, 1], padding="VALID", dilations=ONES, sums=SUMS)
    case("Conv", [x, w], strides=ONES, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0], sums=SUMS)
    case("Conv", [values(dtype, 2, 4, 5, 3, 2), values(dtype, 2, 2, 2, 2, 3)], strides=FIVE, padding="SAME", sums=SUMS)
    case("Conv", [values(dtype, 2, 3, 6, 5, 4), w], strides=ONES, padding="VALID", batch_dims=2, sums=SUMS)
    case("Conv", [values(dtype, 0, 6, 5, 4), w], strides=ONES, padding="VALID")
X, W = f32(1, 4, 4, 2), f32(2, 2, 2, 3)
case("Conv", [X, W], strides=ONES, padding="SAME", dilations=[1, 2, 2, 1], sums=SUMS)
case("Conv", [f32(4, 4, 2), W], strides=ONES, padding="SAME", batch_dims=0, sums=SUMS)
case("Conv", [f32(1, 1, 4, 2), W], strides=ONES, padding="VALID")
refuse("Conv", [f32(1, 4, 4, 4, 2), f32(2, 2, 2, 2, 3)], strides=FIVE, padding="SAME", dilations=[1, 2, 2, 2, 1])
refuse("Conv", [f32(1, 2, 4, 4, 4), f32(2, 2, 2, 2, 3)], strides=FIVE, padding="SAME", data_format="CHANNELS_FIRST")
refuse("Conv", [X, f32(2, 2, 1, 4)], strides=ONES, padding="SAME", groups=2)
refuse("Conv", [X, f32(2, 2, 1, 4)], strides=ONES, padding="SAME")
for x, w, options in [(f32(4, 2), W, dict()), (X, f32(2, 2), dict()), (X, f32(2, 2, 3, 3), dict()), (X, W, dict(strides=[1, 1, 1])), (X, W, dict(strides=[2, 1, 1, 1])),
                      (X, W, dict(dilations=[1, 0, 1, 1])), (X, W, dict(dilations=[1, 1, 1])), (X, W, dict(padding="EXPLICIT", explicit_paddings=[1, 1])),
                      (X, W, dict(data_format="CHANNELS_FIRST")), (f32(1, 2, 4, 4), W, dict(data_format="CHANNELS_FIRST")), (X, W, dict(strides=[1, 0, 1, 1])),
                      (X, W, dict(explicit_paddings=[0] * 8)), (X, W, dict(padding="EXPLICIT", explicit_paddings=[1] * 8)), (X, W, dict(dilations=[2, 1, 1, 1])),
                      (X, W, dict(padding="EXPLICIT", explicit_paddings=[0, 0, -1, 0, 0, 0, 0, 0])), (X, W, dict(batch_dims=-1)), (X, W, dict(batch_dims=2)), (X, f32(2, 2, 2, 0), dict()), (f32(1, 4, 4, 4, 4, 2), f32(1, 1, 1, 1, 2, 2), dict())]:  # fmt: skip
    refuse("Conv", [x, w], **{"strides": ONES, "padding": "VALID", **options})
