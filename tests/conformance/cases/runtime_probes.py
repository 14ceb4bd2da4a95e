"""Ops by which graphs ask about the runtime, and the stub resources of TensorFlow's own tests."""

import tensorflow as tf
from framework import *
from tensorflow.python.framework import op_def_library
from values import *

raw = tf.raw_ops


def stub(shared_name, container=""):
    """TensorFlow has no Python functions for these."""
    return op_def_library.apply_op("StubResourceHandleOp", shared_name=shared_name, container=container)


def create(handle):
    return op_def_library.apply_op("ResourceCreateOp", resource=handle)


case("DeviceIndex", [], device_names=["GPU", "CPU"])
case("DeviceIndex", [], device_names=["CPU"])
case("DeviceIndex", [], device_names=["GPU", "TPU", "cpu"])
case("DeviceIndex", [], device_names=[])
case("GraphDefVersion", [])
case("KernelLabel", [])
case("KernelLabel", [], _kernel="overload_1")
case("KernelLabel", [], _kernel="overload_2")
refuse("KernelLabel", [], _kernel="overload_3")
refuse("Old", [])
refuse("XlaClusterOutput", [f32(2)])
refuse("XlaClusterOutput", [strings(2)])
for array in (f32(2, 3), strings(2), i64(0), boolean(2), c64(), i8(4)):
    case("_EagerConst", [array])
    case("RefIdentity", [ref(array)])

for op, kinds in (("DeviceIndex", ["empty", "refusal"]), ("GraphDefVersion", ["values", "empty", "refusal"]), ("KernelLabel", ["empty"])):
    exempt(op, *kinds, why="takes nothing")
for op in ("Old", "XlaClusterOutput"):
    exempt(op, "values", "empty", why="refused whatever it is given")
exempt("GetDeadline", "values", "empty", "refusal", why="a server knows no deadline, and says so; a session in the client's process has one")
exempt("_EagerConst", "refusal", why="hands on what it gets")
exempt("RefIdentity", "refusal", why="hands on what it gets")


@graph("StubResourceHandleOp", "ResourceCreateOp")
def stub_made_once():
    handle = stub(shared_name="probes_once")
    return steps(handle, create(handle), create(handle))


@graph("StubResourceHandleOp", "ResourceCreateOp")
def stubs_of_two_names():
    makes = [create(stub(shared_name=name)) for name in ("probes_a", "probes_b")]
    return steps(*makes)


@graph("StubResourceHandleOp", "ResourceCreateOp")
def stub_of_another_container():
    handle = stub(container="probes", shared_name="x")
    return steps(create(handle), create(stub(shared_name="x")))


@graph("ResourceCreateOp")
def variable_is_no_stub():
    return create(raw.VarHandleOp(dtype=tf.float32, shape=[], shared_name="probes_variable"))


@graph("StubResourceHandleOp", "ReadVariableOp")
def stub_is_no_variable():
    return raw.ReadVariableOp(resource=stub(shared_name="probes_stub"), dtype=tf.float32)


@graph("StubResourceHandleOp", "QueueSizeV2")
def stub_is_no_queue():
    return raw.QueueSizeV2(handle=stub(shared_name="probes_stub"))


@graph("StubResourceHandleOp", "LookupTableSizeV2")
def stub_is_no_table():
    return raw.LookupTableSizeV2(table_handle=stub(shared_name="probes_stub"))


@graph("StubResourceHandleOp", "AssignVariableOp", "AssignAddVariableOp", "DestroyResourceOp", "VarIsInitializedOp")
def stub_is_nothing_to_assign():
    handle = stub(shared_name="probes_stub")
    one = feed(1.0)
    return steps(
        raw.AssignVariableOp(resource=handle, value=one),
        raw.AssignAddVariableOp(resource=handle, value=one),
        raw.VarIsInitializedOp(resource=handle),
        raw.DestroyResourceOp(resource=handle, ignore_lookup_error=False),
        raw.DestroyResourceOp(resource=handle, ignore_lookup_error=True),
    )


@graph("RefIdentity", "Assign")
def assigned_through_identity():
    variable = raw.VariableV2(shape=[2], dtype=tf.float32)
    passed = raw.RefIdentity(input=variable)
    return steps(raw.Assign(ref=passed, value=feed([1.0, 2.0])), variable, raw.AssignAdd(ref=raw.RefIdentity(input=passed), value=feed([3.0, 3.0])), variable)


for op in ("StubResourceHandleOp", "ResourceCreateOp"):
    exempt(op, "values", "empty", why="gives a handle or takes one")
exempt("StubResourceHandleOp", "refusal", why="takes nothing")
