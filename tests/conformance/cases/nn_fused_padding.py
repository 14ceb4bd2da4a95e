"""Convolutions that resize and mirror their images themselves, and gated recurrent units."""

import tensorflow as tf

from definitions import for_dtypes
from framework import *
from values import *

EDGES = tensor([[0, 0], [1, 1], [2, 1], [0, 0]], "int32")
NONE = tensor([[0, 0]] * 4, "int32")
PLAIN = dict(mode="REFLECT", strides=[1, 1, 1, 1], padding="VALID", known_shapes=True)

for dtype in for_dtypes("FusedPadConv2D"):
    for mode in ("REFLECT", "SYMMETRIC"):
        for padding in ("SAME", "VALID"):
            for stride in (1, 2):
                options = dict(mode=mode, strides=[1, stride, stride, 1], padding=padding, known_shapes=True)
                case("FusedPadConv2D", [values(dtype, 2, 5, 4, 3), EDGES, values(dtype, 2, 3, 3, 2)], sums=8, **options)
for dtype in for_dtypes("FusedResizeAndPadConv2D"):
    for mode in ("REFLECT", "SYMMETRIC"):
        for corners in (False, True):
            for size in ([7, 6], [3, 9], [5, 4]):
                options = dict(mode=mode, strides=[1, 1, 2, 1], padding="SAME", resize_align_corners=corners, known_shapes=True)
                case("FusedResizeAndPadConv2D", [values(dtype, 2, 5, 4, 3), tensor(size, "int32"), EDGES, values(dtype, 2, 3, 3, 2)], close=64, **options)

image, weights = f32(1, 4, 4, 2), f32(2, 2, 2, 3)
case("FusedPadConv2D", [image, EDGES, weights], mode="REFLECT", strides=[1, 2, 1, 1], padding="VALID", known_shapes=True, sums=8)
case("FusedPadConv2D", [image, tensor([[0, 0], [4, 1], [1, 1], [0, 0]], "int32"), weights], **{**PLAIN, "mode": "SYMMETRIC"}, sums=8)
for bad, mode in (
    ([[0, 0], [4, 1], [1, 1], [0, 0]], "REFLECT"),
    ([[0, 0], [5, 1], [1, 1], [0, 0]], "SYMMETRIC"),
    ([[0, 0], [-1, 1], [1, 1], [0, 0]], "REFLECT"),
    ([[1, 0], [1, 1], [1, 1], [0, 0]], "SYMMETRIC"),
    ([[1, 0], [1, 1], [1, 1], [0, 0]], "REFLECT"),
    ([[0, 0], [1, 1], [1, 1], [1, 0]], "REFLECT"),
):
    refuse("FusedPadConv2D", [image, tensor(bad, "int32"), weights], **{**PLAIN, "mode": mode})
    refuse("FusedResizeAndPadConv2D", [image, tensor([4, 4], "int32"), tensor(bad, "int32"), weights], **{**PLAIN, "mode": mode})
for inputs in ([f32(0, 4, 4, 2), EDGES, weights], [image, EDGES, f32(2, 2, 3, 3)], [image, EDGES, f32(9, 9, 2, 3)], [image, EDGES, f32(2, 2, 2, 0)], [f32(1, 0, 4, 2), NONE, weights]):
    refuse("FusedPadConv2D", inputs, **PLAIN)
refuse("FusedPadConv2D", [image, EDGES, weights], mode="REFLECT", strides=[2, 1, 1, 1], padding="VALID", known_shapes=True)
for size in ([0, 6], [5, 6, 7], 5):
    refuse("FusedResizeAndPadConv2D", [image, tensor(size, "int32"), EDGES, weights], **PLAIN)
refuse("FusedResizeAndPadConv2D", [f32(0, 4, 4, 2), tensor([5, 6], "int32"), EDGES, weights], **PLAIN)
refuse("FusedResizeAndPadConv2D", [image, tensor([5, 6], "int32"), EDGES, f32(2, 2, 3, 3)], **PLAIN)

CELL = ((2, 3), (2, 4), (7, 8), (7, 4), (8,), (4,))
STATES = ((2, 4),) * 4


def sized(batch, inputs, cells):
    return (batch, inputs), (batch, cells), (inputs + cells, 2 * cells), (inputs + cells, cells), (2 * cells,), (cells,)


for sizes in ((2, 3, 4), (1, 1, 1), (5, 2, 7), (0, 3, 4), (2, 0, 4), (3, 8, 16)):
    shapes, states = sized(*sizes), ((sizes[0], sizes[2]),) * 4
    case("GRUBlockCell", [f32(*s) for s in shapes], close=64)
    case("GRUBlockCellGrad", [f32(*s) for s in shapes] + [f32(*s, kind="unit") for s in states], close=64)
case("GRUBlockCell", [f32(*s) for s in sized(2, 3, 0)])
for op, shapes in (("GRUBlockCell", CELL), ("GRUBlockCellGrad", CELL + STATES)):
    for i, shape in enumerate(shapes):
        for wrong in (shape[:-1] + (shape[-1] + 1,), (shape[0] + 1,) + shape[1:], shape + (1,)):
            refuse(op, [f32(*(wrong if k == i else s)) for k, s in enumerate(shapes)])
