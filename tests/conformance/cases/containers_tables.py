"""Tables: all kinds, empty look-ups, and what does not fit them."""

import tensorflow as tf
from framework import *
from values import *

raw = tf.raw_ops
F, I, S = tf.float32, tf.int64, tf.string


def keys_of(*keys):
    return feed(list(keys), "int64")


def hash_table(name, key=I, value=F, **attrs):
    return raw.HashTableV2(key_dtype=key, value_dtype=value, shared_name=f"tables_{name}", **attrs)


def mutable(name, key=I, value=F):
    return raw.MutableHashTableV2(key_dtype=key, value_dtype=value, shared_name=f"tables_{name}")


def of_tensors(name, shape=(2,), value=F):
    return raw.MutableHashTableOfTensorsV2(key_dtype=I, value_dtype=value, value_shape=list(shape), shared_name=f"tables_{name}")


def dense(name, shape=(), value=F, **attrs):
    return raw.MutableDenseHashTableV2(
        empty_key=feed(-1, "int64"), deleted_key=feed(-2, "int64"), value_dtype=value, value_shape=list(shape), shared_name=f"tables_{name}", **attrs
    )


def find(table, keys, default):
    return raw.LookupTableFindV2(table_handle=table, keys=keys, default_value=default)


def declare(*ops):
    def of(build):
        @graph(*ops)
        def tables():
            return build()

    return of


number = iter(range(1000))
FIND, PUT, SIZE, OUT, IMPORT, DROP = (f"LookupTable{w}V2" for w in ("Find", "Insert", "Size", "Export", "Import", "Remove"))


def fixed(build, name=None):
    """A table of keys 1, 2, 3; then what build makes of it."""

    def made():
        table = hash_table(f"fixed_{next(number)}")
        start = raw.InitializeTableV2(table_handle=table, keys=keys_of(1, 2, 3), values=feed([10.0, 20.0, 30.0], "float"))
        return steps(start, build(table), raw.LookupTableSizeV2(table_handle=table))

    return made


HASH = "HashTableV2"
declare(HASH, FIND, "InitializeTableV2")(fixed(lambda t: find(t, keys_of(3, 7, 1), feed(-1.0, "float"))))
declare(HASH, FIND)(fixed(lambda t: find(t, keys_of(), feed(-1.0, "float"))))
declare(HASH, FIND)(fixed(lambda t: find(t, feed([[1], [9]], "int64"), feed(-1.0, "float"))))
declare(HASH, OUT)(fixed(lambda t: raw.LookupTableExportV2(table_handle=t, Tkeys=I, Tvalues=F)[0].op))
declare(HASH, FIND)(fixed(lambda t: find(t, feed([1], "int32"), feed(-1.0, "float"))))
declare(HASH, FIND)(fixed(lambda t: find(t, keys_of(1), feed(-1, "int32"))))
declare(HASH, FIND)(fixed(lambda t: find(t, keys_of(1), feed([-1.0], "float"))))
declare(HASH, PUT)(fixed(lambda t: raw.LookupTableInsertV2(table_handle=t, keys=keys_of(7), values=feed([1.0], "float"))))
declare(HASH, DROP)(fixed(lambda t: raw.LookupTableRemoveV2(table_handle=t, keys=keys_of(1))))
declare(HASH, IMPORT)(fixed(lambda t: raw.LookupTableImportV2(table_handle=t, keys=keys_of(1), values=feed([1.0], "float"))))
declare(HASH, FIND)(lambda: find(hash_table("never"), keys_of(1), feed(0.0, "float")))
declare(HASH, SIZE)(lambda: raw.LookupTableSizeV2(table_handle=hash_table("never_either")))
for keys, given in (((1, 1), [1.0, 2.0]), ((1, 2), [1.0]), ((1, 1), [1.0, 1.0])):
    declare("InitializeTableV2")(lambda keys=keys, given=given: raw.InitializeTableV2(table_handle=hash_table(f"bad_{next(number)}"), keys=keys_of(*keys), values=feed(given, "float")))


@graph("InitializeTableV2", HASH)
def started_twice():
    table = hash_table("twice")
    one = raw.InitializeTableV2(table_handle=table, keys=keys_of(1), values=feed([1.0], "float"))
    other = raw.InitializeTableV2(table_handle=table, keys=keys_of(1, 2), values=feed([1.0, 2.0], "float"))
    return steps(one, one, other)


@graph(HASH)
def another_type_of_one_name():
    return steps(raw.LookupTableSizeV2(table_handle=hash_table("types")), raw.LookupTableSizeV2(table_handle=hash_table("types", I, S)))


for key, value in (("string", "string"), ("int32", "string"), ("string", "int64"), ("int64", "string"), ("int32", "double"), ("string", "bool")):

    @graph(HASH, FIND)
    def of_types(key=key, value=value):
        k, v = tf.as_dtype(key), tf.as_dtype(value)
        table = hash_table(f"{key}_{value}", k, v)
        known = values(key, 3, kind="distinct") if key != "string" else strings(3)
        start = raw.InitializeTableV2(table_handle=table, keys=feed(known), values=feed(values(value, 3)))
        return steps(start, find(table, feed(known[1:]), feed(values(value))), find(table, feed(values(key, 2)), feed(values(value))))


def changing(make, imports=True):
    """A mutable table through its life. TensorFlow's dense tables import only what they have exported."""

    def made():
        table = make(f"life_{next(number)}")
        put = lambda keys, given: raw.LookupTableInsertV2(table_handle=table, keys=keys_of(*keys), values=feed(given, "float"))
        look = lambda *keys: find(table, keys_of(*keys), feed(-1.0, "float"))
        size = raw.LookupTableSizeV2(table_handle=table)
        return steps(
            size, look(1), put((5, 6, 7), [1.0, 2.0, 3.0]), size, look(7, 8, 5), put((6,), [9.0]), look(6), put((), []), size,
            raw.LookupTableRemoveV2(table_handle=table, keys=keys_of(5, 99)), [size, look(5, 6)],
            raw.LookupTableRemoveV2(table_handle=table, keys=keys_of()), size,
            *([raw.LookupTableImportV2(table_handle=table, keys=keys_of(40), values=feed([4.0], "float")), [size, look(6, 40)]] if imports else []),
        )

    return made


declare("MutableHashTableV2", FIND, PUT, SIZE, DROP, IMPORT)(changing(mutable))
declare("MutableDenseHashTableV2", FIND, PUT, SIZE, DROP)(changing(dense, imports=False))


def rows(make):
    def made():
        table = make(f"rows_{next(number)}", (2,))
        put = raw.LookupTableInsertV2(table_handle=table, keys=keys_of(5, 6), values=feed(f32(2, 2)))
        return steps(put, find(table, keys_of(6, 1), feed(f32(2))), find(table, keys_of(), feed(f32(2))), raw.LookupTableSizeV2(table_handle=table))

    return made


for kind, make in (("MutableHashTableOfTensorsV2", of_tensors), ("MutableDenseHashTableV2", dense)):
    declare(kind, FIND, PUT)(rows(make))
    declare(kind, FIND)(lambda make=make: find(make(f"shape_{next(number)}", (2,)), keys_of(1), feed(f32(3))))
    declare(kind, PUT)(lambda make=make: raw.LookupTableInsertV2(table_handle=make(f"put_{next(number)}", (2,)), keys=keys_of(1, 2), values=feed(f32(2, 3))))
    declare(kind, PUT)(lambda make=make: raw.LookupTableInsertV2(table_handle=make(f"put_{next(number)}", (2,)), keys=keys_of(1, 2), values=feed(f32(3, 2))))
    declare(kind, PUT)(lambda make=make: raw.LookupTableInsertV2(table_handle=make(f"put_{next(number)}", (2,)), keys=feed([1], "int32"), values=feed(f32(1, 2))))
    declare(kind, DROP)(lambda make=make: raw.LookupTableRemoveV2(table_handle=make(f"drop_{next(number)}", (2,)), keys=feed([1], "int32")))
    declare(kind, SIZE)(lambda make=make: raw.LookupTableSizeV2(table_handle=make(f"size_{next(number)}", (0,))))
DENSE = "MutableDenseHashTableV2"
for bad in (-1, -2):
    declare(DENSE, PUT)(lambda bad=bad: raw.LookupTableInsertV2(table_handle=dense(f"key_{next(number)}"), keys=keys_of(1, bad), values=feed([1.0, 2.0], "float")))
    declare(DENSE, FIND)(lambda bad=bad: find(dense(f"key_{next(number)}"), keys_of(1, bad), feed(0.0, "float")))
    declare(DENSE, DROP)(lambda bad=bad: raw.LookupTableRemoveV2(table_handle=dense(f"key_{next(number)}"), keys=keys_of(bad)))
declare(DENSE)(lambda: raw.LookupTableSizeV2(table_handle=dense("buckets", initial_num_buckets=3)))
declare(DENSE)(lambda: raw.LookupTableSizeV2(table_handle=dense("huge", initial_num_buckets=1 << 40)))
declare(DENSE)(lambda: raw.LookupTableSizeV2(table_handle=dense("load", max_load_factor=1.5)))
declare(DENSE)(lambda: raw.LookupTableSizeV2(table_handle=raw.MutableDenseHashTableV2(empty_key=feed(3, "int64"), deleted_key=feed(3, "int64"), value_dtype=F, shared_name="tables_same")))
declare(DENSE)(lambda: raw.LookupTableSizeV2(table_handle=raw.MutableDenseHashTableV2(empty_key=feed([3], "int64"), deleted_key=feed(3, "int64"), value_dtype=F, shared_name="tables_ranks")))


@graph(DENSE, PUT, FIND)
def grows():
    table = dense("grows", initial_num_buckets=4)
    many = list(range(100))
    put = raw.LookupTableInsertV2(table_handle=table, keys=keys_of(*many), values=feed([float(k) for k in many], "float"))
    return steps(put, [raw.LookupTableSizeV2(table_handle=table), find(table, keys_of(*many[::7], 1000), feed(-1.0, "float"))])


def buckets(dtype, empty, deleted, *life):
    """Where a dense table puts its keys, and what it leaves behind: each step inserts keys, or removes those behind a minus."""

    def made():
        table = raw.MutableDenseHashTableV2(
            empty_key=feed(empty, dtype), deleted_key=feed(deleted, dtype), value_dtype=F, initial_num_buckets=4, shared_name=f"tables_buckets_{next(number)}"
        )
        everything = [*raw.LookupTableExportV2(table_handle=table, Tkeys=tf.as_dtype(dtype), Tvalues=F), raw.LookupTableSizeV2(table_handle=table)]
        told = [everything]
        for step, (sign, keys) in enumerate(life):
            given = feed([float(10 * step + i) for i in range(len(keys))], "float")
            keys = feed(keys, dtype)
            told.append(raw.LookupTableInsertV2(table_handle=table, keys=keys, values=given) if sign == "+" else raw.LookupTableRemoveV2(table_handle=table, keys=keys))
            told.append(everything)
        return steps(*told)

    return made


for life in [
    ("int64", -1, -2, ("+", [11, 12, 13]), ("+", [15]), ("-", [12]), ("+", [12, 19]), ("-", [11, 19]), ("+", [27, 3, 35]), ("+", list(range(50, 60)))),
    ("int32", -1, -2, ("+", [-5, 7, 100000, 4]), ("-", [7]), ("+", [23]), ("+", [5, 5, 5, 5, 5, 5])),
    ("string", "", "x", ("+", ["a", "bb", "hello world"]), ("+", ["brain", "surgery", "tank"]), ("-", ["bb"]), ("+", ["q"])),
    ("int64", [-1, -1], [-2, -2], ("+", [[1, 2], [3, 4], [5, 6]]), ("+", [[7, 8], [9, 9]]), ("-", [[3, 4]]), ("+", [[0, 1]])),
    ("string", ["", ""], ["x", "x"], ("+", [["a", "b"], ["c", "d"]]), ("+", [["e", "f"], ["g", "h"]])),
]:
    declare(DENSE, PUT, DROP, OUT, SIZE)(buckets(*life))


@graph(DENSE, IMPORT, OUT, PUT, FIND)
def imported():
    table = dense("imported", initial_num_buckets=4)
    everything = [*raw.LookupTableExportV2(table_handle=table, Tkeys=I, Tvalues=F), raw.LookupTableSizeV2(table_handle=table)]
    take = lambda keys, given: raw.LookupTableImportV2(table_handle=table, keys=feed(keys, "int64"), values=feed(given, "float"))
    put = raw.LookupTableInsertV2(table_handle=table, keys=keys_of(9), values=feed([6.0], "float"))
    return steps(take([[-1], [5], [-2], [7]], [[0], [4], [9], [5]]), everything, find(table, keys_of(5, 6, 7), feed(-1.0, "float")), put, everything)


@graph("MutableHashTableV2", OUT, PUT)
def exported():
    table = mutable("exported")
    put = raw.LookupTableInsertV2(table_handle=table, keys=keys_of(8), values=feed([2.5], "float"))
    empty = raw.LookupTableExportV2(table_handle=table, Tkeys=I, Tvalues=F)
    return steps([*empty], put, [*empty])


exempt(SIZE, "refusal", why="takes every table")
