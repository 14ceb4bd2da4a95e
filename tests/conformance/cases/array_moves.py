"""Transposes, tiles, paddings, reversals, rolls, and blocks moved between space, batch and depth."""

from framework import *
from definitions import for_dtypes
from values import *

NOT_HERE = ("resource", "variant", "float8_e5m2", "float8_e4m3fn")


def ints(values, dtype="int32"):
    return tensor(values, dtype)


for op in ("Transpose", "ConjugateTranspose"):
    for dtype in for_dtypes(op):
        if dtype not in NOT_HERE:
            case(op, [values(dtype, 2, 3), ints([1, 0])])
            case(op, [values(dtype, 2, 3, 4), ints([2, 0, 1], "int64")])
            case(op, [values(dtype, 20, 3, 37), ints([2, 1, 0])])
            case(op, [values(dtype, 2, 3, 4, 2), ints([0, 2, 1, 3])])
            case(op, [values(dtype, 2, 0, 3), ints([1, 0, 2])])
    case(op, [c64(), ints([])])
    case(op, [c64(2, 1, 3), ints([1, 0, 2])])
    case(op, [f32(64, 100), ints([1, 0])])
    for perm in ([0], [0, 0], [0, 5], [[0, 1]], [0, -3]):
        refuse(op, [f32(2, 3), ints(perm)])
    refuse(op, [f32(), ints([0])])
for index in ("int32", "int64"):
    case("InvertPermutation", [ints([2, 0, 1], index)])
    case("InvertPermutation", [ints([], index)])
    case("InvertPermutation", [ints([0], index)])
for x in ([0, 0], [0, 5], [[0]], [-1, 0]):
    refuse("InvertPermutation", [ints(x)])

for dtype in ("bool", "bfloat16", "half", "float", "double", "uint8", "int8", "int32", "int16", "int64", "uint32", "uint64", "complex64", "complex128", "string"):
    case("Tile", [values(dtype, 2, 3), ints([2, 1])])
    case("Tile", [values(dtype, 2, 1, 3), ints([1, 3, 2], "int64")])
    case("Tile", [values(dtype, 2, 3), ints([0, 2])])
    case("Tile", [values(dtype), ints([])])
refuse("Tile", [u16(2), ints([2])])
refuse("Tile", [f32(2, 3), ints([1])])
refuse("Tile", [f32(2, 3), ints([1, -1])])
refuse("Tile", [f32(2, 3), ints([[1, 1]])])
refuse("Tile", [f32(2, 1), ints([2**40, 2**40], "int64")])

for dtype in for_dtypes("Pad"):
    for index in ("int32", "int64"):
        case("Pad", [values(dtype, 2, 3), ints([[1, 0], [2, 1]], index)])
        case("PadV2", [values(dtype, 2, 3), ints([[0, 2], [0, 0]], index), values(dtype)])
    case("Pad", [values(dtype, 0, 2), ints([[1, 0], [0, 1]])])
    case("PadV2", [values(dtype, 0, 2), ints([[1, 0], [0, 1]]), values(dtype)])
    case("PadV2", [values(dtype, 2, 1, 2), ints([[0, 0], [1, 1], [0, 3]]), values(dtype)])
    for mode in ("REFLECT", "SYMMETRIC"):
        case("MirrorPad", [values(dtype, 3, 4), ints([[1, 2], [2, 0]])], mode=mode)
        case("MirrorPad", [values(dtype, 3, 2, 2), ints([[2, 2], [0, 1], [1, 1]], "int64")], mode=mode)
case("Pad", [f32(), np.zeros([0, 2], np.int32)])
case("MirrorPad", [f32(), np.zeros([0, 2], np.int32)], mode="REFLECT")
case("MirrorPad", [f32(2), ints([[2, 2]])], mode="SYMMETRIC")
case("MirrorPad", [f32(2, 0), ints([[1, 1], [0, 0]])], mode="SYMMETRIC")
for paddings in ([[1, 1]], [[1, 1], [-1, 0]], [1, 1, 1, 1], [[1, 1, 1], [1, 1, 1]]):
    refuse("Pad", [f32(2, 3), ints(paddings)])
    refuse("PadV2", [f32(2, 3), ints(paddings), f32()])
    refuse("MirrorPad", [f32(2, 3), ints(paddings)], mode="REFLECT")
    refuse("MirrorPadGrad", [f32(2, 3), ints(paddings)], mode="REFLECT")
refuse("PadV2", [f32(2, 3), ints([[1, 1], [1, 1]]), f32(1)])
refuse("Pad", [f32(2), ints([[2**62, 2**62]], "int64")])
refuse("MirrorPad", [f32(2, 3), ints([[2, 0], [0, 0]])], mode="REFLECT")
refuse("MirrorPad", [f32(2, 3), ints([[3, 0], [0, 0]])], mode="SYMMETRIC")
for dtype in for_dtypes("MirrorPadGrad"):
    for mode in ("REFLECT", "SYMMETRIC"):
        case("MirrorPadGrad", [values(dtype, 6, 5), ints([[1, 2], [2, 0]])], mode=mode, close=4)
        case("MirrorPadGrad", [values(dtype, 7, 3, 4), ints([[2, 2], [0, 1], [1, 1]], "int64")], mode=mode, close=4)
case("MirrorPadGrad", [f32(0, 3), np.zeros([2, 2], np.int32)], mode="SYMMETRIC", alone=True)
for paddings in ([[2, 0], [0, 0]], [[3, 0], [0, 0]], [[-1, 0], [0, 0]]):
    refuse("MirrorPadGrad", [f32(2, 3), ints(paddings)], mode="SYMMETRIC")
refuse("MirrorPadGrad", [f32(4, 3), ints([[2, 1], [0, 0]])], mode="REFLECT")
refuse("MirrorPadGrad", [f32(4, 3), ints([[2, 1], [0, 0]])], mode="SYMMETRIC")

for dtype in for_dtypes("ReverseV2"):
    case("ReverseV2", [values(dtype, 4, 3), ints([1])])
    case("ReverseV2", [values(dtype, 4, 3, 2), ints([0, -1], "int64")])
    case("ReverseV2", [values(dtype, 4, 3), ints([])])
    case("Reverse", [values(dtype, 4, 3), tensor([True, False])])
    case("Reverse", [values(dtype, 4, 3, 2), tensor([False, True, True])])
    case("ReverseSequence", [values(dtype, 2, 5), ints([3, 0])], seq_dim=1, batch_dim=0)
    case("ReverseSequence", [values(dtype, 5, 2, 3), ints([2, 5], "int64")], seq_dim=0, batch_dim=1)
case("ReverseV2", [f32(0, 3), ints([1])])
case("Reverse", [f32(0, 3), tensor([True, True])])
case("ReverseSequence", [f32(0, 3), ints([])], seq_dim=1, batch_dim=0)
case("ReverseSequence", [f32(3, 2, 4, 2), ints([1, 2, 4])], seq_dim=2, batch_dim=0)
for axis in ([2], [0, 0], [0, -2], 0, [-3]):
    refuse("ReverseV2", [f32(2, 3), ints(axis)])
refuse("Reverse", [f32(2, 3), tensor([True])])
refuse("Reverse", [f32(2, 3), tensor([[True]])])
for lengths, seq, batch in (([1], 1, 0), ([1, 4], 1, 0), ([1, -1], 1, 0), ([1, 1], 0, 0), ([1, 1], 4, 0), ([1, 1], 1, 4), ([[1, 1]], 1, 0), ([1, 1], -1, 0), ([1, 1], 1, -2)):
    refuse("ReverseSequence", [f32(2, 3), ints(lengths)], seq_dim=seq, batch_dim=batch)

for dtype in for_dtypes("Roll"):
    if dtype not in NOT_HERE:
        case("Roll", [values(dtype, 5), ints(2), ints(0)])
        case("Roll", [values(dtype, 3, 4), ints([-1, 6], "int64"), ints([0, -1], "int64")])
        case("Roll", [values(dtype, 2, 3, 4), ints([1, 1]), ints([1, 1], "int64")])
case("Roll", [f32(0, 3), ints([1]), ints([1])])
for shift, axis in (([1], [5]), ([1, 2], [0]), ([[1]], [0]), (1, [[0]]), (1, [0]), ([1], [-3])):
    refuse("Roll", [f32(2, 3), ints(shift), ints(axis)])
refuse("Roll", [f32(), ints(1), ints(0)])

for dtype in for_dtypes("SpaceToBatchND"):
    case("SpaceToBatchND", [values(dtype, 2, 4, 6, 3), ints([2, 3]), ints([[0, 0], [0, 0]])])
    case("SpaceToBatchND", [values(dtype, 2, 3, 5, 2), ints([2, 3], "int64"), ints([[1, 2], [4, 0]], "int64")])
    case("BatchToSpaceND", [values(dtype, 12, 2, 3, 2), ints([2, 3]), ints([[0, 0], [0, 0]])])
    case("BatchToSpaceND", [values(dtype, 12, 2, 3, 2), ints([2, 3], "int64"), ints([[1, 0], [2, 4]])])
    case("SpaceToBatch", [values(dtype, 2, 3, 4, 2), ints([[1, 0], [0, 2]])], block_size=2)
    case("BatchToSpace", [values(dtype, 8, 2, 3, 2), ints([[1, 0], [0, 2]])], block_size=2)
case("SpaceToBatchND", [f32(1, 4, 4, 1), ints([]), np.zeros([0, 2], np.int32)])
case("SpaceToBatchND", [f32(2, 3, 4), ints([1, 2]), ints([[0, 0], [1, 1]])])
case("SpaceToBatchND", [f32(2, 6), ints([3]), ints([[0, 0]])])
case("SpaceToBatchND", [f32(1, 0, 4, 1), ints([2, 2]), ints([[0, 2], [0, 0]])])
case("SpaceToBatch", [f32(0, 4, 4, 1), ints([[0, 0], [0, 0]])], block_size=2)
case("BatchToSpace", [f32(0, 4, 4, 1), ints([[0, 0], [0, 0]])], block_size=2)
case("BatchToSpaceND", [f32(4, 2, 2, 1), ints([2, 2]), ints([[2, 2], [0, 0]])])
case("BatchToSpaceND", [f32(4, 2, 2, 0), ints([2, 2]), ints([[0, 0], [0, 0]])])
case("BatchToSpaceND", [f32(4, 0, 2, 1), ints([2, 2]), ints([[0, 0], [0, 0]])])
case("SpaceToBatchND", [f32(1, 3, 3), ints([5]), ints([[3, 4]])])
for block, paddings in (([2, 3], [[0, 0], [0, 0]]), ([2, 0], [[0, 0], [0, 0]]), ([2, 2], [[0, -1], [0, 0]]), ([2, 2], [[0, 0]]), ([[2, 2]], [[0, 0], [0, 0]]), ([2, 2, 2, 2], [[0, 0]] * 4)):
    refuse("SpaceToBatchND", [f32(1, 4, 4, 1), ints(block), ints(paddings)])
for block, crops in (([2, 3], [[0, 0], [0, 0]]), ([2, 2], [[0, -1], [0, 0]]), ([2, 2], [[3, 3], [0, 0]]), ([0, 2], [[0, 0], [0, 0]]), ([2, 2], [[2, 2]]), ([2, -2], [[0, 0], [0, 0]])):
    refuse("BatchToSpaceND", [f32(4, 2, 2, 1), ints(block), ints(crops)])
refuse("SpaceToBatch", [f32(1, 4, 4), ints([[0, 0], [0, 0]])], block_size=2)
refuse("SpaceToBatch", [f32(1, 4, 4, 1), ints([[0, 1], [0, 0]])], block_size=2)
refuse("SpaceToBatch", [f32(1, 4, 4, 1), ints([[0, 0]])], block_size=2)
refuse("BatchToSpace", [f32(4, 2, 2), ints([[0, 0], [0, 0]])], block_size=2)
refuse("BatchToSpace", [f32(3, 2, 2, 1), ints([[0, 0], [0, 0]])], block_size=2)

for op, shapes in (("SpaceToDepth", ((2, 4, 6, 3), (1, 2, 2, 1))), ("DepthToSpace", ((2, 2, 3, 8), (1, 1, 1, 4)))):
    for dtype in for_dtypes(op):
        if dtype not in NOT_HERE:
            for shape in shapes:
                case(op, [values(dtype, *shape)], block_size=2)
    case(op, [f32(2, 0, 4, 8)], block_size=2)
    case(op, [f32(1, 9, 9, 9)], block_size=3)
    refuse(op, [f32(3, 4, 1)], block_size=2)
    refuse(op, [f32(1, 3, 4, 1)], block_size=2)
    refuse(op, [f32(1, 4, 3, 1)], block_size=2)

for dtype in for_dtypes("ExtractImagePatches"):
    for padding in ("SAME", "VALID"):
        case("ExtractImagePatches", [values(dtype, 2, 5, 6, 2)], ksizes=[1, 2, 3, 1], strides=[1, 2, 1, 1], rates=[1, 1, 1, 1], padding=padding)
        case("ExtractImagePatches", [values(dtype, 1, 5, 6, 1)], ksizes=[1, 2, 3, 1], strides=[1, 1, 2, 1], rates=[1, 3, 2, 1], padding=padding)
for padding in ("SAME", "VALID"):
    case("ExtractImagePatches", [f32(1, 4, 4, 1)], ksizes=[1, 5, 5, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding=padding)
    case("ExtractImagePatches", [f32(0, 4, 4, 1)], ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding=padding)
    case("ExtractVolumePatches", [f32(0, 4, 4, 4, 1)], ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding=padding)
ONES = [1, 1, 1, 1]
for ksizes, strides, rates in (([1, 2, 2, 2], ONES, ONES), ([1, 2, 2, 1], [1, 0, 1, 1], ONES), ([1, 2, 2, 1], [2, 1, 1, 1], ONES), ([1, 2, 2, 1], ONES, [1, 0, 1, 1]), ([1, 2, 2, 1], ONES, [1, 1, 1, 2]), ([1, 0, 2, 1], ONES, ONES), ([1, 9, 2, 1], ONES, ONES)):
    refuse("ExtractImagePatches", [f32(1, 4, 4, 1)], ksizes=ksizes, strides=strides, rates=rates, padding="VALID")
refuse("ExtractImagePatches", [f32(4, 4, 1)], ksizes=[1, 2, 2, 1], strides=ONES, rates=ONES, padding="VALID")
for dtype in for_dtypes("ExtractVolumePatches"):
    for padding in ("SAME", "VALID"):
        case("ExtractVolumePatches", [values(dtype, 2, 4, 5, 3, 2)], ksizes=[1, 2, 3, 2, 1], strides=[1, 2, 1, 2, 1], padding=padding)
for ksizes, strides in (([1, 2, 2, 2, 2], [1] * 5), ([1, 2, 2, 2, 1], [1, 0, 1, 1, 1]), ([1, 2, 2, 2, 1], [2, 1, 1, 1, 1])):
    refuse("ExtractVolumePatches", [f32(1, 4, 4, 4, 1)], ksizes=ksizes, strides=strides, padding="VALID")
refuse("ExtractVolumePatches", [f32(4, 4, 4, 1)], ksizes=[1, 2, 2, 2, 1], strides=[1] * 5, padding="VALID")
