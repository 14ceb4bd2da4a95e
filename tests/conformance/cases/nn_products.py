"""Matrix products, biases, activations, softmax and the losses."""

from framework import *
from definitions import for_dtypes
from values import *

for dtype in for_dtypes("MatMul"):
    if dtype == "int16":
        continue  # the definition does not allow it
    case("MatMul", [values(dtype, 3, 4), values(dtype, 4, 5)], sums=8)
    case("MatMul", [values(dtype, 40, 3), values(dtype, 50, 40)], transpose_a=True, transpose_b=True, sums=64)
    case("MatMul", [values(dtype, 30, 40), values(dtype, 40, 20)], sums=64)
    case("MatMul", [values(dtype, 1, 70), values(dtype, 70, 1)], sums=64)
    case("MatMul", [values(dtype, 0, 3), values(dtype, 3, 2)])
    case("MatMul", [values(dtype, 2, 0), values(dtype, 0, 3)])
refuse("MatMul", [f32(2, 3), f32(2, 3)])
refuse("MatMul", [f64(2, 3), f64(2, 3)], transpose_a=True)
refuse("MatMul", [f32(3), f32(2, 3)])
refuse("MatMul", [f32(2, 2, 2), f32(2, 2, 2)])
refuse("MatMul", [f32(2, 3), f32(3)])

for op in ("BatchMatMul", "BatchMatMulV2"):
    for dtype in for_dtypes(op):
        if dtype == "int16" and op == "BatchMatMul":
            continue
        case(op, [values(dtype, 2, 3, 4), values(dtype, 2, 4, 5)], sums=16)
        case(op, [values(dtype, 3, 2, 4, 3), values(dtype, 3, 2, 5, 4)], adj_x=True, adj_y=True, sums=16)
        case(op, [values(dtype, 2, 20, 30), values(dtype, 2, 20, 10)], adj_x=True, sums=64)
        case(op, [values(dtype, 0, 3, 4), values(dtype, 0, 4, 5)])
        case(op, [values(dtype, 2, 3, 0), values(dtype, 2, 0, 5)])
    refuse(op, [f32(2, 2, 3), f32(3, 3, 2)])
    refuse(op, [f32(3), f32(3, 2)])
    refuse(op, [f32(2, 2, 3), f32(3)])
    refuse(op, [f32(2, 2, 3), f32(2, 2, 3)])
for dtype in for_dtypes("BatchMatMulV2"):
    case("BatchMatMulV2", [values(dtype, 5, 1, 3, 4), values(dtype, 2, 4, 2)], sums=16)
    case("BatchMatMulV2", [values(dtype, 3, 4), values(dtype, 2, 1, 4, 2)], sums=16)
for dtype, most in (("int16", 2**15), ("int32", 2**31), ("int64", 2**63)):  # they wrap around
    case("BatchMatMulV2", [np.array([[-1, most - 1], [-most, 3]], dtype), np.array([[most - 1, -2], [-most, -1]], dtype)])
for a, b, out in [("float", "float", "float"), ("double", "double", "double"), ("int32", "int32", "int32"), ("int64", "int64", "int64"), ("int16", "int16", "int16"),
                  ("bfloat16", "bfloat16", "bfloat16"), ("complex64", "complex64", "complex64"), ("complex128", "complex128", "complex128"),
                  ("int8", "int8", "int32"), ("uint8", "int8", "int32"), ("int8", "uint8", "int32"), ("uint8", "uint8", "int32"),
                  ("int8", "bfloat16", "bfloat16"), ("uint8", "bfloat16", "bfloat16"), ("bfloat16", "int8", "bfloat16"), ("bfloat16", "uint8", "bfloat16")]:  # fmt: skip
    rule = dict(close=4) if a != b else dict(sums=16)
    case("BatchMatMulV3", [values(a, 2, 3, 4), values(b, 4, 5)], Tout=out, **rule)
    case("BatchMatMulV3", [values(a, 2, 3, 4), values(b, 5, 4)], adj_y=True, Tout=out, **rule)
    case("BatchMatMulV3", [values(a, 0, 3, 4), values(b, 4, 5)], Tout=out)
refuse("BatchMatMulV3", [f32(2, 2, 3), f32(3, 3, 2)], Tout="float")

for a in ("float", "bfloat16"):
    for b in ("float", "bfloat16"):
        case("SparseMatMul", [values(a, 3, 4), values(b, 4, 5)], sums=16)
        case("SparseMatMul", [values(a, 4, 3), values(b, 5, 4)], transpose_a=True, transpose_b=True, a_is_sparse=True, sums=16)
        case("SparseMatMul", [values(a, 0, 4), values(b, 4, 5)])
refuse("SparseMatMul", [f32(2, 3), f32(2, 3)])
refuse("SparseMatMul", [f32(2), f32(2, 3)])
refuse("SparseMatMul", [f32(2, 3), f32(3)])

for dtype in for_dtypes("Einsum"):
    v = lambda *shape: values(dtype, *shape)
    case("Einsum", [[v(3, 4), v(4, 5)]], equation="ij,jk->ik", sums=16)
    case("Einsum", [[v(2, 3, 4), v(2, 4, 5)]], equation="bij,bjk->bki", sums=16)
    case("Einsum", [[v(3, 4)]], equation="ij->ji")
    case("Einsum", [[v(3, 4, 2)]], equation="ijk->j", sums=16)
    case("Einsum", [[v(3, 3)]], equation="ii->i")
    case("Einsum", [[v(3)]], equation="i->ii")
    case("Einsum", [[v(2, 1, 3, 4), v(5, 4, 2)]], equation="...ij,...jk->...ik", sums=16)
    case("Einsum", [[v(3), v(4)]], equation="i,j->ij")
    case("Einsum", [[v(3, 2), v(3, 5)]], equation="ab,ac->", sums=32)
    case("Einsum", [[v(0, 2), v(2, 5)]], equation="ab,bc->ac")
refuse("Einsum", [[f32(2, 3), f32(4, 2)]], equation="ij,jk->ik")
refuse("Einsum", [[f32(2, 3), f32(3)]], equation="ij,jk->ik")
refuse("Einsum", [[f32(2, 3)]], equation="ii->i")
refuse("Einsum", [[f32(2, 2, 3), f32(3, 3, 2)]], equation="...ij,...jk->...ik")
refuse("Einsum", [[f32(2, 2, 3)]], equation="...ij->ij")
refuse("Einsum", [[f32(2, 2)]], equation="ij,jk")

for dtype in for_dtypes("BiasAdd"):
    case("BiasAdd", [values(dtype, 2, 3), values(dtype, 3)])
    case("BiasAdd", [values(dtype, 2, 4, 5, 3), values(dtype, 3)])
    case("BiasAdd", [values(dtype, 2, 3, 4, 5), values(dtype, 3)], data_format="NCHW")
    case("BiasAdd", [values(dtype, 2, 3, 4), values(dtype, 3)], data_format="NCHW")
    case("BiasAdd", [values(dtype, 0, 3), values(dtype, 3)])
    case("BiasAddV1", [values(dtype, 2, 4, 3), values(dtype, 3)])
    case("BiasAddV1", [values(dtype, 2, 3), values(dtype, 3)])
    case("BiasAddV1", [values(dtype, 0, 3), values(dtype, 3)])
    case("BiasAddGrad", [values(dtype, 7, 3)], sums=16)
    case("BiasAddGrad", [values(dtype, 2, 4, 5, 3)], sums=64)
    case("BiasAddGrad", [values(dtype, 2, 3, 4, 5)], data_format="NCHW", sums=64)
    case("BiasAddGrad", [values(dtype, 0, 3)])
for op in ("BiasAdd", "BiasAddV1"):
    refuse(op, [f32(2), f32(2)])
    refuse(op, [f32(2, 3), f32(2)])
    refuse(op, [f32(2, 3), f32(3, 1)])
refuse("BiasAdd", [f32(2, 3, 4), f32(4)], data_format="NCHW")
refuse("BiasAddGrad", [f32(2)])
refuse("BiasAddGrad", [f32(2)], data_format="NCHW")

ACTIVATIONS = ("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign")
for op in ACTIVATIONS:
    for dtype in for_dtypes(op):
        if dtype not in FLOATS and op == "LeakyRelu":
            continue
        # Where an exponential near one is subtracted from one, little of its precision is left.
        rule = dict(close=4) if op in ("Elu", "Selu") else {}
        case(op, [values(dtype, 40)], **rule)
        case(op, [values(dtype, 3, 5)], **rule)
        case(op, [values(dtype, 0, 3)])
        case(op, [values(dtype, 20, kind="special")], **rule)
        grad = op + "Grad"
        case(grad, [values(dtype, 40), values(dtype, 40)])
        case(grad, [values(dtype, 20, kind="special"), values(dtype, 20)])
        case(grad, [values(dtype, 20), values(dtype, 20, kind="special")])
        case(grad, [values(dtype, 0, 3), values(dtype, 0, 3)])
    refuse(op + "Grad", [f32(2), f32(3)])
    refuse(op + "Grad", [f32(2, 2), f32(4)])
    exempt(op, "refusal", why="takes one tensor of any shape")
case("LeakyRelu", [f32(20)], alpha=0.7)
case("LeakyReluGrad", [f32(20), f32(20)], alpha=0.7)

for op in ("Softmax", "LogSoftmax"):
    for dtype in for_dtypes(op):
        case(op, [values(dtype, 3, 7)], close=8)
        case(op, [values(dtype, 2, 3, 4)], close=8)
        case(op, [values(dtype, 5)], close=8)
        case(op, [values(dtype, 2, 0)])
        case(op, [tensor([[1, float("inf"), 2], [float("nan"), 1, 2], [-float("inf"), 1, 2]], dtype)], close=8)
    refuse(op, [f32()])
    refuse(op, [f64()])
for dtype in for_dtypes("SoftmaxCrossEntropyWithLogits"):
    op = "SoftmaxCrossEntropyWithLogits"
    case(op, [values(dtype, 4, 6), values(dtype, 4, 6, kind="positive")], close=16)
    case(op, [values(dtype, 4, 6), values(dtype, 1, 6, kind="positive")], close=16)
    case(op, [values(dtype, 4, 6), values(dtype, 4, 1, kind="positive")], close=16)
    case(op, [values(dtype, 6), values(dtype, 4, 6, kind="positive")], close=16)
    case(op, [values(dtype, 0, 3), values(dtype, 0, 3)])
    case(op, [values(dtype, 3, 0), values(dtype, 3, 0)])
    for index in ("int32", "int64"):
        case("Sparse" + op, [values(dtype, 4, 6), values(index, 4, low=0, high=6)], close=16)
        case("Sparse" + op, [values(dtype, 1, 1), values(index, 1, kind="zeros")], close=16)
        case("Sparse" + op, [values(dtype, 0, 6), values(index, 0)])
refuse("SoftmaxCrossEntropyWithLogits", [f32(2, 3), f32(3, 3)])
refuse("SoftmaxCrossEntropyWithLogits", [f32(3), f32(3)])
refuse("SoftmaxCrossEntropyWithLogits", [f32(2, 3, 1), f32(2, 3, 1)])
for labels in ([0, 1, 2], [0, 5], [0, -1], [[0], [1]], 3):
    refuse("SparseSoftmaxCrossEntropyWithLogits", [f32(2, 3), tensor(labels, "int32")])
refuse("SparseSoftmaxCrossEntropyWithLogits", [f32(2), tensor([0, 1], "int64")])
refuse("SparseSoftmaxCrossEntropyWithLogits", [f32(2, 0), tensor([0, 0], "int64")])
for dtype in for_dtypes("L2Loss"):
    case("L2Loss", [values(dtype, 5, 7)], sums=32)
    case("L2Loss", [values(dtype)])
    case("L2Loss", [values(dtype, 0)])
exempt("L2Loss", "refusal", why="takes one tensor of any shape")
