"""What a debugger asks of tensors."""

from framework import *
from definitions import for_dtypes
from values import *

FLOATS = ("float", "double", "half", "bfloat16")
for dtype in for_dtypes("DebugNumericSummaryV2"):
    for out in ("float", "double"):
        for mode in (2, 3, 4, 5, 8):
            case("DebugNumericSummaryV2", [values(dtype, 3, 4)], tensor_debug_mode=mode, tensor_id=7, output_dtype=number_of(out))
            if dtype in FLOATS:
                case("DebugNumericSummaryV2", [values(dtype, 11, kind="special")], tensor_debug_mode=mode, tensor_id=7, output_dtype=number_of(out))
        case("DebugNumericSummaryV2", [values(dtype, 0, 3)], tensor_debug_mode=4, tensor_id=1, output_dtype=number_of(out))
case("DebugNumericSummaryV2", [f32(1, 2, 1, 3, 1, 2, 1, 2)], tensor_debug_mode=5, tensor_id=1)
for mode in (-1, 0, 1, 6, 7, 9):
    refuse("DebugNumericSummaryV2", [f32(3)], tensor_debug_mode=mode, tensor_id=1)
refuse("DebugNumericSummaryV2", [f32(3)], tensor_debug_mode=2, tensor_id=2**24 + 1)
refuse("DebugNumericSummaryV2", [f32(3)], tensor_debug_mode=2, tensor_id=2**53 + 1, output_dtype=number_of("double"))
case("DebugIdentityV2", [f32(3, 2)])
case("DebugIdentityV2", [strings(0)])
case("DebugIdentityV2", [i64()])
exempt("DebugIdentityV2", "refusal", why="hands on what it gets")

for dtype in for_dtypes("DebugNanCount"):
    case("DebugNanCount", [values(dtype, 3, 4)], tensor_name="a:0")
for dtype in ("float", "double", "half", "bfloat16"):
    case("DebugNanCount", [values(dtype, 11, kind="special")], tensor_name="a:0")
for dtype in for_dtypes("DebugNumericSummary"):
    case("DebugNumericSummary", [values(dtype, 3, 4)], tensor_name="a:0", ulp=64)
    case("DebugNumericSummary", [values(dtype, 9)], tensor_name="a:0", lower_bound=-1.0, upper_bound=1.0, ulp=64)
    case("DebugNumericSummary", [values(dtype, 0, 3)], tensor_name="a:0")
    case("DebugNumericSummary", [values(dtype)], tensor_name="a")
for dtype in ("float", "double"):
    for low, high in ((-float("inf"), float("inf")), (-1.5, 0.5), (2.0, 2.0), (5.0, 2.0), (float("inf"), -float("inf")), (float("nan"), float("nan"))):
        case("DebugNumericSummary", [values(dtype, 11, kind="special")], tensor_name="a:0", lower_bound=low, upper_bound=high, ulp=64)
case("DebugNumericSummary", [f32(3)], tensor_name="a:0", mute_if_healthy=True, ulp=64)
for op in ("DebugIdentity", "DebugIdentityV3"):
    for array in (f32(2, 3), strings(2), i64(0), boolean(2), c64(), i8(4)):
        case(op, [array], tensor_name="a:0")
for op in ("DebugIdentity", "DebugIdentityV3", "DebugNanCount", "DebugNumericSummary"):
    for name in ("", "a:x", "a:0:1"):
        refuse(op, [f32(3)], tensor_name=name)
    for name in (":0", "a:-1", "^a"):
        case(op, [f32(3)], tensor_name=name, ulp=64)
case("DebugNanCount", [f32(0)], tensor_name="a:0")
