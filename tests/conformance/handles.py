"""In graphs of cases: tensors of any type, handles included, and what can be seen of them."""

import tensorflow as tf

from framework import feed
from values import UNFEEDABLE, Handles, number_of, values

raw = tf.raw_ops


def kind_of(dtype):
    """The tf.DType of a name."""
    return tf.as_dtype(number_of(dtype))


def given(dtype, *shape, **options):
    """An input of a type and shape: fed, or for handles variables and lists that are told apart by what they hold."""
    made = values(dtype, *shape, **options)
    if dtype not in UNFEEDABLE:
        return feed(made)
    packed = raw.Pack(values=[_one(dtype, k) for k in range(Handles.DISTINCT)])
    return raw.GatherV2(params=packed, indices=tf.constant(made.which), axis=0)


def _one(dtype, k):
    if dtype == "variant":
        return raw.TensorListReserve(element_shape=[2], num_elements=k + 1, element_dtype=tf.float32)
    handle = raw.VarHandleOp(dtype=tf.float32, shape=[], shared_name=f"{tf.compat.v1.get_default_graph().unique_name('given')}")
    with tf.control_dependencies([raw.AssignVariableOp(resource=handle, value=10.0 + k)]):
        return raw.Identity(input=handle)


def seen(*tensors, empty=False):
    """Fetches that tell tensors: themselves, or shape, first and last element of what cannot be fetched."""
    fetches = []
    for tensor in tensors:
        if tensor.dtype not in (tf.resource, tf.variant):
            fetches.append(tensor)
            continue
        fetches.append(raw.Shape(input=tensor))
        if empty:
            continue
        flat = raw.Reshape(tensor=tensor, shape=[-1])
        for at in (0, raw.Size(input=flat) - 1):
            element = raw.GatherV2(params=flat, indices=at, axis=0)
            fetches.append(raw.TensorListLength(input_handle=element) if tensor.dtype == tf.variant else raw.ReadVariableOp(resource=element, dtype=tf.float32))
    return fetches
