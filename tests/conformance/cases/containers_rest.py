"""Containers by reference and in short lives: stacks of version 1, barriers, queues, staging areas, arrays; and what they refuse."""

import numpy as np
import tensorflow as tf
from framework import *
from values import *

raw = tf.raw_ops
F = tf.float32


def old_stack(dtype, name):
    return raw.Stack(elem_type=tf.as_dtype(dtype), stack_name=name)


for dtype, shape in (("float32", (2, 3)), ("string", (2,)), ("int32", ()), ("bool", (0, 3))):

    @graph("Stack", "StackPush", "StackPop", "StackClose")
    def old_stack_of(dtype=dtype, shape=shape):
        handle = old_stack(dtype, f"old_{dtype}")
        array = values(dtype.replace("float32", "float"), *shape)
        pushed = raw.StackPush(handle=handle, elem=feed(array))
        with tf.control_dependencies([pushed]):
            popped = raw.StackPop(handle=handle, elem_type=tf.as_dtype(dtype))
        with tf.control_dependencies([popped]):
            return [pushed, popped, raw.StackClose(handle=handle)]


@graph("Stack", "StackPop")
def old_pop_of_nothing():
    return raw.StackPop(handle=old_stack("float32", "old_nothing"), elem_type=F)


@graph("Stack", "StackPush")
def old_push_of_another_type():
    return raw.StackPush(handle=old_stack("float32", "old_other"), elem=feed(i32(2)))


for op in ("StackClose", "StackCloseV2"):
    exempt(op, "refusal", why="closes every stack")


def barrier(name, types=(F, tf.string), shapes=((2,), ()), **attrs):
    return raw.Barrier(component_types=list(types), shapes=[list(s) for s in shapes], shared_name=f"rest_{name}", **attrs)


def insert(handle, keys, array, index):
    return raw.BarrierInsertMany(handle=handle, keys=feed(tensor(keys, "string")), values=feed(array), component_index=index)


def take(handle, count, types=(F, tf.string), **attrs):
    return list(tf.nest.flatten(raw.BarrierTakeMany(handle=handle, num_elements=feed(count, "int32"), component_types=list(types), **attrs)))


BARRIER = ("Barrier", "BarrierInsertMany", "BarrierTakeMany", "BarrierReadySize", "BarrierIncompleteSize", "BarrierClose")


def sizes(handle):
    return [raw.BarrierReadySize(handle=handle), raw.BarrierIncompleteSize(handle=handle)]


@graph(*BARRIER)
def barrier_through_its_life():
    b = barrier("life")
    numbers, texts = insert(b, ["x", "y", "z"], f32(3, 2), 0), insert(b, ["z", "x", "y"], tensor(["tz", "tx", "ty"]), 1)
    return steps(sizes(b), numbers, sizes(b), texts, sizes(b), take(b, 2), sizes(b), take(b, 1), sizes(b), raw.BarrierClose(handle=b), sizes(b))


@graph(*BARRIER)
def barrier_of_nothing():
    b = barrier("nothing", (F,), ((3,),))
    return steps(insert(b, [], f32(0, 3), 0), sizes(b), take(b, 0, (F,)), insert(b, ["k"], f32(1, 3), 0), take(b, 1, (F,)), raw.BarrierClose(handle=b, cancel_pending_enqueues=True))


@graph(*BARRIER)
def barrier_of_empty_tensors():
    b = barrier("empties", (F,), ((0, 3),))
    return insert(b, ["k"], f32(1, 0, 3), 0)


@graph(*BARRIER)
def barrier_of_wrong_shapes():
    b = barrier("shapes")
    return steps(insert(b, ["k"], f32(1, 3), 0), sizes(b), insert(b, ["k"], tensor(["t"]), 1), sizes(b))


@graph(*BARRIER)
def barrier_gives_fewer():
    b = barrier("fewer", (F,), ((2,),))
    return steps(insert(b, ["k", "l"], f32(2, 2), 0), raw.BarrierClose(handle=b), take(b, 5, (F,), allow_small_batch=True), sizes(b))


@graph(*BARRIER)
def barrier_is_closed():
    b = barrier("closed", (F,), ((2,),))
    late = insert(b, ["m"], f32(1, 2), 0)
    return steps(insert(b, ["k"], f32(1, 2), 0), raw.BarrierClose(handle=b), late, take(b, 3, (F,)), take(b, 1, (F,)), take(b, 1, (F,)), raw.BarrierClose(handle=b))


@graph(*BARRIER)
def barrier_is_cancelled():
    b = barrier("cancelled")
    numbers, texts = insert(b, ["k", "l"], f32(2, 2), 0), insert(b, ["k"], tensor(["t"]), 1)
    new, old = insert(b, ["m"], f32(1, 2), 0), insert(b, ["l"], tensor(["u"]), 1)
    return steps(numbers, texts, raw.BarrierClose(handle=b), new, old, sizes(b), raw.BarrierClose(handle=b, cancel_pending_enqueues=True), take(b, 2), old)


@graph(*BARRIER)
def barrier_refuses():
    b = barrier("refuses")
    first = insert(b, ["k"], f32(1, 2), 0)
    return steps(
        first, first, insert(b, ["k"], f32(1, 2), 2), insert(b, ["k"], f32(1, 3), 0), insert(b, ["n"], i32(1, 2), 0),
        take(b, [1]), take(b, 1, (F,)), sizes(b),
    )  # fmt: skip


@graph("Barrier")
def barriers_of_one_name():
    return steps(barrier("one").op, barrier("one").op, barrier("one", (F,), ((2,),)).op, barrier("one", shapes=((3,), ())).op, barrier("two", shapes=((2,),)).op)


@graph("Barrier")
def barrier_without_shapes():
    return raw.Barrier(component_types=[F]).op


for op in BARRIER:
    exempt(op, "empty", why="gives handles or numbers") if op in ("BarrierReadySize", "BarrierIncompleteSize", "BarrierClose") else None
for op in ("BarrierReadySize", "BarrierIncompleteSize"):
    exempt(op, "refusal", why="takes every barrier")


def filled(kind, **attrs):
    q = getattr(raw, kind)(component_types=[tf.int64, F], shapes=[[], [2]], shared_name=f"rest_{kind}_{next(numbers)}", **attrs)
    return q, raw.QueueEnqueueManyV2(handle=q, components=[feed([3, 1, 2], "int64"), feed(f32(3, 2))])


numbers = iter(range(1000))
for kind, attrs in (("FIFOQueueV2", {}), ("PaddingFIFOQueueV2", {}), ("RandomShuffleQueueV2", {"seed": 3, "seed2": 5}), ("PriorityQueueV2", {})):
    for count in (1, 2, 3):

        @graph(kind, "QueueEnqueueManyV2", "QueueDequeueManyV2", "QueueDequeueUpToV2", "QueueSizeV2", "QueueCloseV2", "QueueIsClosedV2")
        def queue_that_lives_well(kind=kind, attrs=attrs, count=count):
            if kind == "PriorityQueueV2":
                q = raw.PriorityQueueV2(component_types=[F], shapes=[[2]], shared_name=f"rest_priority_{count}")
                put = raw.QueueEnqueueManyV2(handle=q, components=[feed([3, 1, 2], "int64"), feed(f32(3, 2))])
            else:
                q, put = filled(kind, **attrs)
            types = [tf.int64, F]
            some, none = (raw.QueueDequeueUpToV2(handle=q, n=n, component_types=types) for n in (count, 0))
            close = raw.QueueCloseV2(handle=q)
            state = [raw.QueueSizeV2(handle=q), raw.QueueIsClosedV2(handle=q)]
            return steps(put, none, some, state, close, state)


for op in ("QueueCloseV2", "QueueIsClosedV2"):
    exempt(op, "empty", why="takes a queue")


@graph("QueueCloseV2")
def close_of_no_queue():
    return raw.QueueCloseV2(handle=raw.VarHandleOp(dtype=F, shape=[], shared_name="rest_no_queue"))


for kind in ("Map", "OrderedMap"):
    for shape in ((2,), (), (0, 3)):

        @graph(*(kind + part for part in ("Stage", "Unstage", "UnstageNoKey", "Size", "IncompleteSize", "Peek")))
        def staged(kind=kind, shape=shape):
            op = lambda name: getattr(raw, kind + name)
            how = {"dtypes": [F, tf.int32], "shared_name": f"rest_{kind}_{len(shape)}"}
            at = feed([0, 1], "int32")
            puts = [op("Stage")(key=feed(k, "int64"), indices=at, values=[feed(f32(*shape)), feed(k, "int32")], **how) for k in (4, 2)]
            sizes = [op("Size")(**how), op("IncompleteSize")(**how)]
            return steps(*puts, sizes, op("Peek")(key=feed(4, "int64"), indices=at, **how), op("Unstage")(key=feed(4, "int64"), indices=at, **how), op("UnstageNoKey")(indices=at, **how), sizes)


for shape in ((2,), (), (0, 3)):

    @graph("Stage", "Unstage", "StagePeek", "StageSize")
    def staged_in_order(shape=shape):
        how = {"dtypes": [F, tf.int32], "shared_name": f"rest_stage_{len(shape)}"}
        put = raw.Stage(values=[feed(f32(*shape)), feed(7, "int32")], shared_name=how["shared_name"])
        return steps(put, put, raw.StageSize(**how), raw.StagePeek(index=feed(1, "int32"), **how), raw.Unstage(**how), raw.Unstage(**how), raw.StageSize(**how))


def variable_array(name, dtype=F, **attrs):
    return raw.TensorArrayV3(size=2, dtype=dtype, tensor_array_name=name, **attrs)


@graph("TensorArrayGradV3", "TensorArraySizeV3", "TensorArraySplitV3", "TensorArrayConcatV3", "TensorArrayWriteV3")
def empty_arrays():
    handle, flow = variable_array("rest_empty", clear_after_read=False)
    flow = raw.TensorArraySplitV3(handle=handle, value=feed(f32(0, 3)), lengths=tf.constant([0, 0], tf.int64), flow_in=flow)
    joined = raw.TensorArrayConcatV3(handle=handle, flow_in=flow, dtype=F)
    gradient, flow_g = raw.TensorArrayGradV3(handle=handle, flow_in=flow, source="gradients")
    flow_g = raw.TensorArrayWriteV3(handle=gradient, index=0, value=feed(f32(0, 3)), flow_in=flow_g)
    return [*joined, raw.TensorArraySizeV3(handle=handle, flow_in=flow), raw.TensorArraySizeV3(handle=gradient, flow_in=flow_g)]


exempt("TensorArrayCloseV3", "refusal", why="closes every array")


@graph("TensorArrayConcatV2", producer=25)
def second_version_of_nothing():
    handle = raw.TensorArrayV2(size=2, dtype=F, tensor_array_name="rest_second_empty")
    flow = raw.TensorArraySplitV2(handle=handle, value=feed(f32(0, 3)), lengths=tf.constant([0, 0], tf.int64), flow_in=0.0)
    return raw.TensorArrayConcatV2(handle=handle, flow_in=flow, dtype=F)


@graph("TensorArrayConcatV2", producer=25)
def second_version_of_another_type():
    handle = raw.TensorArrayV2(size=2, dtype=F, tensor_array_name="rest_second_type")
    flow = raw.TensorArraySplitV2(handle=handle, value=feed(f32(2, 3)), lengths=tf.constant([1, 1], tf.int64), flow_in=0.0)
    return raw.TensorArrayConcatV2(handle=handle, flow_in=flow, dtype=tf.int32)


refuse("TensorArrayConcatV2", [tensor(["a", "b"]), f32()], dtype="float")
refuse("TensorArrayConcatV2", [tensor(["a"]), f32()], dtype="float")


@graph("TensorListResize", "TensorListConcatV2")
def list_of_nothing():
    made = raw.TensorListFromTensor(tensor=feed(f32(2, 0)), element_shape=[0])
    longer = raw.TensorListResize(input_handle=made, size=3)
    return raw.TensorListStack(input_handle=longer, element_shape=[0], element_dtype=F)


for name, make in (
    ("Barrier", lambda h: raw.BarrierClose(handle=h)), ("Stack", lambda h: raw.StackClose(handle=h)),
):

    @graph(name + "Close")
    def handle_of_nothing(make=make):
        return make(raw.Assign(ref=raw.VariableV2(shape=[2], dtype=tf.string), value=feed(tensor(["", "nothing"]))))


def kept(key, value, **attrs):
    return raw.MutableHashTableV2(key_dtype=key, value_dtype=value, **attrs)


@graph("MutableHashTableV2")
def table_of_two_kinds():
    one, other = kept(tf.int64, F, shared_name="rest_kinds"), kept(tf.string, F, shared_name="rest_kinds")
    return steps(one.op, other.op)


@graph("LookupTableExportV2")
def export_of_another_type():
    return raw.LookupTableExportV2(table_handle=raw.VarHandleOp(dtype=F, shape=[], shared_name="rest_no_table"), Tkeys=tf.int64, Tvalues=F)


for op, more in (
    ("AnonymousHashTable", {}), ("AnonymousMutableHashTable", {}), ("AnonymousMutableHashTableOfTensors", {"value_shape": [2]}),
    ("AnonymousMutableDenseHashTable", {}),
):  # fmt: skip

    @graph(op, "LookupTableFindV2")
    def default_of_another_shape(op=op, more=more):
        dense = {"empty_key": feed(-1, "int64"), "deleted_key": feed(-2, "int64")} if "Dense" in op else {"key_dtype": tf.int64}
        table = getattr(raw, op)(value_dtype=F, **dense, **more)
        return raw.LookupTableFindV2(table_handle=table, keys=feed([1], "int64"), default_value=feed(f32(3)))


@graph("ResourceAccumulatorApplyGradient", "ResourceAccumulatorTakeGradient")
def accumulates_nothing():
    handle = raw.ResourceConditionalAccumulator(dtype=F, shape=[0, 2], shared_name="rest_accumulator")
    put = raw.ResourceAccumulatorApplyGradient(handle=handle, local_step=feed(0, "int64"), gradient=feed(f32(0, 2)))
    return steps(put, raw.ResourceAccumulatorTakeGradient(handle=handle, num_required=feed(1, "int32"), dtype=F))
