"""Random numbers that are functions of a seed or of a state in a variable."""

import numpy as np
import tensorflow as tf
from framework import *
from definitions import for_dtypes, type_combinations
from values import *

raw = tf.raw_ops


def shape_of(*sizes, dtype="int32"):
    return tensor(list(sizes), dtype)


def key_of(key=5, counter=(1, 2), alg=1):
    return [tensor([key], "uint64"), tensor(list(counter), "uint64"), tensor(alg, "int32")]


SEED = tensor([3, -4], "int64")

for name in ("RandomUniform", "RandomNormal", "TruncatedNormal", "RandomUniformFullInt"):
    old, new = f"Stateless{name}", f"Stateless{name}V2"
    for dtype in for_dtypes(old, "dtype"):
        case(old, [shape_of(7, 5), SEED], dtype=dtype)
        case(old, [shape_of(3, dtype="int64"), tensor([1, 2], "int32")], dtype=dtype)
        case(old, [shape_of(0, 5), SEED], dtype=dtype)
        case(new, [shape_of(7, 5), *key_of()], dtype=dtype)
        case(new, [shape_of(6), *key_of(2**64 - 1, (2**64 - 1, 2**64 - 1), 3)], dtype=dtype)
        case(new, [shape_of(0, 5), *key_of()], dtype=dtype)
    dtype = for_dtypes(old, "dtype")[0]
    for bad in ([1, 2, 3], [[1, 2]], 1):
        refuse(old, [shape_of(3), tensor(bad, "int64")], dtype=dtype)
    refuse(old, [shape_of(-3), SEED], dtype=dtype)
    refuse(old, [tensor(3, "int32"), SEED], dtype=dtype)
    for bad in (key_of(alg=2), key_of(alg=7), key_of(alg=[1]), [tensor([1, 2], "uint64"), *key_of()[1:]], key_of(counter=()), [tensor(1, "uint64"), *key_of()[1:]]):
        refuse(new, [shape_of(3), *bad], dtype=dtype)
        refuse(new, [shape_of(0), *bad], dtype=dtype)
    refuse(new, [shape_of(-3), *key_of()], dtype=dtype)
    refuse(new, [tensor(3, "int32"), *key_of()], dtype=dtype)

for dtype in for_dtypes("StatelessRandomUniformInt", "dtype"):
    for low, high in ((0, 10), (-5, 6), (np.iinfo(dtype).min, np.iinfo(dtype).max)):
        case("StatelessRandomUniformInt", [shape_of(33), SEED, tensor(low, dtype), tensor(high, dtype)])
        case("StatelessRandomUniformIntV2", [shape_of(33), *key_of(), tensor(low, dtype), tensor(high, dtype)])
    for op, given in (("StatelessRandomUniformInt", [SEED]), ("StatelessRandomUniformIntV2", key_of())):
        case(op, [shape_of(0), *given, tensor(5, dtype), tensor(5, dtype)])
        refuse(op, [shape_of(3), *given, tensor(5, dtype), tensor(5, dtype)])
        refuse(op, [shape_of(3), *given, tensor([1], dtype), tensor(5, dtype)])
        refuse(op, [shape_of(3), *given, tensor(1, dtype), tensor([5], dtype)])

for seed_type in ("int32", "int64"):
    for op in ("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"):
        case(op, [tensor([5, -6], seed_type)])
        refuse(op, [tensor([5], seed_type)])
        refuse(op, [i64(0)])
case("StatelessRandomGetAlg", [])
exempt("StatelessRandomGetAlg", "empty", "refusal", why="takes nothing")
exempt("StatelessRandomGetKeyCounter", "empty", why="takes two numbers")
exempt("StatelessRandomGetKeyCounterAlg", "empty", why="takes two numbers")

case("StatelessShuffle", [i32(11, kind="distinct"), *key_of()])
case("StatelessShuffle", [strings(5, 2), *key_of()])
case("StatelessShuffle", [f32(0, 2), *key_of()])
refuse("StatelessShuffle", [f32(3), *key_of(alg=2)])

for combination in type_combinations("StatelessMultinomial"):
    types = {attr: name_of(t) for attr, t in combination}
    case("StatelessMultinomial", [values(types["T"], 3, 5), tensor(9, "int32"), SEED], output_dtype=types["output_dtype"])
case("StatelessMultinomial", [f32(0, 2), tensor(3, "int32"), SEED])
refuse("StatelessMultinomial", [f32(2), tensor(3, "int32"), SEED])
refuse("StatelessMultinomial", [f32(2, 2), tensor(3, "int32"), tensor([1], "int64")])

for dtype in for_dtypes("StatelessRandomGammaV2", "dtype"):
    alpha = tensor([0.1, 0.5, 1, 1.5, 20], dtype)
    case("StatelessRandomGammaV2", [shape_of(30, 5), SEED, alpha], ulp=8)
    case("StatelessRandomGammaV3", [shape_of(30, 5), *key_of(), alpha], ulp=8)
for op, given in (("StatelessRandomGammaV2", [SEED]), ("StatelessRandomGammaV3", key_of())):
    case(op, [shape_of(0, 2), *given, f32(2, kind="positive")])
    case(op, [shape_of(3, 2), *given, f32(kind="positive")], ulp=8)
    refuse(op, [shape_of(3), *given, f32(2, kind="positive")])
    refuse(op, [tensor(3, "int32"), *given, f32(2, kind="positive")])

for combination in type_combinations("StatelessRandomPoisson"):
    types = {attr: name_of(t) for attr, t in combination}
    case("StatelessRandomPoisson", [shape_of(20, 6), SEED, tensor([0, 1, 3, 9, 12, 150], types["Rtype"])], dtype=types["dtype"])
case("StatelessRandomPoisson", [shape_of(0, 2), SEED, f32(2)], dtype="float")
refuse("StatelessRandomPoisson", [shape_of(3), SEED, f32(2)], dtype="float")
refuse("StatelessRandomPoisson", [shape_of(2), tensor([1], "int64"), f32(2)], dtype="float")

for combination in type_combinations("StatelessRandomBinomial"):
    types = {attr: name_of(t) for attr, t in combination}
    counts, probs = tensor([[1], [10], [100], [-3]], types["T"]), tensor([0, 0.2, 0.5, 0.9, 1], types["T"])
    case("StatelessRandomBinomial", [shape_of(12, 4, 5), SEED, counts, probs], dtype=types["dtype"])
case("StatelessRandomBinomial", [shape_of(0, 2), SEED, f32(2), f32(2)], dtype="float")
refuse("StatelessRandomBinomial", [shape_of(3), SEED, f32(2), f32(2)], dtype="float")
refuse("StatelessRandomBinomial", [shape_of(3), SEED, f32(2), f32(3)], dtype="float")
refuse("StatelessRandomBinomial", [tensor(3, "int32"), SEED, f32(), f32()], dtype="float")
refuse("StatelessRandomBinomial", [shape_of(3), tensor([1], "int64"), f32(), f32()], dtype="float")

PHILOX = tensor(1, "int64")


def state(*words):
    return var(tensor(list(words), "int64"))


for op in ("StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal", "StatefulUniformFullInt"):
    for dtype in for_dtypes(op, "dtype"):
        case(op, [state(1, 2, 3), PHILOX, shape_of(5, 3)], dtype=dtype)
        case(op, [state(-1, -1, 3), PHILOX, shape_of(4)], dtype=dtype)
        case(op, [state(1, 2, 3), PHILOX, shape_of(0)], dtype=dtype)
    dtype = for_dtypes(op, "dtype")[0]
    refuse(op, [state(1, 2, 3), tensor(2, "int64"), shape_of(3)], dtype=dtype)
    refuse(op, [state(1, 2, 3), tensor([1], "int64"), shape_of(3)], dtype=dtype)
    refuse(op, [state(1, 2), PHILOX, shape_of(3)], dtype=dtype)
    refuse(op, [var(tensor([[1, 2, 3]], "int64")), PHILOX, shape_of(3)], dtype=dtype)
    refuse(op, [var(f32(3)), PHILOX, shape_of(3)], dtype=dtype)
    refuse(op, [state(1, 2, 3), PHILOX, shape_of(-3)], dtype=dtype)
    refuse(op, [var(dtype="int64", shape=(3,)), PHILOX, shape_of(3)], dtype=dtype)
for dtype in for_dtypes("StatefulStandardNormal", "dtype"):
    case("StatefulStandardNormal", [state(1, 1, 2, 3), shape_of(5, 3)], dtype=dtype)
case("StatefulStandardNormal", [state(1, 1, 2, 3), shape_of(0)], dtype="float")
refuse("StatefulStandardNormal", [state(2, 1, 2, 3), shape_of(5)], dtype="float")
refuse("StatefulStandardNormal", [state(1, 2, 3), shape_of(5)], dtype="float")
for dtype in for_dtypes("StatefulUniformInt", "dtype"):
    case("StatefulUniformInt", [state(1, 2, 3), PHILOX, shape_of(9), tensor(-3, dtype), tensor(30, dtype)], dtype=dtype)
    case("StatefulUniformInt", [state(1, 2, 3), PHILOX, shape_of(0), tensor(-3, dtype), tensor(30, dtype)], dtype=dtype)
    refuse("StatefulUniformInt", [state(1, 2, 3), PHILOX, shape_of(9), tensor(3, dtype), tensor(3, dtype)], dtype=dtype)
    refuse("StatefulUniformInt", [state(1, 2, 3), PHILOX, shape_of(0), tensor(3, dtype), tensor(3, dtype)], dtype=dtype)
    refuse("StatefulUniformInt", [state(1, 2, 3), PHILOX, shape_of(9), tensor([3], dtype), tensor(3, dtype)], dtype=dtype)
for dtype in ("float", "int32"):
    for rows in (7, 0):

        # The state is not looked at afterwards: TensorFlow writes to it without regard to who else holds it.
        @graph("StatefulRandomBinomial")
        def binomial_of_state(dtype=dtype, rows=rows):
            handle = raw.VarHandleOp(dtype=tf.int64, shape=[3], shared_name=f"binomial_{dtype}_{rows}")
            with tf.control_dependencies([raw.AssignVariableOp(resource=handle, value=feed([1, 2, 3], "int64"))]):
                return raw.StatefulRandomBinomial(
                    resource=handle, algorithm=PHILOX, shape=feed([rows, 2], "int32"), counts=feed([10.0, 100.0], "float"), probs=feed([0.3, 0.6], "float"), dtype=dtype
                )

refuse("StatefulRandomBinomial", [state(1, 2, 3), PHILOX, shape_of(3), f32(2), f32(2)], dtype="float")
refuse("StatefulRandomBinomial", [state(1, 2, 3), tensor(2, "int64"), shape_of(2), f32(2), f32(2)], dtype="float")
case("RngSkip", [state(1, 2, 3), PHILOX, tensor(10, "int64")])
case("RngSkip", [state(-1, -1, 3), PHILOX, tensor(1, "int64")])
refuse("RngSkip", [state(1, 2, 3), tensor(2, "int64"), tensor(10, "int64")])
refuse("RngSkip", [state(1, 2), PHILOX, tensor(10, "int64")])
refuse("RngSkip", [state(1, 2, 3), PHILOX, tensor([10], "int64")])
case("RngReadAndSkip", [state(1, 2, 3), tensor(1, "int32"), tensor(10, "uint64")])
case("RngReadAndSkip", [state(1, 2, 3), tensor(3, "int32"), tensor(10, "uint64")])
case("RngReadAndSkip", [state(-1, -1, 7), tensor(1, "int32"), tensor(2**40, "uint64")])
refuse("RngReadAndSkip", [state(1, 2, 3), tensor(2, "int32"), tensor(10, "uint64")])
refuse("RngReadAndSkip", [state(1, 2), tensor(1, "int32"), tensor(10, "uint64")])
refuse("RngReadAndSkip", [state(1, 2, 3), tensor([1], "int32"), tensor(10, "uint64")])
refuse("RngReadAndSkip", [state(1, 2, 3), tensor(1, "int32"), tensor([10], "uint64")])
exempt("RngSkip", "empty", why="takes scalars")
exempt("RngReadAndSkip", "empty", why="takes scalars")
