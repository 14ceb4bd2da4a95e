"""Decompositions, solutions and functions of matrices. Factors that are unique only up to a sign are compared by what they make."""

from framework import *
from definitions import for_dtypes
from values import *

TOLERANCE = {np.dtype(np.float16): 2e-2, np.dtype(np.float32): 2e-4, np.dtype(np.complex64): 2e-4, np.dtype(np.float64): 1e-9, np.dtype(np.complex128): 1e-9}


def near(reference, ours):
    """Close in the scale of the largest value, NaNs in the same places."""
    same_nan = np.isnan(reference) == np.isnan(ours)
    if not same_nan.all():
        return f"NaNs differ: {ours} instead of {reference}"
    r, o = np.nan_to_num(reference), np.nan_to_num(ours)
    scale = max(1.0, float(np.abs(r).max(initial=0)))
    worst = float(np.abs(r.astype(np.complex128) - o.astype(np.complex128)).max(initial=0))
    return None if worst <= TOLERANCE.get(reference.dtype, 0) * scale else f"off by {worst}: {ours} instead of {reference}"


def near_up_to_sign(reference, ours):
    """As near, but columns may be turned by a factor of absolute value one."""
    return near(np.abs(reference), np.abs(ours))


def well_conditioned(dtype, *shape):
    """Matrices with a strong diagonal."""
    m = values(dtype, *shape)
    return (m + (shape[-1] * 3 * np.eye(shape[-2], shape[-1])).astype(m.dtype)).astype(m.dtype)


def positive_definite(dtype, *shape):
    m = values(dtype, *shape).astype(np.complex128)
    product = m @ np.conj(np.swapaxes(m, -1, -2)) + np.eye(shape[-1])
    return (product if dtype in COMPLEXES else product.real).astype(numpy_of(dtype))


for dtype in for_dtypes("Cholesky"):
    case("Cholesky", [positive_definite(dtype, 4, 4)], check=near)
    case("Cholesky", [positive_definite(dtype, 2, 3, 5, 5)], check=near)
    # Of a matrix without a factor TensorFlow sets the lower half: to NaN, of complex ones to zero.
    case("Cholesky", [tensor([[1, 2], [2, 1]], dtype)], check=lambda r, o: near(np.tril(r), np.tril(o)))
    case("Cholesky", [values(dtype, 2, 0, 0)])
refuse("Cholesky", [f32(3)])
refuse("Cholesky", [f32(2, 3)])
for dtype in for_dtypes("CholeskyGrad"):
    lower = np.tril(well_conditioned(dtype, 2, 4, 4))
    case("CholeskyGrad", [lower, values(dtype, 2, 4, 4)], check=near)
    case("CholeskyGrad", [lower[0], values(dtype, 4, 4)], check=near)
    case("CholeskyGrad", [values(dtype, 0, 3, 3), values(dtype, 0, 3, 3)])
refuse("CholeskyGrad", [f32(2, 2), f32(3, 3)])
refuse("CholeskyGrad", [f32(2), f32(2)])

for dtype in for_dtypes("MatrixDeterminant"):
    for op in ("MatrixDeterminant", "LogMatrixDeterminant"):
        case(op, [well_conditioned(dtype, 4, 4)], check=near)
        case(op, [values(dtype, 2, 3, 3, 3)], check=near)
        case(op, [tensor([[1, 2], [2, 4]], dtype)], check=near)
        case(op, [values(dtype, 2, 0, 0)])
for op in ("MatrixDeterminant", "LogMatrixDeterminant", "MatrixInverse", "Lu", "MatrixSquareRoot", "SelfAdjointEigV2"):
    refuse(op, [f32(3)])
    refuse(op, [f32(2, 3)])
for dtype in for_dtypes("MatrixInverse"):
    case("MatrixInverse", [well_conditioned(dtype, 4, 4)], check=near)
    case("MatrixInverse", [well_conditioned(dtype, 3, 5, 5)], adjoint=True, check=near)
    case("MatrixInverse", [values(dtype, 0, 0)])
refuse("MatrixInverse", [tensor([[1, 2], [2, 4]], "float")])
for dtype in for_dtypes("MatrixSolve"):
    case("MatrixSolve", [well_conditioned(dtype, 4, 4), values(dtype, 4, 3)], check=near)
    case("MatrixSolve", [well_conditioned(dtype, 2, 5, 5), values(dtype, 2, 5, 1)], adjoint=True, check=near)
    case("MatrixSolve", [well_conditioned(dtype, 3, 3), values(dtype, 3, 0)])
    case("Lu", [well_conditioned(dtype, 4, 4)], check=near)
    case("Lu", [values(dtype, 2, 5, 5)], output_idx_type="int64", check=near)
    case("Lu", [values(dtype, 2, 0, 0)])
refuse("MatrixSolve", [tensor([[1, 2], [2, 4]], "float"), f32(2, 2)])
for a, b in [((2, 2), (3, 2)), ((2, 3), (2, 2)), ((2, 2), (2,)), ((2, 2, 2), (3, 2, 2)), ((2,), (2,))]:
    refuse("MatrixSolve", [f32(*a), f32(*b)])
refuse("Lu", [tensor([[1, 2], [2, 4]], "float")])

for dtype in for_dtypes("MatrixSolveLs"):
    for fast in (True, False):
        case("MatrixSolveLs", [values(dtype, 6, 3), values(dtype, 6, 2), tensor(0.0, "double")], fast=fast, check=near)
        case("MatrixSolveLs", [values(dtype, 3, 6), values(dtype, 3, 2), tensor(0.0, "double")], fast=fast, check=near)
    case("MatrixSolveLs", [values(dtype, 2, 6, 3), values(dtype, 2, 6, 2), tensor(0.5, "double")], check=near)
    case("MatrixSolveLs", [values(dtype, 3, 0), values(dtype, 3, 1), tensor(0.0, "double")])
for a, b, l2 in [((3, 2), (2, 1), 0.0), ((3, 2), (3, 1), -1.0), ((3, 2), (3, 1), [0.0, 1.0]), ((3,), (3, 1), 0.0)]:
    refuse("MatrixSolveLs", [f32(*a), f32(*b), tensor(l2, "double")])
refuse("MatrixSolveLs", [f32(3, 2, kind="zeros"), f32(3, 1), tensor(0.0, "double")])

for dtype in for_dtypes("MatrixTriangularSolve"):
    for lower in (True, False):
        for adjoint in (True, False):
            case("MatrixTriangularSolve", [well_conditioned(dtype, 4, 4), values(dtype, 4, 3)], lower=lower, adjoint=adjoint, check=near)
            case("BandedTriangularSolve", [values(dtype, 2, 4, kind="positive"), values(dtype, 4, 3)], lower=lower, adjoint=adjoint, check=near)
    case("MatrixTriangularSolve", [well_conditioned(dtype, 4, 4), values(dtype, 3, 4, 2)], check=near)
    case("MatrixTriangularSolve", [values(dtype, 0, 0), values(dtype, 0, 2)])
    case("BandedTriangularSolve", [values(dtype, 2, 3, 4, kind="positive"), values(dtype, 1, 4, 3)], check=near)
    case("BandedTriangularSolve", [values(dtype, 2, 4, kind="positive"), values(dtype, 4, 0)])
for a, b in [((2, 3), (2, 2)), ((2, 2), (3, 2)), ((2,), (2,)), ((3, 2, 2), (2, 2, 2))]:
    refuse("MatrixTriangularSolve", [f32(*a), f32(*b)])
for a, b in [((2, 3), (2, 2)), ((3,), (3, 2)), ((0, 3), (3, 2))]:
    refuse("BandedTriangularSolve", [f32(*a), f32(*b)])
refuse("BandedTriangularSolve", [f32(2, 3, kind="zeros"), f32(3, 2)])

for dtype in for_dtypes("Qr"):
    for full in (False, True):
        case("Qr", [values(dtype, 4, 3)], full_matrices=full, check=near)
        case("Qr", [values(dtype, 2, 3, 5)], full_matrices=full, check=near)
    case("Qr", [values(dtype, 3, 0)])
refuse("Qr", [f32(3)])
for dtype in for_dtypes("Svd"):
    for full in (False, True):
        case("Svd", [values(dtype, 4, 3)], full_matrices=full, check=near_up_to_sign)
    case("Svd", [values(dtype, 2, 3, 3)], check=near_up_to_sign)
    case("Svd", [values(dtype, 3, 0)], full_matrices=True)
    case("SelfAdjointEigV2", [positive_definite(dtype, 4, 4)], check=near_up_to_sign)
    case("SelfAdjointEigV2", [positive_definite(dtype, 2, 3, 3)], check=near_up_to_sign)
    case("SelfAdjointEigV2", [values(dtype, 2, 0, 0)])
refuse("Svd", [f32(3)])
refuse("SelfAdjointEigV2", [tensor([[float("nan"), 1], [1, 1]], "float")])
for dtype in ("float", "double", "complex64", "complex128"):
    out = {"float": "complex64", "double": "complex128"}.get(dtype, dtype)
    case("Eig", [positive_definite(dtype, 4, 4)], Tout=out, check=near_up_to_sign)
    case("Eig", [positive_definite(dtype, 2, 3, 3)], Tout=out, check=near_up_to_sign)
    case("Eig", [values(dtype, 2, 0, 0)], Tout=out)
refuse("Eig", [f32(2, 3)], Tout="complex64")
refuse("Eig", [f32(3)], Tout="complex64")


@graph("Svd", "SelfAdjointEigV2", "Eig", check=near)
def values_without_vectors():
    return [
        tf.raw_ops.Svd(input=feed(f32(4, 3)), compute_uv=False).s,
        tf.raw_ops.SelfAdjointEigV2(input=feed(positive_definite("double", 3, 3)), compute_v=False).e,
        tf.raw_ops.Eig(input=feed(positive_definite("double", 3, 3)), Tout=tf.complex128, compute_v=False).e,
    ]


for dtype in for_dtypes("MatrixLogarithm"):
    case("MatrixLogarithm", [positive_definite(dtype, 3, 3)], check=near)
    case("MatrixLogarithm", [positive_definite(dtype, 2, 4, 4)], check=near)
    case("MatrixLogarithm", [values(dtype, 0, 0)])
refuse("MatrixLogarithm", [c64(2, 3)])
refuse("MatrixLogarithm", [c64(3)])
for dtype in for_dtypes("MatrixSquareRoot"):
    case("MatrixSquareRoot", [positive_definite(dtype, 3, 3)], check=near)
    case("MatrixSquareRoot", [positive_definite(dtype, 2, 4, 4)], check=near)
    case("MatrixSquareRoot", [values(dtype, 0, 0)])

for dtype in for_dtypes("TridiagonalSolve"):
    for pivoting in (True, False):
        diagonals = values(dtype, 2, 3, 5, kind="positive")
        case("TridiagonalSolve", [diagonals, values(dtype, 2, 5, 2)], partial_pivoting=pivoting, check=near)
        case("TridiagonalSolve", [values(dtype, 3, 1, kind="positive"), values(dtype, 1, 2)], partial_pivoting=pivoting, check=near)
        case("TridiagonalSolve", [values(dtype, 3, 2, kind="positive"), values(dtype, 2, 2)], partial_pivoting=pivoting, check=near)
        case("TridiagonalSolve", [values(dtype, 3, 0), values(dtype, 0, 2)], partial_pivoting=pivoting)
    case("TridiagonalMatMul", [values(dtype, 2, 1, 5), values(dtype, 2, 1, 5), values(dtype, 2, 1, 5), values(dtype, 2, 5, 3)], sums=8)
    case("TridiagonalMatMul", [values(dtype, 1, 1), values(dtype, 1, 1), values(dtype, 1, 1), values(dtype, 1, 3)], sums=8)
    case("TridiagonalMatMul", [values(dtype, 1, 0), values(dtype, 1, 0), values(dtype, 1, 0), values(dtype, 0, 3)])
for a, b in [((2, 4), (4, 2)), ((3, 4), (3, 2)), ((3,), (3, 2)), ((2, 3, 2), (1, 2, 2))]:
    refuse("TridiagonalSolve", [f32(*a), f32(*b)])
for shapes in [((4,), (1, 4), (1, 4), (4, 2)), ((1, 3), (1, 4), (1, 4), (4, 2)), ((1, 4), (1, 4), (1, 4), (3, 2)), ((1, 4), (1, 3), (1, 4), (4, 2))]:
    refuse("TridiagonalMatMul", [f32(*s) for s in shapes])
