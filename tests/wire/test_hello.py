"""The first words: a client of TensorFlow's own says hello to Troupe nodes."""

import numpy as np

from conftest import Node, troupe_binary


def test_a_local_server_sends_a_string_back(tf1):
    node = Node([troupe_binary(), "node", "--port=0"]).wait_until_serving()
    try:
        hello = tf1.constant("Hello, troupe")
        with tf1.Session(node.target) as session:
            assert session.run(hello) == b"Hello, troupe"
            assert session.list_devices()[0].name == "/job:local/replica:0/task:0/device:CPU:0"
    finally:
        assert node.stop() == 0


def test_each_task_of_a_cluster_says_hello(either, tf1):
    greetings = []
    for task in ("/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"):
        with tf1.device(task):
            greetings.append(tf1.constant("hello from " + task))
    with tf1.Session(either.target("worker/0")) as session:
        assert session.run(greetings) == [b"hello from /job:ps/task:0", b"hello from /job:worker/task:0", b"hello from /job:worker/task:1"]


def test_a_sum_over_tasks(either, tf1):
    x = tf1.placeholder(tf1.float32, [None, 2], name="x")
    with tf1.device("/job:ps/task:0"):
        w = tf1.constant([[1.0], [2.0]])
    with tf1.device("/job:worker/task:1"):
        y = tf1.matmul(x, w)
    with tf1.Session(either.target("worker/0")) as session:
        np.testing.assert_array_equal(session.run(y, {x: [[1, 1], [2, 3]]}), [[3.0], [8.0]])
