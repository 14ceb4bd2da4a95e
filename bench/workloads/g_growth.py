"""How the cost of a step grows with the graph and with the cluster."""

import tensorflow as tf

from workloads import curve

tf1 = tf.compat.v1


@curve("a step of N additions in a row", "graph nodes", [10, 30, 100, 300, 1000, 3000, 10_000], steps=lambda n: max(5, min(200, 200_000 // n)))
def nodes(cluster, n):
    with tf1.Graph().as_default():
        x = y = tf1.placeholder(tf1.float32, [])
        for _ in range(n):
            y = y + 1.0
        with tf1.Session(cluster.target()) as session:
            cluster.check(session.run(y, {x: 0.0}) == n, f"{n} additions")
            yield lambda: session.run(y, {x: 0.0})


@curve("a step that sums up a number of each of N tasks", "tasks", [1, 2, 4, 8, 16, 32], steps=lambda n: max(20, 200 // n),
       jobs=lambda n: {"worker": n}, most={"tensorflow": 8})  # a TensorFlow server is half a gigabyte
def tasks(cluster, n):
    with tf1.Graph().as_default():
        parts = []
        for task in range(n):
            with tf1.device(f"/job:worker/task:{task}"):
                parts.append(tf1.get_variable(f"v{task}", initializer=float(task), use_resource=False) + 1.0)
        with tf1.device("/job:worker/task:0"):
            total = tf1.add_n(parts)
        with tf1.Session(cluster.target("worker/0")) as session:
            session.run(tf1.global_variables_initializer())
            cluster.check(session.run(total) == n * (n + 1) / 2, f"a sum over {n} tasks")
            yield lambda: session.run(total)
