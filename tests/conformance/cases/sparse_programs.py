"""Programs with sparse and ragged tensors, as people write them: through the Python API, with gradients."""

import tensorflow as tf
from tensorflow.python.ops.linalg.sparse import sparse_csr_matrix_ops

from framework import *
from values import *

tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
plain = tf.autograph.experimental.do_not_convert
AT = tensor([[0, 1], [1, 0], [1, 2]], "int64")


def known(array):
    return tf.ensure_shape(feed(array), array.shape)


def sparse(dtype="float", at=AT, shape=(2, 3)):
    return tf.SparseTensor(known(at), known(values(dtype, at.shape[0])), tensor(list(shape), "int64"))


def parts(s):
    return [s.indices, s.values, s.dense_shape]


def ragged(dtype="float", splits=(0, 2, 2, 5, 6)):
    return tf.RaggedTensor.from_row_splits(known(values(dtype, splits[-1])), known(tensor(list(splits), "int64")))


def rows(r):
    return [r.flat_values, *r.nested_row_splits]


@graph("SparseToDense", "SparseReorder", "SparseConcat", "SparseSlice", "SparseReshape")
def shapes():
    a, b = sparse(), sparse(at=tensor([[0, 0], [1, 3]], "int64"), shape=(2, 4))
    fetched = [tf.sparse.to_dense(a), tf.sparse.to_dense(a, default_value=7.0)]
    fetched += parts(tf.sparse.concat(1, [a, b])) + parts(tf.sparse.concat(0, [a, b], expand_nonconcat_dims=True))
    fetched += parts(tf.sparse.transpose(a)) + parts(tf.sparse.reshape(a, [3, -1])) + parts(tf.sparse.slice(b, [0, 1], [2, 3]))
    fetched += parts(tf.sparse.retain(a, [True, False, True])) + parts(tf.sparse.reset_shape(a, [4, 5])) + parts(tf.sparse.expand_dims(a, 1))
    for one in tf.sparse.split(sp_input=b, num_split=2, axis=1):
        fetched += parts(one)
    filled, empty = tf.sparse.fill_empty_rows(tf.SparseTensor(known(tensor([[1, 0]], "int64")), known(f32(1)), [3, 2]), 5.0)
    fetched += parts(filled) + [empty, tf.sparse.to_indicator(sparse("int64", at=tensor([[0, 0], [1, 0]], "int64")) * 0, 4)]
    return fetched + parts(tf.sparse.from_dense(known(tensor([[0, 1], [2, 0]], "float")))) + parts(tf.sparse.eye(3))


@graph("SparseTensorDenseMatMul", "SparseAdd", "SparseReduceSum", "SparseSoftmax", "SparseDenseCwiseMul", close=16)
def arithmetic():
    a, b = sparse(), sparse(at=tensor([[0, 0], [1, 0]], "int64"))
    dense = known(f32(2, 3))
    fetched = parts(tf.sparse.add(a, b)) + [tf.sparse.add(a, dense), tf.sparse.reduce_sum(a), tf.sparse.reduce_sum(a, 1, keepdims=True), tf.sparse.reduce_max(a, 0)]
    fetched += parts(tf.sparse.maximum(a, b)) + parts(tf.sparse.minimum(a, b)) + parts(a * dense) + parts(a / (dense * dense + 1.0)) + parts(tf.sparse.softmax(a))
    return fetched + [tf.sparse.sparse_dense_matmul(a, known(f32(3, 4))), tf.sparse.sparse_dense_matmul(a, known(f32(2, 4)), adjoint_a=True)]


@graph("SparseAddGrad", "SparseSliceGrad", "SparseFillEmptyRowsGrad", "SparseTensorDenseMatMul", close=16)
def gradients():
    a, b, dense = sparse(), sparse(at=tensor([[0, 0], [1, 0]], "int64")), known(f32(3, 4))
    losses = [
        tf.sparse.add(a, b).values * 3.0,
        tf.sparse.slice(a, [0, 1], [2, 2]).values * 2.0,
        tf.sparse.fill_empty_rows(tf.SparseTensor(a.indices, a.values, [4, 3]), 1.0)[0].values,
        tf.sparse.sparse_dense_matmul(a, dense),
        tf.sparse.reduce_sum(a, 1),
        tf.sparse.to_dense(a) * 5.0,
        tf.sparse.softmax(a).values * known(f32(3)),
        tf.sparse.reorder(a).values * known(f32(3)),
        (a * known(f32(2, 3))).values,
        tf.sparse.concat(0, [a, a]).values * known(f32(6)),
        tf.sparse.add(a, known(f32(2, 3))),
        tf.sparse.transpose(a).values * known(f32(3)),
    ]
    return [tf.gradients(loss, a.values)[0] for loss in losses] + [tf.gradients(losses[3], dense)[0]]


@graph("SparseCross", "SparseCrossHashed", "SparseCrossV2", "SparseBincount", "SparseFillEmptyRows", close=16)
def features():
    texts = tf.SparseTensor(known(AT), known(strings(3)), [2, 3])
    more = tf.SparseTensor(known(tensor([[0, 0], [1, 0]], "int64")), known(strings(2)), [2, 2])
    fetched = parts(tf.sparse.cross([texts, more])) + parts(tf.sparse.cross([texts, more], separator="-")) + parts(tf.sparse.cross_hashed([texts, more], num_buckets=50, hash_key=123))
    ids = tf.SparseTensor(known(AT), known(tensor([1, 3, 0], "int64")), [3, 3])
    weights = tf.SparseTensor(known(AT), known(f32(3, kind="positive")), [3, 3])
    params = known(f32(5, 4))
    for combiner in ("sum", "mean", "sqrtn"):
        fetched.append(tf.nn.embedding_lookup_sparse(params, tf.SparseTensor(ids.indices, ids.values, [2, 3]), None, combiner=combiner))
        fetched.append(tf.nn.safe_embedding_lookup_sparse(params, ids, weights, combiner=combiner, default_id=2))
    fetched += parts(tf.sparse.bincount(ids, axis=-1)) + [tf.math.bincount(known(tensor([1, 1, 4])))]
    one, two = tf.nn.embedding_lookup_sparse(params, ids, weights, combiner="mean"), tf.nn.safe_embedding_lookup_sparse(params, ids)
    return fetched + [tf.convert_to_tensor(tf.gradients(one, params)[0]), tf.convert_to_tensor(tf.gradients(two, params)[0])]


@graph("RaggedTensorToTensor", "RaggedTensorToSparse", "RaggedGather", "RaggedRange", "RaggedTensorToVariant", close=16)
def ragged_rows():
    a, b = ragged(), ragged(splits=(0, 1, 3, 3, 4))
    nested = tf.RaggedTensor.from_row_splits(a, known(tensor([0, 1, 4], "int64")))
    fetched = [a.to_tensor(), a.to_tensor(default_value=9.0, shape=[3, 2]), nested.to_tensor(), a.bounding_shape(), a.value_rowids(), a.row_lengths()]
    for r in (a + a * 2.0, tf.concat([a, b], axis=1), tf.concat([a, b], axis=0), tf.stack([a, b], axis=0), tf.gather(a, [3, 0, 0]), tf.gather(nested, [[1], [0]]), a[1:], a[:, :1], a[:, ::-1],
              tf.ragged.range(known(tensor([0, 3])), known(tensor([3, 9])), 2), tf.ragged.boolean_mask(a, a > 0.0), tf.tile(a, [2, 1]), tf.map_fn(tf.identity, a), tf.RaggedTensor.from_sparse(a.to_sparse()),
              tf.ragged.cross([ragged("string"), ragged("string")]), tf.ragged.cross_hashed([ragged("int64"), ragged("string")], num_buckets=30), tf.reverse(a, [1]),
              tf.expand_dims(a, 0), tf.strings.split(known(tensor([b"a b", b"", b"c d e"])))):
        fetched += rows(r)
    fetched += [tf.reduce_sum(a, 1), tf.reduce_mean(a, 0), tf.reduce_max(b, 1), tf.reduce_sum(nested, 2).flat_values, *parts(nested.to_sparse())]
    return fetched


@graph("RaggedTensorToTensor", "RaggedTensorToVariantGradient", "RaggedTensorFromVariant", close=16)
def ragged_gradients():
    a = ragged()
    losses = [a.to_tensor() * 2.0, tf.reduce_sum(a * a, 1), tf.gather(a, [0, 2, 2]).flat_values, tf.concat([a, a], 1).flat_values * known(f32(12)), a.to_sparse().values * 3.0,
              tf.map_fn(plain(lambda r: tf.reduce_sum(r * r)), a, fn_output_signature=tf.float32), tf.map_fn(plain(lambda r: r * r), a).flat_values]
    return [tf.convert_to_tensor(tf.gradients(loss, a.flat_values)[0]) for loss in losses]


@graph("ZerosLike", "AddN", "Conj", close=16)
def arithmetic_of_variants():
    a, b = ragged(), ragged()
    as_variant = lambda r: tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=list(r.nested_row_splits), rt_dense_values=r.flat_values, batched_input=False)
    back = lambda v: tf.nest.flatten(tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=v, output_ragged_rank=1, Tvalues=tf.float32, Tsplits=tf.int64, input_ragged_rank=1))
    fetched = back(tf.raw_ops.ZerosLike(x=as_variant(a))) + back(tf.raw_ops.AddN(inputs=[as_variant(a), as_variant(b), as_variant(a)]))
    key = tf.constant(3)
    one = tf.raw_ops.TensorMapInsert(input_handle=tf.raw_ops.EmptyTensorMap(), key=key, value=known(f32(3)))
    two = tf.raw_ops.TensorMapInsert(input_handle=tf.raw_ops.TensorMapInsert(input_handle=tf.raw_ops.EmptyTensorMap(), key=key, value=known(f32(3))), key=tf.constant(4), value=known(f32(2)))
    both = tf.raw_ops.AddN(inputs=[one, two])
    fetched += [tf.raw_ops.TensorMapLookup(input_handle=both, key=k, value_dtype=tf.float32) for k in (key, tf.constant(4))]
    fetched += [tf.raw_ops.TensorMapSize(input_handle=m) for m in (both, tf.raw_ops.ZerosLike(x=both))]
    lists = [tf.raw_ops.TensorListFromTensor(tensor=known(f32(3, 2)), element_shape=tensor([2])) for _ in range(3)]
    for handle in (tf.raw_ops.AddN(inputs=lists), tf.raw_ops.ZerosLike(x=lists[0])):
        fetched.append(tf.raw_ops.TensorListStack(input_handle=handle, element_shape=tensor([2]), element_dtype=tf.float32))
    return fetched


def refused_arithmetic(build):
    @graph("ZerosLike", "AddN")
    def refused():
        return tf.raw_ops.TensorMapSize(input_handle=build())


def _other():
    return tf.raw_ops.CompositeTensorVariantFromComponents(components=[known(f32(2))], metadata=b"")


refused_arithmetic(lambda: tf.raw_ops.ZerosLike(x=_other()))
refused_arithmetic(lambda: tf.raw_ops.ZerosLike(x=tf.stack([tf.raw_ops.EmptyTensorMap()])))
refused_arithmetic(lambda: tf.raw_ops.AddN(inputs=[_other(), _other()]))
refused_arithmetic(lambda: tf.raw_ops.AddN(inputs=[_other(), tf.raw_ops.EmptyTensorMap()]))
refused_arithmetic(lambda: tf.raw_ops.AddN(inputs=[tf.stack([tf.raw_ops.EmptyTensorMap()])] * 2))


@graph("SparseMatrixMatMul", "SparseMatrixSparseMatMul", "SparseMatrixTranspose", close=16)
def compressed_rows():
    dense, other = known(tensor([[0, 1, 2], [3, 0, 0]], "float")), known(f32(3, 4))
    m = sparse_csr_matrix_ops.CSRSparseMatrix(dense)
    product = sparse_csr_matrix_ops.matmul(m, other)
    twice = sparse_csr_matrix_ops.matmul(m, m, transpose_b=True)
    return [m.to_dense(), product, twice.to_dense(), *parts(m.to_sparse_tensor()), tf.gradients(product, other)[0], tf.gradients(product, dense)[0]]


def feature_columns():
    column = tf.feature_column
    price = column.numeric_column("price")
    word = column.categorical_column_with_vocabulary_list("word", ["a", "b", "c"], num_oov_buckets=2)
    hashed = column.categorical_column_with_hash_bucket("word", 7)
    number = column.categorical_column_with_identity("number", 6, default_value=0)
    bucketed = column.bucketized_column(price, [-1.0, 0.0, 1.0])
    crossed = column.crossed_column([bucketed, "word"], 20)
    return price, word, hashed, number, bucketed, crossed


def example_features():
    at = tensor([[0, 0], [0, 1], [2, 0]], "int64")
    return {
        "price": known(f32(4, 1)),
        "word": tf.SparseTensor(known(at), known(tensor([b"a", b"z", b"c"])), [4, 2]),
        "number": tf.SparseTensor(known(at), known(tensor([1, 5, 3], "int64")), [4, 2]),
        "weight": tf.SparseTensor(known(at), known(f32(3)), [4, 2]),
    }


@graph("SparseCross", "SparseFillEmptyRows", "SparseToDense", close=16)
def input_layer():
    price, word, hashed, number, bucketed, crossed = feature_columns()
    ones = tf.compat.v1.initializers.constant(0.5)
    columns = [price, bucketed, tf.feature_column.indicator_column(word), tf.feature_column.indicator_column(crossed)]
    columns += [tf.feature_column.embedding_column(c, 3, initializer=ones) for c in (hashed, number)]
    columns.append(tf.feature_column.embedding_column(tf.feature_column.weighted_categorical_column(number, "weight"), 2, initializer=ones, combiner="sqrtn"))
    layer = tf.compat.v1.feature_column.input_layer(example_features(), columns)
    return steps([tf.compat.v1.global_variables_initializer(), tf.compat.v1.tables_initializer()], [layer])


@graph("SparseCross", "SparseTensorDenseMatMul", "SparseReshape", close=16)
def linear_model():
    price, word, hashed, number, bucketed, crossed = feature_columns()
    logits = tf.compat.v1.feature_column.linear_model(example_features(), [price, bucketed, word, number, crossed], units=2)
    loss = tf.reduce_sum((logits - 1.0) ** 2)
    train = tf.compat.v1.train.FtrlOptimizer(0.1).minimize(loss)
    return steps([tf.compat.v1.global_variables_initializer(), tf.compat.v1.tables_initializer()], [loss], [train], [loss], [train], [loss])
