"""A small classifier of digits trained by two workers through one parameter server, without and with waiting for each other.

The digits are MNIST's where TROUPE_MNIST_DIR says where they are, otherwise drawn.
"""

import functools
import os
import sys
import threading
import time

import numpy as np
import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))

import digits  # noqa: E402
from servers import Cluster  # noqa: E402
from workloads import Row, workload  # noqa: E402

tf1 = tf.compat.v1
TRIO = {"ps": 1, "worker": 2}
CLASSES, PIXELS, BATCH = 10, 784, 100


train_set = functools.cache(digits.train_set)


class Model:
    def __init__(self, cluster, worker, sync):
        self.target = cluster.target(f"worker/{worker}")
        self.is_chief = worker == 0
        self.graph = tf1.Graph()
        self.hooks = []
        setter = tf1.train.replica_device_setter(worker_device=f"/job:worker/task:{worker}", cluster=tf.train.ClusterSpec(cluster.addresses))
        with self.graph.as_default(), tf1.device(setter):
            tf1.set_random_seed(1)
            self.images = tf1.placeholder(tf1.float32, [None, PIXELS])
            self.labels = tf1.placeholder(tf1.int64, [None])
            hidden = tf1.nn.relu(dense(self.images, 100, "hidden"))
            logits = dense(hidden, CLASSES, "logits")
            loss = tf1.reduce_mean(tf1.nn.sparse_softmax_cross_entropy_with_logits(labels=self.labels, logits=logits))
            self.accuracy = tf1.reduce_mean(tf1.cast(tf1.equal(tf1.argmax(logits, 1), self.labels), tf1.float32))
            self.step = tf1.train.get_or_create_global_step()
            optimizer = tf1.train.GradientDescentOptimizer(0.1)
            if sync:
                optimizer = tf1.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=2, total_num_replicas=2)
                self.hooks.append(optimizer.make_session_run_hook(self.is_chief))
            self.train = optimizer.minimize(loss, global_step=self.step)

    def session(self):
        return tf1.train.MonitoredTrainingSession(master=self.target, is_chief=self.is_chief, hooks=self.hooks, save_checkpoint_secs=None,
                                                  save_summaries_steps=None, log_step_count_steps=None)


def dense(x, units, name):
    w = tf1.get_variable(name + "/w", [x.shape[1], units], initializer=tf1.glorot_uniform_initializer(seed=2), use_resource=False)
    return tf1.matmul(x, w) + tf1.get_variable(name + "/b", [units], initializer=tf1.zeros_initializer(), use_resource=False)


def train(cluster, sync, global_steps):
    """Seconds of a global step between a tenth of the way and the end, and the accuracy then."""
    begin, end, failures = [], [], []
    initialised, over = threading.Event(), threading.Event()
    images, labels = train_set()
    models = [Model(cluster, worker, sync) for worker in (0, 1)]
    sessions = {}

    def steps(worker, session):
        model, random, step = models[worker], np.random.RandomState(worker), 0
        while step < global_steps and not over.is_set():
            at = random.randint(0, len(labels), BATCH)
            step = session.run([model.step, model.train], {model.images: images[at], model.labels: labels[at]})[0]
            if step >= global_steps // 10 and not begin:
                begin.append((time.perf_counter(), step))
        end.append((time.perf_counter(), step))

    def work(worker):
        try:
            if worker > 0:
                initialised.wait()
            with models[worker].graph.as_default(), models[worker].session() as session:
                sessions[worker] = session._tf_sess()
                initialised.set()
                steps(worker, session)
        except (tf.errors.OpError, RuntimeError) as error:
            # Who ends first takes a token along that the other one may wait for, for ever: that step is cancelled.
            if not over.is_set():
                failures.append(error)
        finally:
            initialised.set()
            over.set()

    threads = [threading.Thread(target=work, args=[w]) for w in (0, 1)]
    for thread in threads:
        thread.start()
    over.wait()
    for thread in threads:
        thread.join(1)
    for session in sessions.values():
        session.close()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    seconds, count = (last - first for first, last in zip(begin[0], end[0]))
    return seconds / max(1, count), accuracy_of(models[0])


def accuracy_of(model):
    images, labels = digits.test_set()
    with tf1.Session(model.target, graph=model.graph) as session:
        return float(session.run(model.accuracy, {model.images: images, model.labels: labels}))


def whole_runs(cluster, sync):
    """A window is a whole training on a cluster of its own, so that none finds another's tokens."""
    def run(steps):
        fresh = Cluster(cluster.kind, TRIO)
        try:
            seconds, accuracy = train(fresh, sync, steps)
        finally:
            fresh.stop()
        cluster.check(accuracy > 0.9, f"accuracy {accuracy:.3f}")
        return {"time": seconds, "rate": 1 / seconds, "accuracy": accuracy}

    yield run


@workload(Row("digits MLP, 1 ps + 2 workers, async, global steps/s", "rate", 1, target=">= 2"),
          Row("digits MLP, async: accuracy", "accuracy", 1, target="not lower"), steps=1500, whole=True)
def asynchronous(cluster):
    yield from whole_runs(cluster, False)


@workload(Row("digits MLP, 1 ps + 2 workers, sync, global steps/s", "rate", 1, target=">= 2.5"),
          Row("digits MLP, sync: accuracy", "accuracy", 1, target="not lower"), steps=600, whole=True)
def synchronous(cluster):
    yield from whole_runs(cluster, True)
