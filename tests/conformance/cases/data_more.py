"""Datasets of comma-separated values, sparse batches, whole datasets written elsewhere, functions on rows, compressed elements."""

from framework import *
from values import *

import atexit
import gzip
import shutil
import tempfile

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
data = tf.compat.v1.data
D = data.Dataset
FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER, True)


def file(name, content):
    with open(f"{FOLDER}/{name}", "wb") as f:
        f.write(content)
    return f"{FOLDER}/{name}"


def read(dataset, count, times=1):
    iterator = data.make_initializable_iterator(dataset)
    element = tf.nest.flatten(iterator.get_next(), expand_composites=True)
    return steps(*([iterator.initializer] + [element] * count) * times)


def read_raw(dataset, count, types, shapes):
    it = raw.IteratorV2(shared_name="", container="", output_types=list(types), output_shapes=list(shapes))
    get = raw.IteratorGetNext(iterator=it, output_types=list(types), output_shapes=list(shapes))
    return steps(raw.DatasetCardinality(input_dataset=dataset), raw.MakeIterator(dataset=dataset, iterator=it), *[get] * count)


# Comma-separated values.

PLAIN = b"a,b,c,d,e\n1,2,3.5,-4.25,text\n6,7,8,9,\"quo,ted\"\n,,,,\n11,NA,13,14,\"say \"\"hi\"\"\"\r\n16,17,18,19,last"
FILES = {"plain": file("plain.csv", PLAIN), "gzip": file("plain.csv.gz", gzip.compress(PLAIN)), "empty": file("empty.csv", b""),
         "wrong": file("wrong.csv", b"1,2,3\n1,\"2\"x,3\n1,a\"b,3\n1,2\n1,2,3,4\nx,2,3\n9,8,7\n1,2,\"open"), "missing": f"{FOLDER}/missing.csv",
         "returns": file("returns.csv", b"1,2\r3,4\r\n5,6\n\n7,8"), "tabs": file("tabs.csv", b"1\t2\n3\t\"x\n")}
TYPES = (tf.int32, tf.int64, tf.float32, tf.float64, tf.string)


def csv(names, types, version=2, compression="", buffer=64, header=False, delim=",", quote=True, na="", select=(), exclude=(), defaults=None):
    values = [tf.constant(["" if t == tf.string else 0], t) for t in types] if defaults is None else defaults
    common = dict(filenames=feed(np.array(names, object)), compression_type=compression, buffer_size=feed(buffer, "int64"), header=header, field_delim=delim,
                  use_quote_delim=quote, na_value=na, select_cols=feed(np.array(select, np.int64)), record_defaults=values, output_shapes=[[]] * len(types))
    return raw.CSVDatasetV2(exclude_cols=feed(np.array(exclude, np.int64)), **common) if version == 2 else getattr(raw, version)(**common)


for version in (2, "CSVDataset", "ExperimentalCSVDataset"):
    NAME = "CSVDatasetV2" if version == 2 else version
    for options in (dict(header=True), dict(header=True, buffer=1), dict(header=True, na="NA"), dict(header=True, na="NA", buffer=3)):

        @graph(NAME)
        def plain(version=version, options=options):
            return read_raw(csv([FILES["plain"]], TYPES, version, **options), 7, TYPES, [[]] * 5)

    @graph(NAME)
    def compressed(version=version):
        return read_raw(csv([FILES["gzip"], FILES["plain"]], TYPES, version, compression="GZIP", header=True), 7, TYPES, [[]] * 5)

    @graph(NAME)
    def selected(version=version):
        return read_raw(csv([FILES["plain"], FILES["missing"]], (tf.string, tf.string), version, header=True, select=(1, 4)), 7, (tf.string,) * 2, [[]] * 2)

    @graph(NAME)
    def wrong(version=version):
        return read_raw(csv([FILES["wrong"]], (tf.int32, tf.string, tf.int32), version), 9, (tf.int32, tf.string, tf.int32), [[]] * 3)

    @graph(NAME)
    def wrong_unquoted(version=version):
        return read_raw(csv([FILES["wrong"]], (tf.int32, tf.string, tf.int32), version, quote=False), 9, (tf.int32, tf.string, tf.int32), [[]] * 3)

    @graph(NAME)
    def returns(version=version):
        return read_raw(csv([FILES["returns"]], (tf.int32, tf.int32), version), 6, (tf.int32,) * 2, [[]] * 2)

    @graph(NAME)
    def tabs(version=version):
        return read_raw(csv([FILES["tabs"]], (tf.int32, tf.string), version, delim="\t"), 3, (tf.int32, tf.string), [[]] * 2)

    @graph(NAME)
    def required(version=version):
        return read_raw(csv([FILES["returns"]], (tf.int32, tf.int32), version, defaults=[tf.constant([], tf.int32), tf.constant([5], tf.int32)]), 6, (tf.int32,) * 2, [[]] * 2)

    @graph(NAME)
    def nothing(version=version):
        return read_raw(csv([FILES["empty"]], (tf.int32,), version), 2, (tf.int32,), [[]])

    @graph(NAME)
    def no_header(version=version):
        return read_raw(csv([FILES["empty"]], (tf.int32,), version, header=True), 2, (tf.int32,), [[]])

    for i, options in enumerate((dict(buffer=0), dict(delim=",,"), dict(compression="LZ"), dict(select=(1, 0)), dict(select=(0,)), dict(select=(-1, 3)),
                                 dict(defaults=[tf.float32, 2]), dict(defaults=[tf.float32, 0]))):

        @graph(NAME)
        def refused(version=version, options=options):
            options = dict(options)
            if options.get("defaults", (0, 0))[0] == tf.float32:
                shape = [2] if options["defaults"][1] else [1, 1]
                options["defaults"] = [feed(np.zeros(shape, np.int32)), tf.zeros([1], tf.int32)]
            return steps(raw.DatasetCardinality(input_dataset=csv([FILES["returns"]], (tf.int32, tf.int32), version, **options)))

    exempt(NAME, "empty", why="its elements are scalars")


@graph("CSVDatasetV2")
def excluded():
    return read_raw(csv([FILES["plain"]], (tf.string,) * 3, exclude=(0, 3), header=True), 7, (tf.string,) * 3, [[]] * 3)


@graph("CSVDatasetV2")
def excluded_and_selected():
    return steps(raw.DatasetCardinality(input_dataset=csv([FILES["plain"]], (tf.string,), exclude=(0,), select=(1,))))


# Sparse batches.

def rows(sizes):
    return D.from_tensor_slices(np.array(sizes, np.int64)).map(lambda n: tf.fill([n], n))


for NAME in ("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset"):

    def batches(dataset, size, shape, name=NAME):
        made = getattr(raw, name)(input_dataset=dataset._variant_tensor, batch_size=feed(size, "int64"), row_shape=feed(np.array(shape, np.int64)),
                                  output_types=[tf.variant], output_shapes=[None])
        it = raw.IteratorV2(shared_name="", container="", output_types=[tf.variant], output_shapes=[None])
        get = raw.IteratorGetNext(iterator=it, output_types=[tf.variant], output_shapes=[None])[0]
        parts = raw.DeserializeSparse(serialized_sparse=get, dtype=dataset.element_spec.dtype)
        return steps(raw.DatasetCardinality(input_dataset=made), raw.MakeIterator(dataset=made, iterator=it), *[list(parts)] * 4)

    for sizes, size, shape in (((1, 3, 0, 2, 4), 2, [5]), ((1, 3, 0, 2, 4), 2, [-1]), ((1, 3, 0, 2, 4), 2, [2]), ((0, 0), 2, [3]), ((), 2, [3]), ((1, 2), 0, [3]), ((1, 2), 2, [3, 3])):

        @graph(NAME)
        def sparse_batches(sizes=sizes, size=size, shape=shape, make=batches):
            return make(rows(sizes), size, shape)

    @graph(NAME)
    def sparse_matrices(make=batches):
        d = D.from_tensor_slices(np.array([b"a", b"bc", b"d"], object)).map(lambda s: tf.fill([2, tf.strings.length(s)], s))
        return make(d, 2, [-1, 4])


# Whole datasets.

for NAME in ("DatasetToTFRecord", "ExperimentalDatasetToTFRecord"):
    for compression in ("", "GZIP", "ZLIB"):
        for n in (0, 3, 300):

            @graph(NAME)
            def records(name=NAME, compression=compression, n=n):
                path = f"{FOLDER}/{tf.compat.v1.get_default_graph().unique_name('records')}_{name}_{compression}_{n}"
                d = D.range(n).map(lambda x: tf.strings.as_string(x))
                write = getattr(raw, name)(input_dataset=d._variant_tensor, filename=path, compression_type=compression)
                get = data.make_initializable_iterator(data.TFRecordDataset(path, compression))
                return steps(write, get.initializer, *[get.get_next()] * 4)

    exempt(NAME, "empty", "refusal", why="it has no outputs, and TensorFlow aborts where it refuses")


def table(keys="string", values="int64"):
    return raw.HashTableV2(key_dtype=tf.as_dtype(keys), value_dtype=tf.as_dtype(values))


for n in (0, 3):

    @graph("InitializeTableFromDataset")
    def filled(n=n):
        t = table()
        d = D.range(n).map(lambda x: (tf.strings.as_string(x), x * 10))
        fill = raw.InitializeTableFromDataset(table_handle=t, dataset=d._variant_tensor)
        look = raw.LookupTableFindV2(table_handle=t, keys=feed(np.array([b"0", b"2", b"9"], object)), default_value=feed(-1, "int64"))
        return steps(fill, look, raw.LookupTableSizeV2(table_handle=t))


@graph("InitializeTableFromDataset")
def filled_with_floats():
    t = table("int64", "float")
    d = D.range(5).map(lambda x: (x, tf.cast(x, tf.float32) / 2))
    fill = raw.InitializeTableFromDataset(table_handle=t, dataset=d._variant_tensor)
    return steps(fill, raw.LookupTableFindV2(table_handle=t, keys=feed(np.array([[0, 4]], np.int64)), default_value=feed(-1.0, "float")))


exempt("InitializeTableFromDataset", "empty", "refusal", why="it has no outputs, and TensorFlow aborts where it refuses")


# Functions on rows.

def on_rows(f, arguments, types, shapes, captured=()):
    specs = [tf.TensorSpec(None, a.dtype) for a in list(arguments) + list(captured)]
    return raw.MapDefun(arguments=list(arguments), captured_inputs=list(captured), f=tf.function(f).get_concrete_function(*specs), output_types=types, output_shapes=shapes)


@graph("MapDefun")
def doubled():
    return on_rows(lambda x: x * 2, [feed(f32(3, 2))], [tf.float32], [[2]])


@graph("MapDefun")
def two_results():
    return on_rows(lambda x, y, z: (x + z, tf.strings.as_string(y)), [feed(f32(4)), feed(i64(4, 2))], [tf.float32, tf.string], [[], [2]], [feed(f32())])


@graph("MapDefun")
def no_rows():
    return on_rows(lambda x: x * 2, [feed(f32(0, 2))], [tf.float32], [[2]])


@graph("MapDefun")
def different_rows():
    return on_rows(lambda x, y: x, [feed(f32(3)), feed(f32(2))], [tf.float32], [[]])


@graph("MapDefun")
def unknown_shapes():
    return on_rows(lambda n: tf.fill([2], n), [feed(i64(3))], [tf.int64], [None])


# Compressed elements.

def compressed_and_back(tensors, types=None, shapes=None):
    packed = raw.CompressElement(components=tensors)
    return raw.UncompressElement(compressed=packed, output_types=types or [t.dtype for t in tensors], output_shapes=shapes or [None] * len(types or tensors))


@graph("CompressElement", "UncompressElement")
def element_of_two():
    return compressed_and_back([feed(f32(3, 2)), feed(strings(4))])


@graph("CompressElement", "UncompressElement")
def element_of_nothing():
    return compressed_and_back([feed(f32(0, 2)), feed(i64())])


@graph("CompressElement", "UncompressElement")
def element_of_bools():
    return compressed_and_back([feed(boolean(5)), feed(f64(1))])


@graph("UncompressElement")
def fewer_components():
    return compressed_and_back([feed(f32(3)), feed(i64(2))], [tf.float32])


@graph("UncompressElement")
def other_types():
    return compressed_and_back([feed(f32(3))], [tf.int32])


exempt("CompressElement", "refusal", why="takes everything")


# Pools and branches.

for NAME in ("ThreadPoolDataset", "ExperimentalThreadPoolDataset"):

    @graph(NAME, NAME.replace("Dataset", "Handle"))
    def pooled(name=NAME):
        handle = getattr(raw, name.replace("Dataset", "Handle"))(num_threads=2, display_name="pool")
        d = getattr(raw, name)(input_dataset=D.range(3)._variant_tensor, thread_pool=handle, output_types=[tf.int64], output_shapes=[[]])
        return read_raw(d, 4, [tf.int64], [[]])


# Caches in files: every run has files of its own, since those of another would be found.

def new_prefix():
    """A variable with a name that was never used, and what gives it one."""
    v = raw.VarHandleOp(dtype=tf.string, shape=[], shared_name=tf.compat.v1.get_default_graph().unique_name("prefix"))
    now = raw.AsString(input=raw.Timestamp(), precision=6)
    return raw.ReadVariableOp(resource=v, dtype=tf.string), raw.AssignVariableOp(resource=v, value=raw.StringJoin(inputs=[f"{FOLDER}/cache_", now]))


def cached(dataset, prefix):
    return raw.CacheDataset(input_dataset=dataset._variant_tensor, filename=prefix, output_types=[tf.int64], output_shapes=[[]])


def iterator_of(dataset):
    it = raw.IteratorV2(shared_name="", container="", output_types=[tf.int64], output_shapes=[[]])
    return raw.MakeIterator(dataset=dataset, iterator=it), raw.IteratorGetNext(iterator=it, output_types=[tf.int64], output_shapes=[[]])


@graph("CacheDataset")
def cached_in_file():
    prefix, new = new_prefix()
    twice = raw.RepeatDataset(input_dataset=cached(D.range(3), prefix), count=2, output_types=[tf.int64], output_shapes=[[]])
    begin, element = iterator_of(twice)
    return steps(new, begin, *[element] * 7)


@graph("CacheDataset")
def cached_for_another():
    """The files outlive the dataset: another one under the same prefix gives what the first had."""
    prefix, new = new_prefix()
    (a, x), (b, y) = iterator_of(cached(D.range(2), prefix)), iterator_of(cached(D.range(5, 9), prefix))
    return steps(new, a, x, x, x, b, y, y, y)


@graph("CacheDataset", check="code")
def cached_at_the_same_time():
    prefix, new = new_prefix()
    (a, x), (b, y) = iterator_of(cached(D.range(2), prefix)), iterator_of(cached(D.range(5, 9), prefix))
    return steps(new, a, x, b, y)


# Tensors that stay between steps.

@graph("GetSessionTensor")
def never_kept():
    return raw.GetSessionTensor(handle=feed(np.array(b"nobody;0;/job:x", object)), dtype=tf.float32)


@graph("DeleteSessionTensor")
def never_kept_to_delete():
    return steps(raw.DeleteSessionTensor(handle=feed(np.array(b"nobody;0;/job:x", object))))


exempt("DeleteSessionTensor", "empty", why="it has no outputs")


# Rows of databases.

import sqlite3

DATABASE = f"{FOLDER}/people.db"
with sqlite3.connect(DATABASE) as people:
    people.execute("CREATE TABLE people (id INTEGER, name TEXT, height REAL, alive INTEGER, picture BLOB)")
    people.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", [(1, "Ada", 1.65, 1, b"\0\1"), (-300, "", None, 0, None), (2**40, "Émile", 1e300, -2, b"x")])
people.close()


def rows_of(name, query, types, driver="sqlite", source=DATABASE, count=4):
    types = [tf.as_dtype(t) for t in types]
    shapes = [[]] * len(types)
    made = getattr(raw, name)(driver_name=feed(np.array(driver.encode(), object)), data_source_name=feed(np.array(source.encode(), object)), query=feed(np.array(query.encode(), object)),
                              output_types=types, output_shapes=shapes)
    return read_raw(made, count, types, shapes)


for NAME in ("SqlDataset", "ExperimentalSqlDataset"):
    for query, types in (("SELECT id, name, height, alive, picture FROM people ORDER BY name", ("int64", "string", "double", "bool", "string")),
                         ("SELECT id, id, id, id, id FROM people", ("int8", "int16", "int32", "uint8", "uint16")), ("SELECT id, height FROM people", ("string", "string")),
                         ("SELECT name, height FROM people", ("int64", "int32")), ("SELECT id FROM people WHERE id > 2e20", ("int64",)), ("SELECT 1", ("int32", "int32"))):

        @graph(NAME)
        def queried(name=NAME, query=query, types=types):
            return rows_of(name, query, types)

    @graph(NAME)
    def no_such_driver(name=NAME):
        return rows_of(name, "SELECT 1", ("int32",), driver="mysql")

    @graph(NAME, check="code")
    def no_sense(name=NAME):
        return rows_of(name, "SELEKT 1", ("int32",))

    @graph(NAME, check="code")
    def no_such_file(name=NAME):
        return rows_of(name, "SELECT 1", ("int32",), source=f"{FOLDER}/missing.db")

    exempt(NAME, "empty", why="its elements are scalars")


# Shares of workers.

for NAME in ("AutoShardDataset", "ExperimentalAutoShardDataset"):
    for workers, index, policy in ((2, 1, 2), (3, 0, 2), (1, 0, 0), (2, 0, -1), (0, 0, 0), (2, 2, 0), (2, -1, 0)):

        @graph(NAME)
        def shared(name=NAME, workers=workers, index=index, policy=policy):
            made = getattr(raw, name)(input_dataset=D.range(5)._variant_tensor, num_workers=feed(workers, "int64"), index=feed(index, "int64"), auto_shard_policy=policy,
                                      output_types=[tf.int64], output_shapes=[[]])
            return read_raw(made, 4, [tf.int64], [[]])
