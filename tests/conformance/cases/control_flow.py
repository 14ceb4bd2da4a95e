"""Version 1 control flow: switches, merges and frames, through tensors and references."""

import tensorflow as tf
from framework import *
from definitions import for_dtypes
from values import *

raw = tf.raw_ops
NOT_HERE = ("resource", "variant")


def both_ways(array, flag):
    @graph("Switch", "Merge", together=True)
    def switched():
        dead, alive = raw.Switch(data=feed(array), pred=feed(flag, "bool"))
        return [*raw.Merge(inputs=[raw.Identity(input=dead), raw.Identity(input=alive)])]


for dtype in for_dtypes("Switch"):
    if dtype not in NOT_HERE and not dtype.startswith("q"):
        both_ways(values(dtype, 2, 3), True)
        both_ways(values(dtype, 0, 3), False)
        both_ways(values(dtype), True)


@graph("Switch")
def pred_is_no_scalar():
    return raw.Switch(data=feed(f32(2)), pred=feed([True, False], "bool"))[0]


@graph("Switch")
def pred_is_a_vector_of_one():
    return raw.Switch(data=feed(f32(2)), pred=feed([True], "bool"))[1]


exempt("Merge", "refusal", why="takes what comes; that nothing comes is said by who fetches it")


def chosen(index, outputs=3):
    @graph("_SwitchN")
    def switched_n():
        from tensorflow.python.framework import op_def_library

        ends = op_def_library.apply_op("_SwitchN", data=feed(f32(2, 2)), output_index=feed(index, "int32"), num_outs=outputs)
        return raw.Merge(inputs=[raw.Identity(input=e) for e in ends])


for index in (0, 1, 2, 3, 7, -1):
    chosen(index)
chosen(0, 1)


def counted(array, limit, name, parallel=10, constant=True):
    @graph("Enter", "Exit", "NextIteration", "LoopCond", "Switch", "Merge")
    def loop():
        start = raw.Enter(data=tf.constant(0), frame_name=name, parallel_iterations=parallel)
        value = raw.Enter(data=feed(array), frame_name=name, parallel_iterations=parallel)
        most = raw.Enter(data=feed(limit, "int32"), frame_name=name, is_constant=constant, parallel_iterations=parallel)
        # The ends of the loop are made before what goes round.
        i = raw.Merge(inputs=[start, start])[0]
        v = raw.Merge(inputs=[value, value])[0]
        go = raw.LoopCond(input=raw.Less(x=i, y=most))
        i_out, i_in = raw.Switch(data=i, pred=go)
        v_out, v_in = raw.Switch(data=v, pred=go)
        i_next = raw.NextIteration(data=raw.Add(x=i_in, y=raw.OnesLike(x=i_in)))
        v_next = raw.NextIteration(data=raw.Identity(input=v_in))
        i.op._update_input(1, i_next)
        v.op._update_input(1, v_next)
        return [raw.Exit(data=i_out), raw.Exit(data=v_out)]


for number, dtype in enumerate(("float", "int32", "string", "bool", "complex128", "half", "int8", "uint64")):
    counted(values(dtype, 2, 3), 5, f"control_{number}")
counted(f32(0, 2), 3, "control_empty")
counted(f32(2), 0, "control_never")
counted(f32(2), 40, "control_one_at_a_time", parallel=1)
for op in ("Enter", "Exit", "NextIteration", "LoopCond"):
    exempt(op, "refusal", why="takes what comes")
exempt("LoopCond", "empty", why="takes a scalar")


@graph("Enter", "Exit")
def frames_of_two_names():
    a = raw.Enter(data=feed(f32(2)), frame_name="control_a")
    b = raw.Enter(data=feed(f32(2)), frame_name="control_b")
    return raw.Exit(data=raw.Add(x=a, y=b))


@graph("Exit")
def exit_of_no_frame():
    return raw.Exit(data=feed(f32(2)))


def while_loop(limit):
    @graph("Enter", "Exit", "NextIteration", "LoopCond", "Merge", "Switch")
    def nested():
        def inner(j, x):
            return j + 1, x * 1.5

        def outer(i, x):
            return i + 1, tf.compat.v1.while_loop(lambda j, _: j < i, inner, (tf.constant(0), x))[1]

        tf.compat.v1.disable_control_flow_v2()
        try:
            return list(tf.compat.v1.while_loop(lambda i, _: i < limit, outer, (tf.constant(0), feed(f32(3)))))
        finally:
            tf.compat.v1.enable_control_flow_v2()


for limit in (0, 1, 5):
    while_loop(limit)


def by_reference(flag, shape=(2,)):
    @graph("RefSwitch", "RefMerge", "Assign")
    def assigned_in_a_branch():
        variable = raw.VariableV2(shape=list(shape), dtype=tf.float32)
        fill = raw.Assign(ref=variable, value=feed(f32(*shape)))
        no, yes = raw.RefSwitch(data=variable, pred=feed(flag, "bool"))
        added = raw.AssignAdd(ref=yes, value=feed(f32(*shape)))
        taken = raw.AssignSub(ref=no, value=feed(f32(*shape)))
        merged = raw.RefMerge(inputs=[taken, added])
        return steps(fill, list(merged), variable)


by_reference(True)
by_reference(False)
by_reference(True, (0, 3))


@graph("RefSwitch")
def ref_pred_is_no_scalar():
    variable = raw.VariableV2(shape=[2], dtype=tf.float32)
    return steps(raw.Assign(ref=variable, value=feed(f32(2))), raw.RefSwitch(data=variable, pred=feed([True], "bool"))[0])


def ref_round(limit, name):
    @graph("RefEnter", "RefExit", "RefNextIteration", "RefMerge", "RefSwitch")
    def loop():
        variable = raw.VariableV2(shape=[2], dtype=tf.float32)
        fill = raw.Assign(ref=variable, value=feed([1.0, 2.0]))
        start = raw.Enter(data=tf.constant(0), frame_name=name)
        state = raw.RefEnter(data=variable, frame_name=name)
        most = raw.Enter(data=feed(limit, "int32"), frame_name=name, is_constant=True)
        one = raw.Enter(data=feed([1.0, 1.0]), frame_name=name, is_constant=True)
        i = raw.Merge(inputs=[start, start])[0]
        v = raw.RefMerge(inputs=[state, state])[0]
        go = raw.LoopCond(input=raw.Less(x=i, y=most))
        i_out, i_in = raw.Switch(data=i, pred=go)
        v_out, v_in = raw.RefSwitch(data=v, pred=go)
        i.op._update_input(1, raw.NextIteration(data=raw.Add(x=i_in, y=raw.OnesLike(x=i_in))))
        v.op._update_input(1, raw.RefNextIteration(data=raw.AssignAdd(ref=v_in, value=one)))
        return steps(fill, [raw.Exit(data=i_out), raw.RefExit(data=v_out)], variable)


for limit in (0, 1, 4):
    ref_round(limit, f"control_ref_{limit}")
for op in ("RefEnter", "RefExit", "RefNextIteration", "RefMerge"):
    exempt(op, "empty", "refusal", why="hands on a reference")


@graph("NoOp", "ControlTrigger")
def order_alone():
    first = tf.no_op()
    with tf.control_dependencies([first]):
        trigger = raw.ControlTrigger()
    with tf.control_dependencies([trigger]):
        return steps(first, trigger, raw.Neg(x=feed(f32(3))))


@graph("NoOp", "ControlTrigger")
def trigger_of_the_dead():
    _, dead = raw.Switch(data=feed(f32(2)), pred=feed(False, "bool"))
    with tf.control_dependencies([dead]):
        trigger = raw.ControlTrigger()
    with tf.control_dependencies([trigger]):
        return steps(raw.Neg(x=feed(f32(3))), trigger, tf.no_op())


@graph("NoOp", "ControlTrigger")
def nothing_but_order():
    return steps(tf.no_op(), raw.ControlTrigger(), tf.group(tf.no_op(), tf.no_op()))


for op in ("NoOp", "ControlTrigger"):
    exempt(op, "empty", "refusal", why="takes nothing")
