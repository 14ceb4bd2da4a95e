"""Segments, sorted and not, dense and sparse, with gaps, empty, out of order and out of range; their gradients."""

from framework import *
from definitions import for_dtypes
from values import *

for op in ("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax"):
    case(op, [f32(5, 2, 3), tensor([1, 1, 1, 4, 6])], sums=8)
    case(op, [i32(3, 2), tensor([0, 2, 2], "int64")])
    case(op, [tensor([100, 100, 100], "int8"), tensor([0, 0, 0])])
    case(op, [f32(0, 2), tensor([], "int32")])
    case(op, [f32(2, 0), tensor([0, 3])])
    refuse(op, [f32(3, 2), tensor([0, 2, 1])])
    refuse(op, [f32(3, 2), tensor([-1, 2, 2])])
    refuse(op, [f32(3, 2), tensor([-3, -2, -1])])
    refuse(op, [f32(3, 2), tensor([0, 2])])
    refuse(op, [f32(3, 2), tensor([[0, 2]])])
    refuse(op, [f32(4), tensor([0, 3, 3, 2])])

for op in ("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMin", "UnsortedSegmentMax"):
    for dtype in for_dtypes(op):
        case(op, [values(dtype, 4, 2, kind="positive"), tensor([3, -1, 0, 3]), tensor(5)], sums=8)
    case(op, [f32(2, 2, 3), tensor([[0, 1], [-1, 1]], "int64"), tensor(2, "int64")], sums=8)
    case(op, [f32(2), tensor(1), tensor(2)])
    case(op, [f32(3), tensor([0, 1, 1], "int16"), tensor(2)], sums=8)
    case(op, [i32(0), tensor([], "int32"), tensor(2)])
    case(op, [f32(3), tensor([-1, -1, -1]), tensor(0)])
    refuse(op, [f32(3, 2), tensor([0, 4, -1]), tensor(4)])
    refuse(op, [f32(2, 2), tensor([[0, 4], [7, 1]]), tensor(4)])
    refuse(op, [f32(3, 2), tensor([0, 4]), tensor(4)])
    refuse(op, [f32(2, 2), tensor([0, 1]), tensor(-4)])
    refuse(op, [f32(2, 2), tensor([0, 1]), tensor([4])])
    refuse(op, [f32(2), tensor([[1, 1]]), tensor(2)])

for kind in ("Sum", "Mean", "SqrtN"):
    op, counted = f"SparseSegment{kind}", f"SparseSegment{kind}WithNumSegments"
    case(op, [f32(3, 2), tensor([0, 1, 2, 2]), tensor([0, 0, 2, 2])], sums=8)
    case(op, [f32(3, 2), tensor([], "int32"), tensor([], "int32")])
    case(counted, [f32(3, 2, 2), tensor([0, 1, 2]), tensor([1, 1, 2]), tensor(5)], sums=8)
    case(counted, [f32(3, 2), tensor([], "int64"), tensor([], "int32"), tensor(2, "int64")])
    for indices, ids in (([0, 3, 2], [0, 0, 2]), ([0, -1, 2], [0, 0, 2]), ([0, 1, 2], [0, 2, 1]), ([0, 1, 2], [-1, 0, 1]), ([0, 1, 2], [0, 1])):
        refuse(op, [f32(3, 2), tensor(indices), tensor(ids)])
    refuse(op, [f32(3, 2), tensor([[0, 1]]), tensor([0, 1])])
    refuse(op, [f32(3, 2), tensor([0, 1]), tensor([[0, 1]])])
    refuse(op, [f32(), tensor([0, 1]), tensor([0, 1])])
    refuse(counted, [f32(3, 2), tensor([0, 1]), tensor([0, 2]), tensor(2)])
    refuse(counted, [f32(3, 2), tensor([0, 1]), tensor([0, 2]), tensor(-2)])
    refuse(counted, [f32(3, 2), tensor([0, 1]), tensor([0, 2]), tensor([2])])
    for grad in (f"{op}Grad", f"{op}GradV2"):
        case(grad, [f32(3, 2), tensor([3, 1, 3]), tensor([0, 0, 2]), tensor(4)], sums=8)
        case(grad, [f32(3, 2), tensor([], "int32"), tensor([], "int32"), tensor(0)])
        refuse(grad, [f32(3, 2), tensor([0, 1]), tensor([0, 2]), tensor([2])])
        refuse(grad, [f32(3, 2), tensor([0, 5]), tensor([0, 2]), tensor(2)])
        refuse(grad, [f32(3, 2), tensor([0, 1]), tensor([0, 3]), tensor(2)])
        refuse(grad, [f32(3, 2), tensor([0, 1]), tensor([-1, 2]), tensor(2)])
        refuse(grad, [f32(3, 2), tensor([0, 1]), tensor([0]), tensor(2)])
        refuse(grad, [f32(3, 2), tensor([[0, 1]]), tensor([0, 1]), tensor(2)])
        refuse(grad, [f32(3, 2), tensor([], "int32"), tensor([], "int32"), tensor(-2)])
