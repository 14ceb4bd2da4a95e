"""Ops of older graphs, which clients have removed since: crops, contrasts within bounds, quantisation by attributes."""

from framework import *
from definitions import definition, for_dtypes
from values import *

import numpy as np
import tensorflow as tf

raw = tf.raw_ops


def old(op, producer, inputs, runs=1, close=None, **attrs):
    names = [argument.name for argument in definition(op).input_arg]

    @graph(op, producer=producer, close=close)
    def built():
        made = getattr(raw, op)(**{name: feed(x) for name, x in zip(names, inputs)}, **attrs)
        return steps(*[made] * runs)


def size(*numbers):
    return tensor(list(numbers), "int64")


for dtype in for_dtypes("RandomCrop"):
    old("RandomCrop", 7, [values(dtype, 6, 10, 2), size(2, 3)], runs=3, seed=3, seed2=5)
for i in range(1, 5):
    old("RandomCrop", 7, [values("int32", 9, 8, 1, kind="distinct"), size(i, 2 * i)], runs=3, seed2=i)
old("RandomCrop", 7, [values("float", 6, 10, 2), size(6, 10)], seed2=5)
old("RandomCrop", 7, [values("float", 6, 10, 2), size(6, 3)], runs=3, seed2=5)
old("RandomCrop", 7, [values("float", 6, 10, 0), size(2, 3)], seed2=5)
old("RandomCrop", 7, [values("float", 6, 10, 2), size(0, 3)], seed2=5)
for shape, wanted in (((6, 10, 1), (7, 10)), ((6, 10, 1), (6, 11)), ((6, 10, 1), (1, 1, 1)), ((6, 10), (1, 1))):
    old("RandomCrop", 7, [values("float", *shape), size(*wanted)], seed2=5)

for dtype in for_dtypes("AdjustContrast"):
    for factor, low, high in ((2.0, 1.0, 15.0), (0.5, -100.0, 100.0), (-1.0, 0.0, 255.0)):
        old("AdjustContrast", 1, [values(dtype, 2, 4, 5, 3), tensor(factor, "float"), tensor(low, "float"), tensor(high, "float")], close=8)
old("AdjustContrast", 1, [values("uint8", 0, 2, 3), f32(), f32(), f32()])
old("AdjustContrast", 1, [values("uint8", 2, 3), f32(), f32(), f32()])
for i in range(3):
    old("AdjustContrast", 1, [values("uint8", 2, 3, 1), *(f32(1) if i == k else f32() for k in range(3))])

for dtype in for_dtypes("QuantizeAndDequantize"):
    for signed in (True, False):
        for bits in (2, 4, 8, 16):
            old("QuantizeAndDequantize", 21, [values(dtype, 3, 7)], signed_input=signed, num_bits=bits)
        old("QuantizeAndDequantize", 21, [values(dtype, 3, 7)], signed_input=signed, num_bits=4, range_given=True, input_min=-1.0, input_max=1.5)
    old("QuantizeAndDequantize", 21, [values(dtype, 0, 7)])
    old("QuantizeAndDequantize", 21, [values(dtype, 7)], range_given=True, input_min=2.0, input_max=1.5)
    for bits in (0, 64):
        old("QuantizeAndDequantize", 21, [values(dtype, 7)], num_bits=bits)
