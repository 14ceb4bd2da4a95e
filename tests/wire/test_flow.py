"""Long chains, many steps, loops that span tasks, and many steps that wait at once."""

import threading
import time

import numpy as np
import pytest

from conftest import WATCHDOG

TASKS = ["/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"]


def threads_of(cluster):
    counts = {}
    for name, node in cluster.nodes.items():
        with open(f"/proc/{node.process.pid}/status") as status:
            counts[name] = next(int(line.split()[1]) for line in status if line.startswith("Threads:"))
    return counts


def test_a_chain_of_a_thousand_ops(either, tf1):
    x = tf1.placeholder(tf1.float64, [])
    y = x
    for i in range(1000):
        with tf1.device(TASKS[i // 100 % 3]):
            y = y + 1.0 if i % 2 else y * 1.001
    expected = 2.0
    for i in range(1000):
        expected = expected + 1.0 if i % 2 else expected * 1.001
    with tf1.Session(either.target("worker/0")) as session:
        for _ in range(3):
            assert session.run(y, {x: 2.0}) == pytest.approx(expected, rel=1e-12)


def test_a_thousand_steps_of_a_chain(either, tf1):
    x = tf1.placeholder(tf1.float32, [])
    y = x
    for i in range(10):
        with tf1.device(TASKS[i % 3]):
            y = y + float(i)
    with tf1.Session(either.target("worker/0")) as session:
        step = session.make_callable(y, [x])
        for i in range(1000):
            assert step(np.float32(i)) == i + 45.0


@pytest.mark.parametrize("version", [1, 2])
def test_a_nested_loop_over_all_tasks(either, tf1, version):
    """The outer loop runs on the ps, the inner on both workers, with values that go back and forth."""
    before = tf1.control_flow_v2_enabled()
    (tf1.enable_control_flow_v2 if version == 2 else tf1.disable_control_flow_v2)()
    try:
        rounds = tf1.placeholder(tf1.int32, [])

        def inner(i):
            def body(j, total):
                with tf1.device(TASKS[1]):
                    product = i * j
                with tf1.device(TASKS[2]):
                    return [j + 1, total + product]

            return tf1.while_loop(lambda j, total: j <= i, body, [tf1.constant(0), tf1.constant(0)], parallel_iterations=3)[1]

        def outer(i, total):
            with tf1.device(TASKS[0]):
                return [i + 1, total + inner(i)]

        with tf1.device(TASKS[0]):
            result = tf1.while_loop(lambda i, total: i < rounds, outer, [tf1.constant(0), tf1.constant(0)])[1]
    finally:
        (tf1.enable_control_flow_v2 if before else tf1.disable_control_flow_v2)()
    with tf1.Session(either.target("worker/0")) as session:
        for n in 0, 1, 7:
            assert session.run(result, {rounds: n}) == sum(i * j for i in range(n) for j in range(i + 1))


class Waiters:
    """Steps that wait for a queue, each in a thread of the client."""

    def __init__(self, tf1, session, fetch, count):
        self.results, self.errors = [], []

        def wait():
            try:
                self.results.append(session.run(fetch))
            except tf1.errors.OpError as error:
                self.errors.append(error)

        self.threads = [threading.Thread(target=wait, daemon=True) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def join(self):
        for thread in self.threads:
            thread.join(WATCHDOG)
        assert not any(thread.is_alive() for thread in self.threads)


def waiting_graph(tf1, name):
    with tf1.device(TASKS[0]):
        queue = tf1.FIFOQueue(100, [tf1.int32], [[]], shared_name=name)
        values = tf1.placeholder(tf1.int32, [None])
        fill = queue.enqueue_many([values])
        taken = queue.dequeue()
    with tf1.device(TASKS[2]):
        return values, fill, taken * 10


def test_many_waiting_steps_all_finish(either, tf1):
    values, fill, fetch = waiting_graph(tf1, f"many_waiting_{either.target('ps/0')}")
    with tf1.Session(either.target("worker/0")) as session:
        session.run(fill, {values: [1]})
        assert session.run(fetch) == 10
        before = threads_of(either)
        waiters = Waiters(tf1, session, fetch, 64)
        time.sleep(2)
        meanwhile = threads_of(either)
        assert not waiters.results and not waiters.errors
        session.run(fill, {values: np.arange(64)})
        waiters.join()
    assert not waiters.errors
    assert sorted(waiters.results) == [10 * i for i in range(64)]
    if "troupe" in either.nodes["ps/0"].command[0]:
        assert meanwhile == before


def test_many_waiting_steps_are_cancelled_by_closing(either, tf1):
    values, fill, fetch = waiting_graph(tf1, f"many_cancelled_{either.target('ps/0')}")
    session = tf1.Session(either.target("worker/0"))
    session.run(fill, {values: [1]})
    assert session.run(fetch) == 10
    before = threads_of(either)
    waiters = Waiters(tf1, session, fetch, 64)
    time.sleep(2)
    meanwhile = threads_of(either)
    session.close()
    waiters.join()
    assert not waiters.results and len(waiters.errors) == 64
    assert {type(error) for error in waiters.errors} == {tf1.errors.CancelledError}
    assert all("Step was cancelled by an explicit call to `Session::Close()`." in error.message for error in waiters.errors), waiters.errors[0].message
    if "troupe" in either.nodes["ps/0"].command[0]:
        assert meanwhile == before
    with tf1.Session(either.target("worker/0")) as fresh:
        fresh.run(fill, {values: [5]})
        assert fresh.run(fetch) == 50


def test_closing_answers_steps_that_are_not_yet_started(either, tf1):
    """Each step has a shape of its own, so that some are still being compiled when the session closes."""
    with tf1.device(TASKS[2]):
        fetches = [tf1.constant(float(i)) + 1.0 for i in range(16)]
    for _ in range(5):
        session = tf1.Session(either.target("worker/0"))
        session.list_devices()
        answered = []

        def run(fetch):
            try:
                session.run(fetch.op)
            except (tf1.errors.OpError, RuntimeError):
                pass
            answered.append(fetch)

        threads = [threading.Thread(target=run, args=[fetch], daemon=True) for fetch in fetches]
        for thread in threads:
            thread.start()
        session.close()
        for thread in threads:
            thread.join(WATCHDOG)
        assert len(answered) == len(fetches)


def test_what_was_read_of_a_reference_shows_updates_before_its_use(either, tf1):
    with tf1.device(TASKS[0]):
        v = tf1.get_variable(f"shown_{either.target('ps/0')[-4:]}", initializer=tf1.constant(1.0), use_resource=False)
        read = tf1.identity(v)
        with tf1.control_dependencies([read]):
            grown = tf1.assign_add(v, 10.0)
        with tf1.control_dependencies([grown]):
            used = read * 2.0
    with tf1.Session(either.target("worker/0")) as session:
        session.run(v.initializer)
        assert session.run(used) == 22.0
