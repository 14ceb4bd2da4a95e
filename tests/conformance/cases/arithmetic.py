"""Add, AddV2, Sub, Mul: every dtype, broadcasting, empty tensors, special values, shapes that do not fit."""

from framework import *
from definitions import for_dtypes
from values import *

for op in ("Add", "AddV2", "Sub", "Mul"):
    for dtype in for_dtypes(op):
        case(op, [values(dtype, 2, 3), values(dtype, 2, 3)])
        case(op, [values(dtype, 7, 1, 5), values(dtype, 3, 1)])
        case(op, [values(dtype), values(dtype, 33)])
        case(op, [values(dtype, 0, 3), values(dtype, 3)])
        if dtype not in ("string",):
            case(op, [values(dtype, 40, kind="special"), values(dtype, 40, kind="extreme")])
    refuse(op, [f32(2, 3), f32(2, 4)])
    refuse(op, [i64(2, 0), i64(3)])
