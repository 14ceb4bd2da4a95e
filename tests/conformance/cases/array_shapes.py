"""Constants, placeholders, identities, shapes, reshapes, joins and splits."""

from framework import *
from definitions import for_dtypes
from values import *


def ints(values, dtype="int32"):
    return tensor(values, dtype)


for dtype in ("half", "bfloat16", "float", "double", "int8", "uint16", "int64", "bool", "complex64", "complex128", "string"):
    for op in ("Identity", "StopGradient", "PreventGradient", "DeepCopy", "DebugGradientIdentity", "GuaranteeConst"):
        case(op, [values(dtype, 2, 3)])
        case(op, [values(dtype, 0, 3)])
    case("IdentityN", [[values(dtype, 2), f32(3), i64(0)]])
    case("Shape", [values(dtype, 2, 3)])
    case("Shape", [values(dtype, 4, 0)], out_type="int64")
    case("Size", [values(dtype, 2, 3)])
    case("Size", [values(dtype, 2, 0)], out_type="int64")
    case("Rank", [values(dtype, 2, 3, 1)])
    case("Rank", [values(dtype, 0)])
    case("ShapeN", [[values(dtype, 2, 3), values(dtype), values(dtype, 0)]])
    case("ShapeN", [[values(dtype, 2, 3), values(dtype)]], out_type="int64")
    case("Reshape", [values(dtype, 2, 3), ints([3, -1])])
    case("Reshape", [values(dtype, 2, 3), ints([6], "int64")])
    case("ExpandDims", [values(dtype, 2, 3), ints(1)])
    case("ExpandDims", [values(dtype, 2, 3), ints(-1, "int64")])
    case("Squeeze", [values(dtype, 1, 3, 1)])
    case("Squeeze", [values(dtype, 1, 3, 1)], squeeze_dims=[-1])
    case("EnsureShape", [values(dtype, 2, 3)], shape=[2, None])
    case("PlaceholderWithDefault", [values(dtype, 2, 3)], shape=[None, 3])
    case("Const", [], value=values(dtype, 2, 2), dtype=dtype)
    case("Const", [], value=values(dtype), dtype=dtype)
for dtype in for_dtypes("Snapshot"):
    case("Snapshot", [values(dtype, 2, 3)])
    case("Snapshot", [values(dtype, 0)])
case("Const", [], value=f32(0, 3), dtype="float")
case("NoOp")
case("ControlTrigger")

case("Reshape", [f32(0, 3), ints([-1, 0])])
case("Reshape", [f32(0, 4), ints([-1, 0, 2])])
case("Reshape", [f32(0, 5), ints([-1, 0, 3])])
case("Reshape", [f32(0, 3), ints([-1, 3])])
case("Reshape", [f32(6), ints(6)])
case("Reshape", [f32(1), ints([])])
case("ExpandDims", [f32(0, 3), ints([0])])
case("Squeeze", [f32(1, 0, 1)])
case("Squeeze", [f32()])
case("EnsureShape", [f32(0, 3)], shape=None)
case("PlaceholderWithDefault", [f32(0)], shape=None)
for sizes in ([4], [-1, 4], [-1, -1], [-2, 4], [[6]], [-1, 0], [1] * 255):
    refuse("Reshape", [f32(2, 3), ints(sizes)])
refuse("Reshape", [f32(2, 3), ints([2**40, 2**40], "int64")])
refuse("ExpandDims", [f32(2, 3), ints(5)])
refuse("ExpandDims", [f32(2, 3), ints(-4)])
refuse("ExpandDims", [f32(2, 3), ints([0, 1])])
refuse("Squeeze", [f32(2, 3)], squeeze_dims=[0])
refuse("Squeeze", [f32(2, 3)], squeeze_dims=[5])
refuse("EnsureShape", [f32(2, 3)], shape=[3, None])
refuse("EnsureShape", [f32(2, 3)], shape=[2, 3, 4])
refuse("Placeholder", dtype="float", shape=[2, None])
refuse("Placeholder", dtype="int64", shape=[])
refuse("Placeholder", dtype="string", shape=None)
refuse("PlaceholderV2", dtype="float", shape=[3])
refuse("Shape", [np.zeros([0, 2**31], np.float32)])
refuse("ShapeN", [[f32(2), np.zeros([0, 2**31], np.float32)]])

for dtype in for_dtypes("Fill"):
    if dtype not in ("resource", "variant", "int4", "uint4"):
        case("Fill", [ints([2, 3]), values(dtype)])
        case("Fill", [ints([2, 0], "int64"), values(dtype)])
        case("Fill", [ints(3), values(dtype, 1)])
        case("Fill", [ints([]), values(dtype)])
refuse("Fill", [ints([-1]), f32()])
refuse("Fill", [ints([[1]]), f32()])
refuse("Fill", [ints([2]), f32(2)])
refuse("Fill", [ints([2**40, 2**40], "int64"), f32()])
refuse("Fill", [ints([1] * 255), f32()])
for dtype in for_dtypes("ZerosLike"):
    if dtype != "variant":
        case("ZerosLike", [values(dtype, 2, 3)])
        case("ZerosLike", [values(dtype, 0)])
for dtype in for_dtypes("OnesLike"):
    case("OnesLike", [values(dtype, 2, 3)])
    case("OnesLike", [values(dtype, 0)])
    case("OnesLike", [values(dtype)])
for dtype in for_dtypes("Empty", "dtype"):
    case("Empty", [ints([2, 3])], dtype=dtype, init=True)
    case("Empty", [ints([0])], dtype=dtype)
refuse("Empty", [ints([-1])], dtype="float")
refuse("Empty", [ints(3)], dtype="float")
refuse("Empty", [ints([[3]])], dtype="float")

for dtype in for_dtypes("ConcatV2"):
    if not dtype.startswith("float8"):
        case("ConcatV2", [[values(dtype, 2, 3), values(dtype, 1, 3)], ints(0)])
        case("ConcatV2", [[values(dtype, 2, 3, 2), values(dtype, 2, 1, 2), values(dtype, 2, 0, 2)], ints(-2, "int64")])
        case("Concat", [ints(1), [values(dtype, 2, 3), values(dtype, 2, 2)]])
case("Concat", [ints([0]), [f32(0, 3), f32(2, 3)]])
case("ConcatV2", [[f32(0, 3), f32(0, 3)], ints([1])])
refuse("ConcatV2", [[f32(2, 3), f32(3, 3)], ints(1)])
refuse("ConcatV2", [[f32(2, 3), f32(3)], ints(0)])
refuse("ConcatV2", [[f32(2, 3), f32(2, 3)], ints(5)])
refuse("ConcatV2", [[f32(2, 3), f32(2, 3)], ints(-3)])
refuse("ConcatV2", [[f32(2, 3), f32(2, 3)], ints([0, 1])])
refuse("ConcatV2", [[f32(), f32()], ints(0)])
refuse("Concat", [ints([0, 1]), [f32(2, 3), f32(2, 3)]])
refuse("Concat", [ints(3), [f32(2, 3), f32(2, 3)]])
for index in ("int32", "int64"):
    case("ConcatOffset", [ints(-1), [ints([2, 2], index), ints([2, 7], index), ints([2, 5], index)]])
    case("ConcatOffset", [ints(0), [ints([2, 2], index), ints([0, 2], index)]])
refuse("ConcatOffset", [ints(5), [ints([2, 2]), ints([2, 2])]])
refuse("ConcatOffset", [ints(0), [ints([2, 2]), ints([2, 3])]])
refuse("ConcatOffset", [ints(0), [ints([2, 2]), ints([2])]])
refuse("ConcatOffset", [ints([0]), [ints([2, 2]), ints([2, 2])]])
refuse("ConcatOffset", [ints(1), [ints([2, 2]), ints([[2]])]])
exempt("ConcatOffset", "empty", why="shapes of rank 0 cannot be concatenated")
for dtype in for_dtypes("Pack"):
    if dtype not in ("resource", "variant") and not dtype.startswith("float8"):
        case("Pack", [[values(dtype, 2, 3), values(dtype, 2, 3)]], axis=1)
        case("Pack", [[values(dtype), values(dtype), values(dtype)]])
        case("Pack", [[values(dtype, 2, 0), values(dtype, 2, 0)]], axis=-1)
refuse("Pack", [[f32(2), f32(3)]])
refuse("Pack", [[f32(2), f32(2)]], axis=5)
refuse("Pack", [[f32(2), f32(2)]], axis=-4)
for dtype in for_dtypes("Unpack"):
    if dtype not in ("resource", "variant") and not dtype.startswith("float8"):
        case("Unpack", [values(dtype, 2, 3)], num=2)
        case("Unpack", [values(dtype, 2, 3, 2)], num=3, axis=1)
        case("Unpack", [values(dtype, 2, 0)], num=2, axis=-2)
refuse("Unpack", [f32(2, 3)], num=3)
refuse("Unpack", [f32(2, 3)], num=3, axis=4)
refuse("Unpack", [f32()], num=3)
for dtype in for_dtypes("Split"):
    if dtype not in ("resource", "variant", "int4", "uint4") and not dtype.startswith("float8"):
        case("Split", [ints(0), values(dtype, 4, 3)], num_split=2)
        case("Split", [ints(-1), values(dtype, 2, 6)], num_split=3)
        case("Split", [ints(1), values(dtype, 2, 0)], num_split=3)
        case("SplitV", [values(dtype, 4, 3), ints([1, -1]), ints(0)], num_split=2)
        case("SplitV", [values(dtype, 2, 5, 2), ints([1, 0, 4], "int64"), ints(1)], num_split=3)
        case("SplitV", [values(dtype, 2, 5), ints([5], "int8"), ints([1])], num_split=1)
refuse("Split", [ints(0), f32(3, 2)], num_split=2)
refuse("Split", [ints(5), f32(3, 2)], num_split=2)
refuse("Split", [ints([0]), f32(4, 2)], num_split=2)
refuse("Split", [ints(0), f32()], num_split=2)
case("SplitV", [f32(0, 2), ints([0, 0]), ints(0)], num_split=2)
for sizes in ([1, 2], [-1, -1], [-1, 5], [1, 2, 1], [[1, 3]], [6, -2], [2, -2]):
    refuse("SplitV", [f32(4, 2), ints(sizes), ints(0)], num_split=2)
refuse("SplitV", [f32(4, 2), ints([1, 3]), ints(4)], num_split=2)
refuse("SplitV", [f32(4, 2), ints([3]), ints(0)], num_split=1)
refuse("SplitV", [f32(), ints([1, 3]), ints(0)], num_split=2)

for dtype in for_dtypes("ParallelConcat"):
    case("ParallelConcat", [[values(dtype, 1, 3), values(dtype, 1, 3)]], shape=[2, 3])
case("ParallelConcat", [[f32(1, 0), f32(1, 0)]], shape=[2, 0])
refuse("ParallelConcat", [[f32(2, 3), f32(1, 3)]], shape=[2, 3])
refuse("ParallelConcat", [[f32(1, 3), f32(1, 3)]], shape=[None, 3])
exempt("GuaranteeConst", "refusal", why="hands on what it gets")
