"""Variables live in their task: clients in different processes see each other's updates and lose none."""

import subprocess
import sys

import numpy as np
import pytest

from conftest import FULL, WATCHDOG

ADDER = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
tf1 = tf.compat.v1
tf1.disable_eager_execution()
target, count, resource = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "resource"
with tf1.device("/job:ps/task:0"):
    v = tf1.get_variable("counter_" + sys.argv[3], [3], tf.int64, tf1.zeros_initializer(), use_resource=resource)
with tf1.device("/job:worker/task:" + sys.argv[4]):
    one = tf1.ones([3], tf.int64)
with tf1.device("/job:ps/task:0"):
    add = v.assign_add(one)
with tf1.Session(target) as session:
    for _ in range(count):
        session.run(add.op if hasattr(add, "op") else add)
"""


@pytest.mark.parametrize("kind", ["ref", "resource"])
def test_concurrent_additions_lose_none(troupe, tf1, kind):
    clients, each = (4, 2500) if FULL else (2, 100)
    with tf1.device("/job:ps/task:0"):
        v = tf1.get_variable("counter_" + kind, [3], tf1.int64, tf1.zeros_initializer(), use_resource=kind == "resource")
    with tf1.Session(troupe.target("worker/0")) as session:
        session.run(v.initializer)
        processes = [
            subprocess.Popen([sys.executable, "-c", ADDER, troupe.target(f"worker/{i % 2}"), str(each), kind, str(i % 2)])
            for i in range(clients)
        ]
        for process in processes:
            assert process.wait(WATCHDOG * (20 if FULL else 2)) == 0
        np.testing.assert_array_equal(session.run(v), [clients * each] * 3)


def test_a_variable_outlives_its_session(either, tf1):
    with tf1.device("/job:ps/task:0"):
        v = tf1.get_variable("survivor", initializer=tf1.constant([1.0, 2.0]))
    with tf1.Session(either.target("worker/0")) as session:
        session.run(v.initializer)
        session.run(v.assign_add([1.0, 1.0]))
    with tf1.Session(either.target("worker/1")) as session:
        np.testing.assert_array_equal(session.run(v), [2.0, 3.0])


def test_isolated_sessions_do_not_share(either, tf1):
    v = tf1.get_variable("private", initializer=tf1.constant(1.0))
    config = tf1.ConfigProto(isolate_session_state=True)
    with tf1.Session(either.target("worker/0"), config=config) as first, tf1.Session(either.target("worker/0"), config=config) as second:
        first.run(v.initializer)
        assert first.run(v) == 1.0
        with pytest.raises(tf1.errors.FailedPreconditionError, match="Attempting to use uninitialized value private"):
            second.run(v)


def test_reset_clears_the_default_container(either, tf1):
    v = tf1.get_variable("transient", initializer=tf1.constant(1.0))
    session = tf1.Session(either.target("worker/1"))
    session.run(v.initializer)
    tf1.Session.reset(either.target("worker/1"))
    with pytest.raises(tf1.errors.AbortedError, match="is not found"):
        session.run(v)
    with tf1.Session(either.target("worker/1")) as fresh:
        with pytest.raises(tf1.errors.FailedPreconditionError, match="uninitialized value transient"):
            fresh.run(v)


def test_a_fetched_reference_shows_what_its_step_did(either, tf1):
    """On its own task; what crosses to another one is what was there when it was sent."""
    with tf1.device("/job:worker/task:0"):
        v = tf1.get_variable("followed", initializer=[1.0, 2.0], use_resource=False)
        step = tf1.train.get_or_create_global_step()
        train = tf1.train.GradientDescentOptimizer(0.25).minimize(tf1.reduce_sum(v * v), global_step=step)
        same = tf1.identity(v)
        fed = tf1.placeholder(tf1.float32, [2])
        assigned, added = tf1.assign(v, fed), tf1.scatter_add(v, [0], [1.0])
    with tf1.Session(either.target("worker/0")) as session:
        session.run(tf1.global_variables_initializer())
        assert [session.run([train, step])[1] for _ in range(3)] == [1, 2, 3]
        for update in assigned, added, train:
            seen, passed_on, _ = session.run([v, same, update], {fed: [8.0, 9.0]})
            np.testing.assert_array_equal(seen, session.run(v))
            np.testing.assert_array_equal(passed_on, seen)
        # A piece of a partial run does not wait for the pieces after it.
        more = fed + 1.0
        pieces = session.partial_run_setup([v, more], [fed])
        np.testing.assert_array_equal(session.partial_run(pieces, v), seen)
        np.testing.assert_array_equal(session.partial_run(pieces, more, {fed: [1, 2]}), [2, 3])
