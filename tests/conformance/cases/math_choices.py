"""Select, SelectV2, ClipByValue, and what looks for NaN."""

from framework import *
from definitions import for_dtypes
from values import *

nan, inf = float("nan"), float("inf")
selectable = [d for d in for_dtypes("Select") if d not in ("resource", "variant")]

for dtype in selectable:
    case("Select", [boolean(2, 3), values(dtype, 2, 3), values(dtype, 2, 3)])
    case("Select", [boolean(4), values(dtype, 4, 3), values(dtype, 4, 3)])
    case("Select", [boolean(), values(dtype, 4, 3), values(dtype, 4, 3)])
    case("SelectV2", [boolean(2, 3), values(dtype, 2, 3), values(dtype, 2, 3)])
    case("SelectV2", [boolean(2, 1), values(dtype, 1, 3), values(dtype)])
    case("SelectV2", [boolean(), values(dtype, 4, 1), values(dtype, 3)])
    case("SelectV2", [boolean(0, 3), values(dtype, 3), values(dtype)])
case("Select", [boolean(0), f32(0, 3), f32(0, 3)])
refuse("Select", [boolean(2), f32(3), f32(3)])
refuse("Select", [boolean(2), f32(2), f32(3)])
refuse("Select", [boolean(1, 2), f32(2, 1), f32(2, 1)])
refuse("Select", [boolean(3), f32(2, 1), f32(2, 1)])
refuse("Select", [boolean(), f32(2, 1), f32(2)])
refuse("Select", [boolean(1), f32(2, 1), f32(2)])
refuse("Select", [boolean(1), f32(), f32()])
refuse("SelectV2", [boolean(3), f32(2, 1), f32(2)])
refuse("SelectV2", [boolean(3), f32(1, 2), f32(2)])

for dtype in for_dtypes("ClipByValue"):
    low, high = (1, 3) if dtype in UNSIGNED else (-1, 2)
    case("ClipByValue", [values(dtype, 3, 4), tensor(low, dtype), tensor(high, dtype)])
    if dtype not in COMPLEXES:
        case("ClipByValue", [values(dtype, 4), tensor([low] * 4, dtype), tensor(high, dtype)])
        case("ClipByValue", [values(dtype, 4), tensor([low] * 4, dtype), tensor([high] * 4, dtype)])
    case("ClipByValue", [values(dtype, 0, 2), tensor(low, dtype), tensor(high, dtype)])
case("ClipByValue", [tensor([5.0, 1.0, nan]), tensor(4.0), tensor(3.0)])
refuse("ClipByValue", [f32(3), f32(1), f32(1)])
refuse("ClipByValue", [f32(3), f32(2), f32(3)])
refuse("ClipByValue", [f32(2, 1), f32(), f32(2)])

for op in ("IsNan", "IsInf", "IsFinite"):
    for dtype in FLOATS:
        case(op, [values(dtype, 20, kind="special")])
for op in ("CheckNumerics", "CheckNumericsV2"):
    for dtype in FLOATS:
        case(op, [values(dtype, 2, 3)], message="all well")
    case(op, [f32(0)], message="nothing")
    for bad in ([1.0, nan], [1.0, inf], [-inf, 1.0], [nan, -inf], [inf, -inf], [inf, -inf, nan]):
        refuse(op, [tensor(bad)], message="look here")
