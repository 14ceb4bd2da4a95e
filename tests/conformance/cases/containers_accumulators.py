"""Gradient accumulators: dense and sparse, means and sums, stale gradients, what does not fit.

Gradients of a wrong type and steps that are no scalars have no case: TensorFlow aborts on them.
"""

from framework import *
from values import *

import tensorflow as tf

raw = tf.raw_ops


def dense(by_handle, dtype, shape, reduction="MEAN"):
    if by_handle:
        a = raw.ResourceConditionalAccumulator(dtype=dtype, shape=shape, reduction_type=reduction)
        prefix = "ResourceAccumulator"
    else:
        a = raw.ConditionalAccumulator(dtype=dtype, shape=shape, reduction_type=reduction)
        prefix = "Accumulator"
    return a, lambda op: getattr(raw, prefix + op)


for by_handle in (False, True):
    for name in ("half", "float", "double"):
        for reduction in ("MEAN", "SUM"):

            @graph("ResourceConditionalAccumulator" if by_handle else "ConditionalAccumulator",
                   *(("ResourceAccumulator" if by_handle else "Accumulator") + op for op in ("ApplyGradient", "TakeGradient", "NumAccumulated", "SetGlobalStep")))
            def whole_life(by_handle=by_handle, name=name, reduction=reduction):
                dtype = tf.as_dtype(number_of(name))
                a, op = dense(by_handle, dtype, [2, 3], reduction)
                apply = [op("ApplyGradient")(handle=a, local_step=np.int64(s), gradient=feed(values(name, 2, 3))) for s in (0, 0, 1, 5)]
                take = op("TakeGradient")(handle=a, num_required=2, dtype=dtype)
                count = op("NumAccumulated")(handle=a)
                later = op("SetGlobalStep")(handle=a, new_global_step=np.int64(5))
                return steps(apply[0], apply[1], count, take, count, apply[0], count, apply[2], later, apply[2], count, apply[3], take, count)


for by_handle in (False, True):

    @graph("ResourceConditionalAccumulator" if by_handle else "ConditionalAccumulator", "AccumulatorApplyGradient", "AccumulatorTakeGradient",
           "ResourceAccumulatorApplyGradient", "ResourceAccumulatorTakeGradient", "AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep")
    def refusals(by_handle=by_handle):
        a, op = dense(by_handle, tf.float32, [2, None])
        apply = lambda g, s=0: op("ApplyGradient")(handle=a, local_step=feed(s, "int64"), gradient=feed(g))
        return steps(
            apply(f32(3, 2)), apply(f32(2)), apply(f32(2, 2)), apply(f32(2, 3)),
            op("TakeGradient")(handle=a, num_required=feed(0, "int32"), dtype=tf.float32),
            op("TakeGradient")(handle=a, num_required=feed(1, "int32"), dtype=tf.float32),
            op("NumAccumulated")(handle=a),
        )  # fmt: skip

    @graph("ResourceConditionalAccumulator" if by_handle else "ConditionalAccumulator")
    def empty_gradients(by_handle=by_handle):
        a, op = dense(by_handle, tf.float32, [0, 3])
        apply = op("ApplyGradient")(handle=a, local_step=np.int64(0), gradient=feed(f32(0, 3)))
        return steps(apply, apply, op("TakeGradient")(handle=a, num_required=2, dtype=tf.float32))


def sparse_apply(a, indices, grads, shape=(), step=0, known=None):
    return raw.SparseAccumulatorApplyGradient(
        handle=a, local_step=np.int64(step), gradient_indices=feed(np.array(indices, dtype=np.int64)), gradient_values=feed(grads),
        gradient_shape=feed(np.array(shape, dtype=np.int64)), has_known_shape=len(shape) > 0 if known is None else known)  # fmt: skip


for name in ("half", "float", "double"):
    for reduction in ("MEAN", "SUM"):

        @graph("SparseConditionalAccumulator", "SparseAccumulatorApplyGradient", "SparseAccumulatorTakeGradient")
        def sparse(name=name, reduction=reduction):
            dtype = tf.as_dtype(number_of(name))
            a = raw.SparseConditionalAccumulator(dtype=dtype, shape=[10, 2], reduction_type=reduction)
            take = raw.SparseAccumulatorTakeGradient(handle=a, num_required=2, dtype=dtype)
            return steps(
                sparse_apply(a, [1, 3, 7], values(name, 3, 2), (10, 2)), sparse_apply(a, [0, 3, 8, 9], values(name, 4, 2)), take,
                sparse_apply(a, [2], values(name, 1, 2), step=0), raw.AccumulatorNumAccumulated(handle=a),
                sparse_apply(a, [], values(name, 0, 2), step=1), sparse_apply(a, [4, 5], values(name, 2, 2), step=1),
                sparse_apply(a, [4], values(name, 1, 2), step=2), take,
            )  # fmt: skip


@graph("SparseConditionalAccumulator", "SparseAccumulatorApplyGradient", "SparseAccumulatorTakeGradient")
def sparse_refusals():
    a = raw.SparseConditionalAccumulator(dtype=tf.float32, shape=[4, 2])
    b = raw.SparseConditionalAccumulator(dtype=tf.float32, shape=tf.TensorShape(None))
    return steps(
        sparse_apply(a, [4], f32(1, 2)), sparse_apply(a, [1], f32(1, 3)), sparse_apply(a, [1], f32(1)), sparse_apply(a, [1, 2], f32(1, 2)),
        sparse_apply(a, [[1]], f32(1, 2)), sparse_apply(a, [1], f32()), sparse_apply(a, [1], f32(1, 2), (4,)), sparse_apply(a, [1], f32(1, 2), (4, 3)),
        sparse_apply(b, [1], f32(1, 2)), sparse_apply(b, [1], f32(1, 3)), sparse_apply(b, [1], f32(1)),
        raw.SparseAccumulatorTakeGradient(handle=b, num_required=feed(-1, "int32"), dtype=tf.float32),
        raw.SparseAccumulatorTakeGradient(handle=b, num_required=1, dtype=tf.float32),
    )  # fmt: skip


for op in ("AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep", "AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated"):
    exempt(op, "empty", "refusal", why="takes a scalar and accepts any")
for op in ("ConditionalAccumulator", "ResourceConditionalAccumulator", "SparseConditionalAccumulator"):
    exempt(op, "refusal", why="accepts any name")
