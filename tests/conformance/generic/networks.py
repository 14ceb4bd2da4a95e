"""Convolutions, pooling, normalisation, activations, losses and images for every combination of types."""

from framework import exempt, refuse
from recipes import each
from values import f32, i32, i64, tensor, u8

NEAR = {"sums": 8}
FILTERED = {"strides": [1, 2, 2, 1], "padding": "SAME"}


def _max_pool_gradient(t):
    """Input, the output that belongs to it, and a gradient."""
    x = t("T", 1, 4, 4, 1, kind="distinct")
    return [x, x.reshape(1, 2, 2, 2, 2, 1).max(axis=(2, 4)), t("T", 1, 2, 2, 1)]


# Convolutions.
each("Conv2D", lambda t: [t("T", 2, 5, 6, 3), t("T", 3, 2, 3, 4)], **FILTERED, **NEAR)
each("Conv2D", lambda t: [t("T", 2, 5, 6, 3), t("T", 3, 2, 3, 4)], strides=[1, 1, 1, 1], padding="VALID", dilations=[1, 2, 1, 1], **NEAR)
each("Conv2D", lambda t: [t("T", 0, 5, 6, 3), t("T", 3, 2, 3, 4)], **FILTERED, **NEAR)
each("Conv2DBackpropInput", lambda t: [tensor([2, 5, 6, 3]), t("T", 3, 2, 3, 4), t("T", 2, 3, 3, 4)], **FILTERED, **NEAR)
each("Conv2DBackpropFilter", lambda t: [t("T", 2, 5, 6, 3), tensor([3, 2, 3, 4]), t("T", 2, 3, 3, 4)], **FILTERED, **NEAR)
each("DepthwiseConv2dNative", lambda t: [t("T", 2, 5, 6, 3), t("T", 3, 2, 3, 2)], **FILTERED, **NEAR)
each("DepthwiseConv2dNativeBackpropInput", lambda t: [tensor([2, 5, 6, 3]), t("T", 3, 2, 3, 2), t("T", 2, 3, 3, 6)], **FILTERED, **NEAR)
each("DepthwiseConv2dNativeBackpropFilter", lambda t: [t("T", 2, 5, 6, 3), tensor([3, 2, 3, 2]), t("T", 2, 3, 3, 6)], **FILTERED, **NEAR)
each("Conv3D", lambda t: [t("T", 1, 4, 5, 4, 2), t("T", 2, 3, 2, 2, 3)], strides=[1, 2, 2, 2, 1], padding="SAME", **NEAR)
each(
    "Conv3DBackpropInputV2",
    lambda t: [t.at("Tshape", [1, 4, 5, 4, 2]), t("T", 2, 3, 2, 2, 3), t("T", 1, 2, 3, 2, 3)],
    strides=[1, 2, 2, 2, 1], padding="SAME", **NEAR,
)  # fmt: skip
each("Conv", lambda t: [t("T", 2, 5, 6, 3), t("T", 3, 2, 3, 4)], strides=[1, 1, 1, 1], padding="VALID", **NEAR)
MORPHED = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
each("Dilation2D", lambda t: [t("T", 1, 4, 4, 2), t("T", 2, 2, 2)], **MORPHED)
each("Dilation2DBackpropInput Dilation2DBackpropFilter", lambda t: [t("T", 1, 4, 4, 2), t("T", 2, 2, 2), t("T", 1, 3, 3, 2)], **MORPHED, **NEAR)

# Pooling.
POOLED = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
POOLED_3D = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
each("MaxPool AvgPool", lambda t: [t("T", 2, 5, 4, 3)], **POOLED, **NEAR)
each("MaxPool AvgPool", lambda t: [t("T", 0, 5, 4, 3)], **POOLED, **NEAR)
each("MaxPoolV2", lambda t: [t("T", 2, 5, 4, 3), tensor([1, 2, 2, 1]), tensor([1, 2, 2, 1])], padding="SAME")
each("MaxPoolWithArgmax", lambda t: [t("T", 2, 4, 4, 3, kind="distinct")], **POOLED)
each("MaxPoolGrad", lambda t: _max_pool_gradient(t), **POOLED)
each("MaxPoolGradV2", lambda t: [*_max_pool_gradient(t), tensor([1, 2, 2, 1]), tensor([1, 2, 2, 1])], padding="SAME")
each("MaxPoolGradWithArgmax", lambda t: [t("T", 1, 4, 4, 1), t("T", 1, 2, 2, 1), t.at("Targmax", [[[[0], [3]], [[9], [15]]]])], **POOLED)
each("AvgPoolGrad", lambda t: [tensor([2, 5, 4, 3]), t("T", 2, 3, 2, 3)], **POOLED, **NEAR)
each("MaxPool3D AvgPool3D", lambda t: [t("T", 1, 4, 4, 4, 2)], **POOLED_3D, **NEAR)
each("AvgPool3DGrad", lambda t: [tensor([1, 4, 4, 4, 2]), t("T", 1, 2, 2, 2, 2)], **POOLED_3D, **NEAR)

# Normalisation, activations, losses.
each("Softmax LogSoftmax", lambda t: [t("T", 3, 5)], close=8)
each("Softmax LogSoftmax", lambda t: [t("T", 0, 5)])
each("SoftmaxCrossEntropyWithLogits", lambda t: [t("T", 3, 5), t("T", 3, 5, low=0, high=1)], close=16)
each("SparseSoftmaxCrossEntropyWithLogits", lambda t: [t("T", 3, 5), t.at("Tlabels", [4, 0, 2])], close=16)
each("LRN", lambda t: [t("T", 1, 2, 3, 7)], close=16)
each("LRNGrad", lambda t: [t("T", 1, 2, 3, 7), t("T", 1, 2, 3, 7), t("T", 1, 2, 3, 7)], close=64)
each(
    "FusedBatchNormV3",
    lambda t: [t("T", 2, 3, 3, 4), t("U", 4), t("U", 4), t("U", 4), t("U", 4, kind="positive")],
    is_training=False, close=32, fetch=(0, 1, 2),
)  # fmt: skip
each(
    "FusedBatchNormGradV3",
    lambda t: [t("T", 2, 3, 3, 4), t("T", 2, 3, 3, 4), f32(4), t("U", 4), t("U", 4, kind="positive"), t("U", 4)],
    is_training=False, close=64,
)  # fmt: skip
each(
    "BatchNormWithGlobalNormalization",
    lambda t: [t("T", 2, 3, 3, 4), t("T", 4), t("T", 4, kind="positive"), t("T", 4), t("T", 4)],
    variance_epsilon=0.001, scale_after_normalization=True, close=32,
)  # fmt: skip
each(
    "BatchNormWithGlobalNormalizationGrad",
    lambda t: [t("T", 2, 3, 3, 4), t("T", 4), t("T", 4, kind="positive"), t("T", 4), t("T", 2, 3, 3, 4)],
    variance_epsilon=0.001, scale_after_normalization=True,
)  # fmt: skip
for op in ("BatchNormWithGlobalNormalization", "BatchNormWithGlobalNormalizationGrad"):
    exempt(op, "values", "empty", why="TensorFlow takes it only in graphs of an old version")
each("Betainc", lambda t: [t("T", 4, kind="positive"), t("T", 4, kind="positive"), t("T", 4, low=0, high=1)], ulp=256)
each("CheckNumerics", lambda t: [t("T", 3)], message="text")
each("DataFormatDimMap DataFormatVecPermute", lambda t: [t.at("T", [0, 1, 2, 3])])
each("Dequantize", lambda t: [t("T", 6), tensor(-1.0), tensor(2.0)], ulp=8)
each("QuantizeV2", lambda t: [f32(6), tensor(-3.0), tensor(4.0)])

# Images.
each("RGBToHSV", lambda t: [t("T", 2, 3, low=0, high=1)], ulp=16)
each("ResizeBicubic", lambda t: [t("T", 1, 3, 4, 2), tensor([5, 3])], close=32)
each("CropAndResize", lambda t: [t("T", 1, 4, 5, 2), tensor([[0.1, 0.2, 0.8, 0.9]]), tensor([0]), tensor([3, 3])], close=16)
each("AdjustContrastv2 AdjustSaturation AdjustHue", lambda t: [t("T", 1, 2, 2, 3, low=0, high=1), tensor(0.4)], close=64)
each("DrawBoundingBoxes", lambda t: [t("T", 1, 6, 6, 3), tensor([[[0.1, 0.2, 0.8, 0.9]]])])
each("ImageProjectiveTransformV2", lambda t: [t("dtype", 1, 4, 4, 2), tensor([[1.0, 0.2, -1.0, 0.1, 1.0, 0.5, 0.0, 0.0]]), tensor([4, 4])], interpolation="NEAREST")

refuse("Conv2D", [f32(1, 4, 4, 3), f32(2, 2, 2, 4)], **FILTERED)
refuse("Conv2D", [f32(4, 4, 3), f32(2, 2, 3, 4)], **FILTERED)
refuse("MaxPool", [f32(4, 4, 3)], **POOLED)
refuse("AvgPool", [f32(4, 4, 3)], **POOLED)
refuse("Softmax", [f32()])
refuse("SparseSoftmaxCrossEntropyWithLogits", [f32(2, 3), tensor([0, 3])])
refuse("SparseSoftmaxCrossEntropyWithLogits", [f32(2, 3), tensor([0])])
refuse("SoftmaxCrossEntropyWithLogits", [f32(2, 3), f32(2, 4)])
refuse("CheckNumerics", [tensor([float("nan")])], message="text")
refuse("LRN", [f32(2, 3)])
refuse("RGBToHSV", [f32(2, 4)])
