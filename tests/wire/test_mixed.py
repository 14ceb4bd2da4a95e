"""Troupe and TensorFlow tasks in one cluster, whichever of them is the master."""

import pytest
from conftest import running

MIXES = {
    "tensorflow_ps": {"ps/0": "tensorflow"},
    "tensorflow_worker": {"worker/1": "tensorflow"},
    "tensorflow_master": {"worker/0": "tensorflow"},
}


@pytest.fixture(params=MIXES, scope="module")
def mixed(request):
    with running("troupe", {"ps": 1, "worker": 2}, kinds=MIXES[request.param]) as cluster:
        yield cluster


def test_variables_and_towers(mixed, tf1):
    """Values, strings, dead branches and control edges cross every border."""
    with tf1.device("/job:ps/task:0"):
        v = tf1.get_variable("v", initializer=tf1.constant([1.0, 2.0]))
        name = tf1.constant("a name")
    towers = []
    for task in range(2):
        with tf1.device(f"/job:worker/task:{task}"):
            x = tf1.placeholder(tf1.float32, [], name=f"x{task}")
            towers.append(tf1.cond(x > 0.0, lambda x=x: tf1.reduce_sum(v * x), lambda x=x: -tf1.reduce_max(v)))
    with tf1.device("/job:ps/task:0"):
        total = tf1.add_n(towers)
        with tf1.control_dependencies(towers):
            update = tf1.assign_add(v, [1.0, 1.0])
    with tf1.device("/job:worker/task:1"):
        greeting = tf1.strings.join([name, "x"], "-")
    with tf1.Session(mixed.target("worker/0")) as session:
        session.run(tf1.global_variables_initializer())
        assert session.run(total, {"x0:0": 2.0, "x1:0": -1.0}) == 4.0
        assert session.run(update, {"x0:0": 2.0, "x1:0": 1.0}).tolist() == [2.0, 3.0]
        assert session.run(greeting) == b"a name-x"


def test_loop_over_tasks(mixed, tf1):
    with tf1.device("/job:worker/task:0"):
        limit = tf1.placeholder(tf1.int32, [])

        def body(i, total):
            with tf1.device("/job:worker/task:1"):
                square = i * i
            with tf1.device("/job:ps/task:0"):
                return i + 1, total + square

        _, total = tf1.while_loop(lambda i, total: i < limit, body, [tf1.constant(0), tf1.constant(0)])
    with tf1.Session(mixed.target("worker/0")) as session:
        assert session.run(total, {limit: 10}) == sum(i * i for i in range(10))
        assert session.run(total, {limit: 0}) == 0


def test_errors_cross_the_border(mixed, tf1):
    with tf1.device("/job:ps/task:0"):
        x = tf1.placeholder(tf1.float32, name="x")
        checked = tf1.check_numerics(x, "seen on the ps")
    with tf1.device("/job:worker/task:1"):
        y = checked * 2.0
    with tf1.Session(mixed.target("worker/0")) as session:
        assert session.run(y, {x: 1.0}) == 2.0
        with pytest.raises(tf1.errors.InvalidArgumentError, match="seen on the ps : Tensor had NaN values"):
            session.run(y, {x: float("nan")})
        assert session.run(y, {x: 2.0}) == 4.0


def test_training(mixed, tf1):
    """A regression with replica_device_setter: gradients on one side, variables on the other."""
    with tf1.device(tf1.train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:1")):
        x = tf1.constant([[0.0], [1.0], [2.0], [3.0]])
        w, b = tf1.get_variable("w", [1, 1], initializer=tf1.zeros_initializer()), tf1.get_variable("b", [1], initializer=tf1.zeros_initializer())
        loss = tf1.reduce_mean(tf1.square(tf1.matmul(x, w) + b - (3.0 * x + 2.0)))
        step = tf1.train.MomentumOptimizer(0.05, 0.5).minimize(loss)
    with tf1.Session(mixed.target("worker/0")) as session:
        session.run(tf1.global_variables_initializer())
        for _ in range(200):
            session.run(step)
        assert session.run(loss) < 1e-3
