"""Range, LinSpace, counting, and broadcasting as ops."""

from framework import *
from definitions import for_dtypes
from values import *

nan, inf = float("nan"), float("inf")

for dtype in ("int32", "int64", "float", "double"):
    for start, limit, delta in ((0, 5, 1), (10, 0, -3), (3, 3, 1), (-4, 9, 5)):
        case("Range", [tensor(start, dtype), tensor(limit, dtype), tensor(delta, dtype)])
    refuse("Range", [tensor(0, dtype), tensor(5, dtype), tensor(0, dtype)])
    refuse("Range", [tensor(0, dtype), tensor(5, dtype), tensor(-1, dtype)])
    refuse("Range", [tensor(5, dtype), tensor(0, dtype), tensor(1, dtype)])
case("Range", [tensor(0.0), tensor(3.0), tensor(0.1)])
case("Range", [tensor(1.0, "double"), tensor(-1.0, "double"), tensor(-0.3, "double")])
refuse("Range", [tensor([5, 1]), tensor(0), tensor(1)])
refuse("Range", [tensor(5), tensor([0, 1]), tensor(1)])
refuse("Range", [tensor(5), tensor(0), tensor([0, 1])])
refuse("Range", [tensor(0.0), tensor(inf), tensor(0.3)])
refuse("Range", [tensor(nan), tensor(1.0), tensor(0.3)])
for dtype in ("float", "double"):
    for count in (1, 2, 7):
        case("LinSpace", [tensor(0.1, dtype), tensor(0.9, dtype), tensor(count)])
        case("LinSpace", [tensor(5, dtype), tensor(-5, dtype), tensor(count, "int64")])
refuse("LinSpace", [tensor(0.0), tensor(1.0), tensor(0)])
refuse("LinSpace", [tensor([0.0]), tensor(1.0), tensor(2)])
refuse("LinSpace", [tensor(0.0), tensor([1.0]), tensor(2)])
refuse("LinSpace", [tensor(0.0), tensor(1.0), tensor([2])])

for dtype in ("int32", "int64", "float", "double"):
    case("Bincount", [tensor([1, 2, 5, 1]), tensor(4), values(dtype, 0)])
    case("Bincount", [tensor([1, 2, 5, 1]), tensor(6), values(dtype, 4)])
    case("DenseBincount", [tensor([[1, 1], [5, 0]]), tensor(4), values(dtype, 2, 2)])
    case("DenseBincount", [tensor([[1, 1], [5, 0]], "int64"), tensor(4, "int64"), values(dtype, 0)], binary_output=True)
case("Bincount", [tensor([[1, 2], [5, 1]]), tensor(4), tensor([[1, 2], [3, 4]])])
case("DenseBincount", [tensor([], "int32"), tensor(3), f32(0)])
case("DenseBincount", [tensor([1, 1, 2]), tensor(0), f32(0)])
for op in ("Bincount", "DenseBincount"):
    refuse(op, [tensor([1, -2]), tensor(4), f32(0)])
    refuse(op, [tensor([1, 2]), tensor(-4), f32(0)])
    refuse(op, [tensor([1, 2]), tensor([4]), f32(0)])
    refuse(op, [tensor([1, 2, 5]), tensor(4), f32(2)])
refuse("DenseBincount", [tensor([[[1, 2]]]), tensor(4), f32(0)])
for dtype in ("int32", "int64", "float", "double"):
    for out in ("int32", "int64"):
        case("HistogramFixedWidth", [tensor([-1, 0, 1, 2, 5, 15], dtype), tensor([0, 5], dtype), tensor(5)], dtype=out)
case("HistogramFixedWidth", [f32(50), tensor([-2.0, 2.0]), tensor(7)])
case("HistogramFixedWidth", [f32(0), tensor([0.0, 1.0]), tensor(3)])
for bounds in ([0.0, 0.0], [5.0, 0.0], [0.0, 1.0, 2.0], [[0.0, 1.0]], [nan, 1.0]):
    refuse("HistogramFixedWidth", [f32(3), tensor(bounds), tensor(5)])
refuse("HistogramFixedWidth", [f32(3), tensor([0.0, 1.0]), tensor(0)])
refuse("HistogramFixedWidth", [f32(3), tensor([0.0, 1.0]), tensor([5])])
refuse("HistogramFixedWidth", [tensor([1.0, nan]), tensor([0.0, 1.0]), tensor(5)])
for dtype in ("int32", "int64", "float", "double"):
    case("Bucketize", [tensor([[-5, 10000, 150], [10, 5, 100]], dtype)], boundaries=[0.0, 10.0, 100.0])
case("Bucketize", [tensor([0, 1, 2, 3])], boundaries=[0.5, 1.5, 2.5])
case("Bucketize", [tensor([nan, 1.0])], boundaries=[0.5, 1.5])
case("Bucketize", [f32(0)], boundaries=[])
refuse("Bucketize", [f32(3)], boundaries=[0.0, 10.0, 1.0])

for dtype in ("int32", "int64"):
    for a, b in (([2, 3, 1], [3, 5]), ([2, 1, 1], [1, 1]), ([], [2, 1]), ([1], [1]), ([2, 1], [2, 1]), ([1, 2, 0], [1, 1, 1]), ([1, 1], [1]), ([], [])):
        case("BroadcastGradientArgs", [tensor(a, dtype), tensor(b, dtype)])
        case("BroadcastArgs", [tensor(a, dtype), tensor(b, dtype)])
for op in ("BroadcastGradientArgs", "BroadcastArgs"):
    refuse(op, [tensor([2, 3, 1]), tensor([4, 5])])
    refuse(op, [tensor([[2, 3]]), tensor([3])])
    refuse(op, [tensor([3]), tensor(2)])
for dtype in [d for d in for_dtypes("BroadcastTo") if d not in ("resource", "variant", "float8_e5m2", "float8_e4m3fn")]:
    case("BroadcastTo", [values(dtype, 2, 1), tensor([3, 2, 4])])
case("BroadcastTo", [f32(2, 1), tensor([2, 2, 0], "int64")])
case("BroadcastTo", [f32(), tensor([], "int32")])
case("BroadcastTo", [f32(2, 3), tensor([2, 3])])
case("BroadcastTo", [f32(2, 1, 3, 1), tensor([5, 2, 4, 3, 2])])
refuse("BroadcastTo", [f32(3), tensor([4, 5])])
refuse("BroadcastTo", [f32(3), tensor([3, -1])])
refuse("BroadcastTo", [f32(1, 3), tensor([3])])
refuse("BroadcastTo", [f32(3), tensor([[3]])])
refuse("BroadcastTo", [f32(2), tensor(2)])
refuse("BroadcastTo", [f32(3), tensor([0])])
refuse("BroadcastTo", [f32(0), tensor([1])])
refuse("BroadcastTo", [f32(2), tensor([2**31 - 1] * 3)])
