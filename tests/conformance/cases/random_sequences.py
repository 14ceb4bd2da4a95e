"""Shuffled indices, Sobol points and truncated normal numbers that are functions of their inputs."""

import numpy as np
from framework import *
from definitions import for_dtypes
from values import *


def scalars(*numbers):
    return [tensor(n, "int32") for n in numbers]


for dtype in for_dtypes("RandomIndexShuffle", "dtype"):
    for seed_type in ("int32", "uint32", "int64", "uint64"):
        case("RandomIndexShuffle", [tensor(5, dtype), tensor([1, 2, 3], seed_type), tensor(10, dtype)])
        case("RandomIndexShuffle", [tensor(list(range(8)), dtype), tensor([[k, 2**31 - k, 3] for k in range(8)], seed_type), tensor([20] * 8, dtype)])
    case("RandomIndexShuffle", [tensor(list(range(12)), dtype), tensor([1, 2, 3], "int32"), tensor(11, dtype)])
    case("RandomIndexShuffle", [tensor(5, dtype), tensor([[1, 2, 3], [4, 5, 6]], "int32"), tensor(10, dtype)])
    case("RandomIndexShuffle", [tensor(5, dtype), tensor([1, 2, 3], "int32"), tensor([10, 2**17, 2**20 - 1, 2**31 - 1], dtype)])
    case("RandomIndexShuffle", [tensor([5, 0], dtype), tensor([1, 2, 3], "int32"), tensor([0, 1], dtype)])
    case("RandomIndexShuffle", [tensor(65536, dtype), tensor([1, 2, 3], "int32"), tensor(65536, dtype)])
    case("RandomIndexShuffle", [tensor(50, dtype), tensor([1, 2, 3], "int32"), tensor(10, dtype)])
for dtype in ("int64", "uint64"):
    case("RandomIndexShuffle", [tensor([5, 2**40], dtype), tensor([1, 2, 3], "int32"), tensor([2**41, 2**62], dtype)])
case("RandomIndexShuffle", [tensor([5, 2**63], "uint64"), tensor([1, 2, 3], "int32"), tensor(2**64 - 1, "uint64")])
case("RandomIndexShuffle", [tensor(-5, "int32"), tensor([1, 2, 3], "int32"), tensor(-1, "int32")])
for rounds in (6, 8, 20):
    case("RandomIndexShuffle", [tensor([5, 6, 7], "int32"), tensor([1, 2, 3], "int32"), tensor(1000, "int32")], rounds=rounds)
refuse("RandomIndexShuffle", [tensor(5, "int32"), tensor([1, 2], "int32"), tensor(10, "int32")])
refuse("RandomIndexShuffle", [tensor([[5]], "int32"), tensor([1, 2, 3], "int32"), tensor(10, "int32")])
refuse("RandomIndexShuffle", [tensor([5], "int32"), tensor([1, 2, 3], "int32"), tensor([[10]], "int32")])
refuse("RandomIndexShuffle", [i32(0), tensor([1, 2, 3], "int32"), tensor(10, "int32")])
refuse("RandomIndexShuffle", [tensor([5, 6], "int32"), tensor([1, 2, 3], "int32"), tensor([10], "int32")])

for dtype in for_dtypes("SobolSample", "dtype"):
    case("SobolSample", scalars(5, 10, 0), dtype=dtype)
    case("SobolSample", scalars(1, 1, 0), dtype=dtype)
    case("SobolSample", scalars(40, 20, 7), dtype=dtype)
    case("SobolSample", scalars(3, 1300, 1000003), dtype=dtype)
    case("SobolSample", scalars(3667, 5, 12345678), dtype=dtype)
    case("SobolSample", scalars(2, 5, 2**30), dtype=dtype)
    case("SobolSample", scalars(2, 5, 2**31 - 8), dtype=dtype)
for bad in ((0, 1, 0), (-1, 1, 0), (21201, 1, 0), (2, 0, 0), (2, -2, 0), (2, 1, -1), (2, 2**31 - 2, 1), ([2], 1, 0), (2, [1], 0), (2, 1, [0])):
    refuse("SobolSample", scalars(*bad), dtype="float")

BOUNDS = ((-1.0, 1.0), (-4.0, 4.0), (2.0, 5.0), (0.5, 0.7), (-np.inf, -1.0), (3.0, np.inf), (-7.0, -6.5))
OP = "StatelessParameterizedTruncatedNormal"


def given(dtype, *numbers):
    return [tensor(n, dtype) for n in numbers]


for dtype in for_dtypes(OP, "dtype"):
    for low, high in BOUNDS:
        case(OP, [tensor([7, 3], "int32"), tensor([3, -4], "int64"), *given(dtype, 0.25, 1.5, low, high)])
    case(OP, [tensor([4, 3], "int64"), tensor([3, 5], "int32"), *given(dtype, [0.0, 1.0, -5.0], [1.0, 2.0, 0.5], [-1.0, 0.0, -5.25], [1.0, 9.0, 2.0])])
    case(OP, [tensor([4, 2, 3], "int64"), tensor([3, 5], "int32"), *given(dtype, [[0.0], [1.0]], [1.0, 2.0, 0.5], -1.0, 7.0)])
    case(OP, [tensor([2, 3], "int64"), tensor([3, 5], "int32"), *given(dtype, [[0.0], [1.0]], [1.0, 2.0, 0.5], -1.0, 7.0)])
    case(OP, [tensor([0, 3], "int64"), tensor([3, 5], "int32"), *given(dtype, 0.0, [1.0, 2.0, 0.5], -1.0, 7.0)])
    case(OP, [i32(0), tensor([3, 5], "int32"), *given(dtype, 0.0, 1.0, -1.0, 7.0)])
    for bad in ((0.0, -1.0, -1.0, 1.0), (0.0, 1.0, 1.0, 1.0), (0.0, 1.0, -np.inf, np.inf), (0.0, 1.0, np.nan, 1.0)):
        refuse(OP, [tensor([3], "int32"), tensor([3, 5], "int32"), *given(dtype, *bad)])
refuse(OP, [tensor([3], "int32"), tensor([3, 5, 1], "int32"), *given("float", 0.0, 1.0, -1.0, 1.0)])
refuse(OP, [tensor(3, "int32"), tensor([3, 5], "int32"), *given("float", 0.0, 1.0, -1.0, 1.0)])
refuse(OP, [tensor([-3], "int32"), tensor([3, 5], "int32"), *given("float", 0.0, 1.0, -1.0, 1.0)])
refuse(OP, [tensor([3], "int32"), tensor([3, 5], "int32"), *given("float", [0.0, 1.0], [1.0, 1.0, 1.0], -1.0, 1.0)])
refuse(OP, [tensor([3], "int32"), tensor([3, 5], "int32"), *given("float", [0.0, 1.0], 1.0, -1.0, 1.0)])
refuse(OP, [tensor([], "int32"), tensor([3, 5], "int32"), *given("float", [0.0, 1.0], 1.0, -1.0, 1.0)])
