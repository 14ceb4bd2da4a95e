"""One-hot rows, largest elements, uniqueness, positions, partitions, sets, edit distances."""

from framework import *
from definitions import for_dtypes
from values import *

NOT_HERE = ("resource", "variant")


def ints(values, dtype="int32"):
    return tensor(values, dtype)


for dtype in for_dtypes("OneHot"):
    if dtype not in NOT_HERE:
        case("OneHot", [ints([0, 2, -1, 5]), ints(3), values(dtype), values(dtype)])
        case("OneHot", [ints([[0, 2], [1, 9]], "int64"), ints(3), values(dtype), values(dtype)], axis=0)
        case("OneHot", [ints([[0, 2], [1, 9]], "uint8"), ints(3), values(dtype), values(dtype)], axis=1)
        case("OneHot", [ints(1, "int8"), ints(3), values(dtype), values(dtype)])
case("OneHot", [ints([]), ints(3), f32(), f32()])
case("OneHot", [ints([1, 2]), ints(0), f32(), f32()])
refuse("OneHot", [ints([1]), ints(-1), f32(), f32()])
refuse("OneHot", [ints([1]), ints([1]), f32(), f32()])
refuse("OneHot", [ints([1]), ints(1), f32(1), f32()])
refuse("OneHot", [ints([1]), ints(1), f32(), f32(2)])
refuse("OneHot", [ints([1]), ints(1), f32(), f32()], axis=3)
refuse("OneHot", [ints([1]), ints(1), f32(), f32()], axis=-2)

for dtype in for_dtypes("TopKV2"):
    case("TopKV2", [values(dtype, 3, 7), ints(3)])
    case("TopKV2", [values(dtype, 20), ints(1, "int64")], index_type="int64")
    case("TopKV2", [values(dtype, 2, 2, 9), ints(9, "int16")], index_type="int16")
    case("TopKV2", [values(dtype, 50, kind="extreme"), ints(50)])
    case("NthElement", [values(dtype, 3, 7), ints(2)])
    case("NthElement", [values(dtype, 7), ints(2)], reverse=True)
    case("NthElement", [values(dtype, 2, 2, 9), ints(8)])
case("TopKV2", [f32(2, 0), ints(0)])
case("TopKV2", [f32(2, 3), ints(0)])


def same_rows(reference, ours):
    """Which order unsorted results have is TensorFlow's own affair."""
    return None if np.array_equal(np.sort(reference), np.sort(ours)) else f"{ours} instead of {reference}"


case("TopKV2", [f32(3, 9, kind="distinct"), ints(4)], sorted=False, check=same_rows)
case("NthElement", [f32(0, 3), ints(1)])
refuse("TopKV2", [f32(2, 3), ints(4)])
refuse("TopKV2", [f32(2, 3), ints([1])])
refuse("TopKV2", [f32(), ints(1)])
for dtype in for_dtypes("ApproxTopK"):
    case("ApproxTopK", [values(dtype, 3, 7)], k=3)
    case("ApproxTopK", [values(dtype, 2, 2, 9)], k=9, recall_target=0.5, aggregate_to_topk=False)
case("ApproxTopK", [f32(0, 4)], k=2)
case("ApproxTopK", [f32(2, 4)], k=0)
refuse("ApproxTopK", [f32(2, 3)], k=4)
refuse("ApproxTopK", [f32()], k=1)
refuse("TopKV2", [f32(2, 3), ints(-1)])
for x, n in ((f32(2, 3), 3), (f32(2, 3), -1), (f32(2, 3), [1]), (f32(), 0), (f32(2, 0), 0)):
    refuse("NthElement", [x, ints(n)])
for index in ("int32", "int64"):
    for k in (0, 1, 3, 9):
        case("InTopK", [f32(4, 5), ints([0, 4, 2, 7], index)], k=k)
        case("InTopKV2", [f32(4, 5), ints([0, 4, -2, 3], index), ints(k, index)])
    case("InTopK", [f32(0, 5), ints([], index)], k=2)
    case("InTopKV2", [f32(5, 2, kind="special"), ints([0, 1, 0, 1, 0], index), ints(1, index)])
    case("InTopKV2", [f32(0, 5), ints([], index), ints(1, index)])
    case("InTopKV2", [f32(2, 3, kind="ones"), ints([0, 2], index), ints(2, index)])
refuse("InTopK", [f32(2, 3), ints([1])], k=1)
refuse("InTopK", [f32(2), ints([1])], k=1)
refuse("InTopK", [f32(2, 3), ints([[1]])], k=1)
refuse("InTopKV2", [f32(2, 3), ints([1, 2]), ints([1])])
refuse("InTopKV2", [f32(2, 3), ints([1]), ints(1)])

for dtype in for_dtypes("Unique"):
    repeats = values(dtype, 40) if dtype != "string" else tensor([c for c in "abracadabraabracadabra"], "string")
    grid = np.tile(values(dtype, 2, 3), [3, 2])
    for out in ("int32", "int64"):
        case("Unique", [repeats], out_idx=out)
        case("UniqueWithCounts", [repeats], out_idx=out)
        case("UniqueV2", [grid, ints([1])], out_idx=out)
        case("UniqueWithCountsV2", [grid, ints([0], "int64")], out_idx=out)
    case("UniqueV2", [repeats, ints([])])
    case("UniqueWithCountsV2", [np.stack([grid, grid], 1), ints([-1])])
    case("Unique", [values(dtype, 0)])
for op in ("Unique", "UniqueWithCounts"):
    case(op, [f32(20, kind="special")])
    case(op, [f32(0)])
    refuse(op, [f32(2, 3)])
for op in ("UniqueV2", "UniqueWithCountsV2"):
    case(op, [f32(0, 3), ints([0])])
    for axis in ([5], [0, 1], [], 0):
        refuse(op, [f32(2, 3), ints(axis)])
    refuse(op, [f32(), ints([0])])
for dtype in for_dtypes("ListDiff"):
    x, y = (values(dtype, 30), values(dtype, 4)) if dtype != "string" else (tensor(list("abracadabra")), tensor(list("rax")))
    case("ListDiff", [x, y])
    case("ListDiff", [x, x[:5]], out_idx="int64")
    case("ListDiff", [x, values(dtype, 0)])
refuse("ListDiff", [f32(2, 3), f32(2)])
refuse("ListDiff", [f32(2), f32(2, 3)])

for dtype in for_dtypes("Where"):
    sparse = values(dtype, 4, 5) * values("bool", 4, 5).astype(numpy_of(dtype))
    case("Where", [sparse.astype(numpy_of(dtype))])
    case("Where", [values(dtype, 7)])
    case("Where", [values(dtype, 2, 2, 3, kind="zeros")])
    case("Where", [values(dtype, 0, 3)])
case("Where", [f32(3, 10, kind="special")])
refuse("Where", [boolean()])
for op in ("LowerBound", "UpperBound"):
    for dtype in for_dtypes(op):
        for out in ("int32", "int64"):
            case(op, [np.sort(values(dtype, 3, 8)), values(dtype, 3, 5)], out_type=out)
        case(op, [np.sort(values(dtype, 1, 30)), values(dtype, 1, 5)])
    case(op, [f32(2, 0), f32(2, 3)])
    refuse(op, [f32(2, 3), f32(3, 3)])
    refuse(op, [f32(2, 3), f32(2, 3, 1)])
    refuse(op, [f32(3), f32(3)])

for dtype in for_dtypes("DynamicPartition"):
    if dtype not in NOT_HERE:
        case("DynamicPartition", [values(dtype, 5, 2), ints([0, 2, 0, 2, 2])], num_partitions=4)
        case("DynamicPartition", [values(dtype, 2, 3, 2), ints([[0, 1, 0], [1, 1, 0]])], num_partitions=2)
        case("DynamicPartition", [values(dtype), ints(1)], num_partitions=2)
case("DynamicPartition", [f32(0, 2), ints([])], num_partitions=2)
for shape, partitions in (((2, 3), [0, 5]), ((2, 3), [0]), ((2,), [0, -1]), ((2,), [[0, 1]]), ((2, 3), [[0, 1, 0], [1, 0, 5]])):
    refuse("DynamicPartition", [f32(*shape), ints(partitions)], num_partitions=2)
for op in ("DynamicStitch", "ParallelDynamicStitch"):
    for dtype in for_dtypes(op):
        if dtype not in NOT_HERE:
            case(op, [[ints([0, 3]), ints([[1, 2], [4, 5]])], [values(dtype, 2, 2), values(dtype, 2, 2, 2)]])
            case(op, [[ints(1), ints(0)], [values(dtype), values(dtype)]])
    case("DynamicStitch", [[ints([0, 1]), ints([1])], [f32(2, 3), f32(1, 3)]])
    case(op, [[ints([])], [f32(0, 2)]])
    for indices, shapes in (([[0], [1]], [(1, 2), (1, 3)]), ([[0], [1, 2]], [(1, 2), (1, 2)]), ([[0], [-1]], [(1, 2), (1, 2)]), ([[[0], [1]]], [(2, 2)])):
        refuse(op, [[ints(i) for i in indices], [f32(*s) for s in shapes]])

SETS = ("a-b", "b-a", "intersection", "union", "Union")


def sparse(indices, values, shape, dtype="int32"):
    return [tensor(indices, "int64").reshape(-1, len(shape)), tensor(values, dtype), tensor(shape, "int64")]


for dtype in for_dtypes("DenseToDenseSetOperation"):
    a = values(dtype, 2, 5) if dtype != "string" else tensor([list("abcab"), list("xyzxx")])
    b = values(dtype, 2, 3) if dtype != "string" else tensor([list("bbz"), list("pqr")])
    ia, ib = [[0, 0], [0, 1], [1, 0], [3, 1]], [[0, 0], [1, 0], [1, 2], [2, 0]]
    for how in SETS:
        case("DenseToDenseSetOperation", [a, b], set_operation=how)
        case("DenseToSparseSetOperation", [np.concatenate([a, a]), *sparse(ib, b.reshape(-1)[:4], [4, 3], dtype)], set_operation=how)
        case("SparseToSparseSetOperation", [*sparse(ia, a.reshape(-1)[:4], [4, 2], dtype), *sparse(ib, b.reshape(-1)[:4], [4, 3], dtype)], set_operation=how)
    case("SetSize", sparse([[0, 0], [0, 1], [0, 3], [2, 1]], np.array([a[0, 0], a[0, 0], a[0, 1], a[0, 0]]), [4, 4], dtype))
case("DenseToDenseSetOperation", [np.zeros([0, 2], np.int32), np.zeros([0, 3], np.int32)], set_operation="union")
case("DenseToDenseSetOperation", [i32(2, 2, 4), i32(2, 2, 3)], set_operation="union")
case("DenseToSparseSetOperation", [i32(2, 3), *sparse([], [], [2, 2])], set_operation="union")
case("DenseToSparseSetOperation", [i32(2, 3), *sparse([[5, 0]], [2], [2, 2])], set_operation="union", validate_indices=False)
case("SparseToSparseSetOperation", [*sparse([], [], [3, 2]), *sparse([], [], [3, 2])], set_operation="union")
unsorted = sparse([[2, 0], [0, 1]], [2, 9], [3, 2])
sorted_ = sparse([[0, 0], [1, 1], [2, 0]], [2, 9, 4], [3, 3])
case("SparseToSparseSetOperation", [*unsorted, *sorted_], set_operation="union", validate_indices=False)
case("SetSize", sparse([], [], [2, 2]))
case("SetSize", unsorted, validate_indices=False)
refuse("DenseToDenseSetOperation", [i32(2, 3), i32(2, 3)], set_operation="foo")
refuse("DenseToDenseSetOperation", [i32(2), i32(2)], set_operation="union")
refuse("DenseToDenseSetOperation", [i32(1, 2), i32(2, 2)], set_operation="union")
refuse("DenseToDenseSetOperation", [i32(1, 1, 2), i32(1, 2)], set_operation="union")
BAD = [
    sparse([[1, 0], [0, 0]], [2, 3], [2, 2]),
    sparse([[5, 0]], [2], [2, 2]),
    sparse([[0, -1]], [2], [2, 2]),
    sparse([[0, 0], [0, 0]], [2, 3], [2, 2]),
    sparse([[0, 0]], [2, 3], [2, 2]),
    [tensor([[0, 0, 0]], "int64"), tensor([2]), tensor([2, 2], "int64")],
    [tensor([0, 0], "int64"), tensor([2]), tensor([2, 2], "int64")],
    [tensor([[0, 0]], "int64"), tensor([2]), tensor([[2, 2]], "int64")],
    [tensor([[0, 0]], "int64"), tensor([[2]]), tensor([2, 2], "int64")],
    [tensor([[0, 0]], "int64"), tensor([2]), tensor([2, -2], "int64")],
    [tensor([[0]], "int64"), tensor([2]), tensor([2], "int64")],
]
for bad in BAD:
    refuse("SetSize", bad)
    refuse("DenseToSparseSetOperation", [i32(2, 3), *bad], set_operation="union")
    refuse("SparseToSparseSetOperation", [*bad, *sparse([[0, 0]], [1], [2, 2])], set_operation="union")
refuse("SetSize", sparse([[5, 0]], [2], [2, 2]), validate_indices=False)
refuse("DenseToSparseSetOperation", [i32(2, 3), *sparse([[1, 0]], [2], [3, 2])], set_operation="union")
refuse("DenseToSparseSetOperation", [i32(2), *sparse([[0, 0]], [2], [2, 2])], set_operation="union")
refuse("SparseToSparseSetOperation", [*sparse([[0, 0]], [2], [3, 2]), *sparse([[0, 0]], [2], [4, 2])], set_operation="union")
refuse("SparseToSparseSetOperation", [*sparse([[0, 0]], [2], [3, 2]), *sparse([[0, 0, 0]], [2], [3, 3, 3])], set_operation="union")

for dtype in for_dtypes("EditDistance"):
    h = sparse([[0, 0], [0, 1], [0, 2], [2, 0]], values(dtype, 4), [3, 3], dtype)
    t = sparse([[0, 0], [0, 1], [1, 0], [1, 1]], values(dtype, 4), [3, 2], dtype)
    for normalize in (True, False):
        case("EditDistance", [*h, *t], normalize=normalize)
        case("EditDistance", [*t, *t], normalize=normalize)
kitten, sitting = [sparse([[0, 0, i] for i in range(len(w))], list(w), [1, 2, len(w)], "string") for w in ("kitten", "sitting")]
case("EditDistance", [*kitten, *sitting])
case("EditDistance", [*sparse([], [], [2, 2]), *sparse([], [], [2, 2])])
case("EditDistance", [*sparse([[0, 0], [0, 1]], [1, 2], [2, 2]), *sparse([], [], [2, 2])])
fine = sparse([[0, 0], [0, 1]], [1, 3], [1, 2])
for bad in (
    [tensor([[0, 0], [0, 1]], "int64"), ints([1, 2]), ints([1, 2, 2], "int64")],
    [tensor([[0, 0], [0, 1]], "int64"), ints([1, 2, 3]), ints([1, 2], "int64")],
    [tensor([0, 1], "int64"), ints([1, 2]), ints([1, 2], "int64")],
    [tensor([[0, 0], [0, 1]], "int64"), ints([1, 2]), ints([[1, 2]], "int64")],
    [tensor([[0, 0], [0, 1]], "int64"), ints([[1, 2]]), ints([1, 2], "int64")],
    [tensor([[5, 0], [5, 1]], "int64"), ints([1, 2]), ints([1, 2], "int64")],
    [tensor([[-1, 0], [0, 1]], "int64"), ints([1, 2]), ints([1, 2], "int64")],
    [tensor([[0, 0], [0, 1]], "int64"), ints([1, 2]), ints([-1, 2], "int64")],
):
    refuse("EditDistance", [*bad, *fine])
    refuse("EditDistance", [*fine, *bad])
line = [tensor([[0], [1]], "int64"), ints([1, 2]), ints([2], "int64")]
refuse("EditDistance", [*line, *line])
