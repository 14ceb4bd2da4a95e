"""Datasets saved to directories and loaded again, snapshots of passes, and how they refuse."""

from framework import *
from values import *

import atexit
import itertools
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops import dataset_ops, load_op

raw = tf.raw_ops
data = tf.compat.v1.data
D = tf.data.Dataset
FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER, True)
NUMBERS = itertools.count()
LONG = tf.TensorSpec([], tf.int64)
TRIPLE = (LONG, tf.TensorSpec([], tf.string), tf.TensorSpec([2, 3], tf.float32))


def fresh():
    return os.path.join(FOLDER, str(next(NUMBERS)))


def read(dataset, count):
    iterator = data.make_initializable_iterator(dataset)
    element = tf.nest.flatten(iterator.get_next(), expand_composites=True)
    return [iterator.initializer] + [element] * count


def load(path, element_spec, compression="", reader_func=None):
    """Without a look at the directory, which is not there yet."""
    return load_op._LoadDataset(path, element_spec, compression, reader_func or (lambda shards: shards.flat_map(lambda shard: shard)))


def triples():
    return D.range(3).map(lambda x: (x, tf.strings.as_string(x), tf.fill([2, 3], tf.cast(x, tf.float32))))


for compression in (None, "GZIP", "ZLIB", "SNAPPY", "AUTO", "XX"):

    @graph("SaveDataset", "LoadDataset")
    def there_and_back(compression=compression):
        path, ds = fresh(), triples()
        save = ds.save(path, compression=compression)
        loaded = load(path, element_spec=ds.element_spec, compression=compression)
        return steps(save, *read(loaded, 4), loaded.cardinality())


for sharding in (lambda x: x % 3, lambda x: -x, lambda x: x * 7, lambda x: x * 0):

    @graph("SaveDataset", "LoadDataset")
    def in_shards(sharding=sharding):
        path = fresh()
        save = D.range(7).save(path, shard_func=sharding)
        loaded = load(path, element_spec=LONG, reader_func=lambda shards: shards.flat_map(lambda x: x))
        return steps(save, *read(loaded, 8))


@graph("SaveDataset", "LoadDataset")
def nothing():
    path = fresh()
    save = D.range(0).save(path)
    return steps(save, *read(load(path, element_spec=LONG), 1))


@graph("SaveDataset", "LoadDataset")
def twice():
    path = fresh()
    saves = [D.range(5).save(path), D.range(2).save(path)]
    return steps(*saves, *read(load(path, element_spec=LONG), 3))


@graph("SaveDataset")
def strange_shards():
    return steps(D.range(4).save(fresh(), shard_func=lambda x: tf.cast(x, tf.int32)))


@graph("SaveDataset")
def vectors_of_shards():
    return steps(D.range(4).save(fresh(), shard_func=lambda x: [x, x]))


for spec in (tf.TensorSpec([], tf.float32), tf.TensorSpec([2], tf.int64), (LONG, LONG)):

    @graph("LoadDataset")
    def loaded_as_something_else(spec=spec):
        path = fresh()
        return steps(D.range(4).save(path), *read(load(path, element_spec=spec), 3))


@graph("LoadDataset")
def loaded_from_nowhere():
    return steps(*read(load("/nonexistent/dataset", element_spec=LONG), 1))


@graph("LoadDataset")
def loaded_with_the_wrong_compression():
    path = fresh()
    return steps(D.range(4).save(path), *read(load(path, element_spec=LONG, compression="GZIP"), 1))


def kept(dataset, path, sharded=True, **options):
    function = tf.function(lambda x: x % 2).get_concrete_function(LONG)
    function.add_to_graph(tf.compat.v1.get_default_graph())
    return raw.SaveDatasetV2(input_dataset=dataset._variant_tensor, path=path, shard_func_other_args=[], shard_func=function, use_shard_func=sharded,
                             output_types=[tf.int64], output_shapes=[[]], **options)


def read_raw(dataset, count, types=(tf.int64,), shapes=([],)):
    it = raw.IteratorV2(shared_name="", container="", output_types=list(types), output_shapes=list(shapes))
    get = raw.IteratorGetNext(iterator=it, output_types=list(types), output_shapes=list(shapes))
    return [raw.DatasetCardinality(input_dataset=dataset), raw.MakeIterator(dataset=dataset, iterator=it)] + [get] * count


for sharded, compression, n in ((True, "", 5), (False, "", 5), (True, "SNAPPY", 5), (False, "GZIP", 3), (True, "", 0)):

    @graph("SaveDatasetV2", "LoadDataset")
    def saved_while_read(sharded=sharded, compression=compression, n=n):
        path = fresh()
        return steps(*read_raw(kept(D.range(n), path, sharded, compression=compression), n + 1),
                     *read(load(path, element_spec=LONG, compression=compression, reader_func=lambda s: s.flat_map(lambda x: x)), n + 1))


@graph("SaveDatasetV2")
def kept_under_no_name():
    return steps(*read_raw(kept(D.range(2), feed(np.array([b"a", b"b"], object))), 1))


for options in (dict(), dict(compression=None), dict(compression="GZIP"), dict(compression="SNAPPY")):

    @graph("SnapshotDatasetV2")
    def passes_of_a_snapshot(options=options):
        path = fresh()
        return steps(*read(D.range(4).snapshot(path, **options), 5) * 2)


@graph("SnapshotDatasetV2")
def a_snapshot_in_shards():
    path = fresh()
    ds = D.range(6).map(lambda x: (x, tf.strings.as_string(x))).snapshot(path, shard_func=lambda x, _: x % 2, reader_func=lambda s: s.flat_map(lambda x: x))
    return steps(*read(ds, 7) * 2)


@graph("SnapshotDatasetV2")
def a_repeated_snapshot():
    return steps(*read(D.range(3).snapshot(fresh()).repeat(3), 10))


@graph("SnapshotDatasetV2")
def an_empty_snapshot():
    return steps(*read(D.range(0).snapshot(fresh()), 1))


@graph("SnapshotDatasetV2")
def a_snapshot_with_strange_shards():
    return steps(*read(D.range(3).snapshot(fresh(), shard_func=lambda x: tf.cast(x, tf.int32)), 1))


def inside(path, make, spec):
    """Made in a function: a dataset of constants alone is one that TensorFlow tries to fold, and cannot."""
    return D.from_tensors(path).flat_map(lambda path: dataset_ops._VariantDataset(make(path), spec))


def shards_of(path):
    """The directories of shards that a dataset was saved to, and files in them."""
    run = [name for name in os.listdir(path) if os.path.isdir(os.path.join(path, name))][0]
    return sorted(os.path.join(path, run, name) for name in os.listdir(os.path.join(path, run)))


def saved_by_tensorflow(dataset, **options):
    path = fresh()
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(dataset().save(path, **options))
    return path


SAVED = {c: saved_by_tensorflow(triples, compression=c) for c in ("", "GZIP", "SNAPPY")}
NONE = saved_by_tensorflow(lambda: D.range(0))
KIND = dict(output_types=[tf.int64, tf.string, tf.float32], output_shapes=[[], [], [2, 3]])

for compression, path in SAVED.items():

    @graph("LoadDataset")
    def of_tensorflow(compression=compression, path=path):
        return steps(*read(load(path, element_spec=TRIPLE, compression=compression), 4))

    @graph("SnapshotDatasetReader")
    def one_shard(compression=compression, path=path):
        make = lambda path: raw.SnapshotDatasetReader(shard_dir=path, start_index=0, compression=compression, version=2, **KIND)
        return steps(*read(inside(shards_of(path)[0], make, TRIPLE), 4))

    @graph("SnapshotChunkDataset")
    def one_file(compression=compression, path=path):
        make = lambda path: raw.SnapshotChunkDataset(chunk_file=path, compression=compression, **KIND)
        return steps(*read(inside(shards_of(path)[0] + "/00000000.snapshot", make, TRIPLE), 4))


@graph("SnapshotChunkDataset")
def no_such_file():
    make = lambda path: raw.SnapshotChunkDataset(chunk_file=path, output_types=[tf.int64], output_shapes=[[]])
    return steps(*read(inside("/nonexistent/file", make, LONG), 1))


EMPTY = os.path.join(FOLDER, "empty")
os.makedirs(EMPTY + "/00000000.shard")
open(EMPTY + "/00000000.shard/00000000.snapshot", "wb").close()


@graph("SnapshotChunkDataset")
def an_empty_file():
    make = lambda path: raw.SnapshotChunkDataset(chunk_file=path, output_types=[tf.int64], output_shapes=[[]])
    return steps(*read(inside(EMPTY + "/00000000.shard/00000000.snapshot", make, LONG), 1))


@graph("SnapshotDatasetReader")
def an_empty_shard():
    make = lambda path: raw.SnapshotDatasetReader(shard_dir=path, start_index=0, version=2, output_types=[tf.int64], output_shapes=[[]])
    return steps(*read(inside(EMPTY + "/00000000.shard", make, LONG), 1))


@graph("SnapshotDatasetReader")
def no_such_shard():
    make = lambda path: raw.SnapshotDatasetReader(shard_dir=path, start_index=0, version=2, output_types=[tf.int64], output_shapes=[[]])
    return steps(*read(inside("/nonexistent/shard", make, LONG), 1))
