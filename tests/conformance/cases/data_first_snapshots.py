"""Datasets written down while they are first read, in the first form of that."""

from framework import *
from values import *

import itertools

import numpy as np
import tensorflow as tf

import scratch

raw = tf.raw_ops
data = tf.compat.v1.data
D = tf.data.Dataset
NAME = "SnapshotDataset"
NUMBERS = itertools.count()


def fresh():
    return scratch.path(f"first_snapshots_{next(NUMBERS)}")


def snapped(dataset, path, **attrs):
    types = [spec.dtype for spec in tf.nest.flatten(dataset.element_spec)]
    shapes = [spec.shape for spec in tf.nest.flatten(dataset.element_spec)]
    return raw.SnapshotDataset(input_dataset=dataset._variant_tensor, path=feed(path, "string"), output_types=types, output_shapes=shapes, **attrs), types, shapes


def read(made, count, passes=1):
    dataset, types, shapes = made
    iterator = raw.IteratorV2(shared_name="", container="", output_types=types, output_shapes=shapes)
    element = raw.IteratorGetNext(iterator=iterator, output_types=types, output_shapes=shapes)
    return ([raw.MakeIterator(dataset=dataset, iterator=iterator)] + [element] * count) * passes


def triples():
    return D.range(3).map(lambda x: (x, tf.strings.as_string(x), tf.fill([2, 3], tf.cast(x, tf.float32))))


def cases(build, count, **attrs):
    """Passes with an end and without one."""
    for n, passes in ((count + 1, 2), (count, 1)):

        @graph(NAME)
        def read_twice(n=n, passes=passes):
            return steps(*read(snapped(build(), fresh(), **attrs), n, passes))


for compression in ("", "GZIP", "SNAPPY"):
    cases(triples, 3, compression=compression)
    # TensorFlow ends the process where snappy has a component without elements to read.
    none = 1 if compression == "SNAPPY" else 0
    cases(lambda none=none: D.from_tensor_slices((np.zeros((2, none, 3), np.float32), [b"", b"x"], [True, False], [1 + 2j, 3j])), 2, compression=compression)
    cases(lambda: D.range(0), 0, compression=compression)

    @graph(NAME)
    def written_and_read(compression=compression):
        path, attrs = fresh(), dict(compression=compression, snapshot_name="named")
        files = [] if compression == "GZIP" else [raw.ReadFile(filename=path + "/custom-named/custom/00000000.snapshot")]
        return steps(*read(snapped(triples(), path, mode="write", **attrs), 4), *files, *read(snapped(D.range(0).map(lambda x: (x, "", tf.fill([2, 3], 0.0))), path, mode="read", **attrs), 4))


for size in (100, 1000, 0):

    @graph(NAME)
    def in_several_files(size=size):
        path, attrs = fresh(), dict(shard_size_bytes=size, snapshot_name="named")
        rows = D.range(20).map(lambda x: tf.fill([40], x))
        files = [raw.ReadFile(filename=f"{path}/custom-named/custom/0000000{i}.snapshot") for i in range(2)]
        return steps(*read(snapped(rows, path, mode="write", **attrs), 21), *files, *read(snapped(rows, path, **attrs), 21))


cases(lambda: D.range(200), 200)
cases(lambda: D.range(3).repeat(2), 6)
cases(lambda: D.range(5), 5, mode="passthrough")
cases(lambda: D.range(5), 5, mode="write")
cases(lambda: D.range(5), 5, shuffle_on_read=True, seed=3)


@graph(NAME)
def by_several_threads():
    # Who wrote what is read in whatever order.
    made, types, shapes = snapped(D.range(30), fresh(), num_writer_threads=3)
    sums = raw.ReduceDataset(input_dataset=made, initial_state=[tf.constant(0, tf.int64)], other_arguments=[], f=added(), output_types=types, output_shapes=shapes)
    return steps(sums, sums)


def added():
    concrete = tf.function(lambda a, b: a + b).get_concrete_function(tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.int64))
    concrete.add_to_graph(tf.compat.v1.get_default_graph())
    return concrete


@graph(NAME)
def not_written_to_its_end():
    dataset = snapped(D.range(300), fresh())
    return steps(*read(dataset, 2), *read(dataset, 4))


@graph(NAME)
def under_prefixes():
    return steps(*read(snapped(D.range(3), fresh(), reader_path_prefix=scratch.path("prefix"), writer_path_prefix=scratch.path("prefix")), 4))


for attrs in (dict(mode="read"), dict(mode="foo"), dict(compression="BAD"), dict(compression="ZLIB")):

    @graph(NAME)
    def refused(attrs=attrs):
        return steps(*read(snapped(D.range(3), fresh(), **attrs), 1))


@graph(NAME)
def of_two_paths():
    return steps(raw.DatasetCardinality(input_dataset=raw.SnapshotDataset(
        input_dataset=D.range(3)._variant_tensor, path=feed(np.array([b"a", b"b"], object)), output_types=[tf.int64], output_shapes=[[]])))
