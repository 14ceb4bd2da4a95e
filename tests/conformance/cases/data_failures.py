"""How datasets go on after an element has failed, and cycles and cardinalities that are left to the runtime."""

from framework import *
from values import *

import numpy as np
import tensorflow as tf

data = tf.compat.v1.data
D = tf.data.Dataset
X = tf.data.experimental


def bad(x, at):
    return tf.debugging.check_numerics(tf.where(tf.equal(x, at), np.float32(np.nan), tf.cast(x, tf.float32)), "bad")


def failing(n, at):
    return D.range(n).map(lambda x: bad(x, at))


def read(dataset, count, times=1):
    iterator = data.make_initializable_iterator(dataset)
    element = tf.nest.flatten(iterator.get_next(), expand_composites=True)
    return steps(*([iterator.initializer] + [element] * count) * times)


for at in (0, 1, 3):

    @graph("BatchDatasetV2")
    def batches(at=at):
        return read(failing(7, at).batch(3), 4)

    @graph("ParallelBatchDataset")
    def parallel_batches(at=at):
        return read(failing(7, at).batch(3, num_parallel_calls=2), 4)

    @graph("PaddedBatchDatasetV2")
    def padded_batches(at=at):
        return read(failing(7, at).padded_batch(3), 4)

    @graph("MapAndBatchDataset")
    def mapped_batches(at=at):
        return read(D.range(7).apply(X.map_and_batch(lambda x: bad(x, at), 3)), 4)

    @graph("RebatchDatasetV2")
    def rebatched(at=at):
        return read(D.range(7).batch(2).map(lambda x: bad(x, at)).rebatch(3), 4)

    @graph("WindowDataset")
    def windows(at=at):
        return read(failing(7, at).window(2, 1, 2).flat_map(lambda w: w.batch(9)), 8)

    @graph("WindowDataset")
    def distant_windows(at=at):
        return read(failing(9, at).window(2, 4).flat_map(lambda w: w.batch(9)), 5)

    @graph("SkipDataset")
    def skipped(at=at):
        return read(failing(9, at).skip(3), 7)

    @graph("ShardDataset")
    def sharded(at=at):
        return read(failing(9, at).shard(3, 1), 5)

    @graph("DenseToSparseBatchDataset")
    def sparse_batches(at=at):
        return read(D.range(6).map(lambda x: tf.fill([1], bad(x, at))).apply(X.dense_to_sparse_batch(4, [3])), 4)

    for cycle, block in ((2, 1), (2, 2), (3, 1)):

        @graph("ParallelInterleaveDatasetV4")
        def cycles_of_failures(at=at, cycle=cycle, block=block):
            return read(D.range(4).interleave(lambda x: D.range(3).map(lambda y: bad(y + x, at)), cycle, block, num_parallel_calls=2), 14)

        @graph("ParallelInterleaveDatasetV4")
        def cycles_without_a_member(at=at, cycle=cycle, block=block):
            return read(D.range(6).interleave(lambda x: D.from_tensors(bad(x, at)).repeat(2), cycle, block, num_parallel_calls=1), 13)

        @graph("InterleaveDataset")
        def turns(at=at, cycle=cycle, block=block):
            return read(D.range(6).interleave(lambda x: D.from_tensors(bad(x, at)).repeat(2), cycle, block), 13)


@graph("GroupByWindowDataset")
def a_group_that_cannot_be_reduced():
    return read(D.range(6).group_by_window(lambda x: x % 2, lambda k, w: D.from_tensors(bad(k, 1)), window_size=2), 7)


@graph("GroupByWindowDataset")
def a_group_with_a_failure():
    return read(D.range(8).group_by_window(lambda x: x % 2, lambda k, w: w.map(lambda x: bad(x, 2)), window_size=2), 10)


# What is left to the runtime.

@graph("InterleaveDataset")
def turns_of_as_many_as_there_are_processors():
    return read(D.range(5).interleave(lambda x: D.range(x)), 11)


@graph("ParallelInterleaveDatasetV4")
def everything_automatic():
    return read(D.range(5).interleave(lambda x: D.range(x), num_parallel_calls=tf.data.AUTOTUNE), 11)


for cycle, calls in ((-1, 1), (3, -1), (0, 1), (-2, 1), (2, 0), (2, -2), (2, 3)):

    @graph("ParallelInterleaveDatasetV4", "ParallelInterleaveDatasetV3")
    def strange_cycles(cycle=cycle, calls=calls):
        long = lambda n: tf.compat.v1.placeholder_with_default(np.int64(n), [])
        return read(D.range(4).interleave(lambda x: D.range(x), long(cycle), 2, num_parallel_calls=long(calls)), 7)


for cycle, block in ((-1, 1), (0, 1), (-2, 1), (-1, 0), (2, -1)):

    @graph("InterleaveDataset")
    def strange_turns(cycle=cycle, block=block):
        long = lambda n: tf.compat.v1.placeholder_with_default(np.int64(n), [])
        return read(D.range(4).interleave(lambda x: D.range(x), long(cycle), long(block)), 7)


for inputs in ((-1, -1), (-1, 3), (3, 3), (0, -1), (0, 0), (-2, -1), (-2, 3)):

    @graph("DirectedInterleaveDataset", "DatasetCardinality")
    def how_many_are_chosen(inputs=inputs):
        kinds = {-1: D.range(3).repeat(), 3: D.range(3), 0: D.range(0), -2: D.range(3).filter(lambda x: x > 0)}
        return steps([D.sample_from_datasets([kinds[i] for i in inputs], stop_on_empty_dataset=stop).cardinality() for stop in (False, True)])


# Names of nodes in texts are those of the innermost function.

def checked(x):
    with tf.control_dependencies([tf.compat.v1.assert_less(x, np.int64(2), message="too big")]):
        return tf.identity(x)


@graph("MapDataset")
def an_assertion():
    return read(D.range(3).map(checked), 4)


@graph("MapDataset")
def an_assertion_in_a_function():
    return read(D.range(3).map(tf.function(checked)), 4)


@graph("MapDataset")
def an_assertion_in_a_branch():
    return read(D.range(3).map(lambda x: tf.cond(x < 1, lambda: x, lambda: checked(x))), 4)


@graph("MapDataset")
def an_assertion_in_a_case():
    return read(D.range(3).map(lambda x: tf.switch_case(tf.cast(x, tf.int32), [lambda: x, lambda: checked(x), lambda: checked(x) + 1])), 4)


@graph("MapDataset")
def an_assertion_in_a_loop():
    return read(D.range(3).map(lambda x: tf.while_loop(lambda i: i < x + 2, lambda i: checked(i) + 1, [np.int64(0)])), 4)


for n in range(2, 11):

    @graph("RandomShuffle")
    def orders_one_after_another(n=n):
        return steps(*[tf.compat.v1.random_shuffle(tf.range(n), seed=3)] * 4)


# How many elements there are, and which can be had by number.

KINDS = {"some": lambda: D.range(10), "endless": lambda: D.range(10).repeat(), "unknown": lambda: D.range(10).filter(lambda x: x > 3), "none": lambda: D.range(0)}
for kind, make in KINDS.items():

    @graph("DatasetCardinality", "SkipDataset", "GroupByWindowDataset", "IgnoreErrorsDataset", "DenseToSparseBatchDataset", "UniqueDataset", "TakeWhileDataset",
           "UnbatchDataset")
    def counted(make=make):
        ds = make()
        made = (ds.skip(-1), ds.skip(3), ds.group_by_window(lambda x: x, lambda k, w: w, window_size=2), ds.ignore_errors(), ds.sparse_batch(3, [2]), ds.unique(),
                ds.take_while(lambda x: True), ds.batch(2).unbatch(), ds.batch(2, drop_remainder=True).unbatch(), ds.take(-1), ds.take(4), ds.repeat(2),
                ds.batch(3), ds.batch(3, drop_remainder=True), ds.window(3, 2), ds.concatenate(ds), D.zip((ds, D.range(4))), ds.padded_batch(4))
        return steps([d.cardinality() for d in made])

    for at in (0, 2, -1, 20):

        @graph("GetElementAtIndex")
        def by_number(make=make, at=at):
            return steps(tf.raw_ops.GetElementAtIndex(dataset=make()._variant_tensor, index=feed(at, "int64"), output_types=[tf.int64], output_shapes=[[]]))

    @graph("MapDataset", "ParallelMapDatasetV2", "MapAndBatchDataset", "ScanDataset", "DatasetCardinality")
    def counted_after_functions(make=make):
        old = tf.compat.v1.data.Dataset.zip((make(),))
        ds = make()
        functions = lambda d: (d.map(lambda *x: x[0]), d.map(lambda *x: x[0], num_parallel_calls=2), d.map(lambda *x: x[0]).batch(2),
                               d.apply(X.map_and_batch(lambda *x: x[0], 2)), d.apply(X.scan(np.int64(0), lambda s, *x: (s, s))))
        return steps([X.cardinality(d) for d in functions(old) + functions(ds)])


@graph("GetElementAtIndex", "MapDataset")
def by_a_number_of_many():
    old = tf.compat.v1.data.Dataset.range(4).map(lambda x: x + 1)
    return steps(tf.raw_ops.GetElementAtIndex(dataset=old._variant_tensor, index=feed(1, "int64"), output_types=[tf.int64], output_shapes=[[]]))
