"""Invocations computed as one batch, batches taken apart, and gradients put together, one step at a time."""

from framework import *
from values import *

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
BRIEF = dict(num_batch_threads=1, max_batch_size=10, batch_timeout_micros=1000, shared_name="", container="", batching_queue="")


def function(body, *specs):
    concrete = tf.function(body).get_concrete_function(*specs)
    concrete.add_to_graph(tf.compat.v1.get_default_graph())
    return concrete


def computed(body, inputs, captured=(), types=None, **options):
    specs = [tf.TensorSpec(None, x.dtype) for x in [*inputs, *captured]]
    return raw.BatchFunction(in_tensors=inputs, captured_tensors=list(captured), f=function(body, *specs), Tout=types or [x.dtype for x in inputs],
                             **{**BRIEF, **options})


for shape in ((3,), (2, 2), (1, 2, 3), (10,), (0,), (0, 3)):

    @graph("BatchFunction")
    def rows(shape=shape):
        return steps(computed(lambda x: x * 2 + 1, [feed(i32(*shape))]))


for t in ("float", "double", "int64", "int32", "bool", "string", "complex64", "half", "uint8"):

    @graph("BatchFunction")
    def any_type(t=t):
        return steps(computed(lambda x: tf.reverse(x, [0]), [feed(values(t, 4))]))


@graph("BatchFunction")
def filled_up():
    sizes = lambda x: (x, tf.fill([tf.shape(x)[0]], tf.shape(x)[0]))
    return steps(*[computed(sizes, [feed(i32(n))], types=[tf.int32, tf.int32], allowed_batch_sizes=[3, 10]) for n in (2, 3, 4)])


@graph("BatchFunction")
def with_captured_values():
    return steps(computed(lambda x, y, c: (x + y + c, x - y), [feed(i32(3)), feed(i32(3))], captured=[feed(i32())]))


@graph("BatchFunction")
def with_a_variable():
    v = tf.compat.v1.get_variable("v", initializer=3, use_resource=True)
    f = tf.nondifferentiable_batch_function(1, 10, 1000)(lambda x: x + v)
    return steps(v.initializer, f(feed(i32(3))))


for body in (lambda x: tf.reduce_sum(x), lambda x: tf.concat([x, x], 0), lambda x: tf.debugging.check_numerics(tf.cast(x, tf.float32) / 0.0 * 0.0, "bad")):

    @graph("BatchFunction")
    def unsuitable_results(body=body):
        return steps(computed(body, [feed(tensor([0, 5], "int32"))], types=[function(body, tf.TensorSpec(None, tf.int32)).structured_outputs.dtype]))


@graph("BatchFunction")
def too_many_rows():
    return steps(computed(lambda x: x, [feed(i32(11))]))


for options in (dict(allowed_batch_sizes=[3, 2, 10]), dict(allowed_batch_sizes=[3, 7]), dict(allowed_batch_sizes=[3, 12], enable_large_batch_splitting=True)):

    @graph("BatchFunction")
    def unsuitable_sizes(options=options):
        return steps(computed(lambda x: x, [feed(i32(2))], **options))


def batch(*inputs, **options):
    return raw.Batch(in_tensors=list(inputs), grad_timeout_micros=0, **{**BRIEF, **options})


for shape in ((3,), (2, 2), (10,)):

    @graph("Batch", "Unbatch")
    def there_and_back(shape=shape):
        (rows,), index, key = batch(feed(f32(*shape)))
        return steps([rows, index[:, 1:], raw.Unbatch(batched_tensor=rows * 2, batch_index=index, id=key, timeout_micros=1000000)])


for t in ("float", "double", "int64", "int32", "bool", "string", "complex64", "half", "uint8"):

    @graph("Batch", "Unbatch")
    def any_rows(t=t):
        (rows,), index, key = batch(feed(values(t, 4)))
        return steps([rows, raw.Unbatch(batched_tensor=rows, batch_index=index, id=key, timeout_micros=1000000)])


@graph("Batch")
def to_an_allowed_size():
    (rows,), index, _ = batch(feed(i32(2)), allowed_batch_sizes=[5, 10])
    return steps([rows, index[:, 1:]])


@graph("Batch")
def two_of_them():
    (a, b), index, _ = batch(feed(i32(2)), feed(f32(2, 3)))
    return steps([a, b, index[:, 1:]])


for inputs in ((i32(11),), (i32(12, 2),)):

    @graph("Batch")
    def rows_without_room(inputs=inputs):
        return steps(batch(*[feed(x) for x in inputs])[0])


@graph("Batch")
def sizes_that_fall():
    return steps(batch(feed(i32(2)), allowed_batch_sizes=[5, 4, 10])[0])


@graph("Batch")
def a_last_size_that_is_too_small():
    return steps(batch(feed(i32(2)), allowed_batch_sizes=[5, 9])[0])


def part(rows, index, key, timeout=10000, shared_name=""):
    return raw.Unbatch(batched_tensor=feed(np.array(rows, np.float32)), batch_index=feed(np.array(index, np.int64)), id=feed(key, "int64"),
                       timeout_micros=timeout, shared_name=shared_name)


@graph("Unbatch")
def parts_for_later():
    none = np.zeros([0, 3])
    return steps(part([1, 2, 3], [[5, 0, 1], [6, 1, 3]], 5, shared_name="u"), part([], none, 6, shared_name="u"), part([], none, 77, shared_name="u"))


@graph("UnbatchGrad")
def a_gradient():
    grad = lambda rows, index, g, key: raw.UnbatchGrad(original_input=feed(np.array(rows, np.float32)), batch_index=feed(np.array(index, np.int64)),
                                                       grad=feed(np.array(g, np.float32)), id=feed(key, "int64"), shared_name="g")
    none = np.zeros([0, 3])
    return steps(grad([1], [[25, 0, 1]], [10], 25), grad([], none, [20, 30], 16), grad([1, 2, 3], [[15, 0, 1], [16, 1, 3]], [10], 15))
