"""A consistent cut: a checkpoint never shows half of what a step did, however many threads compute and clients update."""

import os
import random
import threading

import numpy as np
import pytest

from conftest import FULL, WATCHDOG, running

CHECKPOINTS = 1000 if FULL else 40
CLIENTS = 4
NAMES = ["a", "b", "c", "d", "e", "f"]
START = 1_000_000


def accounts(tf1, rows=1):
    """Variables of both kinds; reads of resource variables are nodes, those of reference variables are not."""
    import tensorflow as tf

    made = []
    for i, name in enumerate(NAMES):
        initial = tf.fill([rows], np.int64(START))
        made.append(tf1.get_variable(name, initializer=initial, use_resource=bool(i % 2)))
    return made


def heavy(tf, amount, rounds):
    """The amount, by way of so many numbers that the compute pool gets them; more rounds take longer."""
    numbers = tf.fill([200_000], amount)
    for _ in range(rounds):
        numbers = tf.negative(tf.negative(numbers))
    return tf.reduce_max(numbers)


def moves(tf, tf1, variables, amount):
    """Steps that each move amounts between variables and leave their sum as it is."""
    a, b, c, d, e, f = variables

    def at_once():
        return [tf1.assign_sub(a, [amount]), tf1.assign_add(b, [amount]), tf1.assign_add(c, [amount]), tf1.assign_sub(f, [amount])]

    def after_work_of_different_length():
        return [tf1.assign_sub(b, [heavy(tf, amount, 1)]), tf1.assign_add(c, [amount]), tf1.assign_sub(e, [heavy(tf, amount, 3)]), tf1.assign_add(d, [heavy(tf, amount, 2)])]

    def with_work_in_between():
        with tf1.control_dependencies([tf1.assign_sub(d, [amount])]):
            more = heavy(tf, amount + 1, 1)
        with tf1.control_dependencies([tf1.assign_sub(a, [more])]):
            return [tf1.assign_add(e, [heavy(tf, amount + more, 2)])]

    def in_a_function():
        @tf.function
        def move(x):
            f.assign_add([heavy(tf, x, 1)])
            return heavy(tf, x, 2)

        return [tf1.assign_sub(a, [move(amount)])]

    def scattered():
        return [tf1.scatter_sub(c, [0, 0], tf.stack([amount, heavy(tf, amount, 1)])), tf1.scatter_add(f, [0], [2 * amount])]

    return [tf.group(*build()) for build in (at_once, after_work_of_different_length, with_work_in_between, in_a_function, scattered)]


class Mover(threading.Thread):
    """A client with its own graph and session that moves amounts until it is told to stop."""

    def __init__(self, tf, tf1, target, stop, seed):
        super().__init__(daemon=True)
        self.tf, self.tf1, self.target, self.stopped, self.random = tf, tf1, target, stop, random.Random(seed)
        self.steps, self.error, self.moving = 0, None, threading.Event()

    def run(self):
        try:
            with self.tf1.Graph().as_default(), self.tf1.device("/job:ps/task:0"):
                amount = self.tf1.placeholder("int64", [])
                steps = moves(self.tf, self.tf1, accounts(self.tf1), amount)
                with self.tf1.Session(self.target) as session:
                    while not self.stopped.is_set():
                        session.run(self.random.choice(steps), {amount: self.random.randint(1, 1000)})
                        self.steps += 1
                        self.moving.set()
        except BaseException as e:  # noqa: BLE001 shown by the test
            self.error = e
            self.moving.set()


def total(tf, prefix):
    reader = tf.train.load_checkpoint(prefix)
    return sum(int(reader.get_tensor(name).sum()) for name in NAMES)


@pytest.mark.parametrize("threads, saved_by", [(1, "ps"), (4, "ps"), (2, "worker")])
def test_a_checkpoint_falls_between_steps(tf1, tmp_path, threads, saved_by):
    import tensorflow as tf

    with running("troupe", {"ps": 1, "worker": 1}, args=[f"--compute_threads={threads}"]) as cluster:
        target = cluster.target("worker/0")
        with tf1.device("/job:ps/task:0"):
            accounts(tf1)
            initialize = tf1.global_variables_initializer()
        with tf1.device(f"/job:{saved_by}/task:0"):
            saver = tf1.train.Saver()
        stop = threading.Event()
        # Half of the clients have the ps for a master, half the worker.
        movers = [Mover(tf, tf1, cluster.target("ps/0") if i % 2 else target, stop, i) for i in range(CLIENTS)]
        sums = []
        with tf1.Session(target) as session:
            session.run(initialize)
            for mover in movers:
                mover.start()
            assert all(mover.moving.wait(WATCHDOG) for mover in movers)
            before = [mover.steps for mover in movers]
            for i in range(CHECKPOINTS):
                prefix = saver.save(session, str(tmp_path / f"cut-{i}"), write_meta_graph=False, write_state=False)
                sums.append(total(tf, prefix))
                for file in os.listdir(tmp_path):
                    os.unlink(tmp_path / file)
            stop.set()
        for mover in movers:
            mover.join(WATCHDOG)
            assert mover.error is None and not mover.is_alive()
        wrong = [s for s in sums if s != START * len(NAMES)]
        assert not wrong, f"{len(wrong)} of {len(sums)} checkpoints are off: {wrong[:5]}"
        assert all(mover.steps > steps for mover, steps in zip(movers, before))
