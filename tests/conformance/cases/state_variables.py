"""Variables behind reference edges and behind handles: every dtype, uninitialised, missing, shapes and types that do not fit."""

import numpy as np
import tensorflow as tf
from framework import *
from definitions import for_dtypes
from values import *

raw = tf.raw_ops


def handle(name, dtype=tf.float32, shape=None, **attrs):
    return raw.VarHandleOp(dtype=dtype, shape=shape, shared_name=name, **attrs)


def read(h, dtype=tf.float32):
    return raw.ReadVariableOp(resource=h, dtype=dtype)


for dtype in for_dtypes("Assign"):
    case("Assign", [ref(values(dtype, 2, 3)), values(dtype, 2, 3)])
    case("Assign", [ref(dtype=dtype, shape=(3,)), values(dtype, 3)])
case("Assign", [ref(dtype="float", shape=(0, 2)), f32(0, 2)])
case("Assign", [ref(f32(2)), f32(3)], validate_shape=False)
refuse("Assign", [ref(f32(2)), f32(3)])


def on_unset(op, dtype, shape, **inputs):
    """An op on a reference to a variable without a value, which is not read afterwards."""

    @graph(op)
    def unset():
        attrs = {name: feed(value) if isinstance(value, np.ndarray) else value for name, value in inputs.items()}
        return getattr(raw, op)(ref=raw.VariableV2(shape=shape, dtype=tf.as_dtype(dtype)), **attrs)


on_unset("Assign", "float32", [2], value=f32(2, 1))

for op in ("AssignAdd", "AssignSub"):
    for dtype in for_dtypes(op):
        case(op, [ref(values(dtype, 2, 3)), values(dtype, 2, 3)])
        case(op, [ref(values(dtype, 9, kind="extreme")), values(dtype, 9, kind="extreme")])
    case(op, [ref(f32(0, 3)), f32(0, 3)])
    refuse(op, [ref(f32(2)), f32(1)])
    refuse(op, [ref(f32(2)), f32()])
    on_unset(op, "float32", [2], value=f32(2))

for op in ("AssignAddVariableOp", "AssignSubVariableOp"):
    for dtype in for_dtypes(op, "dtype"):
        case(op, [var(values(dtype, 2, 3)), values(dtype, 2, 3)])
        case(op, [var(values(dtype, 9, kind="extreme")), values(dtype, 9, kind="extreme")])
    case(op, [var(f32(0, 3)), f32(0, 3)])
    refuse(op, [var(f32(2)), f32(1)])
    refuse(op, [var(dtype="float", shape=(2,)), f32(2)])

for dtype in for_dtypes("AssignVariableOp", "dtype"):
    case("AssignVariableOp", [var(values(dtype, 2, 3)), values(dtype, 2, 3)])
    case("AssignVariableOp", [var(dtype=dtype, shape=(3,)), values(dtype, 3)])
    case("ReadVariableOp", [var(values(dtype, 2, 3))], dtype=dtype)
case("AssignVariableOp", [var(f32(2)), f32(3, 4)])
case("AssignVariableOp", [var(f32(2)), f32(0, 4)])
case("AssignVariableOp", [var(f32(2)), f32(2)], validate_shape=True)
refuse("AssignVariableOp", [var(f32(2)), f32(3)], validate_shape=True)
refuse("ReadVariableOp", [var(dtype="float", shape=(2,))], dtype="float")
refuse("DisableCopyOnRead", [var(dtype="float", shape=(2,))])
for array in (f32(2), i64(), strings(0)):
    case("DisableCopyOnRead", [var(array)])
exempt("DisableCopyOnRead", "empty", why="has no data")

for dtype in ("float", "int32", "string", "bool"):
    case("IsVariableInitialized", [ref(values(dtype, 2))])
    on_unset("IsVariableInitialized", dtype, [2])
    case("VarIsInitializedOp", [var(values(dtype, 2))])
    case("VarIsInitializedOp", [var(dtype=dtype, shape=(2,))])
case("IsVariableInitialized", [ref(f32(0))])
case("VarIsInitializedOp", [var(f32(0))])
exempt("IsVariableInitialized", "refusal", why="never fails")
exempt("VarIsInitializedOp", "refusal", why="never fails")

for out_type in ("int32", "int64"):
    case("VariableShape", [var(f32(2, 3, 1))], out_type=out_type)
    case("VariableShape", [var(f32())], out_type=out_type)
    case("VariableShape", [var(f32(0, 3))], out_type=out_type)
    refuse("VariableShape", [var(dtype="float", shape=(2,))], out_type=out_type)

for dtype in ("int32", "int64"):
    for start in (3, -7):
        case("CountUpTo", [ref(tensor(start, dtype))], limit=4)
        case("ResourceCountUpTo", [var(tensor(start, dtype))], limit=4, T=dtype)
    refuse("CountUpTo", [ref(tensor(4, dtype))], limit=4)
    refuse("ResourceCountUpTo", [var(tensor(4, dtype))], limit=4, T=dtype)
    refuse("CountUpTo", [ref(tensor([1, 2], dtype))], limit=4)
    refuse("ResourceCountUpTo", [var(tensor([1, 2], dtype))], limit=4, T=dtype)
    on_unset("CountUpTo", dtype, [], limit=4)
    refuse("ResourceCountUpTo", [var(dtype=dtype, shape=())], limit=4, T=dtype)
exempt("CountUpTo", "empty", why="takes a scalar")
exempt("ResourceCountUpTo", "empty", why="takes a scalar")


@graph("VariableV2", "Variable")
def one_storage_by_shared_name():
    a = raw.VariableV2(shape=[2], dtype=tf.float32, shared_name="state_shared")
    b = raw.VariableV2(shape=[2], dtype=tf.float32, shared_name="state_shared")
    c = raw.Variable(shape=[2], dtype=tf.float32, container="elsewhere", shared_name="state_shared")
    return steps(raw.Assign(ref=a, value=feed([1.0, 2.0])), raw.Assign(ref=c, value=feed([3.0, 4.0])), [a, b, c])


@graph("VariableV2")
def another_shape_of_one_storage():
    a = raw.VariableV2(shape=[2], dtype=tf.float32, shared_name="state_shapes")
    b = raw.VariableV2(shape=[3], dtype=tf.float32, shared_name="state_shapes")
    return steps(raw.Assign(ref=a, value=feed([1.0, 2.0])), b, raw.Assign(ref=b, value=feed([1.0, 2.0, 3.0])))


@graph("VariableV2")
def another_type_of_one_storage():
    a = raw.VariableV2(shape=[2], dtype=tf.float32, shared_name="state_types")
    b = raw.VariableV2(shape=[2], dtype=tf.int32, shared_name="state_types")
    return steps(raw.Assign(ref=a, value=feed([1.0, 2.0])), raw.Assign(ref=b, value=feed([1, 2])))


for attrs in ({"shared_name": "_x"}, {"container": "-c/d"}, {"container": "a b"}, {"shape": [None, 2]}):

    @graph("VariableV2")
    def refused_variable(attrs=attrs):
        return raw.Assign(ref=raw.VariableV2(**{"shape": [2], "dtype": tf.float32, **attrs}), value=feed([1.0, 2.0]))


@graph("VariableV2")
def uninitialized_read():
    return raw.Identity(input=raw.VariableV2(shape=[2], dtype=tf.float32))


@graph("Variable", "VariableV2")
def empty_variables():
    a, b = (op(shape=[0, 2], dtype=tf.float32) for op in (raw.Variable, raw.VariableV2))
    return steps([raw.Assign(ref=v, value=feed(f32(0, 2))) for v in (a, b)], [a, b])


@graph("Variable", "VariableV2")
def variables_of_strings():
    a, b = (op(shape=[3], dtype=tf.string) for op in (raw.Variable, raw.VariableV2))
    return steps([raw.Assign(ref=v, value=feed(strings(3))) for v in (a, b)], [a, b])


@graph("Variable")
def uninitialized_old_variable():
    return raw.Identity(input=raw.Variable(shape=[2], dtype=tf.float32))


@graph("TemporaryVariable", "DestroyTemporaryVariable")
def temporary():
    t = raw.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="temporary")
    return raw.DestroyTemporaryVariable(ref=raw.AssignAdd(ref=raw.Assign(ref=t, value=feed([1.0, 2.0])), value=feed([3.0, 4.0])), var_name="temporary")


@graph("TemporaryVariable", "DestroyTemporaryVariable")
def empty_temporary():
    t = raw.TemporaryVariable(shape=[0, 3], dtype=tf.string, var_name="nothing")
    return raw.DestroyTemporaryVariable(ref=raw.Assign(ref=t, value=feed(strings(0, 3))), var_name="nothing")


@graph("TemporaryVariable", "DestroyTemporaryVariable")
def scalar_temporary():
    t = raw.TemporaryVariable(shape=[], dtype=tf.int64, var_name="scalar")
    return raw.DestroyTemporaryVariable(ref=raw.Assign(ref=t, value=feed(7, "int64")), var_name="scalar")


@graph("DestroyTemporaryVariable")
def destroyed_under_another_name():
    t = raw.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="one_name")
    return raw.DestroyTemporaryVariable(ref=raw.Assign(ref=t, value=feed([1.0, 2.0])), var_name="another_name")


@graph("TemporaryVariable")
def shapeless_temporary():
    return raw.Assign(ref=raw.TemporaryVariable(shape=[None], dtype=tf.float32, var_name="shapeless"), value=feed([1.0]))


@graph("VarHandleOp", "DestroyResourceOp")
def destroyed():
    h = handle("state_destroyed")
    gone = raw.DestroyResourceOp(resource=h, ignore_lookup_error=False)
    return steps(raw.AssignVariableOp(resource=h, value=feed([1.0])), read(h), gone, raw.VarIsInitializedOp(resource=h), gone, read(h))


@graph("DestroyResourceOp")
def destroyed_in_missing_container():
    h = handle("state_nowhere", container="state_nowhere")
    return steps(raw.DestroyResourceOp(resource=h), raw.DestroyResourceOp(resource=h, ignore_lookup_error=False), read(h))


for array in (f32(2), i32(), strings(0)):

    @graph("DestroyResourceOp", "VarIsInitializedOp")
    def made_and_destroyed(array=array):
        h = handle(f"state_short_{array.ndim}_{array.size}", tf.as_dtype(dtype_of_array(array)))
        known = raw.VarIsInitializedOp(resource=h)
        return steps(known, raw.AssignVariableOp(resource=h, value=feed(array)), known, raw.DestroyResourceOp(resource=h), known)


exempt("DestroyResourceOp", "empty", why="has no data")


@graph("VarHandleOp")
def handle_without_a_name():
    return read(raw.VarHandleOp(dtype=tf.float32, shape=[2], container="state_nameless"))


@graph("VarHandleOp", "AssignVariableOp")
def containers_are_apart():
    a, b = handle("state_apart"), handle("state_apart", container="apart")
    return steps(
        raw.AssignVariableOp(resource=a, value=feed([1.0])), raw.VarIsInitializedOp(resource=b),
        raw.AssignVariableOp(resource=b, value=feed([2.0, 3.0])), [read(a), read(b)],
    )  # fmt: skip


@graph("VarHandleOp")
def empty_by_handle():
    h = handle("state_empty")
    return steps(raw.AssignVariableOp(resource=h, value=feed(f32(0, 2))), read(h))


@graph("AssignVariableOp", "ReadVariableOp", "AssignAddVariableOp", "VariableShape")
def wrong_type_of_handle():
    a, b = handle("state_wrong"), handle("state_wrong", tf.int32)
    return steps(
        raw.AssignVariableOp(resource=a, value=feed([1.0])), raw.AssignVariableOp(resource=b, value=feed([1])), read(b, tf.int32),
        raw.AssignAddVariableOp(resource=b, value=feed([1])), raw.VariableShape(input=b), raw.VarIsInitializedOp(resource=b),
    )  # fmt: skip


@graph("VarHandleOp", "ReadVariableOp", "VarIsInitializedOp", "VariableShape", "AssignAddVariableOp")
def anonymous():
    h = handle("cd2c89b7-88b7-44c8-ad83-06c2a9158347")
    assigned = raw.AssignVariableOp(resource=h, value=feed([1.0, 2.0]))
    with tf.control_dependencies([assigned]):
        after = [read(h), raw.VarIsInitializedOp(resource=h)]
    return steps(read(h), raw.VarIsInitializedOp(resource=h), raw.VariableShape(input=h), raw.AssignAddVariableOp(resource=h, value=feed([1.0])), after)


@graph("_VarHandlesOp", "_ReadVariablesOp")
def many_handles():
    from tensorflow.python.framework import ops

    handles = ops.get_default_graph().create_op(
        "_VarHandlesOp", [], [tf.resource, tf.resource], name="many",
        attrs={"containers": attr_value("list(string)", ["", "many"]), "shared_names": attr_value("list(string)", ["many_a", "many_b"]),
               "N": attr_value("int", 2), "dtypes": attr_value("list(type)", [tf.float32, tf.int32]),
               "shapes": attr_value("list(shape)", [[2], [0]])},
    ).outputs  # fmt: skip
    reads = ops.get_default_graph().create_op(
        "_ReadVariablesOp", handles, [tf.float32, tf.int32],
        attrs={"N": attr_value("int", 2), "dtypes": attr_value("list(type)", [tf.float32, tf.int32])},
    ).outputs  # fmt: skip
    a = raw.AssignVariableOp(resource=handles[0], value=feed([1.0, 2.0]))
    b = raw.AssignVariableOp(resource=handles[1], value=feed(i32(0)))
    return steps(list(reads), a, b, list(reads))
