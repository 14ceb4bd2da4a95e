"""Tables that are filled from files."""

from framework import *
from scratch import file, path
from values import *

import tensorflow as tf

raw = tf.raw_ops
WHOLE, NUMBER = -2, -1
FILES = {
    "words": b"a\nbb\nc c\n", "open_end": b"a\nbb\nc", "returns": b"a\r\nbb\r\nc\r\n", "gap": b"a\n\nb\n", "last_gap": b"a\nb\n\n", "first_gap": b"\na\nb\n", "none": b"", "only_end": b"\n",
    "twice": b"a\nb\na\n", "same": b"a\t1\nb\t2\na\t1\n", "columns": b"a\t1\t1.5\nb\t2\t-2.5e3\nc\t-3\t7\n", "commas": b"a,1,x y\nb,2,\nc,3,z\n", "ragged": b"a\t1\nb\nc\t3\n",
    "numbers": b"10\n-20\n30\n", "spaced": b" 10 \n20\t\n 30\n", "bad_numbers": b"10\nx\n30\n", "large": b"9223372036854775807\n99999999999999999999\n", "floats": b"1.5\nnan\n-inf\n1e400\n",
    "mixed": b"a\tx\nb\t2.5\n", "returned_columns": b"a\t1\r\nb\t2\r\n", "zero": b"a\0b\nc\n", "returned_gap": b"a\r\n\r\nb\r\n", "trues": b"a\ttrue\nb\tfalse\n",
}
for name, content in FILES.items():
    file("tables/" + name, content)
KEYS = {"string": [b"a", b"bb", b"b", b"c", b"c c", b"a\r", b"", b"1", b"2", b"nope", b"a\0b"], "int64": [0, 1, 2, 3, 10, -20, 20, 30, 7], "int32": [0, 1, 10, 30]}
MISSING = {"string": b"?", "int64": -9, "int32": -9, "float": -9.5, "double": -9.5}
numbers = iter(range(10**6))


def look(name, key, value, key_index, value_index, **attrs):
    @graph("InitializeTableFromTextFileV2", "LookupTableFindV2", "HashTableV2")
    def filled():
        table = raw.HashTableV2(key_dtype=key, value_dtype=value, shared_name=f"filled_{name}_{next(numbers)}")
        fill = raw.InitializeTableFromTextFileV2(table_handle=table, filename=feed(path("tables", name), "string"), key_index=key_index, value_index=value_index, **attrs)
        find = raw.LookupTableFindV2(table_handle=table, keys=feed(tensor(KEYS[key], key)), default_value=feed(tensor(MISSING[value], value)))
        return steps(fill, raw.LookupTableSizeV2(table_handle=table), find, fill)


for name in ("words", "open_end", "returns", "gap", "last_gap", "first_gap", "none", "only_end", "twice", "missing", "zero", "returned_gap"):
    look(name, "string", "int64", WHOLE, NUMBER)
    look(name, "int64", "string", NUMBER, WHOLE)
for size in (0, 1, 2, 3, 4, -1):
    look("words", "string", "int64", WHOLE, NUMBER, vocab_size=size)
    look("columns", "string", "int64", 0, 1, vocab_size=size)
for offset in (0, 1, 2, 3, 4):
    look("words", "string", "int64", WHOLE, NUMBER, offset=offset)
    look("words", "string", "int64", WHOLE, NUMBER, offset=offset, vocab_size=2)
for name in ("columns", "same", "ragged", "mixed", "returned_columns", "trues"):
    for value in ("int64", "string", "float", "double", "int32"):
        look(name, "string", value, 0, 1)
look("columns", "string", "float", 0, 2)
look("columns", "string", "double", 0, 2)
look("columns", "int64", "string", 1, 0)
look("columns", "int64", "string", 1, WHOLE)
look("columns", "string", "int64", 0, 7)
look("columns", "string", "int64", 0, NUMBER)
look("columns", "string", "int64", 0, 1, delimiter=",")
for column in (0, 1, 2, 3):
    look("commas", "string", "string", 0, column, delimiter=",")
for name in ("numbers", "spaced", "bad_numbers", "large"):
    look(name, "int64", "int64", WHOLE, NUMBER)
    look(name, "int64", "int64", 0, NUMBER)
    look(name, "int64", "string", NUMBER, 0)
    look(name, "int64", "int64", NUMBER, WHOLE)
look("floats", "int64", "float", NUMBER, 0)
look("floats", "int64", "double", NUMBER, 0)
look("numbers", "int64", "float", NUMBER, 0)
look("numbers", "int64", "float", NUMBER, WHOLE)
look("numbers", "int64", "int32", NUMBER, 0)
look("words", "string", "string", WHOLE, NUMBER)
look("words", "string", "int32", WHOLE, NUMBER)
look("words", "string", "string", WHOLE, WHOLE)
look("numbers", "string", "int64", WHOLE, 0)
look("words", "string", "int64", NUMBER, NUMBER)
look("numbers", "int32", "string", WHOLE, WHOLE)
look("numbers", "int32", "string", NUMBER, WHOLE)
look("numbers", "int32", "string", 0, WHOLE)
look("numbers", "int64", "double", NUMBER, WHOLE)
for attrs in ({"delimiter": "ab"}, {"delimiter": ""}, {"offset": -1}):
    look("words", "string", "int64", **{"key_index": WHOLE, "value_index": NUMBER, **attrs})


@graph("InitializeTableFromTextFileV2")
def wrong_names():
    def fill(name):
        table = raw.HashTableV2(key_dtype="string", value_dtype="int64")
        return raw.InitializeTableFromTextFileV2(table_handle=table, filename=feed(name, "string"), key_index=WHOLE, value_index=NUMBER)

    return steps(fill(""), fill([path("tables/words")]), fill(path("tables")), fill("unknown://x"), fill("file://" + path("tables/words")))


@graph("InitializeTableFromTextFile")
def by_reference():
    table = raw.HashTable(key_dtype="string", value_dtype="int64", shared_name="filled_by_reference")
    fill = raw.InitializeTableFromTextFile(table_handle=table, filename=feed(path("tables/words"), "string"), key_index=WHOLE, value_index=NUMBER)
    find = raw.LookupTableFind(table_handle=table, keys=feed(strings(3)), default_value=feed(tensor(-1, "int64")))
    return steps(fill, find, raw.LookupTableSize(table_handle=table))


@graph("InitializeTableFromTextFileV2", "InitializeTableV2")
def filled_again():
    table = raw.HashTableV2(key_dtype="string", value_dtype="int64", shared_name="filled_again")

    def file_of(name):
        return raw.InitializeTableFromTextFileV2(table_handle=table, filename=feed(path("tables", name), "string"), key_index=WHOLE, value_index=NUMBER)

    def pairs(keys, values):
        return raw.InitializeTableV2(table_handle=table, keys=feed(keys, "string"), values=feed(values, "int64"))

    size = raw.LookupTableSizeV2(table_handle=table)
    return steps(pairs(["a", "b", "a"], [1, 2, 3]), size, pairs(["a", "b"], [1, 2]), size, pairs(["a", "b"], [1, 2]), pairs(["a", "b", "c"], [1, 2, 3]), file_of("words"),
                 file_of("missing"), file_of("gap"), size)


for op in ("InitializeTableFromTextFile", "InitializeTableFromTextFileV2"):
    exempt(op, "empty", why="takes a scalar")
