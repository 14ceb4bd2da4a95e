"""Resizing, cropping and projecting of images, with gradients."""

from framework import *
from definitions import for_dtypes
from values import *

MODES = (dict(), dict(align_corners=True), dict(half_pixel_centers=True))
for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"):
    for dtype in for_dtypes(op):
        x = values(dtype, 2, 5, 4, 3)
        for mode in MODES:
            if op == "ResizeArea" and "half_pixel_centers" in mode:
                continue
            case(op, [x, tensor([7, 9], "int32")], close=16, **mode)
            case(op, [x, tensor([3, 2], "int32")], close=16, **mode)
        case(op, [x, tensor([1, 1], "int32")], close=16)
        case(op, [values(dtype, 0, 4, 4, 3), tensor([2, 2], "int32")])
    X = f32(1, 4, 4, 3)
    for x, size in [(f32(4, 4, 3), [2, 2]), (X, [2, 2, 2]), (X, [[2, 2]]), (X, [0, 2]), (X, [-1, 2]), (f32(1, 0, 4, 3), [2, 2]), (f32(1, 4, 4, 0), [2, 2]), (X, 2)]:
        refuse(op, [x, tensor(size, "int32")])
    if op != "ResizeArea":
        refuse(op, [X, tensor([2, 2], "int32")], align_corners=True, half_pixel_centers=True)
for op in ("ResizeBilinearGrad", "ResizeBicubicGrad"):
    for dtype in for_dtypes(op):
        for mode in MODES:
            case(op, [f32(2, 7, 9, 3), values(dtype, 2, 5, 4, 3)], close=32, **mode)
            case(op, [f32(2, 3, 2, 3), values(dtype, 2, 5, 4, 3)], close=32, **mode)
        case(op, [f32(0, 3, 2, 3), values(dtype, 0, 5, 4, 3)])
    for g, x in [((1, 2, 2, 3), (4, 4, 3)), ((2, 2, 3), (1, 4, 4, 3)), ((1, 0, 2, 3), (1, 4, 4, 3)), ((1, 2, 2, 3), (1, 0, 4, 3))]:
        refuse(op, [f32(*g), f32(*x)])
for dtype in for_dtypes("ResizeNearestNeighborGrad"):
    for mode in MODES:
        case("ResizeNearestNeighborGrad", [values(dtype, 2, 7, 9, 3), tensor([5, 4], "int32")], sums=32, **mode)
    case("ResizeNearestNeighborGrad", [values(dtype, 0, 7, 9, 3), tensor([5, 4], "int32")])
for g, size in [((2, 2, 3), [4, 4]), ((1, 2, 2, 3), [4]), ((1, 2, 2, 3), [[4, 4]]), ((1, 2, 2, 3), [0, 4])]:
    refuse("ResizeNearestNeighborGrad", [f32(*g), tensor(size, "int32")])

BOXES = tensor([[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.8, 0.7, 0.1, -0.3], [-0.5, 0.3, 1.4, 0.6]], "float")
PLACES = tensor([0, 1, 1, 0], "int32")
for dtype in for_dtypes("CropAndResize"):
    x = values(dtype, 2, 6, 5, 3)
    for method in ("bilinear", "nearest"):
        case("CropAndResize", [x, BOXES, PLACES, tensor([4, 3], "int32")], method=method, extrapolation_value=2.5, close=32)
        case("CropAndResize", [x, BOXES, PLACES, tensor([1, 1], "int32")], method=method, close=32)
    case("CropAndResize", [x, f32(0, 4), i32(0), tensor([2, 2], "int32")])
    case("CropAndResizeGradBoxes", [f32(4, 4, 3, 3), x, BOXES, PLACES], close=64)
    case("CropAndResizeGradBoxes", [f32(4, 1, 1, 3), x, BOXES, PLACES], close=64)
for dtype in for_dtypes("CropAndResizeGradImage"):
    for method in ("bilinear", "nearest"):
        case("CropAndResizeGradImage", [f32(4, 4, 3, 3), BOXES, PLACES, tensor([2, 6, 5, 3], "int32")], T=dtype, method=method, close=64)
    case("CropAndResizeGradImage", [f32(0, 4, 3, 3), f32(0, 4), i32(0), tensor([2, 6, 5, 3], "int32")], T=dtype)
X, B, G = f32(1, 4, 4, 3), tensor([[0, 0, 1, 1]], "float"), f32(1, 2, 2, 3)
for x, b, i, size in [(f32(4, 4, 3), B, [0], [2, 2]), (X, f32(4), [0], [2, 2]), (X, f32(1, 3), [0], [2, 2]), (X, B, [0, 0], [2, 2]), (X, B, [1], [2, 2]), (X, B, [-1], [2, 2]),
                      (X, B, [0], [2]), (X, B, [0], [0, 2]), (X, B, [0], [[2, 2]]), (f32(1, 0, 4, 3), B, [0], [2, 2]), (X, B, [[0]], [2, 2]),
                      (X, B * np.float32("nan"), [0], [2, 2])]:  # fmt: skip
    refuse("CropAndResize", [x, b, tensor(i, "int32"), tensor(size, "int32")])
for g, b, i, size in [(f32(2, 2, 3), B, [0], [1, 4, 4, 3]), (G, B, [0], [4, 4, 3]), (G, B, [1], [1, 4, 4, 3]), (G, B, [0], [1, 4, 4, 2]), (G, f32(2, 4), [0, 0], [1, 4, 4, 3]),
                      (G, B, [0], [1, 0, 4, 3])]:  # fmt: skip
    refuse("CropAndResizeGradImage", [g, b, tensor(i, "int32"), tensor(size, "int32")], T="float")
for g, x, b, i in [(f32(2, 2, 3), X, B, [0]), (G, f32(4, 4, 3), B, [0]), (G, X, B, [1]), (G, f32(1, 4, 4, 2), B, [0]), (G, X, f32(2, 4), [0, 0])]:
    refuse("CropAndResizeGradBoxes", [g, x, b, tensor(i, "int32")])

TURN = tensor([[0.9, -0.3, 1.2, 0.25, 1.1, -0.7, 0.01, 0.02]], "float")
for op in ("ImageProjectiveTransformV2", "ImageProjectiveTransformV3"):
    fill = [tensor(1.5, "float")] if op.endswith("V3") else []
    for dtype in for_dtypes(op, "dtype"):
        for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
            for interpolation in ("NEAREST", "BILINEAR"):
                case(op, [values(dtype, 2, 6, 5, 2), TURN, tensor([7, 4], "int32"), *fill], interpolation=interpolation, fill_mode=mode, close=64)
        case(op, [values(dtype, 0, 6, 5, 2), TURN, tensor([7, 4], "int32"), *fill], interpolation="NEAREST")
    for x, t, size in [((4, 4, 3), (1, 8), [4, 4]), ((1, 4, 4, 3), (1, 7), [4, 4]), ((1, 4, 4, 3), (2, 8), [4, 4]), ((1, 4, 4, 3), (1, 8), [4]), ((1, 4, 4, 3), (1, 8), [0, 4])]:
        refuse(op, [f32(*x), f32(*t), tensor(size, "int32"), *fill], interpolation="NEAREST")
refuse("ImageProjectiveTransformV3", [X, f32(1, 8), tensor([4, 4], "int32"), f32(1)], interpolation="NEAREST")

for dtype in for_dtypes("ExtractImagePatches"):
    x = values(dtype, 2, 6, 5, 2)
    case("ExtractImagePatches", [x], ksizes=[1, 3, 2, 1], strides=[1, 2, 1, 1], rates=[1, 1, 1, 1], padding="VALID")
    case("ExtractImagePatches", [x], ksizes=[1, 2, 2, 1], strides=[1, 1, 3, 1], rates=[1, 2, 1, 1], padding="SAME")
    case("ExtractImagePatches", [values(dtype, 0, 6, 5, 2)], ksizes=[1, 3, 2, 1], strides=[1, 2, 1, 1], rates=[1, 1, 1, 1], padding="VALID")
for dtype in for_dtypes("ExtractVolumePatches"):
    x = values(dtype, 2, 4, 5, 3, 2)
    case("ExtractVolumePatches", [x], ksizes=[1, 2, 3, 2, 1], strides=[1, 2, 1, 1, 1], padding="VALID")
    case("ExtractVolumePatches", [x], ksizes=[1, 2, 3, 2, 1], strides=[1, 2, 1, 1, 1], padding="SAME")
    case("ExtractVolumePatches", [x[:0]], ksizes=[1, 2, 3, 2, 1], strides=[1, 2, 1, 1, 1], padding="SAME")
PLAIN = dict(ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID")
refuse("ExtractImagePatches", [f32(4, 4, 3)], **PLAIN)
for change in (dict(ksizes=[2, 2, 2, 1]), dict(strides=[2, 1, 1, 1]), dict(rates=[2, 1, 1, 1]), dict(ksizes=[1, 6, 6, 1]), dict(ksizes=[1, 0, 2, 1])):
    refuse("ExtractImagePatches", [X], **{**PLAIN, **change})
PLAIN = dict(ksizes=[1, 2, 2, 2, 1], strides=[1] * 5, padding="VALID")
refuse("ExtractVolumePatches", [X], **PLAIN)
for change in (dict(ksizes=[2, 2, 2, 2, 1]), dict(strides=[2, 1, 1, 1, 1]), dict(ksizes=[1, 9, 2, 2, 1])):
    refuse("ExtractVolumePatches", [f32(1, 3, 4, 4, 2)], **{**PLAIN, **change})
