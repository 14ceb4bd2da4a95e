"""Steps of a worker and a parameter server."""

import numpy as np
import tensorflow as tf

from workloads import Row, workload

tf1 = tf.compat.v1
PAIR = {"ps": 1, "worker": 1}
PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


def transfer(cluster, count):
    with tf1.Graph().as_default():
        with tf1.device(PS):
            v = tf1.get_variable("v", initializer=tf1.fill([count], 2.0), use_resource=False)
            there = tf1.identity(v) if count == 1 else v
        with tf1.device(WORKER):
            here = there[-1] + 1.0
        with tf1.Session(cluster.target("worker/0")) as session:
            session.run(v.initializer)
            cluster.check(session.run(here) == 3.0, "a value from the ps")
            yield lambda: session.run(here.op)


@workload(Row("4 bytes from ps to worker in a step, us", target="<= 0.45"), steps=500, jobs=PAIR)
def small_transfer(cluster):
    yield from transfer(cluster, 1)


@workload(Row("64 MB from ps to worker in a step, MB/s", "rate", 67.108864, target=">= 2.2"), steps=5, jobs=PAIR)
def bulk_transfer(cluster):
    yield from transfer(cluster, 1 << 24)


def training_step(cluster):
    with tf1.Graph().as_default():
        with tf1.device(PS):
            variables = [tf1.get_variable(f"v{i}", [10_000], initializer=tf1.zeros_initializer(), use_resource=False) for i in range(20)]
        with tf1.device(WORKER):
            loss = tf1.add_n([tf1.reduce_sum(tf1.square(v - 1.0)) for v in variables])
            train = tf1.train.GradientDescentOptimizer(0.25).minimize(loss)
        with tf1.Session(cluster.target("worker/0")) as session:
            session.run(tf1.global_variables_initializer())
            session.run(train)
            cluster.check(np.allclose(session.run(variables[7]), 0.5), "a step of gradient descent")
            before = session.run(loss)
            yield lambda: session.run(train)
            cluster.check(session.run(loss) < 0.3 * before, "training")


workload(Row("ps training step, 20 variables of 10,000 floats, steps/s", "rate", 1, target=">= 4"), steps=100, jobs=PAIR)(training_step)
workload(Row("ps training step without spin: server CPU, us", "cpu", target="<= 0.2"),
         Row("ps training step without spin: thread sleeps, both servers", "sleeps", 1, target="<= 12"), steps=100, jobs=PAIR, spin_us=0)(training_step)


def embedding(cluster, use_resource):
    with tf1.Graph().as_default():
        random = np.random.RandomState(3)
        rows = random.randint(0, 1_000_000, 4096)
        with tf1.device(PS):
            table = tf1.get_variable("table", [1_000_000, 64], initializer=tf1.ones_initializer(), use_resource=use_resource)
        with tf1.device(WORKER):
            ids = tf1.placeholder(tf1.int64, [4096])
            loss = tf1.reduce_sum(tf1.square(tf1.nn.embedding_lookup(table, ids)))
            train = tf1.train.AdagradOptimizer(0.05).minimize(loss)
        with tf1.Session(cluster.target("worker/0")) as session:
            session.run(tf1.global_variables_initializer())
            before = session.run(loss, {ids: rows})
            yield lambda: session.run(train, {ids: rows})
            cluster.check(before == 4096 * 64 and session.run(loss, {ids: rows}) < before, "training of an embedding")


@workload(Row("ps embedding, 1M x 64, 4,096 rows, sparse Adagrad, steps/s", "rate", 1, target=">= 3"), steps=30, jobs=PAIR)
def embedding_of_references(cluster):
    yield from embedding(cluster, False)


@workload(Row("the same with resource variables, steps/s", "rate", 1, target=">= 3"), steps=30, jobs=PAIR)
def embedding_of_resources(cluster):
    yield from embedding(cluster, True)
