"""Inputs of cases: dtypes, and deterministic values of each dtype by shape and kind."""

import dataclasses
import math
import zlib

import numpy as np
import tensorflow as tf

FLOATS = ("half", "bfloat16", "float", "double")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
COMPLEXES = ("complex64", "complex128")
QUANTIZED = ("qint8", "quint8", "qint32", "qint16", "quint16")
UNFEEDABLE = ("resource", "variant")
NUMBERS = FLOATS + INTEGERS + COMPLEXES

_NUMBER_OF = {
    "float": 1, "double": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8, "int64": 9,
    "bool": 10, "qint8": 11, "quint8": 12, "qint32": 13, "bfloat16": 14, "qint16": 15, "quint16": 16, "uint16": 17,
    "complex128": 18, "half": 19, "resource": 20, "variant": 21, "uint32": 22, "uint64": 23, "float8_e5m2": 24,
    "float8_e4m3fn": 25, "int4": 29, "uint4": 30,
}  # fmt: skip
_NAME_OF = {number: name for name, number in _NUMBER_OF.items()}


def number_of(dtype):
    """The number of a DataType from its name, number, or a TensorFlow or NumPy dtype."""
    if isinstance(dtype, str) and dtype in _NUMBER_OF:
        return _NUMBER_OF[dtype]
    if isinstance(dtype, (int, np.integer)):
        return int(dtype)
    if isinstance(dtype, tf.DType):
        return dtype.as_datatype_enum
    if isinstance(dtype, str) and dtype.removesuffix("_ref") in _NUMBER_OF:
        return _NUMBER_OF[dtype.removesuffix("_ref")] + 100
    return tf.as_dtype(dtype).as_datatype_enum


def name_of(dtype):
    """The name that TensorFlow's messages give a dtype: float, half, int32, …"""
    if isinstance(dtype, str) and dtype in _NUMBER_OF:
        return dtype
    number = number_of(dtype)
    return _NAME_OF[number - 100] + "_ref" if number > 100 else _NAME_OF.get(number, f"DT_{number}")


_numpy = {}


def numpy_of(dtype):
    number = number_of(dtype)
    if number not in _numpy:
        _numpy[number] = np.dtype(object) if number == 7 else np.dtype(tf.as_dtype(number).as_numpy_dtype)
    return _numpy[number]


def dtype_of_array(array):
    """The number of an array's DataType."""
    if isinstance(array, Handles):
        return number_of(array.dtype)
    if array.dtype.kind in "OSU":
        return 7
    return number_of(tf.as_dtype(array.dtype))


@dataclasses.dataclass
class Handles:
    """An input of which no value can be fed: nodes make variables or lists, and `which` says which of them stands where."""

    dtype: str  # resource or variant
    which: np.ndarray
    DISTINCT = 5

    @property
    def shape(self):
        return self.which.shape


def _handles(dtype, shape):
    count = math.prod(shape)
    return Handles(dtype, (np.arange(count, dtype=np.int32) * 3 % Handles.DISTINCT).reshape(shape))


def tensor(value, dtype=None):
    """An input from Python values: tensor([1, 2], "int64"); strings become bytes."""
    if dtype is None and isinstance(value, (np.ndarray, Handles)):
        return value
    if dtype in UNFEEDABLE:
        return _handles(dtype, np.shape(value))
    if dtype is None:
        array = np.array(value)
        if array.dtype.kind in "OSU":
            return _strings(value)
        return array.astype(np.float32) if array.dtype == np.float64 else array.astype(np.int32) if array.dtype == np.int64 else array
    if number_of(dtype) == 7:
        return _strings(value)
    if name_of(dtype) in QUANTIZED:
        return np.array(value).astype(numpy_of(dtype)[0]).view(numpy_of(dtype))
    array = np.array(value)
    # An empty list has no type of its own.
    return array.astype(numpy_of(dtype))


def _strings(value):
    array = np.array(value, dtype=object)
    flat = [item.encode() if isinstance(item, str) else bytes(item) for item in array.reshape(-1)]
    result = np.empty(len(flat), dtype=object)
    result[:] = flat
    return result.reshape(array.shape)


class Source:
    """Where a module's values come from: the same sequence in every run."""

    def __init__(self, name):
        self.random = np.random.default_rng(zlib.crc32(name.encode()))


_source = Source("")


def begin_module(name):
    """Starts the sequence of values of a module of cases."""
    global _source
    _source = Source(name)


def _extremes(dtype):
    if name_of(dtype) in FLOATS:
        kind = tf.as_dtype(number_of(dtype))
        tiny = {"half": 6.2e-5, "bfloat16": 1.2e-38, "float": 1.2e-38, "double": 2.3e-308}[name_of(dtype)]
        return [kind.max, kind.min, tiny, -tiny, 1, -1, 0, 0.5]
    info = np.iinfo(numpy_of(dtype))
    return [info.max, info.min, 0, 1, info.max - 1, info.min + 1, 2, 3]


_SPECIALS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.5]


def values(dtype, *shape, kind="normal", low=None, high=None):
    """An array of a dtype and shape.

    Kinds: normal (both signs, small magnitude), positive, unit (-1..1), special (NaN, infinities, zeros), extreme
    (largest, smallest), distinct (no value twice), zeros, ones. `low` and `high` (exclusive) give a range instead.
    """
    random, name = _source.random, name_of(dtype)
    count = math.prod(shape)
    if name in UNFEEDABLE:
        return _handles(name, shape)
    if name == "string":
        letters = [bytes(random.integers(97, 123, random.integers(0, 12)).astype(np.uint8)) for _ in range(count)]
        return _strings(letters).reshape(shape) if count else np.empty(shape, dtype=object)
    if name in QUANTIZED:
        plain = numpy_of(dtype)[0]
        return values(plain, *shape, kind=kind, low=low, high=high).view(numpy_of(dtype))
    if name in COMPLEXES:
        part = "float" if name == "complex64" else "double"
        parts = [values(part, *shape, kind=kind, low=low, high=high).astype(np.float64) for _ in range(2)]
        result = np.empty(shape, dtype=numpy_of(dtype))
        result.real, result.imag = parts
        return result
    return _plain(random, name, count, kind, low, high).astype(numpy_of(dtype)).reshape(shape)


def _plain(random, name, count, kind, low, high):
    if name == "bool":
        return random.integers(0, 2, count)
    if kind == "special":
        # Integers have no special values; their extremes stand in.
        repeated = _SPECIALS if name in FLOATS else _extremes(name)
        return np.array([repeated[i % len(repeated)] for i in range(count)], dtype=numpy_of(name))
    if kind == "extreme":
        repeated = _extremes(name)
        return np.array([repeated[i % len(repeated)] for i in range(count)], dtype=numpy_of(name))
    if kind in ("zeros", "ones"):
        return np.full(count, kind == "ones")
    if kind == "distinct":
        return random.permutation(count) - (count // 2 if name not in UNSIGNED else 0)
    if low is not None or high is not None:
        low, high = low or 0, high if high is not None else 10
        return random.uniform(low, high, count) if name in FLOATS else random.integers(low, high, count)
    if name in FLOATS:
        x = random.normal(0, 2, count)
        return {"normal": x, "positive": np.abs(x) + 0.1, "unit": np.tanh(x) * 0.99}[kind]
    return random.integers(-9 if name in SIGNED and kind != "positive" else 1, 10, count)


def _maker(dtype):
    def make(*shape, **options):
        return values(dtype, *shape, **options)

    make.__doc__ = f"values() of dtype {dtype}."
    return make


f16, bf16, f32, f64 = (_maker(d) for d in FLOATS)
i8, i16, i32, i64 = (_maker(d) for d in SIGNED)
u8, u16, u32, u64 = (_maker(d) for d in UNSIGNED)
c64, c128, boolean, strings = (_maker(d) for d in ("complex64", "complex128", "bool", "string"))
