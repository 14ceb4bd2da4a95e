"""Matrices remapped to other vocabularies while they are loaded."""

from framework import *
from scratch import file, path
from values import *

import tensorflow as tf

raw = tf.raw_ops
for name, content in (("new", b"a\nb\nc\nd\n"), ("old", b"c\nx\na\nd\n"), ("twice", b"a\na\n"), ("none", b""), ("gap", b"a\nb\n\n\nc\n"), ("returns", b"a\r\nb\r\nc"), ("long", b"".join(b"w%d\n" % i for i in range(500)))):
    file("vocabularies/" + name, content)


def text(value):
    return tensor(value, "string")


def remap(declare, new, old, offset, count, **more):
    declare("GenerateVocabRemapping", [text(path("vocabularies", new)), text(path("vocabularies", old))], new_vocab_offset=offset, num_new_vocab=count, **more)


for new, old, offset, count, more in (("new", "old", 0, 4, {}), ("new", "old", 2, 2, {}), ("new", "old", 2, 0, {}), ("new", "old", 4, 0, {}), ("new", "old", 0, 4, {"old_vocab_size": 2}),
                                      ("twice", "old", 0, 2, {}), ("returns", "old", 0, 3, {}), ("old", "returns", 0, 4, {}), ("long", "long", 100, 300, {"old_vocab_size": 250})):
    remap(case, new, old, offset, count, **more)
for new, old, offset, count, more in (("new", "old", 5, 0, {}), ("new", "old", 0, 5, {}), ("new", "old", 3, 2, {}), ("new", "old", 0, 4, {"old_vocab_size": 0}),
                                      ("new", "old", 0, 4, {"old_vocab_size": 9}), ("new", "twice", 0, 2, {}), ("none", "old", 0, 0, {}), ("new", "none", 0, 2, {}), ("missing", "old", 0, 2, {}),
                                      ("new", "missing", 0, 2, {}), ("gap", "old", 0, 2, {}), ("new", "gap", 0, 2, {})):
    remap(refuse, new, old, offset, count, **more)
refuse("GenerateVocabRemapping", [text(""), text(path("vocabularies/old"))], new_vocab_offset=0, num_new_vocab=1)
refuse("GenerateVocabRemapping", [text(path("vocabularies/new")), text("")], new_vocab_offset=0, num_new_vocab=1)
refuse("GenerateVocabRemapping", [text([path("vocabularies/new")]), text(path("vocabularies/old"))], new_vocab_offset=0, num_new_vocab=1)
refuse("GenerateVocabRemapping", [text(path("vocabularies/new")), text([path("vocabularies/old")])], new_vocab_offset=0, num_new_vocab=1)
exempt("GenerateVocabRemapping", "empty", why="takes scalars")


def load(name, rows, columns, initial, num_rows, num_columns, prefix="matrices", **more):
    return raw.LoadAndRemapMatrix(ckpt_path=feed(prefix if isinstance(prefix, list) else path("remap_" + prefix), "string"), old_tensor_name=feed(name, "string"),
                                  row_remapping=feed(rows, "int64"), col_remapping=feed(columns, "int64"), initializing_values=feed(initial, "float"), num_rows=num_rows,
                                  num_cols=num_columns, **more)


@graph("LoadAndRemapMatrix")
def matrices():
    whole = np.arange(12, dtype=np.float32).reshape(4, 3)
    none = np.zeros([0])
    put = raw.SaveV2(prefix=path("remap_matrices"), tensor_names=["m", "i", "v", "e", "p", "p"], shape_and_slices=["", "", "", "", "4 3 0,2:-", "4 3 2,2:-"],
                     tensors=[feed(whole), feed(whole.astype(np.int32)), feed(whole[0]), feed(whole[:0]), feed(whole[:2]), feed(whole[2:])])
    wishes = [load("m", [2, 0], [1, 0], none, 2, 2), load("m", [2, 0], none, none, 2, 3), load("m", [2, -1, 0], [1, -1], [100, 101, 102, 103], 3, 2),
              load("p", [3, 0, -1], none, [7, 8, 9], 3, 3), load("p", [2, 1], [2], none, 2, 1), load("m", none, none, none, 0, 3), load("m", [2, 2], none, none, 2, 3),
              load("m", [2, 1], [1, 1], none, 2, 2), load("m", [4, 1], none, none, 2, 3), load("m", [-2, 1], none, [1, 2, 3], 2, 3), load("m", [2, 1], [-2, 1], [1, 2], 2, 2),
              load("m", [-1, 1], none, [1, 2], 2, 3), load("m", [-1, 1], none, [1, 2, 3, 4], 2, 3), load("m", [1], none, none, 2, 3), load("m", [1], [1], none, 1, 2),
              load("m", [1], none, none, 1, 2), load("m", [1], none, none, 1, 4), load("i", [1], none, none, 1, 3), load("v", [1], none, none, 1, 3), load("zz", [1], none, none, 1, 3),
              load("m", [1], none, none, 1, 3, prefix="none"), load("m", [1], none, none, 1, 3, prefix=[path("remap_matrices")]), load("m", [[1]], none, none, 1, 3),
              load("m", [-1], none, [[1, 2, 3]], 1, 3), load("e", [-1], none, [1, 2, 3], 1, 3), load("m", [-1, -1], [0, -1], [1, 2, 3, 4], 2, 2),
              load("m", [1], none, none, 1, 3, prefix=["a", "b"])]
    wishes += [load("m", [3, 0, -1], none, [7, 8, 9], 3, 3, max_rows_in_memory=n) for n in (1, 2, 100)]
    return steps(put, *wishes)


for rows, columns, initial in (([4, 0, 2], [], []), ([-1, 3, -1, 0], [1, -1, 0], np.arange(100, 108)), ([0], [2, 1, 0], [])):

    @graph("LoadAndRemapMatrix", "SaveV2")
    def loaded(rows=rows, columns=columns, initial=initial):
        put = raw.SaveV2(prefix=path("remap_one"), tensor_names=["m"], shape_and_slices=[""], tensors=[feed(f32(5, 3))])
        return steps(put, load("m", np.array(rows), np.array(columns), np.array(initial), len(rows), len(columns) or 3, prefix="one"))
