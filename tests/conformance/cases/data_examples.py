"""Datasets of serialized examples."""

from framework import *
from values import *

import numpy as np
import tensorflow as tf

data = tf.compat.v1.data
D = data.Dataset


def example(**features):
    make = tf.train.Feature
    kinds = {int: lambda v: make(int64_list=tf.train.Int64List(value=v)), float: lambda v: make(float_list=tf.train.FloatList(value=v)), bytes: lambda v: make(bytes_list=tf.train.BytesList(value=v))}
    return tf.train.Example(features=tf.train.Features(feature={k: kinds[type(v[0])](v) for k, v in features.items()})).SerializeToString()


EXAMPLES = [example(z=[1, 2], a=[0.5], s=[b"x", b"y"]), example(z=[3, 4], s=[b"z"]), example(z=[5, 6], a=[1.5]), example(z=[7, 8], a=[2.5], s=[b"u", b"v", b"w"])]


def read(features, texts, count=4, batch=2):
    d = D.from_tensor_slices(np.array(texts, object)).batch(batch).apply(tf.data.experimental.parse_example_dataset(features))
    iterator = data.make_initializable_iterator(d)
    element = tf.nest.flatten(iterator.get_next(), expand_composites=True)
    return steps(iterator.initializer, *[element] * count)


DENSE = {"z": tf.io.FixedLenFeature([2], tf.int64), "a": tf.io.FixedLenFeature([], tf.float32, default_value=-1.0)}

for features in (
    DENSE,
    {**DENSE, "s": tf.io.VarLenFeature(tf.string)},
    {"s": tf.io.VarLenFeature(tf.string)},
    {**DENSE, "s": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="pad")},
    {**DENSE, "s": tf.io.RaggedFeature(tf.string)},
    {"z": tf.io.FixedLenFeature([3], tf.int64)},
    {"s": tf.io.FixedLenFeature([1], tf.string)},
):

    @graph("ParseExampleDatasetV2", "ParseExampleDataset")
    def parsed(features=features):
        return read(features, EXAMPLES)


@graph("ParseExampleDatasetV2")
def parsed_nonsense():
    return read(DENSE, [b"nonsense", EXAMPLES[0]])


@graph("ParseExampleDatasetV2")
def parsed_nothing():
    return read(DENSE, EXAMPLES[:0])
