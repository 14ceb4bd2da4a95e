"""Flat indices as coordinates, values of branches not taken, and one of several references."""

import tensorflow as tf
from framework import *
from definitions import for_dtypes
from values import *

raw = tf.raw_ops

for dtype in for_dtypes("UnravelIndex", "Tidx"):
    for indices, dims in (([2, 5, 7], [3, 3]), (5, [2, 3, 4]), ([-1, -5], [3, 3]), ([], [3, 3]), ([0], []), (0, []), ([23, 0], [2, 3, 4])):
        case("UnravelIndex", [tensor(indices, dtype), tensor(dims, dtype)])
    for indices, dims in (([0], [3, 0]), (9, [3, 3]), ([[1]], [3, 3]), ([1], [[3, 3]]), ([1], 3), ([1], []), ([1], [-3, 3]), ([1], [2, -3])):
        refuse("UnravelIndex", [tensor(indices, dtype), tensor(dims, dtype)])
refuse("UnravelIndex", [tensor([1], "int32"), tensor([2**16, 2**16], "int32")])
case("UnravelIndex", [tensor([2**31], "int64"), tensor([2**16, 2**16], "int64")])

for dtype in ("float", "string", "int8", "bool"):
    for shape in ([2, 3], [2, None], None, [], [0]):
        case("FakeParam", [], dtype=dtype, shape=shape, check="shape")
exempt("FakeParam", "refusal", why="takes nothing")


def one_of(index, count=3):
    @graph("RefSelect", "Assign")
    def selected():
        variables = [raw.VariableV2(shape=[2], dtype=tf.float32) for _ in range(count)]
        fills = [raw.Assign(ref=v, value=feed([float(k), 1.0])) for k, v in enumerate(variables)]
        chosen = raw.RefSelect(index=feed(index, "int32"), inputs=variables)
        return steps(fills, chosen, raw.Assign(ref=chosen, value=feed([7.0, 8.0])), variables)


for index in (0, 1, 2, 3, -1, [1]):
    one_of(index)
one_of(0, 1)
