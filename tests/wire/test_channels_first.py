"""Floats whose channels come first: the values are those that TensorFlow computes with channels last."""

import numpy as np
import pytest

import tensorflow as tf
from tensorflow.compat.v1 import Graph, Session, gradients

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
LAST3, FIRST3 = (0, 2, 3, 4, 1), (0, 4, 1, 2, 3)
rng = np.random.RandomState(7)


def numbers(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def spread(format, *spatial):
    return [1, 1, *spatial] if format[1] == "C" else [1, *spatial, 1]


CASES = {
    "conv": (numbers(2, 4, 7, 6), numbers(3, 2, 4, 6), lambda x, w, f: tf.nn.conv2d(x, w, spread(f, 2, 1), "SAME", f)),
    "dilated": (numbers(2, 4, 7, 6), numbers(3, 2, 4, 6), lambda x, w, f: tf.nn.conv2d(x, w, 1, "VALID", f, dilations=2)),
    "grouped": (numbers(2, 4, 7, 6), numbers(3, 2, 2, 6), lambda x, w, f: tf.nn.conv2d(x, w, 1, "SAME", f)),
    "depthwise": (numbers(2, 4, 7, 6), numbers(3, 2, 4, 2), lambda x, w, f: tf.nn.depthwise_conv2d(x, w, spread(f, 2, 2), "SAME", f)),
    "volume": (numbers(2, 3, 4, 5, 6), numbers(2, 3, 2, 3, 4), lambda x, w, f: tf.nn.conv3d(x, w, spread(f, 1, 2, 1), "SAME", f)),
    "bias": (numbers(2, 4, 3, 5), numbers(4), lambda x, w, f: tf.nn.bias_add(x, w, f)),
    "norm": (numbers(2, 4, 3, 5), numbers(4), lambda x, w, f: tf.compat.v1.nn.fused_batch_norm(x, w, w, data_format=f)[0]),
    "max": (numbers(2, 3, 7, 6), None, lambda x, w, f: tf.nn.max_pool2d(x, 3, 2, "SAME", f)),
    "avg": (numbers(2, 3, 7, 6), None, lambda x, w, f: tf.nn.avg_pool2d(x, 3, 2, "SAME", f)),
    "max3": (numbers(2, 3, 4, 5, 6), None, lambda x, w, f: tf.nn.max_pool3d(x, 2, 2, "SAME", f)),
    "avg3": (numbers(2, 3, 4, 5, 6), None, lambda x, w, f: tf.nn.avg_pool3d(x, 2, 2, "SAME", f)),
}
# TensorFlow's kernels without oneDNN refuse these gradients: one convolution for each group, one for each tap.
def by_groups(x, w, f):
    return tf.concat([tf.nn.conv2d(x[..., 2 * g : 2 * g + 2], w[..., 3 * g : 3 * g + 3], 1, "SAME") for g in range(2)], 3)


def by_taps(x, w, f):
    taps = [(i, j) for i in range(3) for j in range(2)]
    return tf.add_n([tf.nn.conv2d(x[:, 2 * i : 2 * i + 3, 2 * j : 2 * j + 4], w[i : i + 1, j : j + 1], 1, "VALID") for i, j in taps])


INSTEAD = {"grouped": by_groups, "dilated": by_taps}


def values(target, name, first, dtype):
    x, w, build = CASES[name]
    volume = x.ndim == 5
    if not first:
        x, build = x.transpose(LAST3 if volume else LAST), INSTEAD.get(name, build)
    format = ("NCDHW" if volume else "NCHW") if first else ("NDHWC" if volume else "NHWC")
    with Graph().as_default():
        a = tf.compat.v1.placeholder(dtype, x.shape)
        b = None if w is None else tf.compat.v1.placeholder(dtype, w.shape)
        y = build(a, b, format)
        seed = np.cos(np.arange(np.prod(y.shape), dtype=np.float32)).reshape(y.shape if first else [y.shape[i] for i in (FIRST3 if volume else FIRST)])
        if not first:
            seed = seed.transpose(LAST3 if volume else LAST)
        found = [y, *gradients(y, [a] if b is None else [a, b], tf.constant(seed, dtype))]
        feeds = {a: x} if b is None else {a: x, b: w}
        with Session(target) as session:
            found = session.run([tf.cast(t, tf.float32) for t in found], feeds)
    return found if first else [v.transpose(FIRST3 if volume else FIRST) if i < 2 else v for i, v in enumerate(found)]


@pytest.mark.parametrize("name", CASES)
def test_channels_first_gives_what_channels_last_gives(troupe, name):
    ours, theirs = values(troupe.target("worker/0"), name, True, tf.float32), values("", name, False, tf.float32)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["conv", "grouped", "max", "avg"])
def test_channels_first_in_sixteen_bits(troupe, name):
    ours, theirs = values(troupe.target("worker/0"), name, True, tf.bfloat16), values("", name, False, tf.float32)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=0.05, atol=0.2)


def spread_taps(w, axes, rate):
    """The filter of a dilated convolution as one without: zeros between its taps."""
    for axis in axes:
        shape = [*w.shape[:axis], w.shape[axis] * rate, *w.shape[axis + 1 :]]
        w = np.stack([w, *[np.zeros_like(w)] * (rate - 1)], axis + 1).reshape(shape)
    return w[tuple(slice(0, 1 - rate if i in axes else None) for i in range(w.ndim))]


def forward(target, build, *inputs):
    with Graph().as_default(), Session(target) as session:
        return session.run(build(*[tf.constant(v) for v in inputs]))


def dilated_volume(rate):
    def build(x, w, g):
        y = tf.raw_ops.Conv3D(input=x, filter=w, strides=[1] * 5, padding="VALID", dilations=[1, rate, rate, rate, 1])
        options = dict(out_backprop=g, strides=[1] * 5, padding="VALID", dilations=[1, rate, rate, rate, 1])
        return [y, tf.raw_ops.Conv3DBackpropInputV2(input_sizes=tf.shape(x), filter=w, **options),
                tf.raw_ops.Conv3DBackpropFilterV2(input=x, filter_sizes=tf.shape(w), **options)]  # fmt: skip

    return build


def test_volumes_are_dilated(troupe):
    x, w, g = numbers(2, 5, 6, 7, 3), numbers(2, 3, 2, 3, 4), numbers(2, 3, 2, 5, 4)
    ours = forward(troupe.target("worker/0"), dilated_volume(2), x, w, g)
    theirs = forward("", dilated_volume(1), x, spread_taps(w, (0, 1, 2), 2), g)
    theirs[2] = theirs[2][::2, ::2, ::2]
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


def test_channels_are_dilated_apart(troupe):
    def build(rate):
        return lambda x, w: tf.raw_ops.DepthwiseConv2dNative(input=x, filter=w, strides=[1] * 4, padding="VALID", dilations=[1, rate, rate, 1])

    x, w = numbers(2, 7, 8, 3), numbers(3, 2, 3, 2)
    np.testing.assert_allclose(forward(troupe.target("worker/0"), build(2), x, w), forward("", build(1), x, spread_taps(w, (0, 1), 2)), rtol=2e-5, atol=2e-5)


def test_channels_apart_may_have_uneven_strides(troupe):
    def build(columns):
        return lambda x, w: tf.raw_ops.DepthwiseConv2dNative(input=x, filter=w, strides=[1, 1, columns, 1], padding="VALID")

    x, w = numbers(2, 7, 8, 3), numbers(3, 2, 3, 2)
    np.testing.assert_allclose(forward(troupe.target("worker/0"), build(2), x, w), forward("", build(1), x, w)[:, :, ::2], rtol=2e-5, atol=2e-5)
