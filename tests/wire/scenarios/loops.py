"""Loops and conditionals with gradients, as the client of version 1 (Enter, Exit, ...) and of version 2 (While, If) writes them."""

import numpy as np

from .scene import scenario


@scenario("loops_v1_controlflow", loops="v1")
def loops_v1(scene):
    loops(scene)


@scenario("loops_v2_controlflow", loops="v2")
def loops_v2(scene):
    loops(scene)


def loops(scene):
    tf1 = scene.tf1
    tf1.enable_resource_variables()
    x = tf1.placeholder(tf1.float32, [2, 5, 3], name="x")
    with tf1.device(scene.setter()):
        recurrent = tf1.keras.layers.LSTM(4, return_sequences=True, recurrent_activation="hard_sigmoid",
                                          kernel_initializer=tf1.glorot_uniform_initializer(), recurrent_initializer=tf1.orthogonal_initializer())
        sequence = recurrent(x)
        scale = tf1.get_variable("scale", initializer=tf1.constant(1.5))
        power = tf1.while_loop(lambda i, v: i < 6, lambda i, v: [i + 1, tf1.tanh(v * scale) + v], [tf1.constant(0), x[:, 0, :]],
                               parallel_iterations=4)[1]
        squares = tf1.map_fn(lambda row: tf1.matmul(row, row, transpose_b=True), x)
        numbers = tf1.map_fn(lambda n: tf1.cast(n, tf1.float32) * scale, tf1.range(4), dtype=tf1.float32)
        sums = tf1.scan(lambda total, row: total + row, tf1.transpose(x, [1, 0, 2]))
        choice = tf1.cond(tf1.reduce_sum(x) > 0, lambda: scale * 2.0, lambda: scale - 3.0)
        loss = tf1.reduce_sum(sequence) + tf1.reduce_sum(power) + choice + tf1.reduce_sum(squares * 0.1) + tf1.reduce_sum(sums) * 0.01 + tf1.reduce_sum(numbers)
    variables = tf1.trainable_variables() + recurrent.trainable_weights
    variables = list({id(v): v for v in variables}.values())
    gradients = tf1.gradients(loss, [x, *variables])
    train = tf1.train.GradientDescentOptimizer(0.05).apply_gradients(list(zip(gradients[1:], variables)))
    rng = np.random.RandomState(2)
    with scene.session() as session:
        session.run(tf1.global_variables_initializer())
        for _ in range(3):
            feed = {x: rng.normal(size=[2, 5, 3])}
            scene.add("steps", session.run([loss, sequence, power, squares, sums, choice, gradients], feed))
            session.run(train, feed)
        scene.keep(weights=session.run(variables))
