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
