"""Whole passes over datasets of numbers, strings and empty tensors: every kind of dataset and iterator, without its end."""

from framework import *
from values import *

import atexit
import shutil
import tempfile

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
data = tf.compat.v1.data
D = data.Dataset

FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER, True)
TEXTS = f"{FOLDER}/texts"
with open(TEXTS, "wb") as f:
    f.write(b"first\nsecond\n\nfourth\n")
RECORDS = f"{FOLDER}/records"
with tf.io.TFRecordWriter(RECORDS) as writer:
    for text in (b"first", b"second", b"", b"fourth"):
        writer.write(text)

ELEMENTS = {
    "numbers": lambda: D.range(4),
    "strings": lambda: D.from_tensor_slices(np.array([b"a", b"bc", b"", b"d"], object)),
    "empty": lambda: D.from_tensor_slices(np.zeros((4, 0, 2), np.float32)),
    "pairs": lambda: D.from_tensor_slices((np.arange(4, dtype=np.int32), np.arange(8.0).reshape(4, 2))),
}
WAYS = {
    "IteratorV2": (lambda d: d, 4),
    "TensorSliceDataset": (lambda d: d, 4),
    "RepeatDataset": (lambda d: d.repeat(2), 8),
    "FlatMapDataset": (lambda d: d.flat_map(lambda *x: D.from_tensors(x).repeat(2)), 8),
    "TensorDataset": (lambda d: d.flat_map(lambda *x: D.from_tensors(x)), 4),
    "BatchDatasetV2": (lambda d: d.batch(3), 2),
    "ParallelBatchDataset": (lambda d: d.batch(3, num_parallel_calls=2), 2),
    "MapDataset": (lambda d: d.map(lambda *x: tuple(tf.stack([t, t]) for t in x)), 4),
    "ParallelMapDatasetV2": (lambda d: d.map(lambda *x: tuple(tf.stack([t, t]) for t in x), num_parallel_calls=2), 4),
    "ShuffleDataset": (lambda d: d.shuffle(3, seed=9), 4),
    "FilterDataset": (lambda d: d.filter(lambda *x: tf.equal(tf.size(x[0]), tf.size(x[-1])) if len(x) == 1 else x[0] < 2), 2),
    "PrefetchDataset": (lambda d: d.prefetch(2), 4),
    "InterleaveDataset": (lambda d: d.interleave(lambda *x: D.from_tensors(x).repeat(2), cycle_length=2), 8),
    "LegacyParallelInterleaveDatasetV2": (lambda d: d.apply(tf.data.experimental.parallel_interleave(lambda *x: D.from_tensors(x).repeat(2), cycle_length=2)), 8),
    "ShardDataset": (lambda d: d.shard(2, 1), 2),
    "SkipDataset": (lambda d: d.skip(1), 3),
    "TakeDataset": (lambda d: d.take(3), 3),
    "ZipDataset": (lambda d: D.zip((d, d.skip(1))), 3),
    "ConcatenateDataset": (lambda d: d.concatenate(d), 8),
    "OptionsDataset": (lambda d: d.with_options(tf.data.Options()), 4),
    "CacheDataset": (lambda d: d.cache().repeat(2), 8),
}


def read(dataset, count):
    iterator = data.make_initializable_iterator(dataset)
    return steps(iterator.initializer, *[tf.nest.flatten(iterator.get_next())] * count)


for op, (way, count) in WAYS.items():
    for kind, make in ELEMENTS.items():

        @graph(op, "MakeIterator", "IteratorGetNext", "RangeDataset")
        def whole(way=way, count=count, make=make):
            return read(way(make()), count)


for kind, make in ELEMENTS.items():

    @graph("OneShotIterator")
    def one_shot(make=make):
        element = tf.nest.flatten(data.make_one_shot_iterator(make()).get_next())
        return steps(element, element)

    @graph("IteratorToStringHandle", "IteratorFromStringHandleV2")
    def by_string(make=make):
        a = data.make_initializable_iterator(make())
        b = data.Iterator.from_string_handle(a.string_handle(), data.get_output_types(a), data.get_output_shapes(a))
        return steps(a.initializer, tf.nest.flatten(b.get_next()), tf.nest.flatten(a.get_next()))

    @graph("SerializeIterator", "DeserializeIterator")
    def restored(make=make):
        a, b = (data.make_initializable_iterator(make().repeat(2)) for _ in range(2))
        restore = raw.DeserializeIterator(resource_handle=b._iterator_resource, serialized=raw.SerializeIterator(resource_handle=a._iterator_resource))
        x, y = (tf.nest.flatten(i.get_next()) for i in (a, b))
        return steps([a.initializer, b.initializer], x, x, restore, y, y)

    @graph("OptionalFromValue", "OptionalGetValue", "OptionalHasValue", "OptionalNone", "AnonymousIteratorV3", "DatasetCardinality")
    def optionals(make=make):
        d = make()
        types, shapes = (tf.nest.flatten(f(d)) for f in (data.get_output_types, data.get_output_shapes))
        it = raw.AnonymousIteratorV3(output_types=types, output_shapes=shapes)
        with tf.control_dependencies([raw.MakeIterator(dataset=d._variant_tensor, iterator=it)]):
            element = raw.IteratorGetNext(iterator=it, output_types=types, output_shapes=shapes)
        some = raw.OptionalFromValue(components=element)
        return steps([raw.OptionalHasValue(optional=some), raw.OptionalHasValue(optional=raw.OptionalNone()), raw.DatasetCardinality(input_dataset=d._variant_tensor)],
                     raw.OptionalGetValue(optional=some, output_types=types, output_shapes=shapes))


for files in (1, 2, 3):

    @graph("TextLineDataset", "TFRecordDataset")
    def files_of_texts(files=files):
        return read(D.zip((tf.data.TextLineDataset([TEXTS] * files), tf.data.TFRecordDataset([RECORDS] * files))), 4 * files)


@graph("AnonymousIteratorV3")
def anonymous_without_a_dataset():
    it = raw.AnonymousIteratorV3(output_types=[tf.int64], output_shapes=[[]])
    return steps(raw.IteratorGetNext(iterator=it, output_types=[tf.int64], output_shapes=[[]]))
