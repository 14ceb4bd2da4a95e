"""Steps on one node that compute little: what a step itself costs, and what a tiny op costs in it."""

import tensorflow as tf

from workloads import Row, workload

tf1 = tf.compat.v1


def null_step(cluster):
    with tf1.Graph().as_default():
        no_op, two = tf1.no_op(), tf1.constant(1.0) + 1.0
        with tf1.Session(cluster.target()) as session:
            cluster.check(session.run(two) == 2.0, "1 + 1")
            yield lambda: session.run(no_op)


workload(Row("null step, us", target="<= 0.5"), steps=2000, floor=True)(null_step)
workload(Row("null step without spin: server CPU, us", "cpu", target="<= 1.3 of the floor"),
         Row("null step without spin: thread sleeps", "sleeps", 1, target="<= 1.5"),
         Row("null step without spin, us", target="within 1.15 of the floor"), steps=2000, floor=True, spin_us=0)(null_step)


@workload(Row("fetch of a scalar, us", target="<= 0.6"), steps=2000, floor=True, answer_bytes=4)
def fetch_scalar(cluster):
    with tf1.Graph().as_default():
        x = tf1.constant(2.5)
        with tf1.Session(cluster.target()) as session:
            cluster.check(session.run(x) == 2.5, "a constant")
            yield lambda: session.run(x)


@workload(Row("feed of a scalar, us", target="<= 0.65"), steps=2000, floor=True, answer_bytes=4)
def feed_scalar(cluster):
    with tf1.Graph().as_default():
        x = tf1.placeholder(tf1.float32, [])
        y = x + 1.0
        with tf1.Session(cluster.target()) as session:
            cluster.check(session.run(y, {x: 2.0}) == 3.0, "2 + 1")
            yield lambda: session.run(y.op, {x: 2.0})


@workload(Row("chain of 1,000 scalar adds, us per op", scale=1e3, target="<= 0.5"), steps=200)
def chain(cluster):
    with tf1.Graph().as_default():
        x = y = tf1.placeholder(tf1.float32, [])
        for _ in range(1000):
            y = y + 1.0
        with tf1.Session(cluster.target()) as session:
            cluster.check(session.run(y, {x: 0.0}) == 1000.0, "1,000 additions")
            yield lambda: session.run(y, {x: 0.0})


@workload(Row("fan of 1,000 scalar adds, us per op", scale=1e3, target="<= 0.35"), steps=200)
def fan(cluster):
    with tf1.Graph().as_default():
        x = tf1.placeholder(tf1.float32, [])
        # Joined by a sum: TensorFlow drops what is only waited for.
        total = tf1.add_n([x + float(i) for i in range(1000)])
        with tf1.Session(cluster.target()) as session:
            cluster.check(session.run(total, {x: 1.0}) == 500500.0, "a sum of 1,000 sums")
            yield lambda: session.run(total, {x: 1.0})


@workload(Row("while loop of version 1, 1,000 iterations, us per iteration", scale=1e3, target="<= 0.25"), steps=100)
def while_loop(cluster):
    before = tf1.control_flow_v2_enabled()
    tf1.disable_control_flow_v2()
    try:
        with tf1.Graph().as_default():
            limit = tf1.placeholder(tf1.int32, [])
            count = tf1.while_loop(lambda i: i < limit, lambda i: i + 1, [tf1.constant(0)])
            with tf1.Session(cluster.target()) as session:
                cluster.check(session.run(count, {limit: 17}) == 17, "a count")
                yield lambda: session.run(count, {limit: 1000})
    finally:
        (tf1.enable_control_flow_v2 if before else tf1.disable_control_flow_v2)()


@workload(Row("open, one step, close a session, ms", scale=1e3, target="<= 0.6"), steps=50, floor=True, answer_bytes=4)
def session_life(cluster):
    with tf1.Graph().as_default():
        two = tf1.constant(1.0) + 1.0

        def live():
            with tf1.Session(cluster.target(), graph=two.graph) as session:
                return session.run(two)

        cluster.check(live() == 2.0, "1 + 1")
        yield live
