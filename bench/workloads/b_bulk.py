"""64 MB between the client and one node."""

import numpy as np
import tensorflow as tf

from workloads import Row, workload

tf1 = tf.compat.v1
COUNT = 1 << 24
MEGABYTES = COUNT * 4 / 1e6


@workload(Row("fetch of 64 MB, MB/s", "rate", MEGABYTES, target=">= 1.05"), steps=5, floor=True, answer_bytes=COUNT * 4)
def fetch_bulk(cluster):
    with tf1.Graph().as_default():
        v = tf1.get_variable("v", initializer=tf1.fill([COUNT], 3.0), use_resource=False)
        read = v.value()
        with tf1.Session(cluster.target()) as session:
            if cluster.computes:
                session.run(v.initializer)
            value = session.run(read)
            cluster.check(value.shape == (COUNT,) and value[0] == 3.0 and value[-1] == 3.0, "64 MB of threes")
            yield lambda: session.run(read)


@workload(Row("feed of 64 MB, MB/s", "rate", MEGABYTES, target=">= 1.05"), steps=5, floor=True, answer_bytes=4)
def feed_bulk(cluster):
    with tf1.Graph().as_default():
        x = tf1.placeholder(tf1.float32, [COUNT])
        last = x[-1]
        value = np.arange(COUNT, dtype=np.float32)
        with tf1.Session(cluster.target()) as session:
            cluster.check(session.run(last, {x: value}) == value[-1], "the last of 64 MB")
            yield lambda: session.run(last.op, {x: value})
