"""Lists, arrays, stacks, queues and tables of tensors for every type that they hold."""

import tensorflow as tf

from definitions import for_dtypes, type_combinations
from framework import feed, graph, steps
from handles import given, kind_of, seen
from values import UNFEEDABLE, name_of, tensor, values

raw = tf.raw_ops


LISTS = (
    "TensorListStack", "TensorListFromTensor", "TensorListGetItem", "TensorListPopBack", "TensorListGather", "TensorListConcatV2",
    "TensorListSplit", "TensorListScatterV2", "TensorListScatterIntoExistingList", "TensorListConcat", "TensorListPushBack",
    "TensorListSetItem", "TensorListReserve", "EmptyTensorList", "TensorListLength", "TensorListElementShape", "TensorListResize",
    "TensorListPushBackBatch",
)  # fmt: skip


def list_of(dtype):
    @graph(*LISTS, together=True)
    def lists():
        kind = kind_of(dtype)
        shape, one = tf.constant([2]), given(dtype, 2)
        made = raw.TensorListFromTensor(tensor=given(dtype, 3, 2), element_shape=shape)
        pushed = raw.TensorListPushBack(input_handle=made, tensor=one)
        changed = raw.TensorListSetItem(input_handle=pushed, index=1, item=one)
        rest, popped = raw.TensorListPopBack(input_handle=changed, element_shape=shape, element_dtype=kind)
        spread = raw.TensorListScatterV2(tensor=given(dtype, 2, 2), indices=[2, 0], element_shape=shape, num_elements=-1)
        over = raw.TensorListScatterIntoExistingList(input_handle=rest, tensor=given(dtype, 2, 2), indices=[2, 0])
        empty = raw.EmptyTensorList(element_shape=shape, max_num_elements=4, element_dtype=kind)
        reserved = raw.TensorListReserve(element_shape=shape, num_elements=3, element_dtype=kind)
        longer = raw.TensorListResize(input_handle=reserved, size=5)
        parts = raw.TensorListSplit(tensor=given(dtype, 5, 2), element_shape=tf.constant([-1, 2]), lengths=tf.constant([2, 3], tf.int64))
        joined = raw.TensorListConcatV2(input_handle=parts, element_shape=tf.constant([-1, 2]), leading_dims=tf.constant([], tf.int64), element_dtype=kind)
        joined_1 = raw.TensorListConcat(input_handle=parts, element_dtype=kind)
        return [
            *seen(raw.TensorListStack(input_handle=rest, element_shape=shape, element_dtype=kind), popped),
            *seen(raw.TensorListGetItem(input_handle=changed, index=0, element_shape=shape, element_dtype=kind)),
            *seen(raw.TensorListGather(input_handle=over, indices=[0, 2], element_shape=shape, element_dtype=kind)),
            *seen(raw.TensorListGather(input_handle=spread, indices=[2, 0], element_shape=shape, element_dtype=kind)),
            *seen(*joined, *joined_1),
            raw.TensorListLength(input_handle=empty),
            raw.TensorListLength(input_handle=longer),
            raw.TensorListElementShape(input_handle=made, shape_type=tf.int32),
        ]

    @graph("TensorListPushBackBatch", together=True)
    def batch_of_lists():
        kind = kind_of(dtype)
        handles = tf.stack([raw.TensorListFromTensor(tensor=given(dtype, n, 2), element_shape=[2]) for n in (1, 3)])
        pushed = tf.unstack(raw.TensorListPushBackBatch(input_handles=handles, tensor=given(dtype, 2, 2)))
        return seen(*(raw.TensorListStack(input_handle=p, element_shape=[2], element_dtype=kind) for p in pushed))


for dtype in for_dtypes("TensorListStack", "element_dtype"):
    list_of(dtype)

ARRAYS = (
    "TensorArrayV3", "TensorArrayWriteV3", "TensorArrayReadV3", "TensorArrayGatherV3", "TensorArrayScatterV3", "TensorArrayConcatV3",
    "TensorArraySplitV3", "TensorArraySizeV3", "TensorArrayCloseV3",
)  # fmt: skip


def array_of(dtype):
    @graph("TensorArrayWriteV3", "TensorArrayReadV3", "TensorArrayScatterV3", "TensorArrayGatherV3", "TensorArraySizeV3", together=True)
    def arrays():
        kind = kind_of(dtype)
        handle, flow = raw.TensorArrayV3(size=3, dtype=kind, dynamic_size=True, clear_after_read=False)
        flow = raw.TensorArrayWriteV3(handle=handle, index=0, value=given(dtype, 2), flow_in=flow)
        flow = raw.TensorArrayScatterV3(handle=handle, indices=[2, 1], value=given(dtype, 2, 2), flow_in=flow)
        read = raw.TensorArrayReadV3(handle=handle, index=1, flow_in=flow, dtype=kind)
        fetches = [*seen(read), raw.TensorArraySizeV3(handle=handle, flow_in=flow)]
        if dtype in for_dtypes("TensorArrayGatherV3", "dtype"):
            fetches += seen(raw.TensorArrayGatherV3(handle=handle, indices=[2, 0], flow_in=flow, dtype=kind))
        return fetches

    @graph(*ARRAYS, together=True)
    def arrays_in_parts():
        kind = kind_of(dtype)
        fetches = []
        second, flow = raw.TensorArrayV3(size=2, dtype=kind, clear_after_read=False)
        flow = raw.TensorArraySplitV3(handle=second, value=given(dtype, 5, 2), lengths=tf.constant([2, 3], tf.int64), flow_in=flow)
        fetches += seen(raw.TensorArrayReadV3(handle=second, index=1, flow_in=flow, dtype=kind))
        if dtype in for_dtypes("TensorArrayConcatV3", "dtype"):
            fetches += seen(*raw.TensorArrayConcatV3(handle=second, flow_in=flow, dtype=kind))
        with tf.control_dependencies(fetches):
            fetches.append(raw.TensorArrayCloseV3(handle=second))
        return fetches

    if dtype not in for_dtypes("TensorArrayConcatV2", "dtype"):
        return

    @graph("TensorArrayConcatV2", together=True, producer=25)
    def second_version():
        kind = kind_of(dtype)
        handle = raw.TensorArrayV2(size=2, dtype=kind, clear_after_read=False, tensor_array_name=f"second_{dtype}")
        flow = raw.TensorArraySplitV2(handle=handle, value=given(dtype, 5, 2), lengths=tf.constant([2, 3], tf.int64), flow_in=0.0)
        return seen(*raw.TensorArrayConcatV2(handle=handle, flow_in=flow, dtype=kind))


for dtype in for_dtypes("TensorArrayWriteV3", "T"):
    array_of(dtype)


def array_without_elements(dtype):
    """Of types that can be taken out of arrays, but not put into them."""

    @graph("TensorArrayGatherV3", "TensorArrayConcatV3")
    def no_elements():
        handle, flow = raw.TensorArrayV3(size=0, dtype=kind_of(dtype), element_shape=[1, 2])
        none = raw.TensorArrayGatherV3(handle=handle, indices=feed([], "int32"), flow_in=flow, dtype=kind_of(dtype), element_shape=[1, 2])
        return [none, *raw.TensorArrayConcatV3(handle=handle, flow_in=flow, dtype=kind_of(dtype), element_shape_except0=[2])]

    @graph("TensorArrayConcatV2", producer=25)
    def no_elements_of_the_second_version():
        handle = raw.TensorArrayV2(size=0, dtype=kind_of(dtype), tensor_array_name=f"none_{dtype}")
        return list(raw.TensorArrayConcatV2(handle=handle, flow_in=0.0, dtype=kind_of(dtype), element_shape_except0=[2]))


for dtype in for_dtypes("TensorArrayConcatV3", "dtype"):
    if dtype not in for_dtypes("TensorArrayWriteV3", "T"):
        array_without_elements(dtype)


def table_of(keys, held):
    key_type, value_type = kind_of(keys), kind_of(held)

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


FIND, PUT, SIZE, OUT, IMPORT, DROP = (f"LookupTable{w}V2" for w in ("Find", "Insert", "Size", "Export", "Import", "Remove"))


def keys_of(dtype, *which):
    return feed(tensor([f"key{k}" for k in which] if dtype == "string" else list(which), dtype))


def _key(dtype, k):
    return feed(tensor(f"key{k}" if dtype == "string" else k, dtype))


def mutable_of(op, keys, held, shape=(), **attrs):
    """A mutable table of any kind: found, put, taken out, counted."""

    @graph(op, PUT, FIND, SIZE, DROP)
    def tables():
        kinds = {"key_dtype": kind_of(keys), "value_dtype": kind_of(held)}
        more = {"value_shape": list(shape)} if "value_shape" in attrs else {}
        if "Dense" in op:
            kinds.pop("key_dtype")
            more.update(empty_key=_key(keys, 90), deleted_key=_key(keys, 91))
        table = getattr(raw, op)(**kinds, **more)

        wanted, dropped, gone, nothing = keys_of(keys, 3, 1, 7), keys_of(keys, 2, 9), keys_of(keys, 2), feed(values(keys, 0))
        default = given(held, *shape)
        # What has no shared name is gone after a step.
        put = raw.LookupTableInsertV2(table_handle=table, keys=keys_of(keys, 1, 2, 3), values=given(held, 3, *shape))
        with tf.control_dependencies([put]):
            found = raw.LookupTableFindV2(table_handle=table, keys=wanted, default_value=default)
            size = raw.LookupTableSizeV2(table_handle=table)
        with tf.control_dependencies([found, size]):
            drop = raw.LookupTableRemoveV2(table_handle=table, keys=dropped)
        with tf.control_dependencies([drop]):
            rest = raw.LookupTableSizeV2(table_handle=table)
            none, empty = (raw.LookupTableFindV2(table_handle=table, keys=k, default_value=default) for k in (gone, nothing))
        return [*seen(found), size, *seen(none), *seen(empty, empty=True), rest]


for op in ("MutableHashTableV2", "MutableHashTableOfTensorsV2", "MutableDenseHashTableV2", "AnonymousMutableHashTable", "AnonymousMutableHashTableOfTensors", "AnonymousMutableDenseHashTable"):
    for combination in type_combinations(op):
        types = dict(combination)
        rows = {"shape": (2,), "value_shape": True} if "OfTensors" in op else {}
        mutable_of(op, name_of(types["key_dtype"]), name_of(types["value_dtype"]), **rows)


def anonymous_of(keys, held):
    @graph("AnonymousHashTable", FIND, SIZE, "LookupTableImportV2")
    def tables():
        table = raw.AnonymousHashTable(key_dtype=kind_of(keys), value_dtype=kind_of(held))
        load = raw.LookupTableImportV2(table_handle=table, keys=keys_of(keys, 1, 2, 3), values=given(held, 3))
        wanted, nothing, default = keys_of(keys, 2, 7), feed(values(keys, 0)), given(held)
        with tf.control_dependencies([load]):
            found, empty = (raw.LookupTableFindV2(table_handle=table, keys=k, default_value=default) for k in (wanted, nothing))
            return [found, empty, raw.LookupTableSizeV2(table_handle=table)]


for combination in type_combinations("AnonymousHashTable"):
    anonymous_of(*(name_of(dict(combination)[a]) for a in ("key_dtype", "value_dtype")))


def queue_of(dtype):
    @graph("FIFOQueueV2", "QueueEnqueueV2", "QueueEnqueueManyV2", "QueueDequeueV2", "QueueDequeueManyV2", "QueueSizeV2")
    def queue():
        kind = kind_of(dtype)
        handle = raw.FIFOQueueV2(component_types=[kind], shapes=[[2]], capacity=9)
        one = raw.QueueEnqueueV2(handle=handle, components=[feed(values(dtype, 2))])
        many = raw.QueueEnqueueManyV2(handle=handle, components=[feed(values(dtype, 4, 2))])
        take = raw.QueueDequeueV2(handle=handle, component_types=[kind])
        several = raw.QueueDequeueManyV2(handle=handle, n=3, component_types=[kind])
        return steps(one, many, raw.QueueSizeV2(handle=handle), take, several, raw.QueueSizeV2(handle=handle))


def stack_of(dtype):
    @graph("StackV2", "StackPushV2", "StackPopV2")
    def stack():
        kind = kind_of(dtype)
        handle = raw.StackV2(max_size=4, elem_type=kind, stack_name=f"stack_{dtype}")
        pushed = raw.StackPushV2(handle=handle, elem=feed(values(dtype, 2)))
        with tf.control_dependencies([pushed]):
            return [pushed, raw.StackPopV2(handle=handle, elem_type=kind)]


def barrier_of(dtype):
    @graph("Barrier", "BarrierInsertMany", "BarrierTakeMany", "BarrierReadySize", "BarrierIncompleteSize")
    def barrier():
        kind = kind_of(dtype)
        handle = raw.Barrier(component_types=[kind, tf.int32], shapes=[[2], []], shared_name=f"barrier_{dtype}")
        put = raw.BarrierInsertMany(handle=handle, keys=feed(tensor(["a", "b", "c"])), values=given(dtype, 3, 2), component_index=0)
        other = raw.BarrierInsertMany(handle=handle, keys=feed(tensor(["c", "a"])), values=feed([7, 8]), component_index=1)
        sizes = [raw.BarrierReadySize(handle=handle), raw.BarrierIncompleteSize(handle=handle)]
        indices, keys, taken = raw.BarrierTakeMany(handle=handle, num_elements=2, component_types=[kind, tf.int32])
        # Which of two that are complete comes first is the hash table's matter, and taking sorts by index.
        return steps(sizes, put, sizes, other, sizes, [indices, keys, *seen(*taken)], sizes)


for dtype in for_dtypes("BarrierInsertMany"):
    barrier_of(dtype)

for dtype in for_dtypes("Identity"):
    if dtype not in UNFEEDABLE:
        queue_of(dtype)
        stack_of(dtype)
