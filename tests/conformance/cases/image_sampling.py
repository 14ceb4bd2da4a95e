"""Images resampled through filters, and random crops."""

import tensorflow as tf
from framework import *
from definitions import for_dtypes
from values import *

raw = tf.raw_ops
FILTERS = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")


def moved(size, scale, translation):
    return [tensor(size, "int32"), tensor(scale, "float"), tensor(translation, "float")]


for name in FILTERS:
    for antialias in (True, False):
        case("ScaleAndTranslate", [f32(2, 7, 9, 3), *moved([4, 5], [0.6, 0.5], [0.3, -0.4])], close=8, kernel_type=name, antialias=antialias)
        case("ScaleAndTranslate", [f32(1, 4, 3, 1), *moved([9, 8], [2.25, 2.5], [0.0, 0.0])], close=8, kernel_type=name, antialias=antialias)
        case("ScaleAndTranslateGrad", [f32(2, 4, 5, 3), f32(2, 7, 9, 3), *moved([], [0.6, 0.5], [0.3, -0.4])[1:]], close=8, kernel_type=name, antialias=antialias)
for dtype in for_dtypes("ScaleAndTranslate"):
    case("ScaleAndTranslate", [values(dtype, 1, 5, 4, 2), *moved([3, 7], [0.6, 1.75], [0.0, 0.0])], close=8)
case("ScaleAndTranslate", [f32(1, 5, 4, 2), *moved([3, 7], [1.0, 1.0], [50.0, -50.0])])
case("ScaleAndTranslate", [f32(1, 5, 4, 2), *moved([3, 7], [1e-6, 1e6], [0.0, 0.0])], close=8)
case("ScaleAndTranslate", [f32(0, 5, 4, 2), *moved([3, 7], [1.0, 1.0], [0.0, 0.0])])
case("ScaleAndTranslate", [f32(1, 5, 4, 2), *moved([3, 7], [1.0, 1.0], [0.0, 0.0])], kernel_type="LANCZOS3", close=8)
case("ScaleAndTranslateGrad", [f32(0, 3, 4, 2), f32(0, 5, 4, 2), *moved([], [1.0, 1.0], [0.0, 0.0])[1:]])
case("ScaleAndTranslateGrad", [f32(1, 3, 4, 2), f32(1, 5, 4, 2), *moved([], [1.0, 1.0], [90.0, 0.0])[1:]])
for image, size, scale, translation in (
    ((5, 4, 2), [3, 7], [1.0, 1.0], [0.0, 0.0]),
    ((1, 5, 4, 2), [[3, 7]], [1.0, 1.0], [0.0, 0.0]),
    ((1, 5, 4, 2), [3, 7, 1], [1.0, 1.0], [0.0, 0.0]),
    ((1, 5, 4, 2), [0, 7], [1.0, 1.0], [0.0, 0.0]),
    ((1, 5, 4, 2), [3, -7], [1.0, 1.0], [0.0, 0.0]),
    ((1, 5, 4, 0), [3, 7], [1.0, 1.0], [0.0, 0.0]),
    ((1, 0, 4, 2), [3, 7], [1.0, 1.0], [0.0, 0.0]),
    ((1, 5, 4, 2), [3, 7], [0.0, 1.0], [0.0, 0.0]),
    ((1, 5, 4, 2), [3, 7], [1.0, -1.0], [0.0, 0.0]),
):
    refuse("ScaleAndTranslate", [f32(*image), *moved(size, scale, translation)])
refuse("ScaleAndTranslate", [f32(1, 5, 4, 2), *moved([3, 7], [1.0, 1.0], [0.0, 0.0])], kernel_type="lanczos2")
refuse("ScaleAndTranslateGrad", [f32(3, 4, 2), f32(1, 5, 4, 2), *moved([], [1.0, 1.0], [0.0, 0.0])[1:]])
refuse("ScaleAndTranslateGrad", [f32(1, 3, 4, 2), f32(5, 4, 2), *moved([], [1.0, 1.0], [0.0, 0.0])[1:]])
refuse("ScaleAndTranslateGrad", [f32(1, 3, 4, 2), f32(1, 5, 4, 2), *moved([], [1.0, 0.0], [0.0, 0.0])[1:]])

BOXES = tensor([[[0.1, 0.2, 0.7, 0.9], [0.0, 0.0, 0.4, 0.3]]], "float")
NONE = tensor([], "float").reshape(1, 0, 4)
SEEDS = dict(seed=3, seed2=5)


def box_ops(size, boxes, covered, seed=(4, 9), **attrs):
    """The three ops with the same demands."""
    yield "SampleDistortedBoundingBox", [size, boxes], {**SEEDS, "min_object_covered": covered, **attrs}
    yield "SampleDistortedBoundingBoxV2", [size, boxes, tensor(covered, "float")], {**SEEDS, **attrs}
    yield "StatelessSampleDistortedBoundingBox", [size, boxes, tensor(covered, "float"), tensor(seed, "int64")], attrs


for dtype in for_dtypes("SampleDistortedBoundingBoxV2"):
    for size, boxes, covered, attrs in (
        ([90, 120, 3], BOXES, 0.1, {}),
        ([90, 120, 3], BOXES, 0.5, dict(aspect_ratio_range=[0.5, 2.0], area_range=[0.1, 1.0])),
        ([33, 47, 1], NONE, 0.3, dict(use_image_if_no_bounding_boxes=True)),
        ([7, 5, 3], BOXES, 1.0, dict(max_attempts=3)),
        ([1, 1, 3], BOXES, 0.1, {}),
        ([100, 20, 3], BOXES, 0.0, dict(aspect_ratio_range=[3.0, 9.0], area_range=[0.02, 0.2], max_attempts=10)),
    ):
        for op, inputs, given in box_ops(tensor(size, dtype), boxes, covered, **attrs):
            case(op, inputs, **given)
for seed in ([0, 0], [1, 2], [-5, 2**40]):
    for op, inputs, given in box_ops(tensor([480, 640, 3], "int32"), BOXES, 0.2, seed=seed, aspect_ratio_range=[0.75, 1.33], area_range=[0.05, 1.0], use_image_if_no_bounding_boxes=True):
        if op.startswith("Stateless"):
            case(op, inputs, **given)
for size, boxes, covered, attrs in (
    ([90, 120], BOXES, 0.1, {}),
    ([[90, 120, 3]], BOXES, 0.1, {}),
    ([-90, 120, 3], BOXES, 0.1, {}),
    ([90, 120, 3], tensor([[0.1, 0.2, 0.7, 0.9]], "float"), 0.1, {}),
    ([90, 120, 3], f32(1, 2, 3), 0.1, {}),
    ([90, 120, 3], tensor([[[0.1, 0.2, 0.7, 1.5]]], "float"), 0.1, {}),
    ([90, 120, 3], NONE, 0.1, {}),
    ([90, 120, 3], BOXES, -1.0, {}),
    ([90, 120, 3], BOXES, 0.1, dict(aspect_ratio_range=[0.5])),
    ([90, 120, 3], BOXES, 0.1, dict(aspect_ratio_range=[0.0, 1.0])),
    ([90, 120, 3], BOXES, 0.1, dict(area_range=[0.5])),
    ([90, 120, 3], BOXES, 0.1, dict(area_range=[-0.5, 1.0])),
    ([90, 120, 3], BOXES, 0.1, dict(area_range=[0.5, 1.5])),
    ([90, 120, 3], BOXES, 0.1, dict(max_attempts=0)),
):
    for op, inputs, given in box_ops(tensor(size, "int32"), boxes, covered, **attrs):
        refuse(op, inputs, **given)
refuse("StatelessSampleDistortedBoundingBox", [tensor([9, 9, 3], "int32"), BOXES, tensor(0.1, "float"), tensor([1], "int64")])
refuse("StatelessSampleDistortedBoundingBox", [tensor([9, 9, 3], "int32"), BOXES, tensor([0.1], "float"), tensor([1, 2], "int64")])


@graph("SampleDistortedBoundingBoxV2")
def goes_on():
    box = raw.SampleDistortedBoundingBoxV2(
        image_size=feed([480, 640, 3], "int32"), bounding_boxes=feed(BOXES), min_object_covered=feed(0.1, "float"), seed=1, seed2=2, area_range=[0.1, 1.0]
    )
    return steps(*[list(box)] * 6)
