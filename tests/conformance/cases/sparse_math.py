"""Arithmetic with sparse tensors: sums, products, reductions, softmax and crosses."""

from framework import *
from definitions import for_dtypes
from values import *

AT = tensor([[0, 1], [1, 0], [1, 2]], "int64")
SHAPE = tensor([2, 3], "int64")
OTHER = tensor([[0, 0], [1, 0]], "int64")


def i(*values):
    return tensor(list(values), "int64")


def none(columns):
    return i64(0, columns)


# SparseAdd.
for dtype in for_dtypes("SparseAdd"):
    real = {"complex64": "float", "complex128": "double"}.get(dtype, dtype)
    for least in (0, 1, 100):
        case("SparseAdd", [AT, values(dtype, 3), SHAPE, OTHER, values(dtype, 2), SHAPE, tensor(least, real)])
    case("SparseAdd", [AT, values(dtype, 3, kind="extreme"), SHAPE, AT, values(dtype, 3, kind="extreme"), SHAPE, tensor(1, real)])
case("SparseAdd", [none(2), f32(0), SHAPE, none(2), f32(0), SHAPE, f32()])
case("SparseAdd", [none(2), f32(0), SHAPE, AT, f32(3), SHAPE, tensor(5, "float")])
case("SparseAdd", [AT, tensor([1, 2, 3], "float"), SHAPE, AT, tensor([-1, 2, float("nan")], "float"), SHAPE, tensor(0.5, "float")])
refuse("SparseAdd", [i(1), f32(1), SHAPE, AT, f32(3), SHAPE, f32()])
refuse("SparseAdd", [AT, f32(3, 1), SHAPE, AT, f32(3), SHAPE, f32()])
refuse("SparseAdd", [AT, f32(2), SHAPE, AT, f32(3), SHAPE, f32()])
refuse("SparseAdd", [AT, f32(3), tensor([[2, 3]], "int64"), AT, f32(3), SHAPE, f32()])
refuse("SparseAdd", [AT, f32(3), i(2), AT, f32(3), SHAPE, f32()])
refuse("SparseAdd", [AT, f32(3), i(2, 4), AT, f32(3), SHAPE, f32()])
refuse("SparseAdd", [AT, f32(3), SHAPE, AT, f32(3), SHAPE, f32(1)])
refuse("SparseAdd", [AT, f32(3), i(2, 3, 4), AT, f32(3), i(2, 3, 4), f32()])
refuse("SparseAdd", [AT, f32(3), i(2), tensor([[0], [1]], "int64"), f32(2), i(2), f32()])
case("SparseAddGrad", [f32(2), AT, OTHER, tensor([[0, 1], [1, 2]], "int64")])
case("SparseAddGrad", [f32(0), AT, OTHER, none(2)])
case("SparseAddGrad", [f32(0), none(2), none(2), none(2)])
refuse("SparseAddGrad", [f32(2), AT, OTHER, i(0, 1)])
refuse("SparseAddGrad", [f32(2, 1), AT, OTHER, OTHER])
refuse("SparseAddGrad", [f32(3), AT, OTHER, OTHER])
refuse("SparseAddGrad", [f32(2), AT, tensor([[0], [1]], "int64"), OTHER])

# SparseSparseMaximum and Minimum.
for op in ("SparseSparseMaximum", "SparseSparseMinimum"):
    for dtype in for_dtypes(op):
        case(op, [AT, values(dtype, 3, kind="extreme"), SHAPE, OTHER, values(dtype, 2), SHAPE])
    case(op, [none(2), f32(0), SHAPE, none(2), f32(0), SHAPE])
    case(op, [none(2), f32(0), SHAPE, AT, f32(3), SHAPE])
    refuse(op, [i(1), f32(1), SHAPE, AT, f32(3), SHAPE])
    refuse(op, [AT, f32(3), SHAPE, AT, f32(3, 1), SHAPE])
    refuse(op, [AT, f32(3), SHAPE, AT, f32(2), SHAPE])
    refuse(op, [AT, f32(3), SHAPE, AT, f32(3), tensor([[2, 3]], "int64")])
    refuse(op, [AT, f32(3), SHAPE, AT, f32(3), i(2)])
    refuse(op, [AT, f32(3), SHAPE, AT, f32(3), i(2, 4)])
    refuse(op, [AT, f32(3), i(2, 3, 4), AT, f32(3), i(2, 3, 4)])
    refuse(op, [AT, f32(3), SHAPE, tensor([[0], [1]], "int64"), f32(2), SHAPE])

# SparseTensorDenseAdd.
case("SparseTensorDenseAdd", [AT, f32(3), SHAPE, f32(2, 3)])
case("SparseTensorDenseAdd", [tensor([[1], [1]]), f32(2), tensor([3]), f32(3)])
case("SparseTensorDenseAdd", [tensor([[0, 1, 1, 0, 1]], "int64"), f32(1), i(2, 2, 2, 1, 2), f32(2, 2, 2, 1, 2)])
case("SparseTensorDenseAdd", [none(2), f32(0), SHAPE, f32(2, 3)])
case("SparseTensorDenseAdd", [none(2), f32(0), i(0, 3), f32(0, 3)])
refuse("SparseTensorDenseAdd", [none(0), f32(0), i64(0), f32()])
refuse("SparseTensorDenseAdd", [none(6), f32(0), i(1, 1, 1, 1, 1, 1), f32(1, 1, 1, 1, 1, 1)])
refuse("SparseTensorDenseAdd", [i(1), f32(1), SHAPE, f32(2, 3)])
refuse("SparseTensorDenseAdd", [AT, f32(3, 1), SHAPE, f32(2, 3)])
refuse("SparseTensorDenseAdd", [AT, f32(2), SHAPE, f32(2, 3)])
refuse("SparseTensorDenseAdd", [AT, f32(3), i(2), f32(2, 3)])
refuse("SparseTensorDenseAdd", [AT, f32(3), SHAPE, f32(2, 3, 1)])
refuse("SparseTensorDenseAdd", [AT, f32(3), SHAPE, f32(2, 4)])
refuse("SparseTensorDenseAdd", [AT, f32(3), i(2, 2), f32(2, 2)])
refuse("SparseTensorDenseAdd", [tensor([[-1]]), f32(1), tensor([3]), f32(3)])

# SparseDenseCwise…
for op in ("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"):
    kind = "positive" if op.endswith("Div") else "extreme"
    for dtype in for_dtypes(op):
        case(op, [AT, values(dtype, 3, kind="extreme"), SHAPE, values(dtype, 2, 3, kind=kind)])
        case(op, [AT, values(dtype, 3), SHAPE, values(dtype, kind=kind)])
    for shape in ((), (1,), (3,), (2, 1), (1, 3), (2, 3), (1, 1)):
        case(op, [AT, f32(3), SHAPE, f32(*shape)])
    case(op, [none(2), f32(0), SHAPE, f32(3)])
    case(op, [none(2), f32(0), i(0, 3), f32(0, 3)])
    case(op, [tensor([[1, 0, 1, 0, 2]], "int64"), f32(1), i(2, 1, 2, 1, 3), f32(2, 1, 3)])
    refuse(op, [i(1), f32(1), SHAPE, f32(3)])
    refuse(op, [AT, f32(3, 1), SHAPE, f32(3)])
    refuse(op, [AT, f32(3), tensor([[2, 3]], "int64"), f32(3)])
    refuse(op, [AT, f32(2), SHAPE, f32(3)])
    refuse(op, [AT, f32(3), i(2), f32(2)])
    refuse(op, [AT, f32(3), SHAPE, f32(4)])
    refuse(op, [AT, f32(3), SHAPE, f32(2, 2, 3)])
    refuse(op, [AT, f32(3), SHAPE, f32(2)])
    refuse(op, [AT, f32(3), i(2, 2), f32(2)])
    refuse(op, [AT, f32(3), i(1, 3), f32(3)])
    refuse(op, [AT, f32(3), i(-1, 3), f32(3)])
    refuse(op, [none(0), f32(0), i64(0), f32()])
    refuse(op, [none(6), f32(0), i(1, 1, 1, 1, 1, 1), f32()])

# SparseTensorDenseMatMul.
for dtype in for_dtypes("SparseTensorDenseMatMul"):
    for a in (False, True):
        for b in (False, True):
            shape = (2, 4) if a else (3, 4)
            case("SparseTensorDenseMatMul", [AT, values(dtype, 3), SHAPE, values(dtype, *(shape[::-1] if b else shape))], adjoint_a=a, adjoint_b=b, sums=4)
    case("SparseTensorDenseMatMul", [AT, values(dtype, 3), SHAPE, values(dtype, 3, 40)], sums=4)
    case("SparseTensorDenseMatMul", [i64(50, 2, low=0, high=9), values(dtype, 50), i(9, 9), values(dtype, 9, 35)], sums=8)
case("SparseTensorDenseMatMul", [none(2), f32(0), SHAPE, f32(3, 4)])
case("SparseTensorDenseMatMul", [AT, f32(3), SHAPE, f32(3, 0)])
case("SparseTensorDenseMatMul", [none(2), f32(0), i(2, 0), f32(0, 4)])
case("SparseTensorDenseMatMul", [none(2), f32(0), i(0, 3), f32(3, 4)])
refuse("SparseTensorDenseMatMul", [AT, f32(3), SHAPE, f32(3)])
refuse("SparseTensorDenseMatMul", [AT, f32(3), tensor([[2, 3]], "int64"), f32(3, 4)])
refuse("SparseTensorDenseMatMul", [AT, f32(3), i(2, 3, 4), f32(3, 4)])
refuse("SparseTensorDenseMatMul", [AT, f32(3, 1), SHAPE, f32(3, 4)])
refuse("SparseTensorDenseMatMul", [i(1), f32(3), SHAPE, f32(3, 4)])
refuse("SparseTensorDenseMatMul", [AT, f32(2), SHAPE, f32(3, 4)])
refuse("SparseTensorDenseMatMul", [tensor([[0, 1, 1]], "int64"), f32(1), SHAPE, f32(3, 4)])
refuse("SparseTensorDenseMatMul", [AT, f32(3), SHAPE, f32(2, 4)])
refuse("SparseTensorDenseMatMul", [AT, f32(3), i(2, 2), f32(2, 4)])
refuse("SparseTensorDenseMatMul", [AT, f32(3), i(1, 3), f32(3, 4)])
refuse("SparseTensorDenseMatMul", [AT, f32(3), i(2, 2), f32(2, 40)])

# Reductions.
DEEP = tensor([[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 1], [1, 1, 0]], "int64")
for op in ("SparseReduceSum", "SparseReduceMax", "SparseReduceSumSparse", "SparseReduceMaxSparse"):
    for dtype in for_dtypes(op):
        case(op, [DEEP, values(dtype, 5), i(2, 2, 2), tensor([1])], sums=4)
    for axes in ([0], [0, 2], [-1], [0, 1, 2], [1, -2], 1, -1):
        for keep in (False, True):
            case(op, [DEEP, f32(5), i(2, 2, 2), tensor(axes)], keep_dims=keep, sums=4)
    case(op, [DEEP, f32(5), i(2, 2, 2), i32(0)])
    case(op, [none(2), f32(0), SHAPE, tensor([1])])
    case(op, [none(2), f32(0), i(0, 3), tensor([1])], keep_dims=True)
    case(op, [i64(60, 2, low=0, high=5), f32(60), i(5, 5), tensor([0])], sums=8)
    refuse(op, [AT, f32(3), tensor(2, "int64"), tensor([0])])
    refuse(op, [AT, f32(3), SHAPE, tensor([[0]])])
    refuse(op, [AT, f32(3), SHAPE, tensor([2])])
    refuse(op, [AT, f32(3), SHAPE, tensor([-3])])
    refuse(op, [AT, f32(2), SHAPE, tensor([1])])
    refuse(op, [AT, f32(3, 1), SHAPE, tensor([1])])
    refuse(op, [i(1), f32(1), SHAPE, tensor([1])])
    refuse(op, [AT, f32(3), i(2, 3, 4), tensor([1])])
    refuse(op, [AT, f32(3), i(-2, 3), tensor([1])])
refuse("SparseReduceSum", [AT, f32(3), i(1, 3), tensor([1])])
refuse("SparseReduceMax", [tensor([[-1, 0]], "int64"), f32(1), i(1, 3), tensor([1])])

# SparseSoftmax.
for dtype in for_dtypes("SparseSoftmax"):
    case("SparseSoftmax", [DEEP, values(dtype, 5), i(2, 2, 2)], close=8)
    case("SparseSoftmax", [AT, values(dtype, 3, low=-300, high=300), SHAPE], close=8)
    case("SparseSoftmax", [none(2), values(dtype, 0), SHAPE])
case("SparseSoftmax", [tensor([[1, 0], [0, 1], [1, 2]], "int64"), f32(3), SHAPE], close=8)
refuse("SparseSoftmax", [i(1), f32(1), SHAPE])
refuse("SparseSoftmax", [AT, f32(3, 1), SHAPE])
refuse("SparseSoftmax", [AT, f32(3), tensor(2, "int64")])
refuse("SparseSoftmax", [tensor([[0]], "int64"), f32(1), i(2)])
refuse("SparseSoftmax", [AT, f32(2), SHAPE])
refuse("SparseSoftmax", [AT, f32(3), i(2, 3, 4)])
refuse("SparseSoftmax", [AT, f32(3), i(-2, 3)])

# Crosses.
ROWS = tensor([[0, 0], [0, 1], [2, 0]], "int64")
MORE = tensor([[0, 0], [1, 0], [2, 0], [2, 1]], "int64")
S = i(3, 2)
TEXTS, NUMBERS_ = strings(3), i64(4, kind="extreme")


def inputs(sparse, dense, batch=3):
    return [[a for a, _ in sparse], [v for _, v in sparse], [i(batch, 2) for _ in sparse], list(dense)]


CROSSES = {
    "one": inputs([(ROWS, strings(3))], []),
    "texts": inputs([(ROWS, strings(3)), (MORE, strings(4))], []),
    "mixed": inputs([(ROWS, strings(3)), (MORE, i64(4))], [strings(3, 2), i64(3, 2)]),
    "numbers": inputs([(ROWS, i64(3, kind="extreme")), (MORE, i64(4))], [i64(3, 1)]),
    "dense": inputs([], [strings(3, 2), strings(3, 3)]),
    "dense_numbers": inputs([], [i64(3, 2), i64(3, 3, kind="extreme")]),
    "empty": inputs([(none(2), strings(0)), (MORE, strings(4))], []),
    "no_rows": inputs([(none(2), strings(0))], [strings(0, 2)], batch=0),
    "nothing": inputs([], []),
    "unsorted": inputs([(tensor([[1, 0], [0, 0]], "int64"), strings(2)), (MORE, strings(4))], []),
}
for name, given in CROSSES.items():
    texts = all(v.dtype.kind in "OSU" for v in given[1] + given[3])
    for internal in ("string", "int64") if texts else ("int64",):
        case("SparseCross", given, hashed_output=False, num_buckets=0, hash_key=956888297470, out_type="string", internal_type=internal)
        for buckets in (0, 1000):
            case("SparseCross", given, hashed_output=True, num_buckets=buckets, hash_key=956888297470, out_type="int64", internal_type=internal)
    case("SparseCrossV2", [*given, tensor(b"_X_")])
    case("SparseCrossV2", [*given, tensor(b"")])
    for strong in (False, True) if texts else (False,):  # TensorFlow crashes on strong hashes of numbers
        for buckets in (0, 100):
            case("SparseCrossHashed", [*given, tensor(buckets, "int64"), tensor(strong), i(137, -9)])
WRONG = (
    [[i(1)], [strings(1)], [S], []],
    [[i64(2, 3)], [strings(2)], [S], []],
    [[ROWS], [strings(3, 1)], [S], []],
    [[ROWS], [strings(2)], [S], []],
    [[ROWS], [strings(3)], [tensor([[3, 2]], "int64")], []],
    [[ROWS], [strings(3)], [i(3, 2, 1)], []],
    [[ROWS, MORE], [strings(3), strings(4)], [S, i(4, 2)], []],
    [[ROWS], [strings(3)], [S], [strings(4, 2)]],
    [[ROWS], [strings(3)], [S], [strings(3)]],
)
for given in WRONG:
    refuse("SparseCross", given, hashed_output=False, num_buckets=0, hash_key=1, out_type="string", internal_type="string")
    refuse("SparseCrossV2", [*given, tensor(b"_X_")])
    refuse("SparseCrossHashed", [*given, tensor(0, "int64"), tensor(False), i(1, 2)])
refuse("SparseCross", [[ROWS], [i64(3)], [S], []], hashed_output=False, num_buckets=0, hash_key=1, out_type="string", internal_type="string")
refuse("SparseCross", [[], [], [], [i64(3, 1)]], hashed_output=False, num_buckets=0, hash_key=1, out_type="string", internal_type="string")
refuse("SparseCrossV2", [[ROWS], [strings(3)], [S], [], tensor([b"_X_"])])
refuse("SparseCrossHashed", [[ROWS], [strings(3)], [S], [], tensor(0, "int64"), tensor(False), i(1, 2, 3)])
