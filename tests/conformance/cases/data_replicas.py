"""Batches divided among replicas, where iterators are, and datasets that TensorFlow no longer reads."""

from framework import *
from values import *

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
D = tf.compat.v1.data.Dataset


def read(dataset, count, types=(tf.int64,), shapes=(None,)):
    it = raw.IteratorV2(shared_name="", container="", output_types=list(types), output_shapes=list(shapes))
    get = raw.IteratorGetNext(iterator=it, output_types=list(types), output_shapes=list(shapes))
    return steps(raw.DatasetCardinality(input_dataset=dataset), raw.MakeIterator(dataset=dataset, iterator=it), *[get] * count)


for NAME in ("RebatchDataset", "ExperimentalRebatchDataset"):
    for size, replicas, reads in ((6, 2, 7), (6, 4, 13), (7, 3, 7), (4, 1, 5), (6, 0, 0), (6, -1, 0)):

        @graph(NAME)
        def divided(name=NAME, size=size, replicas=replicas, reads=reads):
            d = getattr(raw, name)(input_dataset=D.range(14).batch(size)._variant_tensor, num_replicas=feed(replicas, "int64"), output_types=[tf.int64], output_shapes=[[None]])
            return read(d, reads)

    @graph(NAME)
    def divided_pairs(name=NAME):
        pairs = D.from_tensor_slices((np.arange(5), np.array([b"a", b"b", b"c", b"d", b"e"], object), np.zeros((5, 0, 2), np.float32))).batch(3)
        types, shapes = [tf.int64, tf.string, tf.float32], [[None], [None], [None, 0, 2]]
        d = getattr(raw, name)(input_dataset=pairs._variant_tensor, num_replicas=feed(2, "int64"), output_types=types, output_shapes=shapes)
        return read(d, 4, types, shapes)

    @graph(NAME)
    def divided_scalars(name=NAME):
        d = getattr(raw, name)(input_dataset=D.range(4)._variant_tensor, num_replicas=feed(2, "int64"), output_types=[tf.int64], output_shapes=[[]])
        return read(d, 2)


for NAME in ("IteratorGetDevice", "ExperimentalIteratorGetDevice"):
    for n in (1, 2, 3):

        @graph(NAME)
        def place(name=NAME, n=n):
            it = tf.compat.v1.data.make_initializable_iterator(D.range(n))
            get = getattr(raw, name)(resource=it._iterator_resource)
            return steps(it.initializer, get)

    exempt(NAME, "empty", "refusal", why="gives the name of a device, whatever the iterator")


for NAME in ("LMDBDataset", "ExperimentalLMDBDataset"):

    @graph(NAME)
    def removed(name=NAME):
        return steps(raw.DatasetCardinality(input_dataset=getattr(raw, name)(filenames=feed(np.array([b"none"], object)), output_types=[tf.string] * 2, output_shapes=[[]] * 2)))

    exempt(NAME, "values", "empty", why="TensorFlow no longer reads such files")
