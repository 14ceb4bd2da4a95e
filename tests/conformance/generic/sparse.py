"""Sparse tensors, sets, ragged tensors and strings for every combination of types."""

from framework import refuse
from recipes import each
from values import f32, i32, i64, strings, tensor

AT = tensor([[0, 1], [1, 0], [1, 2]], "int64")
SHAPE = tensor([2, 3], "int64")
OTHER = tensor([[0, 0], [1, 0]], "int64")


def _few(t, *shape):
    return t("T", *shape) if t["T"] == "string" else t("T", *shape, low=0, high=4)


each("SparseToDense", lambda t: [t.at("Tindices", [[0, 1], [1, 2]]), t.at("Tindices", [2, 3]), t("T", 2), t("T")])
each("SparseTensorDenseAdd", lambda t: [t.at("Tindices", AT), t("T", 3), t.at("Tindices", [2, 3]), t("T", 2, 3)])
each("SparseTensorDenseMatMul", lambda t: [t.at("Tindices", AT), t("T", 3), SHAPE, t("T", 3, 4)], sums=4)
each("SparseReorder", lambda t: [tensor([[1, 2], [0, 1], [1, 0]], "int64"), t("T", 3), SHAPE])
each("SparseConcat", lambda t: [[AT, OTHER], [t("T", 3), t("T", 2)], [SHAPE, SHAPE]], concat_dim=1)
each("SparseSplit", lambda t: [tensor(1, "int64"), AT, t("T", 3), SHAPE], num_split=2)
each("SparseSlice", lambda t: [AT, t("T", 3), SHAPE, tensor([0, 1], "int64"), tensor([2, 2], "int64")])
each("SparseSliceGrad", lambda t: [t("T", 2), AT, tensor([0, 1], "int64"), tensor([[0, 0], [1, 1]], "int64")])
each("SparseFillEmptyRows", lambda t: [tensor([[0, 1], [2, 0]], "int64"), t("T", 2), tensor([4, 3], "int64"), t("T")])
each("SparseFillEmptyRowsGrad", lambda t: [tensor([0, 2], "int64"), t("T", 4)], sums=4)
each("SparseReduceSum SparseReduceMax", lambda t: [AT, t("T", 3), SHAPE, tensor([1])], sums=4)
each("SparseReduceMaxSparse", lambda t: [AT, t("T", 3), SHAPE, tensor([1])])
each("SparseDenseCwiseAdd SparseDenseCwiseMul", lambda t: [AT, t("T", 3), SHAPE, t("T", 3)])
each("SparseDenseCwiseDiv", lambda t: [AT, t("T", 3), SHAPE, t("T", 2, 3, kind="positive")])
each("SparseSparseMaximum SparseSparseMinimum", lambda t: [AT, t("T", 3), SHAPE, OTHER, t("T", 2), SHAPE])
REAL = {"complex64": "float", "complex128": "double"}
each("SparseAdd", lambda t: ([AT, t("T", 3), SHAPE, OTHER, t("T", 2), SHAPE, tensor(0, REAL.get(t["T"], t["T"]))], {"Treal": REAL.get(t["T"], t["T"])}))
each("SparseAddGrad", lambda t: [t("T", 4), AT, OTHER, tensor([[0, 0], [0, 1], [1, 0], [1, 2]], "int64")])
each("SparseSoftmax", lambda t: [AT, t("T", 3), SHAPE], close=8)
each("SparseReshape", lambda t: [AT, SHAPE, tensor([3, -1], "int64")])
# TensorFlow repeats in each handle what it has said of those before it.
each("SerializeManySparse SerializeSparse", lambda t: [AT[:1], t("T", 1), SHAPE] if t["T"] == "resource" else [AT, t("T", 3), SHAPE], keep=lambda t: t["out_type"] == "string")
each("EditDistance", lambda t: [AT, t("T", 3), SHAPE, OTHER, t("T", 2), SHAPE])
each("DenseToDenseSetOperation", lambda t: [_few(t, 2, 4), _few(t, 2, 3)], set_operation="intersection")
each("DenseToSparseSetOperation", lambda t: [_few(t, 2, 4), AT, _few(t, 3), SHAPE], set_operation="union")
each("SparseToSparseSetOperation", lambda t: [AT, _few(t, 3), SHAPE, OTHER, _few(t, 2), SHAPE], set_operation="a-b")
each("SetSize", lambda t: [AT, _few(t, 3), SHAPE])
each("DenseCountSparseOutput", lambda t: [t.at("T", [[1, 3, 1], [0, 2, 2]]), t("output_type", 2, 3)], binary_output=False)
each("SparseCountSparseOutput", lambda t: [AT, t.at("T", [1, 3, 1]), SHAPE, t("output_type", 3)], binary_output=False)
each("RaggedRange", lambda t: [t.at("T", [0, 5]), t.at("T", [3, 8]), t.at("T", [1, 2])])
each("RaggedTensorToSparse", lambda t: [[t.at("Tsplits", [0, 2, 3])], t("T", 3)])
each(
    "RaggedTensorToTensor",
    lambda t: [t.at("Tshape", [2, 3]), t("T", 3), t("T"), [t.at("Tindex", [0, 2, 3])]],
    row_partition_types=["ROW_SPLITS"],
)

# Strings and bytes.
each("StringUpper StringLower StringStrip EncodeBase64 StringLength", lambda t: [strings(5)])
each("StringUpper StringLower StringStrip EncodeBase64 StringLength", lambda t: [strings(0)])
each("StringJoin", lambda t: [[strings(3), strings(3), strings()]], separator="-")
each("StringToHashBucketFast StringToHashBucket", lambda t: [strings(6)], num_buckets=17)
each("StringToHashBucketStrong", lambda t: [strings(6)], num_buckets=17, key=[3, 5])
each("Substr", lambda t: [tensor([b"abcdef", b"ghijkl"]), t.at("T", 1), t.at("T", 3)])
each("AsString", lambda t: ([i32(4)], {"T": "int32"}))
each("StringToNumber", lambda t: [tensor([b"12", b"-7", b" 3 "])])
each("DecodeRaw", lambda t: [tensor([b"0123456789abcdef0123456789abcdef"])], keep=lambda t: t["out_type"] not in ("bool", "string"))
each("RegexReplace", lambda t: [tensor([b"abcabc", b"xyz"]), tensor(b"b(.)"), tensor(b"\\1")])
each("RegexFullMatch", lambda t: [tensor([b"abc", b"xbz"]), tensor(b"a.*")])
each("StaticRegexFullMatch", lambda t: [tensor([b"abc", b"xbz"])], pattern="a.*")
each("StaticRegexReplace", lambda t: [tensor([b"abc", b"xbz"])], pattern="b", rewrite="B")
each("StringSplitV2", lambda t: [tensor([b"a b c", b"", b"d  e"]), tensor(b" ")])
each("UnicodeScript", lambda t: [tensor([65, 1041, 0x4E00])])
each("Fingerprint", lambda t: [strings(3), tensor(b"farmhash64")])
each("UnsortedSegmentJoin", lambda t: [strings(4), t.at("Tindices", [1, 0, 1, 2]), t.at("Tnumsegments", 3)], separator=",")
each("SerializeTensor", lambda t: [t("T", 2, 3)])

refuse("SparseToDense", [tensor([[0, 5]]), tensor([2, 3]), f32(1), f32()])
refuse("SparseTensorDenseMatMul", [AT, f32(3), SHAPE, f32(4, 2)])
refuse("SparseReshape", [AT, SHAPE, tensor([4, -1], "int64")])
refuse("StringToNumber", [tensor([b"x"])])
refuse("DecodeBase64", [tensor(b"***")])
refuse("RegexReplace", [tensor(b"a"), tensor(b"("), tensor(b"")])
refuse("Substr", [tensor(b"abc"), tensor(5), tensor(1)])
refuse("DecodeRaw", [tensor([b"abc"])], out_type="int32")
refuse("SparseConcat", [[AT, OTHER], [f32(3), f32(2)], [SHAPE, tensor([3, 3], "int64")]], concat_dim=1)
