"""A small classifier trained by two workers through one parameter server, without and with waiting for each other."""

import threading
import time

import numpy as np
import tensorflow as tf

from servers import Cluster
from workloads import Row, workload

tf1 = tf.compat.v1
TRIO = {"ps": 1, "worker": 2}
CLASSES, PIXELS, BATCH = 10, 784, 100


def digits(count, seed):
    """Images of ten blurred patterns in noise; as many pixels and classes as MNIST, made here so that nothing is downloaded."""
    patterns = np.random.RandomState(0).uniform(0, 1, [CLASSES, PIXELS])
    random = np.random.RandomState(seed)
    labels = random.randint(0, CLASSES, count)
    images = 0.3 * patterns[labels] + random.normal(0, 0.5, [count, PIXELS])
    return images.astype(np.float32), labels.astype(np.int64)


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
    begin, end, accuracy, failures = [], [], [], []
    initialised, over = threading.Event(), [threading.Event(), threading.Event()]
    images, labels = digits(20_000, 1)
    test_images, test_labels = digits(2_000, 2)

    def steps(worker, model, session):
        random = np.random.RandomState(worker)
        step = 0
        while step < global_steps:
            at = random.randint(0, len(labels), BATCH)
            step = session.run([model.step, model.train], {model.images: images[at], model.labels: labels[at]})[0]
            if step >= global_steps // 10 and not begin:
                begin.append((time.perf_counter(), step))
        end.append((time.perf_counter(), step))

    def work(worker):
        try:
            if worker > 0:
                initialised.wait()
            model = Model(cluster, worker, sync)
            with model.graph.as_default(), model.session() as session:
                initialised.set()
                steps(worker, model, session)
                over[worker].set()
                if worker == 0:
                    # The chief applies what the others compute: it stays until they are done.
                    over[1].wait()
                    accuracy.append(float(session.run(model.accuracy, {model.images: test_images, model.labels: test_labels})))
        except (tf.errors.OpError, RuntimeError) as error:
            failures.append(error)
        finally:
            initialised.set()
            over[worker].set()

    threads = [threading.Thread(target=work, args=[w]) for w in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    seconds, count = (last - first for first, last in zip(begin[0], end[0]))
    return seconds / max(1, count), accuracy[0]


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
