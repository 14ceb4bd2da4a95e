"""Datasets made of others: batches, windows, functions on elements, shuffles, and questions to whole datasets."""

from framework import *
from values import *

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
data = tf.compat.v1.data
D = data.Dataset


def read(dataset, count, times=1):
    """Steps: the initializer, then so many elements; again for every time."""
    iterator = data.make_initializable_iterator(dataset)
    element = [t for t in tf.nest.flatten(iterator.get_next())]
    return steps(*([iterator.initializer] + [element] * count) * times)


def reads(*ops, count=6, times=1):
    """A case for every dataset that the function yields."""

    def decorate(function):
        for i in range(sum(1 for _ in _in_graph(function))):

            def one(i=i):
                dataset = list(function())[i]
                return read(dataset() if callable(dataset) else dataset, count, times)

            one.__name__ = f"{function.__name__}_{i}"
            graph(*ops)(one)
        return function

    return decorate


def _in_graph(function):
    with tf.Graph().as_default():
        return list(function())


def ragged(sizes):
    return D.from_tensor_slices(np.array(sizes, np.int64)).map(lambda n: tf.range(n))


@reads("BatchDatasetV2", "BatchDataset", "ParallelBatchDataset")
def batches():
    yield lambda: D.range(7).batch(3)
    yield lambda: D.range(7).batch(3, drop_remainder=True)
    yield lambda: D.range(0).batch(3)
    yield lambda: D.from_tensor_slices((np.arange(5), np.arange(10.0).reshape(5, 2), np.array([b"a", b"b", b"c", b"d", b"e"]))).batch(2)
    yield lambda: ragged([1, 1, 1, 2, 2, 2]).batch(3)
    yield lambda: ragged([1, 2, 2, 2]).take(4).batch(2)  # a map right before it would become part of it
    yield lambda: ragged([0, 0]).batch(2)
    yield lambda: D.range(7).batch(3, num_parallel_calls=2)
    yield lambda: D.range(7).batch(2).batch(2)
    yield lambda: D.range(7).batch(2, drop_remainder=True).batch(2)


def made(op, types, shapes, **inputs):
    return getattr(raw, op)(output_types=types, output_shapes=shapes, **inputs)


def read_raw(dataset, count, types=(tf.int64,), shapes=(None,)):
    it = raw.IteratorV2(shared_name="", container="", output_types=list(types), output_shapes=list(shapes))
    get = raw.IteratorGetNext(iterator=it, output_types=list(types), output_shapes=list(shapes))
    return steps(raw.DatasetCardinality(input_dataset=dataset), raw.MakeIterator(dataset=dataset, iterator=it), *[get] * count)


def numbers(n):
    return raw.RangeDataset(start=0, stop=feed(n, "int64"), step=1, output_types=[tf.int64], output_shapes=[[]])


for size in (1, 3, 5, 9, 0, -2):

    @graph("BatchDataset", "BatchDatasetV2", "ParallelBatchDataset")
    def batch_sizes(size=size):
        n = feed(size, "int64")
        one = made("BatchDataset", [tf.int64], [[None]], input_dataset=numbers(5), batch_size=n)
        return steps(raw.DatasetCardinality(input_dataset=one))  # TensorFlow cannot make an iterator of it

    @graph("BatchDatasetV2", "ParallelBatchDataset")
    def batch_sizes_v2(size=size):
        n = feed(size, "int64")
        two = made("BatchDatasetV2", [tf.int64], [[None]], input_dataset=numbers(5), batch_size=n, drop_remainder=feed(np.bool_(True)))
        return read_raw(two, 3)

    @graph("ParallelBatchDataset")
    def parallel_batch_sizes(size=size):
        n = feed(size, "int64")
        three = made("ParallelBatchDataset", [tf.int64], [[None]], input_dataset=numbers(5), batch_size=n, num_parallel_calls=feed(2, "int64"), drop_remainder=feed(np.bool_(False)))
        return read_raw(three, 3)


@reads("PaddedBatchDatasetV2", "PaddedBatchDataset")
def padded():
    yield lambda: ragged([1, 3, 0, 2, 4]).padded_batch(2, [None])
    yield lambda: ragged([1, 3, 0, 2, 4]).padded_batch(2, [5], padding_values=np.int64(-1), drop_remainder=True)
    yield lambda: ragged([1, 3, 0, 2, 4]).padded_batch(2, [2])
    yield lambda: ragged([]).padded_batch(2, [2])
    yield lambda: D.from_tensor_slices([b"ab", b"c d"]).map(lambda s: (tf.compat.v1.strings.split([s]).values, s)).padded_batch(2, ([None], []), padding_values=("x", ""))


@graph("PaddedBatchDatasetV2")
def padded_wrongly():
    d = numbers(3)
    pad = lambda shapes, values, n=2: raw.PaddedBatchDatasetV2(input_dataset=d, batch_size=feed(n, "int64"), padded_shapes=shapes, padding_values=values,
                                                              drop_remainder=feed(np.bool_(False)), output_shapes=[None])
    zero = feed(0, "int64")
    size = lambda x: raw.DatasetCardinality(input_dataset=x)
    scalar = feed(np.zeros(0, np.int64))
    return steps(size(pad([scalar], [zero])), size(pad([scalar], [zero], 0)), size(pad([feed(0, "int64")], [zero])), size(pad([scalar], [feed([0], "int64")])),
                 size(pad([scalar], [feed(f32())])))


@reads("MapDataset", "ParallelMapDatasetV2", "ParallelMapDataset")
def mapped():
    yield lambda: D.range(4).map(lambda x: x * 2)
    yield lambda: D.range(4).map(lambda x: (x, tf.strings.as_string(x)))
    yield lambda: D.range(0).map(lambda x: x * 2)
    yield lambda: D.range(4).map(lambda x: x * 2, num_parallel_calls=2)
    yield lambda: D.range(4).map(lambda x: x * 2, num_parallel_calls=tf.data.AUTOTUNE)
    yield lambda: D.range(4).map(lambda x: tf.cond(x > 1, lambda: x * 10, lambda: -x))
    yield lambda: D.range(4).map(lambda x: tf.while_loop(lambda i, a: i < x, lambda i, a: (i + 1, a + i), [tf.constant(0, tf.int64), x])[1])
    yield lambda: D.range(4).map(lambda x: tf.debugging.check_numerics(tf.where(tf.equal(x, 2), np.float32(np.nan), 1.0), "bad"))
    yield lambda: D.range(4).map(lambda x: tf.gather([1, 2, 3], x))
    yield lambda: D.range(3).map(lambda x: tf.random.uniform([2], seed=3)).repeat(2)


@graph("MapDataset")
def captured():
    captured = feed(f32(3))
    return read(D.range(4).map(lambda x: tf.gather(captured, x % 3) + tf.reduce_sum(captured)), 4, 2)


@graph("MapDataset")
def captured_variable():
    v = tf.compat.v1.get_variable("captured_in_map", initializer=np.float32(2), use_resource=True)
    it = data.make_initializable_iterator(D.range(4).map(lambda x: v.read_value() * tf.cast(x, tf.float32)))
    element = it.get_next()
    return steps(v.initializer, it.initializer, element, element, [v.assign(7), it.initializer], it.initializer, element, element, element)


@reads("FilterDataset", "TakeWhileDataset")
def filtered():
    yield lambda: D.range(9).filter(lambda x: tf.equal(x % 3, 1))
    yield lambda: D.range(9).filter(lambda x: x > 100)
    yield lambda: D.range(20000).filter(lambda x: x > 19997)
    yield lambda: D.range(0).filter(lambda x: x > 100)
    yield lambda: D.range(9).map(lambda x: (x, x * x)).filter(lambda x, y: tf.equal(y % 2, 0))
    yield lambda: D.range(5).filter(lambda x: tf.debugging.check_numerics(tf.where(tf.equal(x, 2), np.float32(np.nan), 1.0), "bad") > 0)
    yield lambda: D.range(9).take_while(lambda x: x < 3)
    yield lambda: D.range(2).take_while(lambda x: x < 3)
    yield lambda: D.range(5).take_while(lambda x: tf.debugging.check_numerics(tf.where(tf.equal(x, 2), np.float32(np.nan), 1.0), "bad") > 0)
    yield lambda: D.range(0).take_while(lambda x: x < 3)


@reads("ScanDataset")
def scanned():
    yield lambda: D.range(5).scan(np.int64(1), lambda s, x: (s + x, s * x))
    yield lambda: D.range(0).scan(np.int64(1), lambda s, x: (s + x, s * x))
    yield lambda: D.range(5).scan((np.int64(1), np.float32(2)), lambda s, x: ((s[0] + 1, s[1] * 2), (x, s[1])))


@reads("FlatMapDataset", "InterleaveDataset", "ParallelInterleaveDatasetV4", count=14)
def nested():
    yield lambda: D.range(4).flat_map(lambda x: D.range(x))
    yield lambda: D.range(3).flat_map(lambda x: D.from_tensors(x).repeat(2).map(lambda y: y + x))
    yield lambda: D.range(0).flat_map(lambda x: D.range(x))
    yield lambda: D.range(3).flat_map(lambda x: D.range(0))
    yield lambda: D.range(5).interleave(lambda x: D.from_tensors(x).repeat(x), cycle_length=2, block_length=1)
    yield lambda: D.range(5).interleave(lambda x: D.from_tensors(x).repeat(x), cycle_length=2, block_length=2)
    yield lambda: D.range(5).interleave(lambda x: D.from_tensors(x).repeat(3), cycle_length=7, block_length=2)
    yield lambda: D.range(0).interleave(lambda x: D.from_tensors(x).repeat(3), cycle_length=7, block_length=2)
    yield lambda: D.range(5).interleave(lambda x: D.from_tensors(x).repeat(x), cycle_length=2, block_length=2, num_parallel_calls=2)
    yield lambda: D.range(5).interleave(lambda x: D.from_tensors(x).repeat(3 - x % 3), cycle_length=3, block_length=1, num_parallel_calls=3)
    yield lambda: D.range(3).flat_map(lambda x: D.from_tensors(tf.debugging.check_numerics(tf.where(tf.equal(x, 1), np.float32(np.nan), 1.0), "bad")))
    yield lambda: D.range(2).interleave(lambda x: D.range(3), cycle_length=0, block_length=1)
    yield lambda: D.range(2).interleave(lambda x: D.range(3), cycle_length=1, block_length=0)


@reads("LegacyParallelInterleaveDatasetV2", count=14)
def nested_of_old():
    old = tf.data.experimental.parallel_interleave
    yield lambda: D.range(4).apply(old(lambda x: D.from_tensors(x).repeat(3), cycle_length=2, block_length=2, sloppy=False))
    yield lambda: D.range(5).apply(old(lambda x: D.from_tensors(x).repeat(x), cycle_length=2, block_length=1, sloppy=False))
    yield lambda: D.range(5).apply(old(lambda x: D.from_tensors(x).repeat(4 - x), cycle_length=3, block_length=2, sloppy=False))
    yield lambda: D.range(0).apply(old(lambda x: D.from_tensors(x).repeat(3), cycle_length=2, block_length=2))
    yield lambda: D.range(5).apply(old(lambda x: D.from_tensors(x).repeat(3), cycle_length=0, block_length=2))
    yield lambda: D.range(5).apply(old(lambda x: D.from_tensors(x).repeat(3), cycle_length=1, block_length=0))


@reads("ShuffleDataset", count=13, times=2)
def shuffled():
    yield lambda: D.range(12).shuffle(4, seed=7)
    yield lambda: D.range(12).shuffle(40, seed=7)
    yield lambda: D.range(12).shuffle(1, seed=7)
    yield lambda: D.range(0).shuffle(4, seed=7)
    yield lambda: D.range(6).shuffle(4, seed=7).repeat(2)
    yield lambda: D.range(6).shuffle(4, seed=7, reshuffle_each_iteration=False).repeat(2)
    yield lambda: D.range(6).repeat(2).shuffle(4, seed=7)
    yield lambda: D.range(4).shuffle(2, seed=7).shuffle(3, seed=8).repeat(3)
    yield lambda: D.range(4).shuffle(10, seed=7).repeat()
    yield lambda: D.range(6).shuffle(4, seed=7).map(lambda x: x * 2).batch(2).repeat(2)
    yield lambda: D.range(4).flat_map(lambda x: D.range(3).shuffle(3, seed=5))
    yield lambda: D.range(4).shuffle(0, seed=7)
    yield lambda: D.range(4).shuffle(-3, seed=7)


for count in (1, 3, -1, 0):

    @graph("ShuffleAndRepeatDataset")
    def shuffled_and_repeated(count=count):
        d = raw.ShuffleAndRepeatDataset(input_dataset=numbers(5), buffer_size=3, seed=7, seed2=8, count=feed(count, "int64"), output_types=[tf.int64], output_shapes=[[]])
        return read_raw(d, 17)


@graph("ShuffleDatasetV3", "AnonymousSeedGenerator", "ShuffleDatasetV2")
def shuffled_by_generators():
    fetched = []
    for reshuffle in (True, False):
        seeds = raw.AnonymousSeedGenerator(seed=5, seed2=6, reshuffle=reshuffle)
        v3 = raw.ShuffleDatasetV3(input_dataset=numbers(6), buffer_size=4, seed=5, seed2=6, seed_generator=seeds.handle, output_types=[tf.int64], output_shapes=[[]])
        v3 = made("RepeatDataset", [tf.int64], [[]], input_dataset=v3, count=2)
        v3 = made("BatchDatasetV2", [tf.int64], [[None]], input_dataset=v3, batch_size=20, drop_remainder=False)
        fetched.append(raw.DatasetToSingleElement(dataset=v3, output_types=[tf.int64], output_shapes=[[None]]))
    return steps(fetched, fetched)


@graph("RandomDataset")
def random_numbers():
    d = raw.RandomDataset(seed=3, seed2=4, output_types=[tf.int64], output_shapes=[[]])
    return read_raw(d, 6)


@reads("WindowDataset", count=8)
def windows():
    flat = lambda d: d.flat_map(lambda w: w.batch(10))
    yield lambda: flat(D.range(7).window(3))
    yield lambda: flat(D.range(7).window(3, drop_remainder=True))
    yield lambda: flat(D.range(7).window(3, shift=1))
    yield lambda: flat(D.range(7).window(3, shift=1, stride=2, drop_remainder=True))
    yield lambda: flat(D.range(7).window(2, shift=4))
    yield lambda: flat(D.range(7).window(3, shift=1, stride=2))
    yield lambda: flat(D.range(0).window(3))
    yield lambda: D.range(6).map(lambda x: (x, x * x)).window(2).flat_map(lambda a, b: D.zip((a, b)))
    yield lambda: flat(D.range(7).window(0))
    yield lambda: flat(D.range(7).window(2, shift=0))
    yield lambda: flat(D.range(7).window(2, stride=-1))


@reads("UnbatchDataset", "UniqueDataset", count=8)
def unbatched():
    yield lambda: D.range(6).batch(4).unbatch()
    yield lambda: D.from_tensor_slices((np.arange(6).reshape(3, 2), np.array([[b"a", b"b"]] * 3))).unbatch()
    yield lambda: ragged([1, 0, 3]).unbatch()
    yield lambda: D.from_tensor_slices([1, 2, 1, 3, 2]).unique()
    yield lambda: D.from_tensor_slices([b"a", b"b", b"a", b""]).unique()
    yield lambda: D.from_tensor_slices(np.zeros((0,), np.int64)).unique()


@reads("CacheDataset", "PrefetchDataset", "OptionsDataset", count=9)
def passed_on():
    yield lambda: D.range(4).cache().repeat(2)
    yield lambda: D.range(3).map(lambda x: tf.random.uniform([], seed=4)).cache().repeat(3)
    yield lambda: D.range(4).prefetch(2)
    yield lambda: D.range(4).prefetch(tf.data.AUTOTUNE)
    yield lambda: D.range(4).prefetch(0)
    yield lambda: D.range(0).prefetch(1)
    yield lambda: D.range(4).prefetch(-2)

    def with_options():
        options = tf.data.Options()
        options.deterministic = True
        return D.range(4).with_options(options).map(lambda x: x + 1)

    yield with_options


@reads("GroupByWindowDataset", count=9)
def grouped():
    yield lambda: D.range(10).group_by_window(lambda x: x % 3, lambda k, w: w.batch(2), window_size=2)
    yield lambda: D.range(10).group_by_window(lambda x: x % 2, lambda k, w: w.map(lambda x: x * 10 + k).batch(10), window_size=3)
    yield lambda: D.range(10).group_by_window(lambda x: x % 2, lambda k, w: w.batch(10), window_size_func=lambda k: k + 2)
    yield lambda: D.range(0).group_by_window(lambda x: x % 2, lambda k, w: w.batch(10), window_size=3)
    yield lambda: D.range(5).group_by_window(lambda x: x % 2, lambda k, w: w.batch(10), window_size=0)


@reads("MapAndBatchDataset")
def mapped_and_batched():
    yield lambda: D.range(5).apply(tf.data.experimental.map_and_batch(lambda x: (x, x * 2), 2))
    yield lambda: D.range(5).apply(tf.data.experimental.map_and_batch(lambda x: x, 2, drop_remainder=True, num_parallel_calls=2))
    yield lambda: D.range(0).apply(tf.data.experimental.map_and_batch(lambda x: x, 2))
    yield lambda: D.range(5).apply(tf.data.experimental.map_and_batch(lambda x: tf.range(x), 0))


@reads("IgnoreErrorsDataset", "AssertCardinalityDataset")
def checked():
    yield lambda: D.range(4).map(lambda x: tf.debugging.check_numerics(tf.where(tf.equal(x, 2), np.float32(np.nan), 1.0), "bad")).ignore_errors()
    yield lambda: D.range(4).apply(tf.data.experimental.assert_cardinality(4))
    yield lambda: D.range(4).apply(tf.data.experimental.assert_cardinality(3))
    yield lambda: D.range(4).apply(tf.data.experimental.assert_cardinality(5))


@graph("DatasetToSingleElement")
def single():
    get = lambda n: raw.DatasetToSingleElement(dataset=numbers(n), output_types=[tf.int64], output_shapes=[[]])
    return steps(get(1), get(0), get(2))


@graph("ReduceDataset")
def reduced():
    total = lambda n: tf.data.Dataset.range(n).reduce(np.int64(3), lambda s, x: s * 2 + x)
    return steps(total(4), total(0), tf.data.Dataset.range(4).reduce((np.int64(0), np.float32(1)), lambda s, x: (s[0] + 1, s[1] * 2)),
                 tf.data.Dataset.range(4).reduce(np.float32(0), lambda s, x: s + tf.debugging.check_numerics(tf.where(tf.equal(x, 2), np.float32(np.nan), 1.0), "bad")))


@graph("WrapDatasetVariant", "UnwrapDatasetVariant")
def wrapped():
    d = raw.UnwrapDatasetVariant(input_handle=raw.WrapDatasetVariant(input_handle=numbers(1)))
    return steps(raw.DatasetToSingleElement(dataset=d, output_types=[tf.int64], output_shapes=[[]]),
                 raw.DatasetCardinality(input_dataset=raw.UnwrapDatasetVariant(input_handle=numbers(1))))


for make in (lambda: D.range(9), lambda: D.range(9).map(lambda x: x * 3).batch(2), lambda: D.range(9).shuffle(5, seed=3).repeat(2), lambda: D.range(0)):

    @graph("SerializeIterator", "DeserializeIterator")
    def saved_and_restored(make=make):
        a, b = data.make_initializable_iterator(make()), data.make_initializable_iterator(make())
        state = raw.SerializeIterator(resource_handle=a._iterator_resource)
        restore = raw.DeserializeIterator(resource_handle=b._iterator_resource, serialized=state)
        x, y = a.get_next(), b.get_next()
        return steps([a.initializer, b.initializer], x, x, y, restore, y, y, x, y, restore, y)


@graph("SerializeIterator", "DeserializeIterator")
def saved_too_early():
    a, b = data.make_initializable_iterator(D.range(3)), data.make_initializable_iterator(D.range(3))
    state = raw.SerializeIterator(resource_handle=a._iterator_resource)
    restore = raw.DeserializeIterator(resource_handle=b._iterator_resource, serialized=state)
    return steps(restore, a.initializer, restore)


@reads("DirectedInterleaveDataset", count=9)
def chosen():
    choose = lambda choices, *inputs, stop=False: D.choose_from_datasets(list(inputs), D.from_tensor_slices(np.array(choices, np.int64)), stop_on_empty_dataset=stop)
    yield lambda: choose([0, 1, 1, 0, 0], D.range(3), D.range(10, 13))
    yield lambda: choose([0, 1, 1, 0, 1, 0], D.range(1), D.range(10, 13))
    yield lambda: choose([0, 1, 1, 0, 1, 0], D.range(1), D.range(10, 13), stop=True)
    yield lambda: choose([0, 2, 1], D.range(1), D.range(10, 13))
    yield lambda: choose([], D.range(1), D.range(10, 13))
    yield lambda: D.sample_from_datasets([D.range(6), D.range(10, 16)], weights=[0.3, 0.7], seed=5)


@reads("GroupByReducerDataset")
def reduced_groups():
    reducer = lambda: tf.data.experimental.Reducer(lambda k: (k, np.int64(0)), lambda s, x: (s[0] + x, s[1] + 1), lambda a, n: (a, n))
    yield lambda: D.range(10).apply(tf.data.experimental.group_by_reducer(lambda x: x % 3, reducer()))
    yield lambda: D.range(0).apply(tf.data.experimental.group_by_reducer(lambda x: x % 3, reducer()))
    yield lambda: D.range(4).apply(tf.data.experimental.group_by_reducer(lambda x: -x, reducer()))


@graph("SamplingDataset")
def sampled():
    d = raw.SamplingDataset(input_dataset=numbers(40), rate=0.3, seed=5, seed2=6, output_types=[tf.int64], output_shapes=[[]])
    return read_raw(d, 9)


@reads("FlatMapDataset", "ConcatenateDataset")
def others():
    yield lambda: D.range(9).apply(lambda d: D.from_tensors(0).flat_map(lambda _: d))
    yield lambda: D.from_tensors(np.int64(3)).concatenate(D.range(2))


@graph("ListDataset")
def listed():
    d = raw.ListDataset(tensors=[feed(1, "int64"), feed(f32(2)), feed(2, "int64"), feed(f32(3))], output_types=[tf.int64, tf.float32], output_shapes=[[], [None]])
    return read_raw(d, 3, [tf.int64, tf.float32], [[], [None]])


@graph("RandomDatasetV2")
def random_numbers_of_a_generator():
    seeds = raw.AnonymousSeedGenerator(seed=5, seed2=6, reshuffle=False)
    d = raw.RandomDatasetV2(seed=5, seed2=6, seed_generator=seeds.handle, output_types=[tf.int64], output_shapes=[[]])
    d = made("TakeDataset", [tf.int64], [[]], input_dataset=d, count=5)
    d = made("BatchDatasetV2", [tf.int64], [[None]], input_dataset=d, batch_size=5, drop_remainder=False)
    return steps(raw.DatasetToSingleElement(dataset=d, output_types=[tf.int64], output_shapes=[[None]]))


for sizes, drop in (([2, 1], False), ([2, 3], True), ([4], False), ([3, 0, 1], False), ([7], True)):

    @graph("RebatchDatasetV2")
    def rebatched(sizes=sizes, drop=drop):
        d = made("BatchDatasetV2", [tf.int64], [[None]], input_dataset=numbers(10), batch_size=4, drop_remainder=False)
        d = made("RebatchDatasetV2", [tf.int64], [[None]], input_dataset=d, batch_sizes=feed(sizes, "int64"), drop_remainder=drop)
        return read_raw(d, 8)
