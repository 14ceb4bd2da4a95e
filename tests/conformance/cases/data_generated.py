"""Datasets of what functions give, one element after another, and copies to devices, which are made of them."""

from framework import *
from values import *

import itertools

import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops import dataset_ops

raw = tf.raw_ops
D = tf.data.Dataset
X = tf.data.experimental
LONG = tf.TensorSpec([], tf.int64)
NUMBERS = itertools.count()


def read(dataset, count, times=1):
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    element = tf.nest.flatten(iterator.get_next(), expand_composites=True)
    return steps(*([iterator.initializer] + [element] * count) * times)


def generated(begin, following, end, spec=LONG):
    def function(body, *specs):
        concrete = tf.function(body).get_concrete_function(*specs)
        concrete.add_to_graph(tf.compat.v1.get_default_graph())
        return concrete

    dataset = raw.GeneratorDataset(init_func_other_args=[], next_func_other_args=[], finalize_func_other_args=[], init_func=function(begin),
                                   next_func=function(following, LONG), finalize_func=function(end, LONG), output_types=[spec.dtype], output_shapes=[spec.shape])
    return dataset_ops._VariantDataset(dataset, spec)


def bad(x, at):
    return tf.debugging.check_numerics(tf.where(tf.equal(x, at), np.float32(np.nan), tf.cast(x, tf.float32)), "bad")


def three():
    return tf.constant(3, tf.int64)


def of_a_queue(elements):
    """Begins by filling a queue; the end of that is the end of the dataset."""
    name = f"elements_{next(NUMBERS)}"

    def queue():
        return raw.FIFOQueueV2(component_types=[tf.int64], shapes=[[]], shared_name=name)

    def begin():
        with tf.control_dependencies([raw.QueueEnqueueManyV2(handle=queue(), components=[tf.constant(elements, tf.int64)])]):
            closed = raw.QueueCloseV2(handle=queue())
        with tf.control_dependencies([closed]):
            return three()

    return generated(begin, lambda s: raw.QueueDequeueV2(handle=queue(), component_types=[tf.int64])[0], lambda s: s)


@graph("GeneratorDataset")
def endless():
    return read(generated(three, lambda s: s + 1, lambda s: s).take(3), 4, times=2)


for elements in ([], [7], [1, 2, 3]):

    @graph("GeneratorDataset")
    def to_the_end(elements=elements):
        return read(of_a_queue(elements), len(elements) + 2)


@graph("GeneratorDataset")
def without_a_beginning():
    return read(generated(lambda: tf.cast(bad(three(), 3), tf.int64), lambda s: s, lambda s: s), 2)


@graph("GeneratorDataset")
def without_an_element():
    return read(generated(three, lambda s: tf.cast(bad(s, 3), tf.int64), lambda s: s), 2)


@graph("GeneratorDataset")
def of_another_type():
    return read(generated(three, lambda s: tf.cast(s, tf.int32), lambda s: s), 1)


for make in (lambda: D.range(3), lambda: D.range(0), lambda: D.range(3).map(lambda x: (x, tf.as_string(x))), lambda: D.range(5).batch(2)):

    @graph("GeneratorDataset")
    def copied(make=make):
        return read(make().apply(X.copy_to_device("/cpu:0")), 4, times=2)


@graph("GeneratorDataset")
def copied_again_and_again():
    return read(D.range(2).apply(X.copy_to_device("/cpu:0")).repeat(2), 5)
