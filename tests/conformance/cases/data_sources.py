"""Datasets out of tensors, numbers and each other, and the iterators that read them."""

from framework import *
from definitions import definition
from values import *

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
data = tf.compat.v1.data


def initializable(dataset, count, times=1):
    """Steps: the initializer, then so many elements; again for every time."""
    iterator = data.make_initializable_iterator(dataset)
    element = tf.nest.flatten(iterator.get_next())
    return steps(*([iterator.initializer] + [element] * count) * times)


def variant(op, *args, types=(tf.int64,), shapes=((),), **kwargs):
    kwargs.update(zip((a.name for a in definition(op).input_arg), args))
    return getattr(raw, op)(output_types=list(types), output_shapes=[tf.TensorShape(s) for s in shapes], **kwargs)


def read(dataset, count, types=(tf.int64,), shapes=((),)):
    """Steps that read a dataset made of raw ops."""
    shapes = [tf.TensorShape(s) for s in shapes]
    it = raw.IteratorV2(shared_name="", container="", output_types=list(types), output_shapes=shapes)
    make = raw.MakeIterator(dataset=dataset, iterator=it)
    return steps(make, *[raw.IteratorGetNext(iterator=it, output_types=list(types), output_shapes=shapes)] * count)


def numbers(start, stop, step=1):
    return raw.RangeDataset(start=feed(start, "int64"), stop=feed(stop, "int64"), step=feed(step, "int64"), output_types=[tf.int64], output_shapes=[[]])


for bounds in ((0, 4, 1), (7, -2, -4), (3, 3, 1), (0, 5, -1), (2 ** 63 - 4, 2 ** 63 - 1, 2), (-2 ** 63, 2 ** 63 - 1, 2 ** 62)):

    @graph("RangeDataset", "IteratorV2", "MakeIterator", "IteratorGetNext")
    def ranges(bounds=bounds):
        return read(numbers(*bounds), 5)


@graph("RangeDataset")
def range_of_nothing():
    return read(numbers(0, 1, 0), 1)


for name in ("int32", "float", "double", "uint8", "int16", "half"):

    @graph("RangeDataset")
    def ranges_of_types(dtype=tf.as_dtype(name)):
        d = raw.RangeDataset(start=1, stop=300, step=100, output_types=[dtype], output_shapes=[[]])
        return read(d, 4, [dtype])


@graph("RangeDataset")
def range_of_vectors():
    return read(raw.RangeDataset(start=feed([0, 1], "int64"), stop=4, step=1, output_types=[tf.int64], output_shapes=[[]]), 2)


@graph("TensorDataset")
def tensor():
    d = raw.TensorDataset(components=[feed(f32(2, 3)), feed(strings(2)), feed(i32())], output_shapes=[[None, 3], [2], []])
    return read(d, 2, [tf.float32, tf.string, tf.int32], [(None, 3), (2,), ()])


@graph("TensorDataset")
def empty_tensor():
    return read(raw.TensorDataset(components=[feed(f32(0, 3))], output_shapes=[[None, 3]]), 2, [tf.float32], [(None, 3)])


@graph("TensorSliceDataset")
def slices():
    d = raw.TensorSliceDataset(components=[feed(f32(3, 2)), feed(strings(3)), feed(boolean(3, 0))], output_shapes=[[2], [], [0]])
    return read(d, 4, [tf.float32, tf.string, tf.bool], [(2,), (), (0,)])


@graph("TensorSliceDataset")
def no_slices():
    return read(raw.TensorSliceDataset(components=[feed(f32(0, 2))], output_shapes=[[2]]), 2, [tf.float32], [(2,)])


@graph("TensorSliceDataset")
def slices_of_different_sizes():
    return read(raw.TensorSliceDataset(components=[feed(f32(3, 2)), feed(f32(2))], output_shapes=[[2], []]), 1, [tf.float32] * 2, [(2,), ()])


@graph("TensorSliceDataset")
def slices_of_a_scalar():
    return read(raw.TensorSliceDataset(components=[feed(f32())], output_shapes=[[]]), 1, [tf.float32])


@graph("TensorSliceDataset")
def slices_of_a_second_scalar():
    return read(raw.TensorSliceDataset(components=[feed(f32(2)), feed(f32())], output_shapes=[[], []]), 1, [tf.float32] * 2, [(), ()])


def sparse(indices, n, shape):
    d = raw.SparseTensorSliceDataset(indices=feed(np.array(indices, np.int64)), values=feed(f32(n)), dense_shape=feed(np.array(shape, np.int64)))
    return read(d, 5, [tf.int64, tf.float32, tf.int64], [(None, None), (None,), (None,)])


for indices, n, shape in (
    ([[0, 1], [0, 2], [2, 0]], 3, [4, 3]),
    (np.zeros((0, 2)), 0, [2, 3]),
    (np.zeros((0, 2)), 0, [0, 3]),
    ([[0, 1, 1]], 1, [2, 3, 3]),
    ([[2, 1], [0, 2]], 2, [4, 3]),
    ([[0, 1], [7, 2]], 2, [4, 3]),
    ([[0, 1]], 2, [4, 3]),
    ([[0, 1]], 1, [4]),
    ([0, 1], 2, [4, 3]),
    ([[0, 1]], 1, [[4, 3]]),
):

    @graph("SparseTensorSliceDataset")
    def sparse_slices(indices=indices, n=n, shape=shape):
        return sparse(indices, n, shape)


for count in (0, 1, 3, -1, -5):

    @graph("RepeatDataset", "DatasetCardinality")
    def repeated(count=count):
        d = variant("RepeatDataset", numbers(0, 2), feed(count, "int64"))
        return steps(raw.DatasetCardinality(input_dataset=d), *read(d, 7))

    @graph("TakeDataset", "SkipDataset")
    def taken_and_skipped(count=count):
        take, skip = (variant(op, numbers(0, 4), feed(count, "int64")) for op in ("TakeDataset", "SkipDataset"))
        both = raw.ZipDataset(input_datasets=[take, skip], output_types=[tf.int64] * 2, output_shapes=[[], []])
        one_by_one = raw.ConcatenateDataset(input_dataset=take, another_dataset=skip, output_types=[tf.int64], output_shapes=[[]])
        return steps([raw.DatasetCardinality(input_dataset=d) for d in (take, skip, both, one_by_one)], *read(one_by_one, 7))


@graph("RepeatDataset")
def repeated_nothing():
    return read(variant("RepeatDataset", numbers(0, 0), feed(-1, "int64")), 2)


@graph("RepeatDataset")
def repeated_by_a_vector():
    return read(variant("RepeatDataset", numbers(0, 3), feed([1], "int64")), 1)


for shards, index in ((3, 0), (3, 2), (1, 0), (9, 8), (9, 2), (0, 0), (3, 3), (3, -1)):
    for complete in (False, True):

        @graph("ShardDataset")
        def shards_of(shards=shards, index=index, complete=complete):
            d = variant("ShardDataset", numbers(0, 7), feed(shards, "int64"), feed(index, "int64"), require_non_empty=complete)
            return steps(raw.DatasetCardinality(input_dataset=d), *read(d, 4))


@graph("ConcatenateDataset")
def concatenated():
    d = raw.ConcatenateDataset(input_dataset=numbers(0, 2), another_dataset=numbers(5, 7), output_types=[tf.int64], output_shapes=[[]])
    return steps(raw.DatasetCardinality(input_dataset=d), *read(d, 5))


@graph("ConcatenateDataset")
def concatenated_types():
    other = raw.TensorDataset(components=[feed(f32())], output_shapes=[[]])
    return read(raw.ConcatenateDataset(input_dataset=numbers(0, 2), another_dataset=other, output_types=[tf.int64], output_shapes=[[]]), 2)


@graph("ZipDataset")
def zipped():
    d = raw.ZipDataset(input_datasets=[numbers(0, 2), numbers(5, 9)], output_types=[tf.int64] * 2, output_shapes=[[], []])
    return steps(raw.DatasetCardinality(input_dataset=d), *read(d, 4, [tf.int64] * 2, [(), ()]))


@graph("ZipDataset")
def zipped_with_an_optional():
    return read(raw.ZipDataset(input_datasets=[raw.OptionalNone(), numbers(5, 9)], output_types=[tf.int64] * 2, output_shapes=[[], []]), 2)


@graph("IteratorGetNext", "MakeIterator")
def not_initialized():
    it = raw.IteratorV2(shared_name="x", container="", output_types=[tf.int64], output_shapes=[[]])
    return steps(raw.IteratorGetNext(iterator=it, output_types=[tf.int64], output_shapes=[[]]))


for types, shapes in (([tf.int32], [[]]), ([tf.int64], [[3]]), ([tf.int64, tf.int64], [[], []]), ([tf.int64], [None])):

    @graph("MakeIterator", "IteratorV2")
    def made_for_others(types=types, shapes=shapes):
        it = raw.IteratorV2(shared_name="", container="", output_types=types, output_shapes=shapes)
        return steps(raw.MakeIterator(dataset=numbers(0, 2), iterator=it), raw.IteratorGetNext(iterator=it, output_types=types, output_shapes=shapes))

    @graph("IteratorGetNext", "IteratorGetNextAsOptional")
    def asked_for_others(types=types, shapes=shapes):
        it = raw.IteratorV2(shared_name="", container="", output_types=[tf.int64], output_shapes=[None])
        optional = raw.IteratorGetNextAsOptional(iterator=it, output_types=types, output_shapes=shapes)
        return steps(raw.MakeIterator(dataset=numbers(0, 2), iterator=it), raw.IteratorGetNext(iterator=it, output_types=types, output_shapes=shapes),
                     raw.OptionalHasValue(optional=optional))


@graph("MakeIterator")
def made_of_an_optional():
    it = raw.IteratorV2(shared_name="", container="", output_types=[tf.int64], output_shapes=[[]])
    return steps(raw.MakeIterator(dataset=raw.OptionalNone(), iterator=it))


@graph("Iterator", "IteratorV2")
def shared_by_name():
    a = raw.IteratorV2(shared_name="shared", container="c", output_types=[tf.int64], output_shapes=[[]])
    b = raw.Iterator(shared_name="shared", container="c", output_types=[tf.int64], output_shapes=[[]])
    other = raw.IteratorV2(shared_name="shared", container="c", output_types=[tf.int32], output_shapes=[[]])
    get = raw.IteratorGetNext(iterator=b, output_types=[tf.int64], output_shapes=[[]])
    return steps(raw.MakeIterator(dataset=numbers(0, 3), iterator=a), get, get, raw.IteratorGetNext(iterator=other, output_types=[tf.int32], output_shapes=[[]]), get)


@graph("IteratorGetNext", "MakeIterator")
def made_again():
    return initializable(tf.data.Dataset.range(3), 2, 3)


@graph("IteratorGetNextSync")
def asked_at_once():
    it = raw.IteratorV2(shared_name="", container="", output_types=[tf.int64], output_shapes=[[]])
    get = raw.IteratorGetNextSync(iterator=it, output_types=[tf.int64], output_shapes=[[]])
    return steps(raw.MakeIterator(dataset=numbers(0, 2), iterator=it), get, get, get)


@graph("IteratorGetNextAsOptional", "OptionalHasValue", "OptionalGetValue")
def optional_elements():
    it = raw.IteratorV2(shared_name="", container="", output_types=[tf.int64], output_shapes=[[]])
    has = raw.OptionalHasValue(optional=raw.IteratorGetNextAsOptional(iterator=it, output_types=[tf.int64], output_shapes=[[]]))
    value = raw.OptionalGetValue(optional=raw.IteratorGetNextAsOptional(iterator=it, output_types=[tf.int64], output_shapes=[[]]), output_types=[tf.int64], output_shapes=[[]])
    return steps(raw.MakeIterator(dataset=numbers(0, 2), iterator=it), value, has, has, value)


@graph("OptionalFromValue", "OptionalNone", "OptionalHasValue", "OptionalGetValue")
def optionals():
    some = raw.OptionalFromValue(components=[feed(f32(2)), feed(strings())])
    none = raw.OptionalNone()
    get = lambda o, t, s: raw.OptionalGetValue(optional=o, output_types=t, output_shapes=s)
    both = [tf.float32, tf.string]
    return steps([raw.OptionalHasValue(optional=some), raw.OptionalHasValue(optional=none)], get(some, both, [[2], []]), get(some, both, [None, None]), get(none, both, [[2], []]),
                 get(some, both[:1], [[2]]), get(some, both[::-1], [[2], []]), get(some, both, [[3], []]), raw.OptionalHasValue(optional=raw.EmptyTensorList(element_shape=[2], max_num_elements=1, element_dtype=tf.int32)),
                 raw.OptionalHasValue(optional=numbers(0, 1)), raw.OptionalHasValue(optional=raw.Pack(values=[none, none])))


@graph("OptionalFromValue")
def empty_optional():
    some = raw.OptionalFromValue(components=[feed(f32(0, 2))])
    return steps(raw.OptionalGetValue(optional=some, output_types=[tf.float32], output_shapes=[[None, 2]]))


@graph("OneShotIterator", "IteratorGetNext")
def one_shot():
    element = data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices((np.arange(3), np.arange(6.0).reshape(3, 2)))).get_next()
    return steps(element, element, element, element)


@graph("OneShotIterator")
def one_shot_that_fails():
    def dataset():
        return tf.data.Dataset.range(tf.constant(1, tf.int64), tf.constant(5, tf.int64), tf.constant(0, tf.int64))

    element = data.make_one_shot_iterator(dataset()).get_next()
    return steps(element, element)


@graph("IteratorToStringHandle", "IteratorFromStringHandleV2", "IteratorFromStringHandle")
def by_string():
    a, b = (data.make_initializable_iterator(tf.data.Dataset.range(n, n + 2)) for n in (0, 5))
    which = feed(np.bool_(True))
    handle = tf.compat.v1.where(which, a.string_handle(), b.string_handle())
    element = data.Iterator.from_string_handle(handle, tf.int64, tf.TensorShape([])).get_next()
    v1 = raw.IteratorFromStringHandle(string_handle=b.string_handle(), output_types=[tf.int64], output_shapes=[[]])
    other = raw.IteratorFromStringHandle(string_handle=b.string_handle(), output_types=[tf.int32], output_shapes=[[]])
    return steps([a.initializer, b.initializer], element, raw.IteratorGetNext(iterator=v1, output_types=[tf.int64], output_shapes=[[]]), element, element,
                 raw.IteratorGetNext(iterator=other, output_types=[tf.int32], output_shapes=[[]]))


@graph("IteratorFromStringHandle")
def by_no_string():
    bad = raw.IteratorFromStringHandle(string_handle=feed(np.array(b"nonsense", object)))
    vector = raw.IteratorFromStringHandle(string_handle=feed(np.array([b"nonsense"], object)))
    return steps(raw.IteratorGetNext(iterator=bad, output_types=[tf.int64], output_shapes=[[]]), raw.IteratorGetNext(iterator=vector, output_types=[tf.int64], output_shapes=[[]]))


@graph("AnonymousIteratorV3", "AnonymousIteratorV2", "AnonymousIterator", "DeleteIterator")
def anonymous():
    fetched = []
    for op in ("AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3"):
        it = getattr(raw, op)(output_types=[tf.int64], output_shapes=[[]])
        handle = it if op != "AnonymousIteratorV2" else it.handle
        with tf.control_dependencies([raw.MakeIterator(dataset=numbers(3, 5), iterator=handle)]):
            element = raw.IteratorGetNext(iterator=handle, output_types=[tf.int64], output_shapes=[[]])
        if op == "AnonymousIteratorV2":
            with tf.control_dependencies([element[0]]):
                fetched.append(raw.DeleteIterator(handle=handle, deleter=it.deleter))
        fetched.append(element)
    return steps(fetched, fetched)
