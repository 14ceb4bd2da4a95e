"""The ops that TensorFlow's own tests build graphs of."""

import tensorflow as tf

from framework import *
from tensorflow.python.framework import op_def_library
from values import *

raw = tf.raw_ops

refuse("ConstructionFails", [])
case("Fact", [])
case("Fact", [], _kernel="Sergey")
case("Fact", [], _kernel="sergey")
case("KernelLabelRequired", [i32()], _kernel="overload_1")
case("KernelLabelRequired", [i32()], _kernel="overload_2")
refuse("KernelLabelRequired", [i32()])
refuse("KernelLabelRequired", [i32()], _kernel="overload_3")
case("TestAttr", [], T=number_of("float"))
refuse("TestAttr", [], T=number_of("double"))
for array in (f32(2), strings(), i64(0), boolean(2), c64(), i8(4), u8(2), bf16(3)):
    case("DtypeWithDefaultOp", [array])
case("IsTensorFloat32Enabled", [])
case("SyncDevice", [])
for seconds in (0, -1):
    case("SleepOp", [tensor(seconds, "int32")])
    case("SleepIdentityOp", [tensor(seconds, "int32"), f32(2)])
case("SleepIdentityOp", [tensor(0, "int32"), strings(0)])
for seconds in ([0], [[0, 1]]):
    refuse("SleepOp", [tensor(seconds, "int32")])
    refuse("SleepIdentityOp", [tensor(seconds, "int32"), f32(2)])
for inputs in (["file", "a", "b"], ["foo", "a", "b"], ["", "a", "b"], [["a", "b"], "a", "b"], ["file", ["a"], "b"], ["file", "a", ["b"]]):
    refuse("FileSystemSetConfiguration", [tensor(text) for text in inputs])
for array in (f32(2, 3), f32(0), f32()):
    case("CustomAggregator", [array], id="1")


@graph("DevicePlacementOp")
def placed():
    with tf.device("/cpu:0"):
        return tf.strings.regex_replace(op_def_library.apply_op("DevicePlacementOp"), "/job:[a-z]+", "")


@graph("MakeWeakResourceHandle", "IsResourceHandleRefCounting")
def handles():
    handle = raw.VarHandleOp(dtype=tf.float32, shape=[], shared_name="test_ops_variable")
    weak = op_def_library.apply_op("MakeWeakResourceHandle", handle=handle)
    counts = [op_def_library.apply_op("IsResourceHandleRefCounting", handle=h) for h in (handle, weak)]
    return steps(counts, raw.AssignVariableOp(resource=handle, value=feed(2.0)), raw.ReadVariableOp(resource=weak, dtype=tf.float32))


@graph("HostConst")
def constants():
    return [op_def_library.apply_op("HostConst", value=tf.make_tensor_proto(v), dtype=tf.as_dtype(tf.make_tensor_proto(v).dtype)) for v in (1.0, [1, 2], b"a")]
