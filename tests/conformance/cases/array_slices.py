"""Slices, strided slices with every mask, gathers."""

import itertools

from framework import *
from definitions import for_dtypes
from values import *

NOT_HERE = ("resource", "variant", "float8_e5m2", "float8_e4m3fn")
MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def ints(values, dtype="int32"):
    return tensor(values, dtype)


for dtype in for_dtypes("Slice"):
    if dtype not in NOT_HERE:
        case("Slice", [values(dtype, 4, 3), ints([1, 0]), ints([2, 3])])
        case("Slice", [values(dtype, 4, 3, 2), ints([0, 1, 1], "int64"), ints([-1, 2, 1], "int64")])
        case("Slice", [values(dtype, 4, 3), ints([0, 3]), ints([2, -1])])
case("Slice", [f32(), ints([]), ints([])])
for begin, size in (([0], [1]), ([0, 1], [1, 5]), ([-1, 1], [1, 1]), ([0, 4], [1, -1]), ([0, 1], [1, -2]), ([[0, 1]], [[1, 1]])):
    refuse("Slice", [f32(4, 3), ints(begin), ints(size)])
refuse("Slice", [f32(4, 0), ints([0, 1]), ints([1, 0])])
refuse("Slice", [f32(4, 0), ints([0, 0]), ints([1, 2])])

SPECS = [  # shape, begin, end, strides, masks
    ((4, 3), [1], [3], [1], {}),
    ((4, 3), [1, 0], [4, 3], [2, 2], {}),
    ((4, 3), [-1, -1], [-5, -4], [-1, -2], {}),
    ((4, 3), [0, 0], [0, 0], [1, -1], {"begin_mask": 3, "end_mask": 3}),
    ((4, 3), [2, 1], [3, 2], [1, 1], {"shrink_axis_mask": 3}),
    ((4, 3), [-2], [0], [1], {"shrink_axis_mask": 1}),
    ((2, 3, 4), [0, 0, 1], [0, 0, 3], [1, 1, 1], {"ellipsis_mask": 1}),
    ((2, 3, 4), [1, 0, 2], [2, 0, 3], [1, 1, 1], {"ellipsis_mask": 2, "shrink_axis_mask": 5}),
    ((2, 3, 4), [0, 0, 1, 0], [1, 0, 3, 0], [1, 1, 2, 1], {"ellipsis_mask": 2, "new_axis_mask": 8}),
    ((2, 3), [0, 0], [0, 0], [1, 1], {"new_axis_mask": 1, "begin_mask": 2, "end_mask": 2}),
    ((2, 3), [0], [0], [1], {"new_axis_mask": 1, "shrink_axis_mask": 1}),
    ((4, 3), [3], [1], [1], {}),
    ((4, 3), [-100], [100], [2**31 - 1], {}),
    ((0, 3), [0], [5], [1], {}),
    ((), [0], [0], [1], {"new_axis_mask": 1}),
    ((), [], [], [], {}),
    ((5, 4, 3), [4, 0, -1], [0, 4, -4], [-2, 3, -1], {"begin_mask": 2}),
]


def strided(op, inputs, masks, **rest):
    return case(op, inputs, **{m: masks.get(m, 0) for m in MASKS}, **rest)


for dtype in for_dtypes("StridedSlice"):
    if dtype in NOT_HERE:
        continue
    some = SPECS if dtype in ("float", "string", "int32") else SPECS[1:8:2]
    for (shape, begin, end, strides, masks), index in zip(some, itertools.cycle(("int32", "int64", "int16"))):
        index = "int64" if strides and max(strides) > 9 else index
        where = [ints(begin, index), ints(end, index), ints(strides, index)]
        strided("StridedSlice", [values(dtype, *shape), *where], masks)
    for shape, begin, end, strides, masks in some:
        x = np.zeros(shape)
        where = [ints(begin), ints(end), ints(strides)]
        # What the slice has for a shape, TensorFlow itself says.
        dy = tf.raw_ops.StridedSlice(input=x, begin=where[0], end=where[1], strides=where[2], **{m: masks.get(m, 0) for m in MASKS}).shape
        strided("StridedSliceGrad", [ints(shape), *where, values(dtype, *dy)], masks)
        strided("TensorStridedSliceUpdate", [values(dtype, *shape), *where, values(dtype, *dy)], masks)
        if shape:
            # TensorFlow cannot read a quantized variable that was assigned to in part.
            if not dtype.startswith("q"):
                strided("ResourceStridedSliceAssign", [var(values(dtype, *shape)), *where, values(dtype, *dy)], masks)
            strided("StridedSliceAssign", [ref(values(dtype, *shape)), *where, values(dtype)], masks)

NONE = dict.fromkeys(MASKS, 0)
one = [ints([0]), ints([2]), ints([1])]
for value in (f32(1, 3), f32(), f32(3), f32(1, 2, 3), f32(3, 3), f32(2), f32(2, 2)):
    case("TensorStridedSliceUpdate", [f32(4, 3), *one, value], alone=True, **NONE)
case("TensorStridedSliceUpdate", [f32(4, 3), ints([0]), ints([0]), ints([1]), f32(5)], **NONE)
refuse("ResourceStridedSliceAssign", [var(f32(4, 3)), *one, f32(3, 3)], **NONE)
refuse("StridedSliceAssign", [ref(f32(4, 3)), *one, f32(3, 3)], **NONE)
refuse("StridedSliceAssign", [ref(dtype="float", shape=(4, 3)), *one, f32(2, 3)], **NONE)
for begin, end, strides, masks in (
    ([0, 0, 0], [1, 1, 1], [1, 1, 1], {}),
    ([0], [1], [0], {}),
    ([0], [1], [1, 1], {}),
    ([[0]], [[1]], [[1]], {}),
    ([9], [1], [1], {"shrink_axis_mask": 1}),
    ([-9], [1], [1], {"shrink_axis_mask": 1}),
    ([1], [1], [-1], {"shrink_axis_mask": 1}),
    ([0, 0], [1, 1], [1, 1], {"ellipsis_mask": 3}),
    ([0] * 33, [0] * 33, [1] * 33, {}),
    ([-(2**31)], [2**31 - 1], [1], {"begin_mask": 1, "shrink_axis_mask": 1}),
):
    refuse("StridedSlice", [f32(4, 3), ints(begin), ints(end), ints(strides)], **(NONE | masks))
    refuse("TensorStridedSliceUpdate", [f32(4, 3), ints(begin), ints(end), ints(strides), f32()], **(NONE | masks))
refuse("StridedSlice", [f32(), ints([0]), ints([1]), ints([1])], **NONE)
refuse("StridedSliceGrad", [ints([4, 3]), *one, f32(3, 3)], **NONE)
refuse("StridedSliceGrad", [ints([4, -3]), *one, f32(2, 3)], **NONE)
refuse("StridedSliceGrad", [ints([[4, 3]]), *one, f32(2, 3)], **NONE)
refuse("StridedSliceGrad", [ints([]), *one, f32(2, 3)], **NONE)

for dtype in for_dtypes("GatherV2", "Tparams"):
    if dtype not in NOT_HERE:
        case("GatherV2", [values(dtype, 4, 3), ints([[0, 3], [1, 1]]), ints(0)])
        case("GatherV2", [values(dtype, 2, 3, 2), ints([2, 0], "int64"), ints(1, "int64")])
        case("GatherV2", [values(dtype, 4, 3), ints([], "int16"), ints(-1)])
        case("GatherV2", [values(dtype, 2, 3, 4), ints([[2, 0], [1, 1]]), ints(2)], batch_dims=1)
        case("Gather", [values(dtype, 4, 3), ints([3, 0, 0])])
        case("Gather", [values(dtype, 4), ints(2, "int64")])
case("Gather", [f32(0, 3), ints([])])
case("GatherV2", [f32(2, 3, 4, 5), ints([[[2, 0]], [[1, 1]]]), ints(1)], batch_dims=-2)
case("GatherV2", [f32(4, 0), ints(7), ints(0)])
for params, indices, axis, batch in (
    ((4, 3), [[0, 1], [2, 7]], 1, 0),
    ((4, 3), [-1], 0, 0),
    ((4, 3), [0], 5, 0),
    ((4, 3), [0], -3, 0),
    ((4, 3), [0], [0], 0),
    ((), [0], 0, 0),
    ((4, 3), 7, 0, 0),
    ((0, 3), [0], 0, 0),
    ((4, 3), [0], 0, 1),
    ((4, 3), [[0]], 1, 1),
    ((4, 3), [[0]] * 4, 1, 3),
    ((4, 3), [[0]] * 4, 1, -7),
    ((4, 3), [[0], [1], [2], [5]], 1, 1),
    ((4,), [[0], [1], [2], [5]], 0, 2),
):
    refuse("GatherV2", [f32(*params), ints(indices), ints(axis)], batch_dims=batch)
refuse("Gather", [f32(4, 3), ints([0, 4])])
refuse("Gather", [f32(), ints([0])])
refuse("GatherV2", [i8(40000), ints([0], "int16"), ints(0)])
for dtype in for_dtypes("ResourceGather", "dtype"):
    if dtype not in NOT_HERE and dtype not in QUANTIZED:
        case("ResourceGather", [var(values(dtype, 4, 3)), ints([[0, 3], [1, 1]])], dtype=dtype)
        case("ResourceGather", [var(values(dtype, 4, 3)), ints([], "int64")], dtype=dtype)
        case("ResourceGather", [var(values(dtype, 2, 3, 4)), ints([[2, 0], [1, 1]])], dtype=dtype, batch_dims=1)
refuse("ResourceGather", [var(f32(4, 3)), ints([9])], dtype="float")
refuse("ResourceGather", [var(f32()), ints([0])], dtype="float")
refuse("ResourceGather", [var(f32(4, 3)), ints([[3]] * 4)], dtype="float", batch_dims=1)
refuse("ResourceGather", [var(dtype="float", shape=(4, 3)), ints([0])], dtype="float")

for dtype in for_dtypes("GatherNd", "Tparams"):
    if dtype not in NOT_HERE:
        case("GatherNd", [values(dtype, 4, 3), ints([[0, 2], [3, 1]])])
        case("GatherNd", [values(dtype, 4, 3, 2), ints([[[0], [1]], [[3], [2]]], "int64")])
        case("GatherNd", [values(dtype, 4, 3), np.zeros([2, 0], np.int16)])
for dtype in for_dtypes("ResourceGatherNd", "dtype"):
    if dtype not in NOT_HERE and dtype not in QUANTIZED:
        case("ResourceGatherNd", [var(values(dtype, 4, 3)), ints([[0, 2], [3, 1]])], dtype=dtype)
        case("ResourceGatherNd", [var(values(dtype, 4, 3)), np.zeros([0, 2], np.int64)], dtype=dtype)
case("GatherNd", [f32(0, 3), np.zeros([0, 1], np.int32)])
case("GatherNd", [f32(4, 3), ints([2])])
for params, indices in (
    ((4, 3), [[0, 4]]),
    ((4, 3), [[0, 1, 1]]),
    ((), [[0]]),
    ((4, 3), 0),
    ((4, 0), [[2]]),
    ((0, 3), [[0]]),
    ((4, 3), [[[0], [1]], [[2], [-3]]]),
    ((4, 3), [5]),
):
    refuse("GatherNd", [f32(*params), ints(indices)])
refuse("ResourceGatherNd", [var(f32(4, 3)), ints([[0, 4]])], dtype="float")
refuse("ResourceGatherNd", [var(dtype="float", shape=(4, 3)), ints([[0, 1]])], dtype="float")
