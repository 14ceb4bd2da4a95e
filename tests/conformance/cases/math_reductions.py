"""Reductions, ArgMax and ArgMin, scans: axes in any order, empty and long inputs, what is refused."""

from framework import *
from definitions import for_dtypes
from values import *

nan, inf = float("nan"), float("inf")
ALL_OF_THEM = ("Sum", "Prod", "Mean", "Max", "Min", "EuclideanNorm")

for op in ALL_OF_THEM:
    rule = {} if op in ("Max", "Min") else {"sums": 8}
    unit = {"kind": "positive"} if op != "Prod" else {"low": 1, "high": 2}
    for axes in ([0], [1], [2], [3], [0, 1], [0, 2], [1, 3], [0, 2, 3], [-1, 0], [0, 1, 2, 3], [3, 1]):
        case(op, [f32(2, 3, 4, 5, **unit), tensor(axes)], **rule)
        case(op, [f32(2, 1, 4, 1, **unit), tensor(axes, "int64")], keep_dims=True, **rule)
    case(op, [f32(5000, **unit) if op != "Prod" else tensor([1.0] * 5000), tensor(0)], **rule)
    case(op, [f32(3000, 3, **unit) if op != "Prod" else tensor([[1.0] * 3] * 3000), tensor(0)], **rule)
    case(op, [f32(), tensor([], "int32")], **rule)
    case(op, [f32(2, 3, **unit), tensor([[0, 1]])], **rule)
    for dtype in for_dtypes(op):
        case(op, [values(dtype, 2, 0), tensor([1])])
        case(op, [values(dtype, 0, 2), tensor([1])])
        case(op, [values(dtype, 0, 2), tensor([0])], keep_dims=True)
    refuse(op, [f32(2, 3), tensor([2])])
    refuse(op, [f32(2, 3), tensor([-3])])
    refuse(op, [f32(2, 3), tensor([0, -2])])
    refuse(op, [f32(), tensor(0)])
for op in ("Max", "Min"):
    for dtype in FLOATS:
        case(op, [tensor([[1, nan], [nan, 1]], dtype), tensor([1])])
        case(op, [tensor([[1, nan], [2, 1]], dtype), tensor([0])])
for dtype in ("int8", "uint8", "int16", "int32", "int64"):
    case("Mean", [tensor([100, 100, 7, 120], dtype), tensor(0)])
    case("Sum", [tensor([100, 100, 7, 120], dtype), tensor(0)])
case("Mean", [tensor([-7, -8]), tensor(0)])
for op in ("All", "Any"):
    case(op, [boolean(2, 3, 4), tensor([0, 2])], keep_dims=True)
    case(op, [boolean(2, 0), tensor([1])])
    refuse(op, [boolean(2, 3), tensor([2])])

for op in ("ArgMax", "ArgMin"):
    for dtype in for_dtypes(op):
        for axis in (0, 1, -1):
            case(op, [values(dtype, 3, 4, 5, **({"low": 0, "high": 4} if dtype != "bool" else {})), tensor(axis)])
        case(op, [values(dtype, 3, 4), tensor(0, "int64")], output_type="int32")
    case(op, [f32(0, 2), tensor(1)])
    case(op, [tensor([[1, nan, 3, nan, 1], [nan, nan, 3, 4, 3]]), tensor(1)])
    case(op, [tensor([nan, nan]), tensor(0)])
    case(op, [tensor([inf, -inf, -inf, inf]), tensor(0)])
    refuse(op, [f32(2, 3), tensor(2)])
    refuse(op, [f32(2, 3), tensor(-3)])
    refuse(op, [f32(2, 3), tensor([0])])
    refuse(op, [f32(2, 0), tensor(1)])
    refuse(op, [f32(), tensor(0)])
case("ArgMax", [f32(3, 4), tensor(1)], output_type="int16")
case("ArgMax", [f32(3, 4), tensor(1)], output_type="uint16")

for op in ("Cumsum", "Cumprod", "CumulativeLogsumexp"):
    rule = {"sums": 16} if op != "CumulativeLogsumexp" else {"close": 16}
    for exclusive in (False, True):
        for reverse in (False, True):
            for axis in (0, 1, -1):
                case(op, [f32(3, 4, 2, low=1, high=2), tensor(axis)], exclusive=exclusive, reverse=reverse, **rule)
    case(op, [f32(3, 0), tensor(0, "int64")], exclusive=True)
    refuse(op, [f32(2, 3), tensor(2)])
    refuse(op, [f32(2, 3), tensor([0])])
    refuse(op, [f32(), tensor(0)])
case("CumulativeLogsumexp", [tensor([-inf, -inf, 2.0, 3.0]), tensor(0)], close=8)
case("CumulativeLogsumexp", [tensor([-inf, -inf, 2.0]), tensor(0)], exclusive=True, reverse=True, close=8)
