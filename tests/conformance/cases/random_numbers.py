"""Random numbers, bit for bit: every distribution, one step after another, seeds as attributes and as inputs."""

import numpy as np
import tensorflow as tf
from framework import *
from definitions import for_dtypes, type_combinations
from values import *

raw = tf.raw_ops
SEEDS = {"seed": 1, "seed2": 2}
# Logarithms and sines come from the system's library: a last bit may differ.
NEAR = {"ulp": 4}


def thrice(op, fetch, **rule):
    """The same node in three steps: its stream goes on."""

    @graph(op, **rule)
    def three_steps():
        node = fetch()
        return steps(node, node, node)


def shape_of(*sizes, dtype="int32"):
    return tensor(list(sizes), dtype)


for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
    for dtype in for_dtypes(op, "dtype"):
        for sizes in ((), (1,), (3,), (7, 5), (1000,)):
            case(op, [shape_of(*sizes)], dtype=dtype, alone=True, **SEEDS, **NEAR)
        case(op, [shape_of(3, 0)], dtype=dtype, **SEEDS)
        case(op, [shape_of(4, dtype="int64")], dtype=dtype, alone=True, seed=87654321, seed2=7, **NEAR)
        case(op, [shape_of(4)], dtype=dtype, alone=True, seed=-5, seed2=2**40, **NEAR)
    thrice(op, lambda op=op: getattr(raw, op)(shape=feed([3, 3]), dtype=tf.float32, **SEEDS), **NEAR)
    case(op, [shape_of(4)], dtype="float", check="shape")
    refuse(op, [tensor([-1, 2], "int32")], dtype="float", **SEEDS)
    refuse(op, [tensor(3, "int32")], dtype="float", **SEEDS)
    refuse(op, [tensor([[3]], "int64")], dtype="float", **SEEDS)
    refuse(op, [tensor([2**40, 2**40], "int64")], dtype="float", **SEEDS)

for dtype in for_dtypes("RandomUniformInt", "Tout"):
    for low, high in ((0, 10), (-5, 6), (np.iinfo(dtype).min, np.iinfo(dtype).max)):
        case("RandomUniformInt", [shape_of(33), tensor(low, dtype), tensor(high, dtype)], alone=True, **SEEDS)
    case("RandomUniformInt", [shape_of(0), tensor(7, dtype), tensor(5, dtype)], **SEEDS)
    refuse("RandomUniformInt", [shape_of(3), tensor(5, dtype), tensor(5, dtype)], **SEEDS)
    refuse("RandomUniformInt", [shape_of(3), tensor([1], dtype), tensor(5, dtype)], **SEEDS)
    refuse("RandomUniformInt", [shape_of(3), tensor(1, dtype), tensor([5], dtype)], **SEEDS)
    refuse("RandomUniformInt", [shape_of(-3), tensor(1, dtype), tensor(5, dtype)], **SEEDS)
thrice("RandomUniformInt", lambda: raw.RandomUniformInt(shape=feed([5]), minval=feed(0), maxval=feed(1000), **SEEDS))

for dtype in for_dtypes("RandomShuffle"):
    if dtype not in ("resource", "variant"):
        case("RandomShuffle", [values(dtype, 9)], alone=True, **SEEDS)
        case("RandomShuffle", [values(dtype, 9, 2)], alone=True, **SEEDS)
case("RandomShuffle", [f32()], **SEEDS)
case("RandomShuffle", [f32(1, 3)], **SEEDS)
case("RandomShuffle", [f32(0, 3)], **SEEDS)
case("RandomShuffle", [f32(3, 0)], **SEEDS)
thrice("RandomShuffle", lambda: raw.RandomShuffle(value=feed(np.arange(10, dtype=np.int32)), **SEEDS))
exempt("RandomShuffle", "refusal", why="takes any tensor")

for combination in type_combinations("Multinomial"):
    types = {attr: name_of(t) for attr, t in combination}
    case("Multinomial", [values(types["T"], 3, 5), tensor(9, "int32")], alone=True, output_dtype=types["output_dtype"], **SEEDS)
thrice("Multinomial", lambda: raw.Multinomial(logits=feed(f32(2, 4)), num_samples=feed(7), **SEEDS))
case("Multinomial", [np.array([[-np.inf, 0, np.nan, 1], [0, np.inf, 0, 0]], np.float32), tensor(20, "int32")], alone=True, **SEEDS)
case("Multinomial", [f32(0, 2), tensor(3, "int32")], **SEEDS)
case("Multinomial", [f32(2, 2), tensor(0, "int32")], **SEEDS)
refuse("Multinomial", [f32(2), tensor(3, "int32")], **SEEDS)
refuse("Multinomial", [f32(2, 2), tensor([3], "int32")], **SEEDS)
refuse("Multinomial", [f32(2, 2), tensor(-3, "int32")], **SEEDS)
refuse("Multinomial", [f32(2, 0), tensor(3, "int32")], **SEEDS)

for dtype in for_dtypes("RandomGamma"):
    case("RandomGamma", [shape_of(50), tensor([0.1, 0.5, 1, 1.5, 20], dtype)], alone=True, ulp=8, **SEEDS)
case("RandomGamma", [shape_of(2, 3), f32(2, 2, kind="positive")], alone=True, ulp=8, **SEEDS)
case("RandomGamma", [shape_of(0), f32(2, kind="positive")], **SEEDS)
case("RandomGamma", [shape_of(3), f32(0)], **SEEDS)
case("RandomGamma", [i32(0), f32(3, kind="positive")], alone=True, ulp=8, **SEEDS)
thrice("RandomGamma", lambda: raw.RandomGamma(shape=feed([2]), alpha=feed([0.5, 3.0]), **SEEDS), ulp=8)
refuse("RandomGamma", [tensor([[5]], "int32"), f32(2)], **SEEDS)
refuse("RandomGamma", [tensor(5, "int64"), f32(2)], **SEEDS)
refuse("RandomGamma", [tensor([-5], "int32"), f32(2)], **SEEDS)
for dtype in for_dtypes("RandomGammaGrad"):
    case("RandomGammaGrad", [values(dtype, 3, 5, kind="positive"), values(dtype, 5, kind="positive")], ulp=64)
    case("RandomGammaGrad", [values(dtype, 0, 5), values(dtype, 5)])
refuse("RandomGammaGrad", [f32(2), f32(3)])

for combination in type_combinations("RandomPoissonV2"):
    types = {attr: name_of(t) for attr, t in combination}
    case("RandomPoissonV2", [shape_of(40), tensor([0, 1, 3, 9, 12, 150], types["R"])], alone=True, dtype=types["dtype"], **SEEDS)
for dtype in for_dtypes("RandomPoisson", "dtype"):
    case("RandomPoisson", [shape_of(40), tensor([0, 0.5, 9.5, 12, 150], dtype)], alone=True, **SEEDS)
for op in ("RandomPoisson", "RandomPoissonV2"):
    given = {"dtype": "float"} if op == "RandomPoissonV2" else {}
    case(op, [shape_of(3), tensor([-1.0, np.inf], "float")], alone=True, **given, **SEEDS)
    case(op, [shape_of(0), f32(2)], **given, **SEEDS)
    refuse(op, [tensor(5, "int32"), f32(2)], **given, **SEEDS)
    refuse(op, [tensor([-5], "int32"), f32(2)], **given, **SEEDS)
thrice("RandomPoissonV2", lambda: raw.RandomPoissonV2(shape=feed([2]), rate=feed([0.5, 30.0]), **SEEDS))


def bounds(sizes, mean, deviation, low, high, dtype="float"):
    return [shape_of(*sizes), *(tensor(x, dtype) for x in (mean, deviation, low, high))]


for dtype in for_dtypes("ParameterizedTruncatedNormal", "dtype"):
    for mean, deviation, low, high in ((0, 1, -1, 1), (0, 1, -3, 3), (2, 3, 1, 30), (0, 1, 3, 4), (0, 1, 2, 20), (0, 1, -20, -2), (0, 1, -np.inf, -1), (0, 1, 0.5, np.inf)):
        case("ParameterizedTruncatedNormal", bounds((5, 7), mean, deviation, low, high, dtype), alone=True, ulp=8, **SEEDS)
    case("ParameterizedTruncatedNormal", bounds((250,), 0, 1, -2, 2, dtype), alone=True, ulp=8, **SEEDS)
    case("ParameterizedTruncatedNormal", bounds((3, 4), [0, 1, 2], [1, 2, 3], [-1, 0, 1], [1, 3, 9], dtype), alone=True, ulp=8, **SEEDS)
    case("ParameterizedTruncatedNormal", bounds((0, 4), 0, 1, -1, 1, dtype), **SEEDS)
thrice("ParameterizedTruncatedNormal", lambda: raw.ParameterizedTruncatedNormal(shape=feed([3]), means=feed(0.0), stdevs=feed(1.0), minvals=feed(-1.0), maxvals=feed(1.0), **SEEDS), ulp=8)
for given in (
    [tensor(3, "int32"), *bounds((3,), 0, 1, -1, 1)[1:]], [i32(0), *bounds((3,), 0, 1, -1, 1)[1:]], bounds((-2,), 0, 1, -1, 1), bounds((3,), [[0]], 1, -1, 1),
    bounds((3,), [0, 1], 1, -1, 1), bounds((3,), 0, [1, 1], -1, 1), bounds((3,), 0, 1, [1, 1], 1), bounds((3,), 0, 1, -1, [1, 1]),
    bounds((3,), 0, -1, -1, 1), bounds((3,), 0, 1, 1, -1), bounds((3,), 0, 1, -np.inf, np.inf),
):  # fmt: skip
    refuse("ParameterizedTruncatedNormal", given, **SEEDS)

case("NonDeterministicInts", [shape_of(3, 2)], dtype="int64", check="shape")
case("NonDeterministicInts", [shape_of(0)], dtype="uint32", check="shape")
refuse("NonDeterministicInts", [tensor(3, "int32")], dtype="int64")
