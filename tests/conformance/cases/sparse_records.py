"""Sparse tensors serialized, kept in maps of a device, and counted."""

import tensorflow as tf

from framework import *
from handles import given, kind_of, seen
from definitions import for_dtypes
from values import *

AT = tensor([[0, 1], [1, 0], [1, 2]], "int64")
SHAPE = tensor([2, 3], "int64")
DEEP = tensor([[0, 0, 1], [0, 1, 0], [2, 0, 1], [2, 1, 1], [2, 1, 0]], "int64")
DEEP_SHAPE = tensor([3, 2, 2], "int64")


def i(*values):
    return tensor(list(values), "int64")


def none(columns):
    return i64(0, columns)


# Serialized.
for dtype in for_dtypes("SerializeManySparse"):
    if dtype not in UNFEEDABLE:
        case("SerializeManySparse", [DEEP, values(dtype, 5), DEEP_SHAPE], out_type="string")
        case("SerializeSparse", [DEEP, values(dtype, 5), DEEP_SHAPE], out_type="string")
case("SerializeSparse", [none(2), f32(0), SHAPE], out_type="string")
case("SerializeManySparse", [none(2), f32(0), SHAPE], out_type="string")
case("SerializeManySparse", [none(2), f32(0), i(0, 3)], out_type="string")
for out_type in ("string", "variant"):
    refuse("SerializeSparse", [i(1), f32(1), SHAPE], out_type=out_type)
    refuse("SerializeSparse", [AT, f32(3, 1), SHAPE], out_type=out_type)
    refuse("SerializeSparse", [AT, f32(3), tensor(2, "int64")], out_type=out_type)
    refuse("SerializeManySparse", [i(1), f32(1), SHAPE], out_type=out_type)
    refuse("SerializeManySparse", [AT, f32(3, 1), SHAPE], out_type=out_type)
    refuse("SerializeManySparse", [AT, f32(3), tensor(2, "int64")], out_type=out_type)
    refuse("SerializeManySparse", [AT, f32(2), SHAPE], out_type=out_type)
    refuse("SerializeManySparse", [AT, f32(3), i(2, 3, 4)], out_type=out_type)
    refuse("SerializeManySparse", [tensor([[0], [1]], "int64"), f32(2), i(2)], out_type=out_type)
    refuse("SerializeManySparse", [AT, f32(3), i(1, 3)], out_type=out_type)
    refuse("SerializeManySparse", [AT, f32(3), i(-1, 3)], out_type=out_type)
    refuse("SerializeManySparse", [tensor([[1, 0], [0, 0]], "int64"), f32(2), SHAPE], out_type=out_type)
refuse("SerializeSparse", [AT, f32(2), SHAPE], out_type="string")
refuse("SerializeSparse", [AT, f32(3), i(2)], out_type="string")


def _stack(kind, at, what, shape, out):
    """Serialized at once and row by row."""
    given = dict(sparse_indices=feed(at), sparse_values=feed(what), sparse_shape=feed(shape), out_type=out)
    return tf.raw_ops.SerializeSparse(**given), tf.raw_ops.SerializeManySparse(**given)


def round_trip(dtype, out_type, at=DEEP, shape=DEEP_SHAPE):
    kind, out = tf.as_dtype(number_of(dtype)), tf.as_dtype(number_of(out_type))
    what = values(dtype, at.shape[0])

    @graph("DeserializeSparse", "SerializeSparse", "SerializeManySparse")
    def there_and_back():
        one, many = _stack(kind, at, what, shape, out)
        read = lambda t: list(tf.raw_ops.DeserializeSparse(serialized_sparse=t, dtype=kind))
        return read(one) + read(many) + read(tf.expand_dims(tf.stack([many, many]), 0)) + read(many[1])

    @graph("SerializeManySparse" if out_type == "variant" else "DeserializeManySparse")
    def many_and_back():
        many = _stack(kind, at, what, shape, out)[1]
        return list(tf.raw_ops.DeserializeSparse(serialized_sparse=many, dtype=kind) if out_type == "variant" else tf.raw_ops.DeserializeManySparse(serialized_sparse=many, dtype=kind))


for dtype in for_dtypes("SerializeManySparse"):
    if dtype not in ("resource", "variant"):
        for out_type in ("string", "variant"):
            round_trip(dtype, out_type)
for out_type in ("string", "variant"):
    round_trip("float", out_type, none(2), SHAPE)
    round_trip("float", out_type, AT, SHAPE)


def hidden(t):
    """The same without a shape, for kernels to refuse it."""
    return tf.compat.v1.placeholder_with_default(t, None)


def bad(serialize, out_type, dtype=tf.float32):
    @graph("DeserializeSparse")
    def refused():
        return list(tf.raw_ops.DeserializeSparse(serialized_sparse=hidden(serialize(tf.as_dtype(out_type))), dtype=dtype))


def _one(at, what, shape):
    return lambda out: tf.raw_ops.SerializeSparse(sparse_indices=feed(at), sparse_values=feed(what), sparse_shape=feed(shape), out_type=out)


for out_type in ("string", "variant"):
    bad(_one(AT, f32(3), SHAPE), out_type, tf.int32)
    bad(lambda out: tf.stack([_one(AT, f32(3), SHAPE)(out), _one(DEEP, f32(5), DEEP_SHAPE)(out)]), out_type)
    bad(lambda out: _one(AT, f32(3), SHAPE)(out)[0], out_type)
    bad(lambda out: _one(AT, f32(3), SHAPE)(out)[:2], out_type)
    bad(lambda out: tf.stack([_one(AT, f32(3), SHAPE)(out)])[:0], out_type)
    bad(lambda out: tf.gather(_one(AT, f32(3), SHAPE)(out), [2, 1, 0]), out_type)
    bad(lambda out: tf.stack([_one(AT, i64(3), SHAPE)(out)[1]] * 3), out_type, tf.int64)
refuse("DeserializeSparse", [tensor([b"x", b"y", b"z"])], dtype="float")
refuse("DeserializeSparse", [tensor([b"", b"", b""])], dtype="float")
refuse("DeserializeManySparse", [tensor([[b"x", b"y", b"z"]])], dtype="float")
refuse("DeserializeManySparse", [strings(0, 3)], dtype="float")
refuse("DeserializeManySparse", [strings(2, 2)], dtype="float")


# Of every type, handles too.
for dtype in for_dtypes("SerializeManySparse"):
    for out_type in ("string", "variant"):
        # Handles in bytes are other handles.
        if dtype in UNFEEDABLE and out_type == "string":
            continue

        @graph("SerializeManySparse", "DeserializeSparse", together=True)
        def of_every_type(dtype=dtype, out_type=out_type):
            many = tf.raw_ops.SerializeManySparse(sparse_indices=feed(AT), sparse_values=given(dtype, 3), sparse_shape=feed(SHAPE), out_type=kind_of(out_type))
            at, what, shape = tf.raw_ops.DeserializeSparse(serialized_sparse=many, dtype=kind_of(dtype))
            return [at, *seen(what), shape]

        if out_type == "string":

            @graph("DeserializeManySparse", together=True)
            def many_of_every_type(dtype=dtype):
                many = tf.raw_ops.SerializeManySparse(sparse_indices=feed(AT), sparse_values=given(dtype, 3), sparse_shape=feed(SHAPE))
                return list(tf.raw_ops.DeserializeManySparse(serialized_sparse=many, dtype=kind_of(dtype)))


for dtype in for_dtypes("AddManySparseToTensorsMap"):

    @graph("AddManySparseToTensorsMap", "TakeManySparseFromTensorsMap", together=True)
    def kept_of_every_type(dtype=dtype):
        name = f"every_type_{dtype}"
        many = tf.raw_ops.AddManySparseToTensorsMap(sparse_indices=feed(AT), sparse_values=given(dtype, 3), sparse_shape=feed(SHAPE), shared_name=name)
        at, what, shape = tf.raw_ops.TakeManySparseFromTensorsMap(sparse_handles=many, dtype=kind_of(dtype), shared_name=name)
        return [at, *seen(what), shape]


# Maps.
def mapped(dtype, number, at=DEEP, shape=DEEP_SHAPE):
    kind, what, name = tf.as_dtype(number_of(dtype)), values(dtype, at.shape[0]), f"kept_{number}"
    given = lambda: dict(sparse_indices=feed(at), sparse_values=feed(what), sparse_shape=feed(shape))
    take = lambda handles, name: list(tf.raw_ops.TakeManySparseFromTensorsMap(sparse_handles=handles, dtype=kind, shared_name=name))

    @graph("AddSparseToTensorsMap", "TakeManySparseFromTensorsMap")
    def one_by_one():
        handles = [tf.raw_ops.AddSparseToTensorsMap(shared_name=name, **given())]
        with tf.control_dependencies(handles):
            handles.append(tf.raw_ops.AddSparseToTensorsMap(shared_name=name, **given()))
        return steps(take(tf.stack(handles), name), take(tf.stack(handles[::-1]), name))

    @graph("AddManySparseToTensorsMap", "TakeManySparseFromTensorsMap")
    def many_at_once():
        many = tf.raw_ops.AddManySparseToTensorsMap(shared_name=name + "_many", **given())
        return steps([many, *take(many, name + "_many")], [many, *take(many[::-1], name + "_many")])

    @graph("TakeManySparseFromTensorsMap", "AddManySparseToTensorsMap")
    def by_node_name():
        many = tf.raw_ops.AddManySparseToTensorsMap(name="by_name", **given())
        return take(many[::-1], many.op.name)


for number, dtype in enumerate(for_dtypes("AddManySparseToTensorsMap")):
    if dtype not in ("resource", "variant"):
        mapped(dtype, number)
mapped("float", "empty", none(2), SHAPE)


def _taken(handles, dtype, shared_name):
    one = tf.raw_ops.AddSparseToTensorsMap(sparse_indices=feed(AT), sparse_values=feed(f32(3)), sparse_shape=feed(SHAPE), shared_name=shared_name)
    with tf.control_dependencies([one]):
        return list(tf.raw_ops.TakeManySparseFromTensorsMap(sparse_handles=hidden(handles(one)), dtype=dtype, shared_name=shared_name))


def refuse_taken(handles, dtype, number):
    @graph("TakeManySparseFromTensorsMap")
    def refused():
        return _taken(handles, dtype, f"wrong_{number}")


for number, (handles, dtype) in enumerate((
    (lambda one: tf.stack([one, one]), tf.float32),
    (lambda one: tf.stack([one + 7]), tf.float32),
    (lambda one: one, tf.float32),
    (lambda one: tf.stack([one])[:0], tf.float32),
    (lambda one: tf.stack([one]), tf.int32),
)):
    refuse_taken(handles, dtype, number)


for inputs in ([i(1), f32(1), SHAPE], [AT, f32(3, 1), SHAPE], [AT, f32(3), tensor(2, "int64")], [AT, f32(2), SHAPE], [AT, f32(3), i(2, 3, 4)], [AT, f32(3), i(-2, 3)]):
    refuse("AddSparseToTensorsMap", inputs)
    refuse("AddManySparseToTensorsMap", inputs)
refuse("AddManySparseToTensorsMap", [tensor([[0], [1]], "int64"), f32(2), i(2)])
refuse("AddManySparseToTensorsMap", [AT, f32(3), i(1, 3)])

# SparseBincount and RaggedBincount.
for dtype in ("int32", "int64", "float", "double"):
    for index in ("int32", "int64"):
        for binary in (False, True):
            for weights in (values(dtype, 0), values(dtype, 3)):
                bins = tensor([1, 3, 1], index)
                case("SparseBincount", [AT, bins, SHAPE, tensor(4, index), weights], binary_output=binary)
                case("SparseBincount", [tensor([[0], [2], [4]], "int64"), bins, i(5), tensor(3, index), weights], binary_output=binary)
                case("RaggedBincount", [i(0, 2, 2, 3), bins, tensor(2, index), weights], binary_output=binary)
case("SparseBincount", [none(2), i32(0), SHAPE, tensor(4), f32(0)])
case("SparseBincount", [none(1), i32(0), i(5), tensor(4), f32(0)])
case("SparseBincount", [none(2), i32(0), SHAPE, tensor(0), f32(0)])
case("RaggedBincount", [i(0, 0), i32(0), tensor(2), f32(0)])
case("RaggedBincount", [i(0), i32(0), tensor(2), f32(0)])
BINS = tensor([1, 3, 1])
case("SparseBincount", [AT, BINS, SHAPE, tensor(3), f32(0)])
refuse("SparseBincount", [AT, BINS, i(1, 3), tensor(4), f32(0)])
refuse("SparseBincount", [AT, BINS, SHAPE, tensor(-4), f32(0)])
refuse("SparseBincount", [AT, BINS, SHAPE, tensor([4]), f32(0)])
refuse("SparseBincount", [AT, tensor([1, 3]), SHAPE, tensor(4), f32(0)])
refuse("SparseBincount", [AT, BINS, i(2, 3, 4), tensor(4), f32(0)])
refuse("SparseBincount", [i(1), tensor([1]), SHAPE, tensor(4), f32(0)])
refuse("SparseBincount", [tensor([[0], [2], [4]], "int64"), tensor([1, -3, 1]), i(5), tensor(4), f32(0)])
refuse("SparseBincount", [tensor([[0], [2], [4]], "int64"), BINS, i(5), tensor(4), f32(2)])
refuse("RaggedBincount", [i(0, 2, 2, 3), tensor([1, -3, 1]), tensor(4), f32(0)])
refuse("RaggedBincount", [i(1, 2, 2, 3), BINS, tensor(4), f32(0)])
refuse("RaggedBincount", [i(0, 2, 2, 4), BINS, tensor(4), f32(0)])
refuse("RaggedBincount", [i(0, 2, 2, 3), BINS, tensor(-4), f32(0)])
refuse("RaggedBincount", [i(0, 2, 2, 3), BINS, tensor([4]), f32(0)])

# Counts as sparse tensors.
for dtype in for_dtypes("DenseCountSparseOutput", "output_type"):
    for index in ("int32", "int64"):
        for binary in (False, True):
            case("DenseCountSparseOutput", [tensor([[1, 3, 1], [0, 2, 2]], index), values(dtype, 2, 3)], binary_output=binary)
            case("SparseCountSparseOutput", [AT, tensor([1, 3, 1], index), SHAPE, values(dtype, 3)], binary_output=binary)
            case("RaggedCountSparseOutput", [i(0, 2, 2, 3), tensor([1, 3, 1], index), values(dtype, 3)], binary_output=binary)
for shortest, longest in ((-1, -1), (6, -1), (-1, 3), (2, 3), (0, 0)):
    case("DenseCountSparseOutput", [tensor([1, 3, 1]), f32(0)], binary_output=False, minlength=shortest, maxlength=longest)
    case("DenseCountSparseOutput", [tensor([[1, 3, 1, 0]]), f32(0)], binary_output=False, minlength=shortest, maxlength=longest)
    case("SparseCountSparseOutput", [AT, BINS, SHAPE, f32(0)], binary_output=False, minlength=shortest, maxlength=longest)
    case("SparseCountSparseOutput", [tensor([[0], [2], [4]], "int64"), BINS, i(5), f32(0)], binary_output=False, minlength=shortest, maxlength=longest)
    case("RaggedCountSparseOutput", [i(0, 2, 2, 3), BINS, f32(0)], binary_output=False, minlength=shortest, maxlength=longest)
case("DenseCountSparseOutput", [i32(0), f32(0)], binary_output=False)
case("DenseCountSparseOutput", [i32(2, 0), f32(0)], binary_output=False)
case("DenseCountSparseOutput", [tensor([1 << 33, 5], "int64"), f32(0)], binary_output=False)
case("SparseCountSparseOutput", [none(2), i32(0), SHAPE, f32(0)], binary_output=False)
case("RaggedCountSparseOutput", [i(0, 0), i32(0), f32(0)], binary_output=False)
refuse("DenseCountSparseOutput", [i32(0, 2), f32(0)], binary_output=False)
refuse("DenseCountSparseOutput", [i32(), f32(0)], binary_output=False)
refuse("DenseCountSparseOutput", [i32(1, 2, 3), f32(0)], binary_output=False)
refuse("DenseCountSparseOutput", [i32(2, 3, kind="zeros"), f32(3, 2)], binary_output=False)
refuse("DenseCountSparseOutput", [tensor([[1, -3, 1]]), f32(3, 2)], binary_output=False)
refuse("DenseCountSparseOutput", [tensor([1, -3, 1]), f32(0)], binary_output=True)
refuse("SparseCountSparseOutput", [AT, tensor([1, -3, 1]), SHAPE, f32(0)], binary_output=False)
refuse("SparseCountSparseOutput", [AT, tensor([1, -3, 1]), SHAPE, f32(2)], binary_output=False)
refuse("SparseCountSparseOutput", [AT, tensor([1, -3, 1]), i(1, 3), f32(0)], binary_output=False)
refuse("RaggedCountSparseOutput", [i(0, 3), tensor([1, -3, 1]), f32(0)], binary_output=False)
refuse("RaggedCountSparseOutput", [i(0, 4), tensor([1, -3, 1]), f32(0)], binary_output=False)
refuse("RaggedCountSparseOutput", [i(0, 3), tensor([1, -3, 1]), f32(2)], binary_output=False)
refuse("SparseCountSparseOutput", [i(1), tensor([1]), SHAPE, f32(0)], binary_output=False)
refuse("SparseCountSparseOutput", [AT, i32(3, 1), SHAPE, f32(0)], binary_output=False)
refuse("SparseCountSparseOutput", [AT, BINS, tensor(2, "int64"), f32(0)], binary_output=False)
refuse("SparseCountSparseOutput", [AT, i32(2), SHAPE, f32(0)], binary_output=False)
refuse("SparseCountSparseOutput", [AT, BINS, i(2), f32(0)], binary_output=False)
refuse("SparseCountSparseOutput", [none(0), i32(0), i64(0), f32(0)], binary_output=False)
refuse("SparseCountSparseOutput", [AT, BINS, i(1, 3), f32(0)], binary_output=False)
refuse("SparseCountSparseOutput", [AT, BINS, SHAPE, f32(2)], binary_output=False)
refuse("SparseCountSparseOutput", [none(2), i32(0), i(0, 3), f32(0)], binary_output=False)
refuse("SparseCountSparseOutput", [none(2), i32(0), i(-1, 3), f32(0)], binary_output=False)
refuse("SparseCountSparseOutput", [none(2), i32(0), i(1 << 32, 3), f32(0)], binary_output=False)
refuse("SparseCountSparseOutput", [none(2), i32(0), i(2, -3), f32(0)], binary_output=False)
refuse("RaggedCountSparseOutput", [i(0), i32(0), f32(0)], binary_output=False)
refuse("RaggedCountSparseOutput", [i64(0), i32(0), f32(0)], binary_output=False)
refuse("RaggedCountSparseOutput", [i(1, 3), BINS, f32(0)], binary_output=False)
refuse("RaggedCountSparseOutput", [i(0, 4), BINS, f32(0)], binary_output=False)
refuse("RaggedCountSparseOutput", [i(0, 3), BINS, f32(2)], binary_output=False)
