"""Elements that go round among devices, sliding batches, options of datasets and the size of their batches."""

from framework import *
from values import *

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
D = tf.data.Dataset
X = tf.data.experimental
LONGS = dict(output_types=[tf.int64], output_shapes=[[]])
DEVICES = ["/cpu:0", "/cpu:0"]


def taken(iterator, shard, incarnation, **kind):
    return raw.MultiDeviceIteratorGetNextFromShard(multi_device_iterator=iterator, shard_num=shard, incarnation_id=feed(incarnation, "int64"),
                                                   **(kind or LONGS))


def begun(iterator, dataset):
    return raw.MultiDeviceIteratorInit(dataset=dataset._variant_tensor, multi_device_iterator=iterator, max_buffer_size=1)


for order in ((0, 1, 0, 1), (0, 1, 1, 0, 0, 1), (1, 0, 0, 1, 1, 0, 0, 1)):

    @graph("MultiDeviceIterator", "MultiDeviceIteratorInit", "MultiDeviceIteratorGetNextFromShard")
    def in_turns(order=order):
        it = raw.MultiDeviceIterator(devices=DEVICES, shared_name="", container="", **LONGS)
        return steps(begun(it, D.range(5)), *[taken(it, shard, 1) for shard in order])


@graph("MultiDeviceIterator", "MultiDeviceIteratorInit", "MultiDeviceIteratorGetNextFromShard")
def passes_of_several_devices():
    it = raw.MultiDeviceIterator(devices=DEVICES, shared_name="", container="", **LONGS)
    return steps(begun(it, D.range(5)), taken(it, 0, 1), taken(it, 0, 9), begun(it, D.range(2)), taken(it, 1, 1), taken(it, 1, 2), taken(it, 0, 2))


@graph("MultiDeviceIteratorInit", "MultiDeviceIterator")
def nothing_for_several_devices():
    it = raw.MultiDeviceIterator(devices=DEVICES, shared_name="", container="", **LONGS)
    return steps(begun(it, D.range(0)), taken(it, 0, 1), taken(it, 1, 1))


@graph("MultiDeviceIteratorInit", "MultiDeviceIterator")
def another_type():
    it = raw.MultiDeviceIterator(devices=DEVICES, shared_name="", container="", **LONGS)
    return steps(begun(it, D.from_tensors(1.0)))


@graph("MultiDeviceIteratorToStringHandle", "MultiDeviceIteratorFromStringHandle")
def through_a_string():
    it = raw.MultiDeviceIterator(devices=DEVICES, shared_name="devices", container="", **LONGS)
    again = lambda **kind: raw.MultiDeviceIteratorFromStringHandle(string_handle=raw.MultiDeviceIteratorToStringHandle(multi_device_iterator=it), **kind)
    return steps(begun(it, D.range(5)), taken(again(**LONGS), 0, 1), taken(again(), 1, 1), taken(again(output_types=[tf.int32], output_shapes=[[]]), 0, 1),
                 taken(again(output_types=[tf.int64], output_shapes=[[3]]), 0, 1))


@graph("MultiDeviceIteratorFromStringHandle")
def a_string_that_is_no_handle():
    return steps(taken(raw.MultiDeviceIteratorFromStringHandle(string_handle=feed(np.array(b"junk", object)), **LONGS), 0, 1))


@graph("AnonymousMultiDeviceIterator", "AnonymousMultiDeviceIteratorV3", "DeleteMultiDeviceIterator")
def without_a_name():
    old, deleter = raw.AnonymousMultiDeviceIterator(devices=DEVICES, **LONGS)
    new = raw.AnonymousMultiDeviceIteratorV3(devices=DEVICES, **LONGS)
    with tf.control_dependencies([begun(new, D.range(3))]):
        first = taken(new, 0, 1)
    with tf.control_dependencies([begun(old, D.range(3))]):
        second = taken(old, 1, 1)
    with tf.control_dependencies(second):
        gone = raw.DeleteMultiDeviceIterator(multi_device_iterator=old, iterators=[], deleter=deleter)
    return steps([first, second, gone])


# Sliding batches.

def read(dataset, count, types=(tf.int64,), shapes=(None,)):
    it = raw.IteratorV2(shared_name="", container="", output_types=list(types), output_shapes=list(shapes))
    get = raw.IteratorGetNext(iterator=it, output_types=list(types), output_shapes=list(shapes))
    return steps(raw.DatasetCardinality(input_dataset=dataset), raw.MakeIterator(dataset=dataset, iterator=it), *[get] * count)


def sliding(dataset, size, shift, stride, op=raw.SlidingWindowDataset, **options):
    long = lambda n: feed(n, "int64")
    return op(input_dataset=dataset._variant_tensor, window_size=long(size), window_shift=long(shift), window_stride=long(stride),
              output_types=[tf.int64], output_shapes=[None], **options)


for arguments in ((3, 1, 1), (3, 2, 1), (2, 1, 2), (3, 5, 1), (4, 1, 3), (20, 1, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0)):

    @graph("SlidingWindowDataset")
    def batches_behind_each_other(arguments=arguments):
        return read(sliding(D.range(8), *arguments), 8)

    @graph("ExperimentalSlidingWindowDataset")
    def old_batches_behind_each_other(arguments=arguments):
        return read(sliding(D.range(8), *arguments, op=raw.ExperimentalSlidingWindowDataset), 8)

    @graph("SlidingWindowDataset")
    def with_the_rest(arguments=arguments):
        return read(sliding(D.range(5), *arguments, drop_remainder=False), 6)


@graph("SlidingWindowDataset", "ExperimentalSlidingWindowDataset")
def of_nothing():
    return read(sliding(D.range(0), 2, 1, 1), 1)


@graph("ExperimentalSlidingWindowDataset")
def of_nothing_as_before():
    return read(sliding(D.range(0), 2, 1, 1, op=raw.ExperimentalSlidingWindowDataset), 1)


@graph("SlidingWindowDataset")
def of_different_shapes():
    return read(sliding(D.range(4).map(lambda x: tf.range(x)), 2, 1, 1), 4)


# Options and sizes of batches.

def with_options(dataset, options):
    return raw.OptionsDataset(input_dataset=dataset, serialized_options=options, output_types=[tf.int64], output_shapes=[[]])


def options(**chosen):
    made = tf.data.Options()
    for name, value in chosen.items():
        setattr(made, name, value)
    return made._to_proto().SerializeToString()


A, B, C = options(deterministic=False, experimental_slack=False), options(experimental_slack=True), options(deterministic=True)
for chain in ((), (A,), (B,), (A, B), (A, C), (C, A, B), (b"",)):

    @graph("GetOptions", "OptionsDataset")
    def merged(chain=chain):
        dataset = D.range(3)._variant_tensor
        for serialized in chain:
            dataset = with_options(dataset, serialized)
        return steps(raw.GetOptions(input_dataset=dataset))


@graph("GetOptions", "OptionsDataset")
def of_two_inputs():
    threads = tf.data.Options()
    threads.threading.private_threadpool_size = 3
    slack = tf.data.Options()
    slack.experimental_slack = True
    zipped = D.zip((D.range(3).with_options(threads), D.range(3).with_options(slack)))
    return steps(raw.GetOptions(input_dataset=zipped._variant_tensor))


@graph("GetOptions", "OptionsDataset")
def unreadable():
    return steps(raw.GetOptions(input_dataset=with_options(D.range(3)._variant_tensor, b"zz")))


@graph("GetOptions", "ComputeBatchSize")
def of_something_else():
    return steps(raw.GetOptions(input_dataset=raw.OptionalNone()))


@graph("ComputeBatchSize")
def the_size_of_nothing():
    return steps(raw.ComputeBatchSize(input_dataset=raw.OptionalNone()))


N = lambda: D.range(10)
for make in (lambda: N(), lambda: N().batch(3), lambda: N().batch(3, drop_remainder=True), lambda: N().batch(3).map(lambda x: x), lambda: N().batch(3).batch(2),
             lambda: N().padded_batch(4), lambda: N().batch(4).prefetch(2).repeat(2).shuffle(3).take(2).skip(1).cache(), lambda: D.range(0).batch(2),
             lambda: N().batch(2).filter(lambda x: True), lambda: N().batch(2).flat_map(lambda x: D.from_tensors(x)),
             lambda: N().apply(X.map_and_batch(lambda x: x, 5)), lambda: D.zip((N().batch(2), N().batch(3))), lambda: N().batch(3).concatenate(N().batch(3)),
             lambda: N().batch(3).concatenate(N().batch(2)), lambda: N().batch(5).rebatch(2), lambda: N().batch(4, num_parallel_calls=2),
             lambda: N().batch(4).unbatch(), lambda: N().batch(2).window(2), lambda: N().batch(4).shard(2, 0), lambda: N().batch(4).enumerate(),
             lambda: N().batch(2).take_while(lambda x: True), lambda: N().batch(7).apply(X.assert_cardinality(2)), lambda: N().batch(7).apply(X.ignore_errors())):

    @graph("ComputeBatchSize")
    def sizes(make=make):
        return steps(raw.ComputeBatchSize(input_dataset=make()._variant_tensor))


for inputs in ([[1, 2, 3]], [[1, 2, 3], [4, 5, 6]], [[]]):

    @graph("WindowOp")
    def one_window(inputs=inputs):
        tensors = [feed(np.array(x, np.int64)) for x in inputs]
        dataset = raw.WindowOp(inputs=tensors, output_types=[tf.int64] * len(inputs), output_shapes=[None] * len(inputs))
        return read(dataset, 2, [tf.int64] * len(inputs), [None] * len(inputs))
