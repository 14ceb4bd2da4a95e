"""Lists, arrays, stacks, queues and tables of tensors for every type that they hold."""

import tensorflow as tf

from definitions import for_dtypes, type_combinations
from framework import feed, graph, steps
from values import QUANTIZED, name_of, numpy_of, tensor, values

raw = tf.raw_ops
ODD = QUANTIZED + ("resource", "variant", "float8_e5m2", "float8_e4m3fn", "int4", "uint4")


def types_of(op, attr):
    return [t for t in for_dtypes(op, attr) if t not in ODD]


LISTS = (
    "TensorListStack", "TensorListFromTensor", "TensorListGetItem", "TensorListPopBack", "TensorListGather", "TensorListConcatV2",
    "TensorListSplit", "TensorListScatterV2", "TensorListScatterIntoExistingList", "TensorListConcat", "TensorListPushBack",
    "TensorListSetItem", "TensorListReserve", "EmptyTensorList", "TensorListLength", "TensorListElementShape", "TensorListResize",
)  # fmt: skip


def list_of(dtype):
    @graph(*LISTS, together=True)
    def lists():
        kind = tf.as_dtype(numpy_of(dtype)) if dtype != "string" else tf.string
        shape, one = tf.constant([2]), feed(values(dtype, 2))
        made = raw.TensorListFromTensor(tensor=feed(values(dtype, 3, 2)), element_shape=shape)
        pushed = raw.TensorListPushBack(input_handle=made, tensor=one)
        changed = raw.TensorListSetItem(input_handle=pushed, index=1, item=one)
        rest, popped = raw.TensorListPopBack(input_handle=changed, element_shape=shape, element_dtype=kind)
        spread = raw.TensorListScatterV2(tensor=feed(values(dtype, 2, 2)), indices=[2, 0], element_shape=shape, num_elements=-1)
        spread = raw.TensorListScatterIntoExistingList(input_handle=rest, tensor=feed(values(dtype, 2, 2)), indices=[2, 0])
        parts = raw.TensorListSplit(tensor=feed(values(dtype, 5, 2)), element_shape=tf.constant([-1, 2]), lengths=tf.constant([2, 3], tf.int64))
        empty = raw.EmptyTensorList(element_shape=shape, max_num_elements=4, element_dtype=kind)
        reserved = raw.TensorListReserve(element_shape=shape, num_elements=3, element_dtype=kind)
        longer = raw.TensorListResize(input_handle=reserved, size=5)
        return [
            raw.TensorListStack(input_handle=rest, element_shape=shape, element_dtype=kind),
            popped,
            raw.TensorListGetItem(input_handle=changed, index=0, element_shape=shape, element_dtype=kind),
            raw.TensorListGather(input_handle=spread, indices=[0, 2], element_shape=shape, element_dtype=kind),
            *raw.TensorListConcatV2(input_handle=parts, element_shape=tf.constant([-1, 2]), leading_dims=tf.constant([], tf.int64), element_dtype=kind),
            *raw.TensorListConcat(input_handle=parts, element_dtype=kind),
            raw.TensorListLength(input_handle=empty),
            raw.TensorListLength(input_handle=longer),
            raw.TensorListElementShape(input_handle=made, shape_type=tf.int32),
        ]


for dtype in types_of("TensorListStack", "element_dtype"):
    list_of(dtype)

ARRAYS = (
    "TensorArrayV3", "TensorArrayWriteV3", "TensorArrayReadV3", "TensorArrayGatherV3", "TensorArrayScatterV3", "TensorArrayConcatV3",
    "TensorArraySplitV3", "TensorArraySizeV3", "TensorArrayCloseV3",
)  # fmt: skip


def array_of(dtype):
    @graph(*ARRAYS, together=True)
    def arrays():
        kind = tf.as_dtype(numpy_of(dtype)) if dtype != "string" else tf.string
        handle, flow = raw.TensorArrayV3(size=3, dtype=kind, dynamic_size=True, clear_after_read=False)
        flow = raw.TensorArrayWriteV3(handle=handle, index=0, value=feed(values(dtype, 2)), flow_in=flow)
        flow = raw.TensorArrayScatterV3(handle=handle, indices=[2, 1], value=feed(values(dtype, 2, 2)), flow_in=flow)
        second, flow_2 = raw.TensorArrayV3(size=2, dtype=kind, clear_after_read=False)
        flow_2 = raw.TensorArraySplitV3(handle=second, value=feed(values(dtype, 5, 2)), lengths=tf.constant([2, 3], tf.int64), flow_in=flow_2)
        read = raw.TensorArrayReadV3(handle=handle, index=1, flow_in=flow, dtype=kind)
        joined = raw.TensorArrayConcatV3(handle=second, flow_in=flow_2, dtype=kind)
        with tf.control_dependencies([read, *joined]):
            close = raw.TensorArrayCloseV3(handle=second)
        gathered = raw.TensorArrayGatherV3(handle=handle, indices=[2, 0], flow_in=flow, dtype=kind)
        return [read, gathered, *joined, raw.TensorArraySizeV3(handle=handle, flow_in=flow), close]


for dtype in types_of("TensorArrayGatherV3", "dtype"):
    if dtype in types_of("TensorArrayWriteV3", "T"):
        array_of(dtype)


def table_of(keys, held):
    key_type, value_type = (tf.string if t == "string" else tf.as_dtype(numpy_of(t)) for t in (keys, held))

    def some(dtype, count):
        if dtype == "string":
            return tensor([f"{dtype}{k}" for k in range(count)])
        return values(dtype, count, kind="distinct")

    @graph("MutableHashTableV2", "LookupTableInsertV2", "LookupTableFindV2", "LookupTableSizeV2", "LookupTableExportV2", "LookupTableRemoveV2")
    def mutable():
        table = raw.MutableHashTableV2(key_dtype=key_type, value_dtype=value_type)
        known, default = some(keys, 3), feed(values(held))
        put = raw.LookupTableInsertV2(table_handle=table, keys=feed(known), values=feed(values(held, 3)))
        find = raw.LookupTableFindV2(table_handle=table, keys=feed(known[1:]), default_value=default)
        size = raw.LookupTableSizeV2(table_handle=table)
        remove = raw.LookupTableRemoveV2(table_handle=table, keys=feed(known[:2]))
        export = raw.LookupTableExportV2(table_handle=table, Tkeys=key_type, Tvalues=value_type)
        return steps(put, [find, size], remove, [find, size, *export])

    @graph("HashTableV2", "LookupTableImportV2", "LookupTableFindV2", "LookupTableSizeV2")
    def fixed():
        table = raw.HashTableV2(key_dtype=key_type, value_dtype=value_type)
        known = some(keys, 3)
        load = raw.LookupTableImportV2(table_handle=table, keys=feed(known), values=feed(values(held, 3)))
        find = raw.LookupTableFindV2(table_handle=table, keys=feed(known[1:]), default_value=feed(values(held)))
        return steps(load, [find, raw.LookupTableSizeV2(table_handle=table)])


for combination in type_combinations("MutableHashTableV2"):
    types = dict(combination)
    if combination in type_combinations("HashTableV2"):
        table_of(name_of(types["key_dtype"]), name_of(types["value_dtype"]))


def queue_of(dtype):
    @graph("FIFOQueueV2", "QueueEnqueueV2", "QueueEnqueueManyV2", "QueueDequeueV2", "QueueDequeueManyV2", "QueueSizeV2")
    def queue():
        kind = tf.string if dtype == "string" else tf.as_dtype(numpy_of(dtype))
        handle = raw.FIFOQueueV2(component_types=[kind], shapes=[[2]], capacity=9)
        one = raw.QueueEnqueueV2(handle=handle, components=[feed(values(dtype, 2))])
        many = raw.QueueEnqueueManyV2(handle=handle, components=[feed(values(dtype, 4, 2))])
        take = raw.QueueDequeueV2(handle=handle, component_types=[kind])
        several = raw.QueueDequeueManyV2(handle=handle, n=3, component_types=[kind])
        return steps(one, many, raw.QueueSizeV2(handle=handle), take, several, raw.QueueSizeV2(handle=handle))


def stack_of(dtype):
    @graph("StackV2", "StackPushV2", "StackPopV2")
    def stack():
        kind = tf.string if dtype == "string" else tf.as_dtype(numpy_of(dtype))
        handle = raw.StackV2(max_size=4, elem_type=kind, stack_name=f"stack_{dtype}")
        pushed = raw.StackPushV2(handle=handle, elem=feed(values(dtype, 2)))
        with tf.control_dependencies([pushed]):
            return [pushed, raw.StackPopV2(handle=handle, elem_type=kind)]


for dtype in types_of("Identity", "T"):
    queue_of(dtype)
    stack_of(dtype)
