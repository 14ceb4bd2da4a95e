"""Ragged tensors: ranges, gathering, conversions, variants and crosses."""

import tensorflow as tf

from framework import *
from definitions import for_dtypes
from values import *


def i(*values):
    return tensor(list(values), "int64")


def n(*values):
    return tensor(list(values), "int32")


# RaggedRange.
for dtype in for_dtypes("RaggedRange"):
    for splits in ("int32", "int64"):
        case("RaggedRange", [tensor([0, 5, 9], dtype), tensor([3, 8, 1], dtype), tensor([1, 2, -3], dtype)], Tsplits=splits)
        case("RaggedRange", [tensor(1, dtype), tensor([3, 8, 1], dtype), tensor(2, dtype)], Tsplits=splits)
        case("RaggedRange", [tensor(1, dtype), tensor(4, dtype), tensor(1, dtype)], Tsplits=splits)
        case("RaggedRange", [values(dtype, 0), values(dtype, 0), values(dtype, 0)], Tsplits=splits)
        case("RaggedRange", [tensor([5, 1], dtype), tensor([1, 5], dtype), tensor([1, -1], dtype)], Tsplits=splits)
    refuse("RaggedRange", [tensor(1, dtype), tensor(4, dtype), tensor(0, dtype)])
case("RaggedRange", [tensor([0.1], "float"), tensor([1.05], "float"), tensor([0.3], "float")])
refuse("RaggedRange", [f32(1, 1), f32(), f32()])
refuse("RaggedRange", [f32(), f32(1, 1), f32()])
refuse("RaggedRange", [f32(), f32(), f32(1, 1)])
refuse("RaggedRange", [f32(2), f32(3), f32()])
refuse("RaggedRange", [tensor(0, "float"), tensor(1e30, "float"), tensor(1e-5, "float")])
refuse("RaggedRange", [i(0, 0), i(2**31 - 1, 10), i(1, 1)], Tsplits="int32")
refuse("RaggedRange", [i(0), i(2**40), i(1)], Tsplits="int32")

# RaggedGather.
SPLITS, INNER = i(0, 2, 3, 3), i(0, 1, 1, 4)
for dtype in for_dtypes("RaggedGather", "Tvalues"):
    case("RaggedGather", [[SPLITS], values(dtype, 3), i(2, 0, 0, 1)], OUTPUT_RAGGED_RANK=1)
for splits in ("int32", "int64"):
    for index in ("int32", "int64"):
        s, inner = tensor([0, 2, 3, 3], splits), tensor([0, 1, 1, 4], splits)
        case("RaggedGather", [[s, inner], f32(4, 2), tensor([0, 2, 1], index)], OUTPUT_RAGGED_RANK=2)
        case("RaggedGather", [[s, inner], f32(4), tensor([[0, 2], [1, 0]], index)], OUTPUT_RAGGED_RANK=3)
        case("RaggedGather", [[s], f32(3), tensor([[[0], [2]], [[1], [0]]], index)], OUTPUT_RAGGED_RANK=3)
        case("RaggedGather", [[s, inner], f32(4), tensor(1, index)], OUTPUT_RAGGED_RANK=1)
        case("RaggedGather", [[s], f32(3), tensor(0, index)], OUTPUT_RAGGED_RANK=0)
case("RaggedGather", [[SPLITS], f32(3), i64(0)], OUTPUT_RAGGED_RANK=1)
case("RaggedGather", [[SPLITS], f32(3, 0), i(0)], OUTPUT_RAGGED_RANK=1)
case("RaggedGather", [[i(0, 0)], f32(0), i(0)], OUTPUT_RAGGED_RANK=1)
refuse("RaggedGather", [[SPLITS], f32(3), i(3)], OUTPUT_RAGGED_RANK=1)
refuse("RaggedGather", [[SPLITS], f32(3), tensor([[0, -1]], "int64")], OUTPUT_RAGGED_RANK=2)
refuse("RaggedGather", [[SPLITS], f32(), i(0)], OUTPUT_RAGGED_RANK=1)
refuse("RaggedGather", [[i64(0)], f32(3), i64(0)], OUTPUT_RAGGED_RANK=1)
refuse("RaggedGather", [[i(-1, 2)], f32(3), i(0)], OUTPUT_RAGGED_RANK=1)
refuse("RaggedGather", [[i(0, 4)], f32(3), i(0)], OUTPUT_RAGGED_RANK=1)
refuse("RaggedGather", [[i(0, 3, 2)], f32(3), i(0)], OUTPUT_RAGGED_RANK=1)

# RaggedTensorToSparse.
for splits in ("int32", "int64"):
    for dtype in ("float", "string", "bool", "int8"):
        case("RaggedTensorToSparse", [[tensor([0, 2, 2, 3], splits)], values(dtype, 3)])
        case("RaggedTensorToSparse", [[tensor([0, 2, 3, 3], splits), tensor([0, 1, 1, 4], splits)], values(dtype, 4)])
        case("RaggedTensorToSparse", [[tensor([0, 0, 2, 3], splits), tensor([0, 0, 1, 4], splits)], values(dtype, 4, 2, 3)])
case("RaggedTensorToSparse", [[i(0)], f32(0)])
case("RaggedTensorToSparse", [[i(0, 0)], f32(0, 2)])
case("RaggedTensorToSparse", [[i(0, 2)], f32(2, 0)])
refuse("RaggedTensorToSparse", [[i64(0)], f32(3)])
refuse("RaggedTensorToSparse", [[i(1, 3)], f32(3)])
refuse("RaggedTensorToSparse", [[i(0, 3, 2)], f32(3)])
refuse("RaggedTensorToSparse", [[i(0, 2)], f32(3)])
refuse("RaggedTensorToSparse", [[i(0, 2), i(0, 3)], f32(3)])

# RaggedTensorToTensor.
ROWS = {"row_partition_types": ["ROW_SPLITS"]}
IDS = {"row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]}
for dtype in for_dtypes("RaggedTensorToTensor"):
    case("RaggedTensorToTensor", [i(-1, -1), values(dtype, 4), values(dtype), [i(0, 1, 1, 4)]], **ROWS)
    case("RaggedTensorToTensor", [n(2, 2), values(dtype, 4), values(dtype), [tensor(3), n(0, 2, 2, 2)]], **IDS)
for shape in (tensor(-1, "int64"), i(-1, -1), i(5, 5), i(2, 2), i(0, 2), i(3, 0), i(-1, 2), i(1, -1)):
    case("RaggedTensorToTensor", [shape, f32(4), f32(), [i(0, 1, 1, 4)]], **ROWS)
    case("RaggedTensorToTensor", [shape, f32(4), f32(), [tensor(3, "int64"), i(0, 2, 2, 2)]], **IDS)
NESTED = {"row_partition_types": ["ROW_SPLITS", "ROW_SPLITS"]}
NESTED_IDS = {"row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS", "VALUE_ROWIDS"]}
for shape in (tensor(-1, "int64"), i(-1, -1, -1, 2), i(2, 1, 3, -1), i(4, 3, 2, 2)):
    for default in (f32(), f32(2), f32(1)):
        case("RaggedTensorToTensor", [shape, f32(4, 2), default, [i(0, 2, 3, 3), i(0, 1, 1, 4)]], **NESTED)
        case("RaggedTensorToTensor", [shape, f32(4, 2), default, [tensor(3, "int64"), i(0, 0, 1), i(0, 2, 2, 2)]], **NESTED_IDS)
case("RaggedTensorToTensor", [tensor(-1, "int64"), f32(3, 2, 3), f32(2, 1), [i(0, 1, 3)]], **ROWS)
case("RaggedTensorToTensor", [tensor(-1, "int64"), f32(0), f32(), [i(0, 0, 0)]], **ROWS)
case("RaggedTensorToTensor", [i(2, 2), f32(0), f32(), [i(0, 0, 0)]], **ROWS)
case("RaggedTensorToTensor", [tensor(-1, "int64"), f32(0), f32(), [i(0)]], **ROWS)
case("RaggedTensorToTensor", [tensor(-1, "int64"), f32(0), f32(), [tensor(2, "int64"), i64(0)]], **IDS)
refuse("RaggedTensorToTensor", [tensor(-1, "int64"), f32(4), f32(), [i64(0)]], **ROWS)
refuse("RaggedTensorToTensor", [tensor(-1, "int64"), f32(4), f32(), [i(0, 4)]], row_partition_types=["NONSENSE"])
refuse("RaggedTensorToTensor", [tensor(-1, "int64"), f32(4), f32(), [i(0, 4)]], row_partition_types=["ROW_LENGTHS"])
refuse("RaggedTensorToTensor", [tensor(-1, "int64"), f32(4), f32(), [i(0, 4)]], row_partition_types=["VALUE_ROWIDS"])
refuse("RaggedTensorToTensor", [tensor(-1, "int64"), f32(4), f32(), [i(0, 1, 4), i(1, 3)]], row_partition_types=["ROW_SPLITS", "ROW_LENGTHS"])
refuse("RaggedTensorToTensor", [i(2, 2, 2), f32(4), f32(), [i(0, 1, 4), i(1, 3)]], row_partition_types=["ROW_SPLITS", "ROW_LENGTHS"])
refuse("RaggedTensorToTensor", [i(-1, -1, -1), f32(4), f32(), [i(0, 4)]], **ROWS)
refuse("RaggedTensorToTensor", [i(-1, -1, 3), f32(4, 2), f32(), [i(0, 4)]], **ROWS)
refuse("RaggedTensorToTensor", [i(-1, -1), f32(4), f32(1), [i(0, 4)]], **ROWS)
refuse("RaggedTensorToTensor", [i(-1, -1, -1), f32(4, 2), f32(3), [i(0, 4)]], **ROWS)
refuse("RaggedTensorToTensor", [i(-1, -1, -1, -1), f32(4, 2, 3), f32(2), [i(0, 4)]], **ROWS)
refuse("RaggedTensorToTensor", [i(-1, -2), f32(4), f32(), [i(0, 4)]], **ROWS)
refuse("RaggedTensorToTensor", [tensor([[-1, -1]], "int64"), f32(4), f32(), [i(0, 4)]], **ROWS)
refuse("RaggedTensorToTensor", [tensor(3, "int64"), f32(4), f32(), [i(0, 4)]], **ROWS)
refuse("RaggedTensorToTensor", [i(-1, -1), f32(4), f32(), [i(0, 3, 1)]], **ROWS)
refuse("RaggedTensorToTensor", [i(-1, -1), f32(4), f32(), [i(1, 4)]], **ROWS)
refuse("RaggedTensorToTensor", [i(-1, -1, -1), f32(4), f32(), [i(0, 1), i(0, 1, 4)]], **NESTED)
refuse("RaggedTensorToTensor", [i(-1, -1), f32(4), f32(), [tensor(2, "int64"), i(0, 2, 2, 2)]], **IDS)
refuse("RaggedTensorToTensor", [i(-1, -1), f32(4), f32(), [tensor(2, "int64"), i(3, 1, 1, 1)]], **IDS)


# Variants.
def there_and_back(dtype, splits):
    @graph("RaggedTensorFromVariant", "RaggedTensorToVariant")
    def variants():
        kind, split_kind = tf.as_dtype(number_of(dtype)), tf.as_dtype(number_of(splits))
        back = lambda encoded, rank, **more: tf.nest.flatten(
            tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=encoded, output_ragged_rank=rank, Tvalues=kind, Tsplits=split_kind, input_ragged_rank=more.get("inner", -1))
        )
        outer, inner, flat = feed(tensor([0, 2, 3, 3], splits)), feed(tensor([0, 1, 1, 4], splits)), feed(values(dtype, 4, 2))
        whole = tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[outer, inner], rt_dense_values=flat, batched_input=False)
        rows = tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[outer, inner], rt_dense_values=flat, batched_input=True)
        short = tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[inner], rt_dense_values=flat, batched_input=True)
        fetched = back(whole, 2, inner=2) + back(rows, 2, inner=1) + back(rows, 2) + back(short, 1, inner=0)
        fetched += back(tf.stack([rows, rows]), 3) + back(tf.stack([tf.stack([rows, rows])]), 4) + back(rows[1], 1) + back(rows[:0], 2) + [tf.shape(rows)]
        return fetched


for dtype in for_dtypes("RaggedTensorToVariant", "Tvalues"):
    for splits in ("int32", "int64"):
        there_and_back(dtype, splits)
for batched in (False, True):
    refuse("RaggedTensorToVariant", [[i(0, 2)], f32(3)], batched_input=batched)
    refuse("RaggedTensorToVariant", [[i(1, 3)], f32(3)], batched_input=batched)
    refuse("RaggedTensorToVariant", [[i(0, 3, 2, 3)], f32(3)], batched_input=batched)
    refuse("RaggedTensorToVariant", [[i64(0)], f32(3)], batched_input=batched)
    refuse("RaggedTensorToVariant", [[tensor([[0, 3]], "int64")], f32(3)], batched_input=batched)
    refuse("RaggedTensorToVariant", [[i(0, 3)], f32()], batched_input=batched)
    refuse("RaggedTensorToVariant", [[i(0, 2), i(0, 3)], f32(3)], batched_input=batched)
refuse("RaggedTensorToVariant", [[], f32()], batched_input=True, Tsplits="int64")


def wrong_variant(make, **attrs):
    @graph("RaggedTensorFromVariant")
    def refused():
        given = dict(output_ragged_rank=1, Tvalues=tf.float32, Tsplits=tf.int64, input_ragged_rank=-1)
        given.update(attrs)
        return tf.nest.flatten(tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=tf.compat.v1.placeholder_with_default(make(), None), **given))


def _rows(splits=SPLITS, flat=None, batched=True):
    return tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[feed(splits)], rt_dense_values=feed(f32(3) if flat is None else flat), batched_input=batched)


wrong_variant(_rows, Tvalues=tf.int32)
wrong_variant(_rows, output_ragged_rank=2)
wrong_variant(_rows, output_ragged_rank=0)
wrong_variant(_rows, output_ragged_rank=2, input_ragged_rank=2)
wrong_variant(lambda: _rows(batched=False), Tsplits=tf.int32)
wrong_variant(lambda: tf.stack([_rows()[0], _rows(flat=f32(3, 2))[0]]))
wrong_variant(lambda: tf.stack([_rows(flat=f32(3, 4))[0], _rows(flat=f32(3, 2))[0]]))
wrong_variant(_rows, output_ragged_rank=0, input_ragged_rank=0)
wrong_variant(lambda: tf.stack([_rows()[1], _rows()[1]]), output_ragged_rank=0, input_ragged_rank=0)
wrong_variant(lambda: tf.stack([_rows()[1], _rows()[1]]), output_ragged_rank=0)
wrong_variant(lambda: _rows()[:0], output_ragged_rank=0)


@graph("RaggedTensorToVariantGradient")
def gradients():
    rows = _rows()
    fetched = [
        tf.raw_ops.RaggedTensorToVariantGradient(encoded_ragged_grad=rows, row_splits=feed(SPLITS), dense_values_shape=feed(n(3)), Tvalues=tf.float32),
        tf.raw_ops.RaggedTensorToVariantGradient(encoded_ragged_grad=_rows(batched=False), row_splits=feed(SPLITS), dense_values_shape=feed(n(3)), Tvalues=tf.float32),
    ]
    return fetched


@graph("RaggedTensorToVariant", "RaggedTensorFromVariant", "RaggedTensorToVariantGradient")
def map_fn():
    ragged = tf.RaggedTensor.from_row_splits(feed(f32(4)), tf.ensure_shape(feed(i(0, 1, 1, 4)), [4]))
    return tf.map_fn(tf.autograph.experimental.do_not_convert(lambda row: row * 2.0), ragged).flat_values


# RaggedCross.
TEXTS, NUMBERS_ = strings(4), i64(4, kind="extreme")
AT = tensor([[0, 0], [0, 1], [2, 0]], "int64")
CROSSED = {
    "RR": [[TEXTS, NUMBERS_], [i(0, 1, 1, 4), i(0, 2, 3, 4)], [], [], [], []],
    "R": [[TEXTS], [n(0, 1, 1, 4)], [], [], [], []],
    "RSD": [[TEXTS], [i(0, 1, 1, 4)], [AT], [strings(3)], [i(3, 2)], [i64(3, 2)]],
    "DSR": [[TEXTS], [i(0, 1, 1, 4)], [AT], [i64(3)], [i(3, 2)], [strings(3, 2)]],
    "SS": [[], [], [AT, AT], [strings(3), strings(3)], [i(3, 2), i(3, 2)], []],
    "D": [[], [], [], [], [], [strings(0, 2)]],
}
for order, given in CROSSED.items():
    splits = "int32" if order == "R" else "int64"
    for buckets in (0, 50):
        case("RaggedCross", given, input_order=order, hashed_output=True, num_buckets=buckets, hash_key=956888297470, out_values_type="int64", out_row_splits_type=splits)
    case("RaggedCross", given, input_order=order, hashed_output=False, num_buckets=0, hash_key=0, out_values_type="string", out_row_splits_type=splits)
OUT = dict(hashed_output=False, num_buckets=0, hash_key=0, out_values_type="string", out_row_splits_type="int64")
refuse("RaggedCross", CROSSED["RR"], input_order="R", **OUT)
refuse("RaggedCross", CROSSED["RR"], input_order="RX", **OUT)
refuse("RaggedCross", CROSSED["RR"], input_order="RD", **OUT)
refuse("RaggedCross", CROSSED["RSD"], input_order="RRD", **OUT)
refuse("RaggedCross", CROSSED["RSD"], input_order="SSD", **OUT)
refuse("RaggedCross", [[strings(4, 1)], [i(0, 4)], [], [], [], []], input_order="R", **OUT)
refuse("RaggedCross", [[strings(4)], [i(0, 3)], [], [], [], []], input_order="R", **OUT)
refuse("RaggedCross", [[strings(4)], [i(1, 4)], [], [], [], []], input_order="R", **OUT)
refuse("RaggedCross", [[strings(4)], [i(0, 3, 2, 4)], [], [], [], []], input_order="R", **OUT)
refuse("RaggedCross", [[strings(4)], [i64(0)], [], [], [], []], input_order="R", **OUT)
refuse("RaggedCross", [[strings(4), strings(4)], [i(0, 4), i(0, 4, 4)], [], [], [], []], input_order="RR", **OUT)
refuse("RaggedCross", [[strings(4)], [i(0, 4)], [], [], [], [strings(2, 1)]], input_order="RD", **OUT)
refuse("RaggedCross", [[strings(4)], [i(0, 4)], [], [], [], [strings(1)]], input_order="RD", **OUT)
refuse("RaggedCross", [[], [], [AT], [strings(3, 1)], [i(3, 2)], []], input_order="S", **OUT)
refuse("RaggedCross", [[], [], [AT], [strings(3)], [i(3, 2, 1)], []], input_order="S", **OUT)
