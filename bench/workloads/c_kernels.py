"""Kernels that are bound by the machine's arithmetic."""

import numpy as np
import tensorflow as tf

from workloads import Row, workload

tf1 = tf.compat.v1


@workload(Row("matmul 1024, GFLOP/s", "rate", 2 * 1024**3 / 1e9 * 10, target=">= 1.1"), steps=5)
def matmul(cluster):
    with tf1.Graph().as_default():
        start = np.random.RandomState(1).uniform(-0.05, 0.05, [1024, 1024]).astype(np.float32)
        a = tf1.get_variable("a", initializer=start)
        y = a
        for _ in range(10):
            y = tf1.matmul(y, a)
        corner = y[0, 0]
        with tf1.Session(cluster.target()) as session:
            session.run(a.initializer)
            want = np.linalg.matrix_power(start.astype(np.float64), 11)[0, 0]
            cluster.check(abs(session.run(corner) - want) < 1e-3 * max(1.0, abs(want)), "a power of a matrix")
            yield lambda: session.run(corner)


@workload(Row("conv 5x5x32 forward and backward, batch 64, steps/s", "rate", 1, target=">= 1.1"), steps=20)
def conv(cluster):
    with tf1.Graph().as_default():
        random = np.random.RandomState(2)
        images = tf1.get_variable("images", initializer=random.uniform(0, 1, [64, 28, 28, 1]).astype(np.float32))
        weights = tf1.get_variable("weights", initializer=random.uniform(-0.1, 0.1, [5, 5, 1, 32]).astype(np.float32))
        y = tf1.nn.conv2d(images, weights, strides=1, padding="SAME")
        loss = tf1.reduce_sum(tf1.square(y))
        gradient = tf1.gradients(loss, weights)[0]
        both = [loss, tf1.reduce_sum(gradient)]  # fetched, since TensorFlow leaves out what nobody looks at
        with tf1.Session(cluster.target()) as session:
            session.run(tf1.global_variables_initializer())
            pixels, outputs, got = session.run([images, y, gradient])
            want = 2 * (pixels[..., 0] * outputs[..., 5]).sum()  # the middle tap of the filter sees every pixel once
            cluster.check(abs(got[2, 2, 0, 5] - want) < 1e-3 * abs(want), "a gradient of a convolution")
            yield lambda: session.run(both)
