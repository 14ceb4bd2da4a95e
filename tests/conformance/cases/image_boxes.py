"""Colours, boxes and glimpses of images."""

from framework import *
from definitions import for_dtypes
from values import *

for op in ("RGBToHSV", "HSVToRGB"):
    for dtype in for_dtypes(op):
        case(op, [values(dtype, 4, 5, 3, low=0, high=1)], close=32)
        case(op, [values(dtype, 3, low=0, high=1)], close=32)
        case(op, [tensor([[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 1]], dtype)], close=32)
        case(op, [values(dtype, 0, 3)])
    refuse(op, [f32(2, 2)])
    refuse(op, [f32()])
IMAGE = f32(2, 5, 4, 3, low=0, high=1)
for op in ("AdjustContrastv2", "AdjustHue", "AdjustSaturation"):
    for amount in (0.0, 0.4, -0.3, 1.7):
        case(op, [IMAGE, tensor(amount, "float")], close=64)
    case(op, [f32(0, 4, 3), tensor(0.5, "float")])
    refuse(op, [f32(3), tensor(0.5, "float")])
    refuse(op, [IMAGE, f32(1)])
refuse("AdjustHue", [f32(2, 2, 2), tensor(0.5, "float")])
refuse("AdjustSaturation", [f32(2, 2, 2), tensor(0.5, "float")])
case("AdjustContrastv2", [f32(5, 4, 1, low=0, high=1), tensor(2.0, "float")], close=64)

corners = f32(12, 2, low=0, high=3)
BOXES = np.concatenate([corners, corners + f32(12, 2, low=0.5, high=2)], axis=1)
SCORES = f32(12, low=0, high=1)
MOST, SHARED, LEAST = tensor(6, "int32"), tensor(0.3, "float"), tensor(0.2, "float")
case("NonMaxSuppression", [BOXES, SCORES, MOST])
case("NonMaxSuppression", [BOXES, SCORES, MOST], iou_threshold=0.1)
case("NonMaxSuppression", [f32(0, 4), f32(0), MOST])
case("NonMaxSuppressionV2", [BOXES, SCORES, MOST, SHARED])
case("NonMaxSuppressionV2", [BOXES, SCORES, tensor(20, "int32"), SHARED])
case("NonMaxSuppressionV2", [f32(0, 4), f32(0), MOST, SHARED])
for op in ("NonMaxSuppressionV3", "NonMaxSuppressionV4"):
    case(op, [BOXES, SCORES, MOST, SHARED, LEAST])
    case(op, [BOXES, SCORES, tensor(0, "int32"), SHARED, LEAST])
    case(op, [f32(0, 4), f32(0), MOST, SHARED, LEAST])
case("NonMaxSuppressionV4", [BOXES, SCORES, tensor(20, "int32"), SHARED, LEAST], pad_to_max_output_size=True)
for sigma in (0.0, 0.5):
    case("NonMaxSuppressionV5", [BOXES, SCORES, MOST, SHARED, LEAST, tensor(sigma, "float")], ulp=32)
    case("NonMaxSuppressionV5", [BOXES, SCORES, tensor(20, "int32"), SHARED, LEAST, tensor(sigma, "float")], pad_to_max_output_size=True, ulp=32)
# With a sigma, what overlaps more than is allowed loses score too, and keeps its place.
case("NonMaxSuppressionV5", [BOXES, SCORES, tensor(12, "int32"), tensor(0.05, "float"), tensor(-np.inf, "float"), tensor(0.5, "float")], ulp=32)
case("NonMaxSuppressionV5", [BOXES, SCORES, MOST, tensor(0.0, "float"), tensor(0.0, "float"), tensor(0.1, "float")], ulp=32)
case("NonMaxSuppressionV5", [f32(0, 4), f32(0), MOST, SHARED, LEAST, tensor(0.0, "float")])
case("NonMaxSuppressionWithOverlaps", [f32(12, 12, low=0, high=1), SCORES, MOST, SHARED, LEAST])
case("NonMaxSuppressionWithOverlaps", [f32(0, 0), f32(0), MOST, SHARED, LEAST])
EXTRA = {"": [], "V2": [SHARED], "V3": [SHARED, LEAST], "V4": [SHARED, LEAST], "V5": [SHARED, LEAST, tensor(0.0, "float")]}
B, S, N = f32(2, 4), f32(2), tensor(1, "int32")
for version, extra in EXTRA.items():
    op = "NonMaxSuppression" + version
    for inputs in ([f32(4), S, N], [f32(2, 3), S, N], [B, f32(3), N], [B, f32(2, 1), N], [B, S, tensor([1, 2], "int32")], [B, S, tensor(-1, "int32")]):
        refuse(op, [*inputs, *extra])
    for k in range(len(extra)):
        wrong = list(extra)
        wrong[k] = f32(2)
        refuse(op, [B, S, N, *wrong])
    if extra:
        refuse(op, [B, S, N, tensor(2.0, "float"), *extra[1:]])
refuse("NonMaxSuppression", [B, S, N], iou_threshold=1.5)
refuse("NonMaxSuppressionV5", [B, S, N, SHARED, LEAST, tensor(-1.0, "float")])

op = "CombinedNonMaxSuppression"
corners = f32(2, 8, 1, 2, low=0, high=0.8)
BOXES = np.concatenate([corners, corners + f32(2, 8, 1, 2, low=0.1, high=0.5)], axis=3)
SCORES = f32(2, 8, 3, low=0, high=1)
for options in (dict(), dict(pad_per_class=True), dict(clip_boxes=False)):
    case(op, [BOXES, SCORES, tensor(3, "int32"), tensor(7, "int32"), SHARED, LEAST], **options)
    case(op, [np.repeat(BOXES, 3, axis=2), SCORES, tensor(2, "int32"), tensor(20, "int32"), SHARED, LEAST], **options)
B, S = f32(1, 2, 1, 4), f32(1, 2, 2)
for inputs in ([f32(2, 1, 4), S, N, N, SHARED, LEAST], [B, S, i32(2), N, SHARED, LEAST], [B, S, N, i32(2), SHARED, LEAST], [B, S, tensor(0, "int32"), N, SHARED, LEAST],
               [B, S, N, tensor(0, "int32"), SHARED, LEAST], [B, S, N, N, tensor(2.0, "float"), LEAST], [B, S, N, N, f32(1), LEAST], [B, S, N, N, SHARED, f32(1)],
               [f32(1, 2, 3, 4), S, N, N, SHARED, LEAST], [f32(1, 3, 1, 4), S, N, N, SHARED, LEAST], [f32(1, 2, 1, 3), S, N, N, SHARED, LEAST]):  # fmt: skip
    refuse(op, inputs)
exempt(op, "empty", why="TensorFlow does not take batches without boxes")

BOXES = tensor([[[0.1, 0.2, 0.6, 0.7], [-0.2, 0.3, 0.5, 1.4], [0.5, 0.5, 0.2, 0.2]], [[0, 0, 1, 1], [0.4, 0.4, 0.4, 0.4], [2, 2, 3, 3]]], "float")
for dtype in for_dtypes("DrawBoundingBoxes"):
    for depth in (1, 3, 4):
        case("DrawBoundingBoxes", [values(dtype, 2, 9, 8, depth), BOXES])
        case("DrawBoundingBoxesV2", [values(dtype, 2, 9, 8, depth), BOXES, f32(2, depth)])
    case("DrawBoundingBoxes", [values(dtype, 2, 9, 8, 3), f32(2, 0, 4)])
    case("DrawBoundingBoxesV2", [values(dtype, 2, 9, 8, 3), f32(2, 0, 4), f32(1, 3)])
    case("DrawBoundingBoxesV2", [values(dtype, 2, 9, 8, 3), BOXES, f32(0, 3)])
X, B = f32(1, 4, 4, 3), f32(1, 1, 4, low=0, high=1)
for x, b in [(f32(1, 4, 4, 2), B), (X, f32(2, 1, 4)), (X, f32(1, 1, 3)), (X, f32(1, 4))]:
    refuse("DrawBoundingBoxes", [x, b])
    refuse("DrawBoundingBoxesV2", [x, b, f32(1, 3)])

PLACES = tensor([[0, 0], [0.5, -0.4]], "float")
for op in ("ExtractGlimpse", "ExtractGlimpseV2"):
    for centered in (True, False):
        for normalized in (True, False):
            options = dict(centered=centered, normalized=normalized, uniform_noise=False, noise="zero")
            case(op, [f32(2, 6, 5, 3), tensor([3, 2], "int32"), PLACES], **options)
            case(op, [f32(2, 6, 5, 3), tensor([8, 9], "int32"), PLACES], **options)
            case(op, [f32(2, 6, 5, 3), tensor([4, 4], "int32"), PLACES * 5], **options)
    case(op, [f32(2, 6, 5, 3), tensor([8, 9], "int32"), PLACES], check="shape")
    case(op, [f32(2, 6, 5, 3), tensor([0, 2], "int32"), PLACES])
    for x, size, places in [((4, 4, 3), [2, 2], (1, 2)), ((1, 4, 4, 3), [2], (1, 2)), ((1, 4, 4, 3), [2, 2], (2,)), ((1, 4, 4, 3), [2, 2], (2, 2)), ((1, 4, 4, 3), [2, 2], (1, 3)),
                            ((1, 4, 4, 3), [[2, 2]], (1, 2))]:  # fmt: skip
        refuse(op, [f32(*x), tensor(size, "int32"), f32(*places)])
    refuse(op, [X, tensor([6, 6], "int32"), f32(1, 2)], noise="foo", uniform_noise=False)
