"""Shaping, slicing, padding, gathering and scattering for every combination of types."""

from framework import ref, refuse, var
from recipes import each
from values import QUANTIZED, UNFEEDABLE, f32, i32, i64, tensor


def plain(t):
    """TensorFlow cannot copy variables of quantised types, nor set those of the shortest floats."""
    return not any(name in QUANTIZED or name.startswith("float8") for name in t.given.values())


# Shapes and sizes.
each("Reshape", lambda t: [t("T", 2, 6), t.at("Tshape", [3, -1])])
each("Reshape", lambda t: [t("T", 0, 6), t.at("Tshape", [3, 0])])
each("ExpandDims", lambda t: [t("T", 2, 3), t.at("Tdim", -1)])
each("ExpandDims", lambda t: [t("T"), t.at("Tdim", 0)])
each("Squeeze", lambda t: [t("T", 1, 3, 1)])
each("Squeeze", lambda t: [t("T", 1, 3, 1)], squeeze_dims=[-1])
each("Shape Size", lambda t: [t("T", 2, 0, 3)])
each("Shape Size", lambda t: [t("T", 2, 3)])
each("Shape Size", lambda t: [t("T")])
each("Rank", lambda t: [t("T", 2, 3)])
each("ShapeN", lambda t: [[t("T", 2, 3), t("T")]])
each("EnsureShape", lambda t: [t("T", 2, 3)], shape=[None, 3])
each("BroadcastTo", lambda t: [t("T", 3, 1), t.at("Tidx", [2, 3, 4])])
each("BroadcastTo", lambda t: [t("T"), t.at("Tidx", [0, 2])])
each("BroadcastArgs", lambda t: [t.at("T", [3, 1]), t.at("T", [2, 1, 4])])
each("BroadcastGradientArgs", lambda t: [t.at("T", [3, 1]), t.at("T", [2, 3, 4])])
each("Fill", lambda t: [t.at("index_type", [2, 3]), t("T")])
each("Fill", lambda t: [t.at("index_type", [0]), t("T")])
each("Tile", lambda t: [t("T", 2, 3), t.at("Tmultiples", [2, 1])])
each("Tile", lambda t: [t("T", 2, 3), t.at("Tmultiples", [0, 2])])
each("Range", lambda t: [t.at("Tidx", 2), t.at("Tidx", 11), t.at("Tidx", 3)])
each("Range", lambda t: [t.at("Tidx", 11), t.at("Tidx", 2), t.at("Tidx", -2)], keep=lambda t: not t["Tidx"].startswith("uint"))
each("OneHot", lambda t: [t.at("TI", [[0, 2], [1, 3]]), tensor(3), t("T"), t("T")])
each("InvertPermutation", lambda t: [t.at("T", [2, 0, 1, 3])])

# Slices and their like.
each("Slice", lambda t: [t("T", 4, 5), t.at("Index", [1, 0]), t.at("Index", [2, -1])])
each("Slice", lambda t: [t("T", 4, 5), t.at("Index", [4, 0]), t.at("Index", [0, 2])])
each("StridedSlice", lambda t: [t("T", 4, 5), t.at("Index", [3, 1]), t.at("Index", [0, 5]), t.at("Index", [-1, 2])])
each("StridedSlice", lambda t: [t("T", 4, 5), t.at("Index", [1]), t.at("Index", [2]), t.at("Index", [1])], shrink_axis_mask=1)


def slice_gradient(t):
    # Elements that no gradient reaches are no handles at all.
    places = ([2, 3], [0, 0], [2, 3], [1, 1]) if t["T"] in UNFEEDABLE else ([4, 5], [1, 0], [3, 5], [1, 2])
    return [*(t.at("Index", place) for place in places), t("T", 2, 3)]


each("StridedSliceGrad", slice_gradient)
each("StridedSliceAssign", lambda t: [ref(t("T", 4, 5)), t.at("Index", [1, 0]), t.at("Index", [3, 5]), t.at("Index", [1, 2]), t("T", 2, 3)])


def readable(inputs, dtype):
    """Once they are read and written in place, TensorFlow cannot copy variables of quantised types any more."""
    return (inputs, {"reread": False}) if dtype in QUANTIZED else inputs


each("ResourceStridedSliceAssign", lambda t: readable([var(t("T", 4, 5)), *(t.at("Index", at) for at in ([1, 0], [3, 5], [1, 2])), t("T", 2, 3)], t["T"]))
each("ConcatV2", lambda t: [[t("T", 2, 3), t("T", 2, 1), t("T", 2, 0)], t.at("Tidx", -1)])
each("ConcatOffset", lambda t: [tensor(1), [t.at("shape_type", [2, 3]), t.at("shape_type", [2, 5])]])
each("Pack", lambda t: [[t("T", 2, 3), t("T", 2, 3)]], axis=-1)
each("Unpack", lambda t: [t("T", 3, 2)], num=3)
each("Split", lambda t: [tensor(1), t("T", 2, 6)], num_split=3)
each("SplitV", lambda t: [t("T", 2, 6), t.at("Tlen", [1, -1, 2]), tensor(1)], num_split=3)
each("ParallelConcat", lambda t: [[t("T", 1, 3), t("T", 1, 3)]], shape=[2, 3], known_shapes=True)
each("Transpose ConjugateTranspose", lambda t: [t("T", 2, 3, 4), t.at("Tperm", [2, 0, 1])])
each("Transpose ConjugateTranspose", lambda t: [t("T", 2, 0, 4), t.at("Tperm", [2, 0, 1])])
each("ReverseV2", lambda t: [t("T", 3, 4), t.at("Tidx", [-1])])
each("ReverseSequence", lambda t: [t("T", 3, 4), t.at("Tlen", [2, 4, 0])], seq_dim=1)
each("Roll", lambda t: [t("T", 3, 4), t.at("Tshift", [1, -2]), t.at("Taxis", [0, 1])])
each("Pad", lambda t: [t("T", 2, 3), t.at("Tpaddings", [[1, 0], [0, 2]])])
each("PadV2", lambda t: [t("T", 2, 3), t.at("Tpaddings", [[1, 0], [0, 2]]), t("T")])
each("MirrorPad", lambda t: [t("T", 3, 4), t.at("Tpaddings", [[1, 0], [2, 2]])], mode="REFLECT")
each("MirrorPad", lambda t: [t("T", 3, 4), t.at("Tpaddings", [[1, 3], [2, 4]])], mode="SYMMETRIC")
each("MirrorPadGrad", lambda t: [t("T", 4, 8), t.at("Tpaddings", [[1, 0], [2, 2]])], mode="REFLECT", sums=4)
each("SpaceToBatchND", lambda t: [t("T", 1, 4, 4, 2), t.at("Tblock_shape", [2, 2]), t.at("Tpaddings", [[0, 0], [2, 0]])], known_shapes=True)
each("BatchToSpaceND", lambda t: [t("T", 4, 2, 2, 1), t.at("Tblock_shape", [2, 2]), t.at("Tcrops", [[0, 1], [0, 0]])], known_shapes=True)
each("SpaceToDepth", lambda t: [t("T", 1, 4, 4, 2)], block_size=2)
each("DepthToSpace", lambda t: [t("T", 1, 2, 2, 8)], block_size=2)
each("ExtractImagePatches", lambda t: [t("T", 1, 5, 5, 2)], ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="VALID")
each("ExtractVolumePatches", lambda t: [t("T", 1, 4, 4, 4, 1)], ksizes=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="SAME")

# Gathers and scatters.
each("GatherV2", lambda t: [t("Tparams", 4, 3), t.at("Tindices", [[2, 0], [1, 3]]), t.at("Taxis", 0)])
each("GatherV2", lambda t: [t("Tparams", 4, 3), t.at("Tindices", []), t.at("Taxis", 1)])
each("GatherNd", lambda t: [t("Tparams", 4, 3), t.at("Tindices", [[2, 0], [1, 2]])])
each("GatherNd", lambda t: [t("Tparams", 4, 3), t.at("Tindices", [[2], [1]])])
each("ResourceGather", lambda t: readable([var(t("dtype", 4, 3)), t.at("Tindices", [2, 0, 3])], t["dtype"]))
each("ResourceGatherNd", lambda t: [var(t("dtype", 4, 3)), t.at("Tindices", [[2, 0], [1, 2]])])
SCATTERS = "ScatterAdd ScatterSub"
each(SCATTERS, lambda t: [ref(t("T", 5, 2)), t.at("Tindices", [3, 0, 3]), t("T", 3, 2)])
RESOURCE_SCATTERS = "ResourceScatterAdd ResourceScatterUpdate ResourceScatterMax ResourceScatterMin ResourceScatterSub ResourceScatterMul"
each(RESOURCE_SCATTERS, lambda t: [var(t("dtype", 5, 2)), t.at("Tindices", [3, 0, 1]), t("dtype", 3, 2)])
each("ResourceScatterDiv", lambda t: [var(t("dtype", 5, 2)), t.at("Tindices", [3, 0, 1]), t("dtype", 3, 2, kind="positive")])
ND_SCATTERS = "ScatterNdAdd ScatterNdSub ScatterNdUpdate ScatterNdMax ScatterNdMin"
each(ND_SCATTERS, lambda t: [ref(t("T", 5, 2)), t.at("Tindices", [[3], [0]]), t("T", 2, 2)])
RESOURCE_ND_SCATTERS = "ResourceScatterNdUpdate ResourceScatterNdAdd ResourceScatterNdSub"
each(RESOURCE_ND_SCATTERS, lambda t: [var(t("T", 5, 2)), t.at("Tindices", [[3, 1], [0, 0]]), t("T", 2)])
TENSOR_SCATTERS = "TensorScatterAdd TensorScatterSub TensorScatterUpdate TensorScatterMax TensorScatterMin ScatterNdNonAliasingAdd"
each(TENSOR_SCATTERS, lambda t: [t("T", 5, 2), t.at("Tindices", [[3], [0]]), t("T", 2, 2)])
each(TENSOR_SCATTERS, lambda t: [t("T", 5, 2), t.at("Tindices", [[3, 1], [3, 0]]), t("T", 2)])
each("ScatterNd", lambda t: [t.at("Tindices", [[3], [0]]), t("T", 2, 2), t.at("Tindices", [5, 2])])
each("InplaceAdd InplaceSub InplaceUpdate", lambda t: [t("T", 4, 2), tensor([2, 0]), t("T", 2, 2)])
each("DynamicStitch ParallelDynamicStitch", lambda t: [[tensor([0, 3]), tensor([2, 1])], [t("T", 2, 3), t("T", 2, 3)]])
each("DynamicPartition", lambda t: [t("T", 4, 2), tensor([1, 0, 2, 1])], num_partitions=3)

# Search and order.
each("ArgMax ArgMin", lambda t: [t("T", 3, 4, kind="distinct") if t["T"] not in ("bool",) else t("T", 3, 4), t.at("Tidx", 1)])
each("TopKV2", lambda t: [t("T", 3, 5), t.at("Tk", 2)])
each("NthElement", lambda t: [t("T", 3, 5), tensor(2)])
each("InTopKV2", lambda t: [f32(3, 5), t.at("T", [0, 4, 2]), t.at("T", 2)])
each("Unique UniqueWithCounts", lambda t: [t("T", 9, low=0, high=4) if t["T"] != "string" else t("T", 9)])
each("Unique UniqueWithCounts", lambda t: [t("T", 0)])
each("UniqueV2 UniqueWithCountsV2", lambda t: [t("T", 9, low=0, high=4) if t["T"] != "string" else t("T", 9), t.at("Taxis", [])])
each("ListDiff", lambda t: [t("T", 9, low=0, high=6) if t["T"] != "string" else t("T", 9), t("T", 4, low=0, high=6) if t["T"] != "string" else t("T", 4)])
each("Where", lambda t: [t("T", 3, 4)])
each("Bucketize", lambda t: [t("T", 3, 4)], boundaries=[-2.0, 0.5, 3.0])
each("Select", lambda t: [tensor([True, False, True]), t("T", 3), t("T", 3)])
each("Select", lambda t: [tensor([True, False, True]), t("T", 3, 2), t("T", 3, 2)])
each("SelectV2", lambda t: [tensor([[True], [False], [True]]), t("T", 3, 4), t("T", 4)])
each("ClipByValue", lambda t: [t("T", 3, 4), t.at("T", 1), t.at("T", 4)])
each("Cross", lambda t: [t("T", 2, 3), t("T", 2, 3)])
each("Identity StopGradient PreventGradient", lambda t: [t("T", 2, 3)])
each("IdentityN", lambda t: ([[f32(2), i64(3)]], {}))

refuse("Reshape", [f32(2, 3), tensor([4, -1])])
refuse("Reshape", [f32(2, 3), tensor([7])])
refuse("ExpandDims", [f32(2, 3), tensor(4)])
refuse("Squeeze", [f32(2, 3)], squeeze_dims=[0])
refuse("BroadcastTo", [f32(2, 3), tensor([2, 4])])
refuse("Fill", [tensor([-1]), f32()])
refuse("Tile", [f32(2), tensor([1, 2])])
refuse("Range", [tensor(0), tensor(5), tensor(0)])
refuse("Slice", [f32(2, 3), tensor([0, 0]), tensor([3, 1])])
refuse("StridedSlice", [f32(4), tensor([0]), tensor([2]), tensor([0])])
refuse("ConcatV2", [[f32(2, 3), f32(3, 3)], tensor(1)])
refuse("Pack", [[f32(2), f32(3)]])
refuse("Transpose", [f32(2, 3), tensor([0, 0])])
refuse("GatherV2", [f32(4), tensor([4]), tensor(0)])
refuse("GatherNd", [f32(4), tensor([[4]])])
refuse("TensorScatterUpdate", [f32(4), tensor([[4]]), f32(1)])
refuse("ScatterNd", [tensor([[5]]), f32(1), tensor([5])])
refuse("Pad", [f32(2), i32(1, 3)])
refuse("OneHot", [i32(2), tensor(-1), f32(), f32()])
refuse("TopKV2", [f32(3), tensor(4)])
