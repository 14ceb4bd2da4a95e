"""Matrices in compressed rows, maps of tensors, and composite tensors, all of them in variants."""

import tensorflow as tf
from tensorflow.core.protobuf import composite_tensor_variant_pb2
from tensorflow.python.ops.linalg.sparse import gen_sparse_csr_matrix_ops as csr_ops

from framework import *
from definitions import for_dtypes
from values import *

AT = tensor([[0, 1], [1, 0], [1, 2]], "int64")
SHAPE = tensor([2, 3], "int64")
DEEP = tensor([[0, 0, 1], [0, 1, 0], [2, 0, 1], [2, 1, 1]], "int64")
DEEP_SHAPE = tensor([3, 2, 2], "int64")


def i(*values):
    return tensor(list(values), "int64")


def kind_of(dtype):
    return tf.as_dtype(number_of(dtype))


def hidden(t):
    """The same without a shape, for kernels to refuse it."""
    return tf.compat.v1.placeholder_with_default(t, None)


def known(array):
    """Fed, with its shape known: the graph's checks ask for it."""
    return tf.ensure_shape(feed(array), array.shape)


def matrix(dtype="float", at=AT, shape=SHAPE, what=None):
    what = values(dtype, at.shape[0]) if what is None else what
    return csr_ops.sparse_tensor_to_csr_sparse_matrix(known(at), known(what), known(shape))


def converted(dtype):
    @graph("SparseTensorToCSRSparseMatrix", "CSRSparseMatrixToSparseTensor", "CSRSparseMatrixToDense", "DenseToCSRSparseMatrix", "SparseMatrixNNZ", "CSRSparseMatrixComponents")
    def there_and_back():
        kind, fetched = kind_of(dtype), []
        empty = matrix(dtype, i64(0, 2), SHAPE)
        for m in (matrix(dtype), matrix(dtype, DEEP, DEEP_SHAPE), empty, csr_ops.dense_to_csr_sparse_matrix(known(values(dtype, 2, 3)), known(AT)),
                  csr_ops.dense_to_csr_sparse_matrix(known(values(dtype, 3, 2, 2)), known(DEEP))):
            fetched += list(csr_ops.csr_sparse_matrix_to_sparse_tensor(m, type=kind))
            fetched += [csr_ops.csr_sparse_matrix_to_dense(m, type=kind), csr_ops.sparse_matrix_nnz(m)]
            fetched += list(csr_ops.csr_sparse_matrix_components(m, 0, type=kind))
        fetched += list(csr_ops.csr_sparse_matrix_components(matrix(dtype, DEEP, DEEP_SHAPE), 2, type=kind))
        return fetched


def multiplied(dtype):
    @graph("SparseMatrixMatMul", "SparseMatrixTranspose", sums=None, close=16)
    def products():
        kind, fetched = kind_of(dtype), []
        a, deep = matrix(dtype), matrix(dtype, DEEP, DEEP_SHAPE)
        for turn in ({}, {"transpose_output": True}, {"conjugate_output": True}, {"transpose_output": True, "conjugate_output": True}):
            fetched.append(csr_ops.sparse_matrix_mat_mul(a, known(values(dtype, 3, 4)), **turn))
            fetched.append(csr_ops.sparse_matrix_mat_mul(deep, known(values(dtype, 3, 2, 5)), **turn))
        for turn in ({"transpose_a": True}, {"adjoint_a": True}):
            fetched.append(csr_ops.sparse_matrix_mat_mul(a, known(values(dtype, 2, 4)), **turn))
            fetched.append(csr_ops.sparse_matrix_mat_mul(deep, known(values(dtype, 3, 2, 5)), **turn))
        for turn in ({"transpose_b": True}, {"adjoint_b": True}):
            fetched.append(csr_ops.sparse_matrix_mat_mul(a, known(values(dtype, 4, 3)), **turn))
            fetched.append(csr_ops.sparse_matrix_mat_mul(deep, known(values(dtype, 3, 5, 2)), transpose_output=True, **turn))
        fetched.append(csr_ops.sparse_matrix_mat_mul(a, known(values(dtype, 3, 0))))
        for conjugate in (False, True):
            for m in (a, deep):
                fetched += list(csr_ops.csr_sparse_matrix_to_sparse_tensor(csr_ops.sparse_matrix_transpose(m, type=kind, conjugate=conjugate), type=kind))
        return fetched

    @graph("SparseMatrixSparseMatMul", close=16)
    def sparse_products():
        kind, fetched = kind_of(dtype), []
        a, b, deep = matrix(dtype), matrix(dtype), matrix(dtype, DEEP, DEEP_SHAPE)
        for turn in ({"transpose_a": True}, {"adjoint_b": True}, {"transpose_b": True}, {"adjoint_a": True}):
            fetched += list(csr_ops.csr_sparse_matrix_to_sparse_tensor(csr_ops.sparse_matrix_sparse_mat_mul(a, b, type=kind, **turn), type=kind))
        for turn in ({}, {"transpose_a": True, "adjoint_b": True}):
            fetched += list(csr_ops.csr_sparse_matrix_to_sparse_tensor(csr_ops.sparse_matrix_sparse_mat_mul(deep, deep, type=kind, **turn), type=kind))
        return fetched

    @graph("SparseMatrixOrderingAMD", "SparseMatrixSparseCholesky", close=64)
    def factors():
        kind = kind_of(dtype)
        dense = tensor([[9, 1, 0, 2], [1, 8, 0, 0], [0, 0, 7, 1], [2, 0, 1, 6]], dtype)
        at = tensor([[r, c] for r in range(4) for c in range(4) if dense[r, c] != 0], "int64")
        m = csr_ops.dense_to_csr_sparse_matrix(known(dense), known(at))
        order = csr_ops.sparse_matrix_ordering_amd(m)
        factor = csr_ops.sparse_matrix_sparse_cholesky(m, order, type=kind)
        return [order, *csr_ops.csr_sparse_matrix_to_sparse_tensor(factor, type=kind)]


for dtype in ("float", "double", "complex64", "complex128"):
    converted(dtype)
    multiplied(dtype)


def refused_by(op, build):
    @graph(op)
    def refused():
        return tf.nest.flatten(build())


for given in ([i(1), f32(1), SHAPE], [AT, f32(3, 1), SHAPE], [AT, f32(3), tensor(2, "int64")], [AT, f32(2), SHAPE], [AT, f32(3), i(2, 3, 4)],
              [AT, f32(3), i(1, 3)], [tensor([[0], [1]], "int64"), f32(2), i(2)], [i64(0, 4), f32(0), i(1, 1, 1, 1)], [i64(0, 2), f32(0), i(1 << 40, 3)]):
    refuse("SparseTensorToCSRSparseMatrix", given, known_shapes=True)
refuse("DenseToCSRSparseMatrix", [f32(3), AT], known_shapes=True)
refuse("DenseToCSRSparseMatrix", [f32(2, 3), i(1)], known_shapes=True)
refuse("DenseToCSRSparseMatrix", [f32(2, 3), DEEP], known_shapes=True)
refuse("DenseToCSRSparseMatrix", [f32(2, 2), AT], known_shapes=True)
refused_by("CSRSparseMatrixToDense", lambda: csr_ops.csr_sparse_matrix_to_dense(matrix(), type=tf.float64))
refused_by("CSRSparseMatrixToSparseTensor", lambda: csr_ops.csr_sparse_matrix_to_sparse_tensor(matrix(), type=tf.float64))
refused_by("CSRSparseMatrixComponents", lambda: csr_ops.csr_sparse_matrix_components(matrix(), known(tensor(1)), type=tf.float32))
refused_by("CSRSparseMatrixComponents", lambda: csr_ops.csr_sparse_matrix_components(matrix(), known(tensor(0)), type=tf.float64))
refused_by("SparseMatrixMatMul", lambda: csr_ops.sparse_matrix_mat_mul(matrix(), known(f32(2, 4))))
refused_by("SparseMatrixMatMul", lambda: csr_ops.sparse_matrix_mat_mul(matrix(), known(f64(3, 4))))
refused_by("SparseMatrixSparseMatMul", lambda: csr_ops.sparse_matrix_sparse_mat_mul(matrix(), matrix(), type=tf.float32))
refused_by("SparseMatrixSparseMatMul", lambda: csr_ops.sparse_matrix_sparse_mat_mul(matrix(), matrix(), type=tf.float64))
refused_by("SparseMatrixTranspose", lambda: csr_ops.sparse_matrix_transpose(matrix(), type=tf.float64))
refused_by("SparseMatrixOrderingAMD", lambda: csr_ops.sparse_matrix_ordering_amd(matrix()))


# Maps.
def mapped(dtype, key_dtype):
    @graph("EmptyTensorMap", "TensorMapInsert", "TensorMapLookup", "TensorMapErase", "TensorMapHasKey", "TensorMapSize", "TensorMapStackKeys")
    def maps():
        key, other = feed(values(key_dtype, 2, kind="zeros") if key_dtype != "string" else strings(2)), feed(values(key_dtype, 3))
        kind, key_kind = kind_of(dtype), kind_of(key_dtype)
        empty = tf.raw_ops.EmptyTensorMap()
        one = tf.raw_ops.TensorMapInsert(input_handle=empty, key=key, value=feed(values(dtype, 3)))
        two = tf.raw_ops.TensorMapInsert(input_handle=one, key=other, value=feed(values(dtype, 2, 2)))
        again = tf.raw_ops.TensorMapInsert(input_handle=one, key=key, value=feed(values(dtype, 0)))
        less = tf.raw_ops.TensorMapErase(input_handle=two, key=key, value_dtype=kind)
        look = lambda m, k: tf.raw_ops.TensorMapLookup(input_handle=m, key=k, value_dtype=kind)
        fetched = [tf.raw_ops.TensorMapSize(input_handle=m) for m in (empty, one, two, again, less)]
        fetched += [tf.raw_ops.TensorMapHasKey(input_handle=m, key=key) for m in (empty, one, two, again, less)]
        fetched += [look(one, key), look(two, key), look(two, other), look(again, key), look(less, other)]
        return fetched + [tf.raw_ops.TensorMapStackKeys(input_handle=m, key_dtype=key_kind) for m in (one, less)]


for dtype, key_dtype in (("float", "int32"), ("string", "string"), ("int64", "float"), ("bool", "int64"), ("complex64", "bool")):
    mapped(dtype, key_dtype)


def _map():
    return tf.raw_ops.TensorMapInsert(input_handle=tf.raw_ops.EmptyTensorMap(), key=feed(tensor([1, 2])), value=feed(f32(2)))


MISSING = (tensor(3), tensor([1, 2], "int64"), tensor([[1, 2], [3, 4]]), tensor(b"a\"b"), tensor(1.5, "float"))
for key in MISSING:
    refused_by("TensorMapLookup", lambda key=key: tf.raw_ops.TensorMapLookup(input_handle=_map(), key=feed(key), value_dtype=tf.float32))
    refused_by("TensorMapErase", lambda key=key: tf.raw_ops.TensorMapSize(input_handle=tf.raw_ops.TensorMapErase(input_handle=_map(), key=feed(key), value_dtype=tf.float32)))
refused_by("TensorMapStackKeys", lambda: tf.raw_ops.TensorMapStackKeys(input_handle=tf.raw_ops.EmptyTensorMap(), key_dtype=tf.int32))
refused_by("TensorMapStackKeys", lambda: tf.raw_ops.TensorMapStackKeys(input_handle=_map(), key_dtype=tf.int64))
refused_by("TensorMapStackKeys", lambda: tf.raw_ops.TensorMapStackKeys(input_handle=tf.raw_ops.TensorMapInsert(input_handle=_map(), key=feed(tensor(1)), value=feed(f32())), key_dtype=tf.int32))
refused_by("TensorMapHasKey", lambda: tf.raw_ops.TensorMapHasKey(input_handle=hidden(tf.stack([_map()])), key=feed(tensor(1))))
refused_by("TensorMapInsert", lambda: tf.raw_ops.TensorMapSize(input_handle=tf.raw_ops.TensorMapInsert(input_handle=hidden(tf.stack([_map()])), key=feed(tensor(1)), value=feed(f32()))))
exempt("EmptyTensorMap", "refusal", why="it takes no input")
refused_by("TensorMapSize", lambda: tf.raw_ops.TensorMapSize(input_handle=hidden(tf.stack([_map()]))))


# Composites.
def described(kind):
    metadata = composite_tensor_variant_pb2.CompositeTensorVariantMetadata()
    metadata.type_spec_proto.type_spec_class = kind
    return metadata.SerializeToString()


def _composite(kind, *parts):
    return tf.raw_ops.CompositeTensorVariantFromComponents(components=[feed(p) for p in parts], metadata=described(kind))


def composed(kind, parts):
    for ops in (("CompositeTensorVariantFromComponents", "CompositeTensorVariantToComponents"), ("CompositeTensorVariantToComponents", "CompositeTensorVariantFromComponents")):

        @graph(*ops)
        def composites():
            encoded = _composite(kind, *parts)
            components = tf.raw_ops.CompositeTensorVariantToComponents(encoded=encoded, metadata=described(kind), Tcomponents=[tf.as_dtype(dtype_of_array(p)) for p in parts])
            return [*components, tf.shape(encoded)]


exempt("CompositeTensorVariantFromComponents", "refusal", why="takes all components, and whatever describes them")
for kind, parts in ((3, [f32(3), i(0, 1, 3)]), (1, [AT, strings(3), SHAPE]), (2, [f32(0)]), (13, [boolean(2, 2), c64(3), f32()])):
    composed(kind, parts)
refused_by("CompositeTensorVariantFromComponents", lambda: tf.shape(tf.raw_ops.CompositeTensorVariantFromComponents(components=[feed(f32(2))], metadata=b"\xff")))
refused_by(
    "CompositeTensorVariantToComponents",
    lambda: list(tf.raw_ops.CompositeTensorVariantToComponents(encoded=_composite(3, f32(2)), metadata=b"\xff", Tcomponents=[tf.float32])),
)


def wrong_composite(build, kind, *dtypes):
    refused_by("CompositeTensorVariantToComponents", lambda: list(tf.raw_ops.CompositeTensorVariantToComponents(encoded=build(), metadata=described(kind), Tcomponents=list(dtypes))))


wrong_composite(lambda: _composite(3, f32(3)), 1, tf.float32)
wrong_composite(lambda: _composite(3, f32(3)), 3, tf.int32)
wrong_composite(lambda: _composite(3, f32(3)), 3, tf.float32, tf.float32)
