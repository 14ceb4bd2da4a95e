"""Division, remainders, powers, comparisons, bits: what integers refuse, what floats make of zero, NaN and infinities."""

from framework import *
from definitions import for_dtypes
from values import *

nan, inf = float("nan"), float("inf")

for op in ("Div", "FloorDiv", "TruncateDiv", "FloorMod", "Mod", "TruncateMod"):
    for dtype in for_dtypes(op):
        if dtype in SIGNED:
            case(op, [tensor([7, -7, 7, -7, 0, 6], dtype), tensor([2, 2, -2, -2, 5, -3], dtype)])
            refuse(op, [tensor([1, 2], dtype), tensor([1, 0], dtype)])
        elif dtype in UNSIGNED:
            case(op, [tensor([7, 200, 0], dtype), tensor([2, 7, 5], dtype)])
            refuse(op, [tensor([1, 2], dtype), tensor(0, dtype)])
        elif dtype in FLOATS:
            case(op, [tensor([1, -5.5, 5.5, nan, 3, inf, 5, 0], dtype), tensor([0, 3, -3, 1, inf, 2, -inf, 0], dtype)])
    case(op, [i32(0, 1), tensor([0])])
case("Div", [tensor([-(2**31)]), tensor([-1])])
case("FloorDiv", [tensor([-(2**31), 5]), tensor([-1, -1])])
case("FloorMod", [tensor([-(2**31), 5]), tensor([-1, -1])])
for dtype in for_dtypes("Pow"):
    if dtype in SIGNED:
        case("Pow", [tensor([3, -2, 7, 0, 2], dtype), tensor([7, 7, 0, 0, 6], dtype)])
        refuse("Pow", [tensor([1, 2], dtype), tensor([-1, 1], dtype)])
for op in ("Maximum", "Minimum"):
    for dtype in FLOATS:
        case(op, [tensor([nan, 1, -0.0, 0.0, inf], dtype), tensor([1, nan, 0.0, -0.0, nan], dtype)])
for op in ("DivNoNan", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py"):
    for dtype in ("float", "double"):
        case(op, [tensor([1, nan, inf, 0, 0, 0, 2], dtype), tensor([0, 0, 0, nan, inf, 0, 3], dtype)])

for op in ("LeftShift", "RightShift"):
    for dtype in SIGNED:
        case(op, [tensor([-100, 100, -1, 1, 5], dtype), tensor([-1, 70, 3, 31, 2], dtype)])
    for dtype in UNSIGNED:
        case(op, [tensor([200, 100, 255, 1], dtype), tensor([120, 40, 3, 7], dtype)])
for op in ("LogicalAnd", "LogicalOr"):
    case(op, [boolean(2, 3), boolean(3)])
    case(op, [boolean(0), boolean(1)])
    refuse(op, [boolean(2), boolean(3)])
case("LogicalNot", [boolean(2, 3)])
case("LogicalNot", [boolean(0)])
refuse("BitwiseAnd", [i32(2), i32(3)])

for op in ("Equal", "NotEqual"):
    case(op, [i32(2), i32(3)], incompatible_shape_error=False)
    case(op, [strings(2, 1), strings(3)])
    case(op, [tensor([nan, 1.0]), tensor([nan, 1.0])])
    case(op, [boolean(4), boolean(4)])
    refuse(op, [i32(2), i32(3)])
case("ApproximateEqual", [tensor([1.0, nan, inf, 2.0]), tensor([1.000001, nan, inf, 2.1])], tolerance=0.01)
refuse("ApproximateEqual", [f32(2), f32(3)])
case("Add", [strings(2, 1), strings(3)])
case("Cross", [f32(2, 3), f32(2, 3)])
for dtype in for_dtypes("Cross"):
    case("Cross", [values(dtype, 3), values(dtype, 3)], close=8)
case("Cross", [f32(0, 3), f32(0, 3)])
refuse("Cross", [f32(2), f32(3)])
refuse("Cross", [f32(2), f32(2)])
refuse("Cross", [f32(), f32()])
for op in ("TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"):
    case(op, [f32(2, 3, kind="positive"), f32(6)])
    refuse(op, [f32(3), f32(2)])

for dtype in for_dtypes("AddN"):
    if dtype != "variant":
        case("AddN", [[values(dtype, 3)]])
        case("AddN", [[values(dtype, 0, 2), values(dtype, 0, 2)]])
        case("AddN", [[values(dtype, 5)] * 9], sums=4)
refuse("AddN", [[f32(2), f32()]])
