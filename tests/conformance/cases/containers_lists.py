"""Lists of tensors: empty ones, refusals, and what the sweep over types leaves out."""

import tensorflow as tf
from framework import *
from definitions import for_dtypes
from values import *

raw = tf.raw_ops
F = tf.float32


def hidden(handle):
    """A list of which shape inference knows nothing, so that the kernels are asked."""
    return raw.PlaceholderWithDefault(input=handle, shape=None)


def listed(array, shape=None):
    return hidden(raw.TensorListFromTensor(tensor=feed(array), element_shape=tf.constant(list(array.shape[1:]) if shape is None else shape, tf.int32)))


def reserved(count=3, shape=(2,), dtype=F):
    return hidden(raw.TensorListReserve(element_shape=tf.constant(list(shape), tf.int32), num_elements=feed(count, "int32"), element_dtype=dtype))


def stacked(handle, shape=(2,), dtype=F, count=-1):
    return raw.TensorListStack(input_handle=handle, element_shape=tf.constant(shape, tf.int32), element_dtype=dtype, num_elements=count)


def declare(*ops):
    """A graph of a lambda: its name is its number."""

    def of(build):
        @graph(*ops)
        def lists():
            return build()

    return of


LISTS = ("TensorListFromTensor", "TensorListStack", "TensorListReserve", "TensorListGetItem", "TensorListSetItem", "TensorListLength")
# Empty lists and empty elements.
declare(*LISTS)(lambda: [stacked(listed(f32(0, 2))), raw.TensorListLength(input_handle=listed(f32(0, 2)))])
declare(*LISTS)(lambda: [stacked(listed(f32(3, 0)), (0,)), raw.TensorListGetItem(input_handle=listed(f32(3, 0)), index=1, element_shape=[0], element_dtype=F)])
declare(*LISTS)(lambda: stacked(raw.TensorListSetItem(input_handle=reserved(2, (0,)), index=1, item=feed(f32(0))), (0,)))
declare(*LISTS)(lambda: [stacked(reserved(0)), raw.TensorListLength(input_handle=reserved(0))])
declare("EmptyTensorList", "TensorListStack", "TensorListLength", "TensorListElementShape")(
    lambda: [
        stacked(raw.EmptyTensorList(element_shape=[2], max_num_elements=3, element_dtype=F)),
        raw.TensorListLength(input_handle=raw.EmptyTensorList(element_shape=[2], max_num_elements=3, element_dtype=F)),
        raw.TensorListElementShape(input_handle=raw.EmptyTensorList(element_shape=tf.constant([], tf.int32), max_num_elements=3, element_dtype=F), shape_type=tf.int64),
    ]
)
declare("TensorListPushBack", "TensorListPopBack", "EmptyTensorList")(
    lambda: raw.TensorListPopBack(
        input_handle=raw.TensorListPushBack(input_handle=raw.EmptyTensorList(element_shape=[0, 2], max_num_elements=-1, element_dtype=F), tensor=feed(f32(0, 2))),
        element_shape=[0, 2], element_dtype=F,
    )[1]
)
declare("TensorListGather", "TensorListScatterV2", "TensorListScatterIntoExistingList")(
    lambda: [
        raw.TensorListGather(input_handle=listed(f32(3, 2)), indices=feed([], "int32"), element_shape=[2], element_dtype=F),
        stacked(raw.TensorListScatterV2(tensor=feed(f32(0, 2)), indices=feed([], "int32"), element_shape=[2], num_elements=feed(-1, "int32"))),
        stacked(raw.TensorListScatterIntoExistingList(input_handle=listed(f32(3, 2)), tensor=feed(f32(0, 2)), indices=feed([], "int32"))),
    ]
)
declare("TensorListConcat", "TensorListConcatV2", "TensorListSplit")(
    lambda: [
        *raw.TensorListConcatV2(input_handle=raw.TensorListSplit(tensor=feed(f32(3, 2)), element_shape=[-1, 2], lengths=feed([0, 3, 0], "int64")), element_shape=[-1, 2], leading_dims=tf.constant([], tf.int64), element_dtype=F),
        *raw.TensorListConcat(input_handle=raw.TensorListSplit(tensor=feed(f32(0, 2)), element_shape=[-1, 2], lengths=feed([0], "int64")), element_dtype=F),
    ]
)
declare("TensorListResize")(lambda: [raw.TensorListLength(input_handle=raw.TensorListResize(input_handle=listed(f32(3, 2)), size=feed(n, "int32"))) for n in (0, 2, 7)])
declare("TensorListResize")(lambda: stacked(raw.TensorListResize(input_handle=listed(f32(3, 2)), size=feed(2, "int32"))))
declare("TensorListResize")(lambda: stacked(raw.TensorListResize(input_handle=listed(f32(3, 2)), size=feed(4, "int32"))))

# What was never set reads as zeros of the shape that is known.
for shape in ((2,), (-1,), (-1, 3)):
    declare("TensorListGetItem", "TensorListReserve")(
        lambda shape=shape: raw.TensorListGetItem(input_handle=reserved(3, shape), index=feed(1, "int32"), element_shape=[2] if len(shape) == 1 else [2, 3], element_dtype=F)
    )
    declare("TensorListGetItem", "TensorListReserve")(
        lambda shape=shape: raw.TensorListGetItem(input_handle=reserved(3, shape), index=feed(1, "int32"), element_shape=list(shape), element_dtype=F)
    )
    declare("TensorListStack", "TensorListReserve")(lambda shape=shape: stacked(reserved(2, shape), shape))
    declare("TensorListStack", "TensorListReserve", "TensorListSetItem")(
        lambda shape=shape: stacked(raw.TensorListSetItem(input_handle=reserved(2, shape), index=1, item=feed(f32(2) if len(shape) == 1 else f32(2, 3))), shape)
    )
    declare("TensorListGather", "TensorListReserve")(
        lambda shape=shape: raw.TensorListGather(input_handle=reserved(2, shape), indices=feed([1], "int32"), element_shape=list(shape), element_dtype=F)
    )
declare("TensorListConcatV2", "TensorListReserve")(
    lambda: [*raw.TensorListConcatV2(input_handle=reserved(2, (-1, 2)), element_shape=[-1, 2], leading_dims=feed([2, 3], "int64"), element_dtype=F)]
)
declare("TensorListConcatV2", "TensorListReserve")(
    lambda: [*raw.TensorListConcatV2(input_handle=reserved(2, (-1, 2)), element_shape=[-1, 2], leading_dims=feed([], "int64"), element_dtype=F)]
)

# Refusals.
three = lambda: listed(f32(3, 2))
declare("TensorListGetItem")(lambda: raw.TensorListGetItem(input_handle=three(), index=feed(3, "int32"), element_shape=[2], element_dtype=F))
declare("TensorListGetItem")(lambda: raw.TensorListGetItem(input_handle=three(), index=feed(-1, "int32"), element_shape=[2], element_dtype=F))
declare("TensorListGetItem")(lambda: raw.TensorListGetItem(input_handle=three(), index=feed(0, "int32"), element_shape=feed([3], "int32"), element_dtype=F))
declare("TensorListGetItem")(lambda: raw.TensorListGetItem(input_handle=three(), index=feed(0, "int32"), element_shape=feed([2], "int32"), element_dtype=tf.int32))
declare("TensorListGetItem")(lambda: raw.TensorListGetItem(input_handle=three(), index=feed([0], "int32"), element_shape=feed([2], "int32"), element_dtype=F))
declare("TensorListSetItem")(lambda: raw.TensorListSetItem(input_handle=three(), index=feed(3, "int32"), item=feed(f32(2))))
declare("TensorListSetItem")(lambda: raw.TensorListSetItem(input_handle=three(), index=feed(-1, "int32"), item=feed(f32(2))))
declare("TensorListSetItem")(lambda: raw.TensorListSetItem(input_handle=three(), index=feed(1, "int32"), item=feed(f32(3))))
declare("TensorListSetItem")(lambda: raw.TensorListSetItem(input_handle=three(), index=feed(1, "int32"), item=feed(i32(2))))
declare("TensorListSetItem")(lambda: raw.TensorListLength(input_handle=raw.TensorListSetItem(input_handle=three(), index=feed(5, "int32"), item=feed(f32(2)), resize_if_index_out_of_bounds=True)))
declare("TensorListStack")(lambda: stacked(three(), (3,)))
declare("TensorListStack")(lambda: stacked(three(), (2,), tf.int32))
declare("TensorListStack")(lambda: stacked(three(), (2,), count=4))
declare("TensorListStack")(lambda: stacked(listed(f32(0, 2), [-1]), (-1,)))
declare("TensorListReserve")(lambda: raw.TensorListLength(input_handle=reserved(-1)))
declare("TensorListReserve")(lambda: raw.TensorListLength(input_handle=raw.TensorListReserve(element_shape=feed([-2], "int32"), num_elements=feed(2, "int32"), element_dtype=F)))
declare("TensorListReserve")(lambda: raw.TensorListLength(input_handle=raw.TensorListReserve(element_shape=feed([[2]], "int32"), num_elements=feed(2, "int32"), element_dtype=F)))
declare("TensorListReserve")(lambda: raw.TensorListLength(input_handle=raw.TensorListReserve(element_shape=feed([2], "int32"), num_elements=feed([2], "int32"), element_dtype=F)))
declare("EmptyTensorList")(lambda: raw.TensorListLength(input_handle=raw.EmptyTensorList(element_shape=feed([2], "int32"), max_num_elements=feed([2], "int32"), element_dtype=F)))
declare("EmptyTensorList")(lambda: raw.TensorListLength(input_handle=raw.EmptyTensorList(element_shape=feed([-3], "int32"), max_num_elements=feed(2, "int32"), element_dtype=F)))
declare("EmptyTensorList", "TensorListPushBack")(
    lambda: raw.TensorListPushBack(
        input_handle=raw.TensorListPushBack(input_handle=raw.EmptyTensorList(element_shape=[2], max_num_elements=1, element_dtype=F), tensor=feed(f32(2))), tensor=feed(f32(2))
    )
)
declare("TensorListPushBack")(lambda: raw.TensorListPushBack(input_handle=three(), tensor=feed(f32(3))))
declare("TensorListPushBack")(lambda: raw.TensorListPushBack(input_handle=three(), tensor=feed(i32(2))))
declare("TensorListPopBack")(lambda: raw.TensorListPopBack(input_handle=reserved(0), element_shape=[2], element_dtype=F)[1])
declare("TensorListPopBack")(lambda: raw.TensorListPopBack(input_handle=three(), element_shape=[2], element_dtype=tf.int32)[1])
declare("TensorListPopBack")(lambda: raw.TensorListPopBack(input_handle=three(), element_shape=feed([5], "int32"), element_dtype=F)[1])
declare("TensorListFromTensor")(lambda: raw.TensorListLength(input_handle=raw.TensorListFromTensor(tensor=feed(f32()), element_shape=feed([], "int32"))))
declare("TensorListFromTensor")(lambda: raw.TensorListLength(input_handle=raw.TensorListFromTensor(tensor=feed(f32(3, 2)), element_shape=feed([3], "int32"))))
declare("TensorListFromTensor")(lambda: raw.TensorListLength(input_handle=raw.TensorListFromTensor(tensor=feed(f32(3, 2)), element_shape=feed(5, "int32"))))
declare("TensorListFromTensor")(lambda: raw.TensorListLength(input_handle=raw.TensorListFromTensor(tensor=feed(f32(3, 2)), element_shape=feed(-1, "int32"))))
declare("TensorListGather")(lambda: raw.TensorListGather(input_handle=three(), indices=feed([0, 3], "int32"), element_shape=[2], element_dtype=F))
declare("TensorListGather")(lambda: raw.TensorListGather(input_handle=three(), indices=feed([-1], "int32"), element_shape=[2], element_dtype=F))
declare("TensorListGather")(lambda: raw.TensorListGather(input_handle=three(), indices=feed([0], "int32"), element_shape=[2], element_dtype=tf.int32))
declare("TensorListGather")(lambda: raw.TensorListGather(input_handle=three(), indices=feed([0], "int32"), element_shape=feed([7], "int32"), element_dtype=F))
declare("TensorListScatterV2")(lambda: raw.TensorListLength(input_handle=raw.TensorListScatterV2(tensor=feed(f32(2, 2)), indices=feed([0, -1], "int32"), element_shape=[2], num_elements=feed(-1, "int32"))))
declare("TensorListScatterV2")(lambda: raw.TensorListLength(input_handle=raw.TensorListScatterV2(tensor=feed(f32(2, 2)), indices=feed([0, 5], "int32"), element_shape=[2], num_elements=feed(3, "int32"))))
declare("TensorListScatterV2")(lambda: raw.TensorListLength(input_handle=raw.TensorListScatterV2(tensor=feed(f32(2, 2)), indices=feed([0], "int32"), element_shape=[2], num_elements=feed(-1, "int32"))))
declare("TensorListScatterV2")(lambda: raw.TensorListLength(input_handle=raw.TensorListScatterV2(tensor=feed(f32(2, 2)), indices=feed([0, 1], "int32"), element_shape=feed([3], "int32"), num_elements=feed(-1, "int32"))))
declare("TensorListScatterIntoExistingList")(lambda: raw.TensorListLength(input_handle=raw.TensorListScatterIntoExistingList(input_handle=three(), tensor=feed(f32(2, 2)), indices=feed([0, 5], "int32"))))
declare("TensorListScatterIntoExistingList")(lambda: raw.TensorListLength(input_handle=raw.TensorListScatterIntoExistingList(input_handle=three(), tensor=feed(i32(2, 2)), indices=feed([0, 1], "int32"))))
declare("TensorListScatterIntoExistingList")(lambda: raw.TensorListLength(input_handle=raw.TensorListScatterIntoExistingList(input_handle=three(), tensor=feed(f32(2, 2)), indices=feed([0], "int32"))))
declare("TensorListSplit")(lambda: raw.TensorListLength(input_handle=raw.TensorListSplit(tensor=feed(f32(3, 2)), element_shape=[-1, 2], lengths=feed([1, 1], "int64"))))
declare("TensorListSplit")(lambda: raw.TensorListLength(input_handle=raw.TensorListSplit(tensor=feed(f32(3, 2)), element_shape=[-1, 2], lengths=feed([4, -1], "int64"))))
declare("TensorListSplit")(lambda: raw.TensorListLength(input_handle=raw.TensorListSplit(tensor=feed(f32(3, 2)), element_shape=[-1, 2], lengths=feed([[3]], "int64"))))
declare("TensorListSplit")(lambda: raw.TensorListLength(input_handle=raw.TensorListSplit(tensor=feed(f32()), element_shape=[-1, 2], lengths=feed([3], "int64"))))
declare("TensorListSplit")(lambda: raw.TensorListLength(input_handle=raw.TensorListSplit(tensor=feed(f32(3, 2)), element_shape=feed([-1, 5], "int32"), lengths=feed([3], "int64"))))
declare("TensorListConcat")(lambda: [*raw.TensorListConcat(input_handle=three(), element_dtype=tf.int32)])
declare("TensorListConcat")(lambda: [*raw.TensorListConcat(input_handle=listed(f32(3)), element_dtype=F)])
declare("TensorListConcatV2")(lambda: [*raw.TensorListConcatV2(input_handle=three(), element_shape=feed([3], "int32"), leading_dims=feed([], "int64"), element_dtype=F)])
declare("TensorListResize")(lambda: raw.TensorListLength(input_handle=raw.TensorListResize(input_handle=three(), size=feed(-1, "int32"))))
declare("TensorListResize")(lambda: raw.TensorListLength(input_handle=raw.TensorListResize(input_handle=three(), size=feed([1], "int32"))))
for op in ("TensorListLength", "TensorListElementShape"):
    exempt(op, "refusal", why="takes every list")

# Lists of batches.
for dtype in ("float", "int32", "string", "bool", "half", "complex64", "int64"):
    kind = tf.as_dtype(dtype)

    @graph("TensorListConcatLists", "TensorListPushBackBatch", "TensorListStack", together=True)
    def batches(dtype=dtype, kind=kind):
        shape = tf.constant([2], tf.int32)
        a = tf.stack([raw.EmptyTensorList(element_shape=shape, max_num_elements=-1, element_dtype=kind) for _ in range(3)])
        pushed = raw.TensorListPushBackBatch(input_handles=a, tensor=feed(values(dtype, 3, 2)))
        twice = raw.TensorListPushBackBatch(input_handles=pushed, tensor=feed(values(dtype, 3, 2)))
        joined = raw.TensorListConcatLists(input_a=pushed, input_b=twice, element_dtype=kind)
        return [raw.TensorListStack(input_handle=h, element_shape=shape, element_dtype=kind) for one in (pushed, twice, joined) for h in tf.unstack(one, 3)]


def many(count, length=2, kind=F):
    return hidden(tf.stack([raw.EmptyTensorList(element_shape=tf.constant([length], tf.int32), max_num_elements=-1, element_dtype=kind) for _ in range(count)]))


BATCH = "TensorListPushBackBatch"
declare(BATCH)(lambda: raw.TensorListPushBackBatch(input_handles=many(2), tensor=feed(f32(3, 2))))
declare(BATCH)(lambda: raw.TensorListPushBackBatch(input_handles=many(2), tensor=feed(f32())))
declare(BATCH)(lambda: raw.TensorListPushBackBatch(input_handles=many(2), tensor=feed(i32(2, 2))))
declare(BATCH)(lambda: raw.TensorListPushBackBatch(input_handles=many(2), tensor=feed(f32(2, 3))))
declare(BATCH)(lambda: raw.TensorListLength(input_handle=tf.unstack(raw.TensorListPushBackBatch(input_handles=many(2, 0), tensor=feed(f32(2, 0))), 2)[1]))
JOIN = "TensorListConcatLists"
declare(JOIN)(lambda: raw.TensorListConcatLists(input_a=many(2), input_b=many(3), element_dtype=F))
declare(JOIN)(lambda: raw.TensorListConcatLists(input_a=many(2), input_b=many(2, 3), element_dtype=F))
declare(JOIN)(lambda: raw.TensorListConcatLists(input_a=many(2), input_b=many(2), element_dtype=tf.int32))
declare(JOIN)(lambda: stacked(tf.unstack(raw.TensorListConcatLists(input_a=many(2), input_b=many(2), element_dtype=F), 2)[0]))
