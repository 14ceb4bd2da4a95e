"""Version 1 control flow for every type: switches, references and frames."""

import tensorflow as tf
from tensorflow.python.framework import op_def_library

from definitions import for_dtypes
from framework import feed, graph, steps
from handles import given, kind_of, seen

raw = tf.raw_ops


def switched(dtype):
    @graph("Switch", "Merge", together=True)
    def both_ways():
        dead, alive = raw.Switch(data=given(dtype, 2, 3), pred=feed(True, "bool"))
        return seen(raw.Merge(inputs=[raw.Identity(input=dead), raw.Identity(input=alive)])[0])

    @graph("_SwitchN", "Merge", together=True)
    def to_one_of_three():
        ends = op_def_library.apply_op("_SwitchN", data=given(dtype, 2, 3), output_index=feed(1, "int32"), num_outs=3)
        return seen(raw.Merge(inputs=[raw.Identity(input=e) for e in ends])[0])


def looped(dtype):
    @graph("Enter", "Exit", "NextIteration", "Merge", "Switch")
    def loop():
        name = f"every_type_{dtype}"
        start = raw.Enter(data=tf.constant(0), frame_name=name)
        value = raw.Enter(data=given(dtype, 2, 3), frame_name=name)
        i, v = (raw.Merge(inputs=[one, one])[0] for one in (start, value))
        most = raw.Enter(data=tf.constant(3), frame_name=name, is_constant=True)
        go = raw.LoopCond(input=raw.Less(x=i, y=most))
        (i_out, i_in), (v_out, v_in) = (raw.Switch(data=x, pred=go) for x in (i, v))
        i.op._update_input(1, raw.NextIteration(data=raw.Add(x=i_in, y=raw.OnesLike(x=i_in))))
        v.op._update_input(1, raw.NextIteration(data=raw.Identity(input=v_in)))
        return [raw.Exit(data=i_out), *seen(raw.Exit(data=v_out))]


for dtype in for_dtypes("Switch"):
    switched(dtype)
for dtype in for_dtypes("Enter"):
    looped(dtype)


@graph("_SwitchN", together=True)
def nothing_to_one_of_two():
    ends = op_def_library.apply_op("_SwitchN", data=feed([], "float"), output_index=feed(0, "int32"), num_outs=2)
    return raw.Merge(inputs=[raw.Identity(input=e) for e in ends])


@graph("_SwitchN")
def index_is_no_scalar():
    return op_def_library.apply_op("_SwitchN", data=feed([1.0]), output_index=feed([0, 1], "int32"), num_outs=2)[0]


def by_reference(dtype):
    @graph("RefSwitch", "RefMerge", "VariableV2", "Assign")
    def switched_reference():
        variable = raw.VariableV2(shape=[2], dtype=kind_of(dtype))
        fill = raw.Assign(ref=variable, value=given(dtype, 2))
        no, yes = raw.RefSwitch(data=variable, pred=feed(True, "bool"))
        changed = raw.Assign(ref=yes, value=given(dtype, 2, kind="positive"))
        kept = raw.RefIdentity(input=no)
        merged, which = raw.RefMerge(inputs=[kept, changed])
        return steps(fill.op, seen(raw.Identity(input=variable)), [which, *seen(raw.Identity(input=merged))], seen(raw.Identity(input=variable)))


for dtype in for_dtypes("RefSwitch"):
    by_reference(dtype)
