"""Segments, products of matrices, linear algebra and transforms for every combination of types."""

from framework import refuse
from recipes import each
from values import COMPLEXES, FLOATS, c64, c128, f32, i32, tensor

# Segments.
ascending, anywhere = [0, 0, 1, 3], [2, 0, 1, 2]
each("SegmentSum SegmentMean SegmentMax SegmentMin", lambda t: [t("T", 4, 3), t.at("Tindices", ascending)], sums=4)
each("SegmentProd", lambda t: [t("T", 4, 3, low=1, high=4), t.at("Tindices", ascending)], sums=8)
each("UnsortedSegmentSum UnsortedSegmentMax", lambda t: [t("T", 4, 3), t.at("Tindices", anywhere), t.at("Tnumsegments", 4)], sums=4)
each("SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN", lambda t: [t("T", 5, 3), t.at("Tidx", [4, 0, 1, 0]), t.at("Tsegmentids", ascending)], sums=4)
each(
    "SparseSegmentSumWithNumSegments SparseSegmentMeanWithNumSegments",
    lambda t: [t("T", 5, 3), t.at("Tidx", [4, 0, 1, 0]), t.at("Tsegmentids", ascending), t.at("Tnumsegments", 6)],
    sums=4,
)
GRADS = "SparseSegmentSumGrad SparseSegmentMeanGrad SparseSegmentSqrtNGrad"
each(GRADS, lambda t: [t("T", 4, 3), t.at("Tidx", [4, 0, 1, 0]), t.at("Tsegmentids", ascending), tensor(5)], sums=4)
GRADS_V2 = "SparseSegmentSumGradV2 SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2"
each(GRADS_V2, lambda t: [t("T", 4, 3), t.at("Tidx", [4, 0, 1, 0]), t.at("Tsegmentids", ascending), tensor(5)], sums=4)
each("DenseBincount", lambda t: [t.at("Tidx", [1, 3, 1, 0]), t.at("Tidx", 5), t("T", 4)], sums=4)
each("DenseBincount", lambda t: [t.at("Tidx", [[1, 3], [1, 0]]), t.at("Tidx", 5), t("T", 0)], sums=4)
each("RaggedBincount", lambda t: [tensor([0, 1, 3], "int64"), t.at("Tidx", [1, 3, 1]), t.at("Tidx", 5), t("T", 3)], sums=4)
each(
    "SparseBincount",
    lambda t: [tensor([[0, 0], [1, 1], [1, 2]], "int64"), t.at("Tidx", [1, 3, 1]), tensor([2, 3], "int64"), t.at("Tidx", 5), t("T", 3)],
    sums=4,
)
each("HistogramFixedWidth", lambda t: [t("T", 12), t.at("T", [0, 6]), tensor(4)])
each("AddN", lambda t: [[t("T", 2, 3), t("T", 2, 3), t("T", 2, 3)]], sums=4)
each("All Any", lambda t: [tensor([[True, False], [True, True]]), t.at("Tidx", [1])])
each("All Any", lambda t: [tensor([[True, False], [True, True]]), t.at("Tidx", [])])
each("L2Loss", lambda t: [t("T", 3, 4)], sums=8)

# Products of matrices.
each("MatMul", lambda t: [t("T", 3, 5), t("T", 5, 4)], sums=4)
each("MatMul", lambda t: [t("T", 5, 3), t("T", 4, 5)], sums=4, transpose_a=True, transpose_b=True)
each("MatMul", lambda t: [t("T", 3, 0), t("T", 0, 4)], sums=4)
each("BatchMatMulV2", lambda t: [t("T", 2, 1, 3, 5), t("T", 4, 5, 2)], sums=4)
each("BatchMatMulV2", lambda t: [t("T", 2, 5, 3), t("T", 2, 2, 5)], sums=4, adj_x=True, adj_y=True)
each("BatchMatMulV3", lambda t: [t("Ta", 2, 3, 5, kind="positive"), t("Tb", 2, 5, 2)], sums=4)
each("SparseMatMul", lambda t: [t("Ta", 3, 5), t("Tb", 5, 2)], close=16)
each("Einsum", lambda t: [[t("T", 2, 3), t("T", 3, 4)]], equation="ij,jk->ki", sums=4)
each("Einsum", lambda t: [[t("T", 2, 3, 3)]], equation="bii->b", sums=4)
each("MatrixBandPart", lambda t: [t("T", 2, 4, 5), t.at("Tindex", 1), t.at("Tindex", -1)])
each("MatrixDiagV3", lambda t: [t("T", 2, 3), tensor(1), tensor(-1), tensor(-1), t("T")])
each("MatrixDiagPartV3", lambda t: [t("T", 2, 3, 4), tensor([-1, 1]), t("T")])
each("MatrixSetDiagV3", lambda t: [t("T", 2, 3, 4), t("T", 2, 3), tensor(0)])
each("Diag", lambda t: [t("T", 2, 3)])
each("DiagPart", lambda t: [t("T", 2, 3, 2, 3)])
each("BiasAdd", lambda t: [t("T", 2, 3, 4), t("T", 4)])
each("BiasAddGrad", lambda t: [t("T", 2, 3, 4)], sums=4)
each("TridiagonalMatMul", lambda t: [t("T", 1, 4), t("T", 1, 4), t("T", 1, 4), t("T", 4, 2)], sums=4)


def well_conditioned(t, n=4, attr="T"):
    """A square matrix with a heavy diagonal."""
    matrix = t(attr, n, n)
    for i in range(n):
        matrix[i, i] = n * 4
    return matrix


def positive_definite(t, n=4):
    matrix = well_conditioned(t, n)
    return ((matrix + matrix.T.conj()) / 2).astype(matrix.dtype)


each("MatrixInverse MatrixDeterminant", lambda t: [well_conditioned(t)], close=64)
each("MatrixSolve", lambda t: [well_conditioned(t), t("T", 4, 2)], close=64)
each("MatrixTriangularSolve", lambda t: [well_conditioned(t), t("T", 4, 2)], close=64)
each("MatrixSolveLs", lambda t: [well_conditioned(t), t("T", 4, 2), tensor(0.5, "double")], close=512)
each("Cholesky", lambda t: [positive_definite(t)], close=64)
each("LogMatrixDeterminant", lambda t: [well_conditioned(t)], close=64)
each("Lu", lambda t: [well_conditioned(t)], close=64)
each("TridiagonalSolve", lambda t: [t("T", 3, 4, kind="positive"), t("T", 4, 2)], close=4096)
each("BandedTriangularSolve", lambda t: [t("T", 2, 4, kind="positive"), t("T", 4, 2)], close=512)

# Transforms.
for suffix, shape in (("", (2, 8)), ("2D", (2, 4, 6)), ("3D", (2, 2, 4, 6))):
    each(f"FFT{suffix} IFFT{suffix}", lambda t: [c64(*shape)], close=32)
    each(f"FFT{suffix} IFFT{suffix}", lambda t: ([c128(*shape)], {"Tcomplex": "complex128"}), close=32)
    length = tensor(shape[1:])
    each(f"RFFT{suffix}", lambda t: [f32(*shape), length], close=32)
    each(f"IRFFT{suffix}", lambda t: [c64(*shape), length], close=32)

refuse("MatMul", [f32(2, 3), f32(4, 3)])
refuse("MatMul", [f32(2, 3, 4), f32(4, 3)])
refuse("BatchMatMulV2", [f32(2, 3, 4), f32(3, 4, 5)])
refuse("SegmentSum", [f32(3), tensor([1, 0, 2])])
refuse("SegmentSum", [f32(3), tensor([0, 0])])
refuse("UnsortedSegmentSum", [f32(3), tensor([0, 0, 5]), tensor(3)])
refuse("SparseSegmentSum", [f32(3), tensor([0, 7]), tensor([0, 0])])
refuse("MatrixInverse", [f32(2, 3)])
refuse("MatrixInverse", [tensor([[1.0, 2.0], [2.0, 4.0]])])
refuse("Cholesky", [tensor([[1.0, 2.0], [2.0, 1.0]])])
refuse("BiasAdd", [f32(2, 3), f32(4)])
refuse("AddN", [[f32(2), f32(3)]])
refuse("L2Loss", [i32(2)])
refuse("DenseBincount", [tensor([-1, 2]), tensor(3), f32(0)])
