"""Synchronous training over workers: the sums of single-process training, stale gradients dropped, tokens that survive a worker."""

import threading

import numpy as np
import pytest

from conftest import WATCHDOG, running

# Queue runners of a session that closes end with its error.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")

OPTIMIZERS = {"gd": lambda train: train.GradientDescentOptimizer(0.1), "momentum": lambda train: train.MomentumOptimizer(0.05, 0.9)}
FEATURES, CLASSES, BATCH = 12, 5, 8


def data(worker, step):
    rng = np.random.RandomState(1000 * worker + step)
    x = rng.normal(size=[BATCH, FEATURES]).astype(np.float32)
    return x, np.abs(x[:, :CLASSES]).argmax(1)


class Model:
    """A softmax regression, in a graph of its own."""

    def __init__(self, tf1, optimizer, device=None):
        self.tf1, self.graph = tf1, tf1.Graph()
        with self.graph.as_default(), tf1.device(device):
            tf1.set_random_seed(1)
            self.x, self.y = tf1.placeholder(tf1.float32, [None, FEATURES]), tf1.placeholder(tf1.int64, [None])
            self.w = tf1.get_variable("w", [FEATURES, CLASSES], initializer=tf1.random_normal_initializer(stddev=0.5, seed=3))
            self.b = tf1.get_variable("b", [CLASSES], initializer=tf1.zeros_initializer())
            loss = tf1.reduce_mean(tf1.nn.sparse_softmax_cross_entropy_with_logits(labels=self.y, logits=tf1.matmul(self.x, self.w) + self.b))
            self.step = tf1.train.get_or_create_global_step()
            self.optimizer = optimizer(tf1.train)
            self.train = self.optimizer.minimize(loss, global_step=self.step)

    def feed(self, worker, step):
        x, y = data(worker, step)
        return {self.x: x, self.y: y}


class Worker(Model):
    """A replica on a cluster's worker; steps that it takes, it counts."""

    def __init__(self, tf1, cluster, index, inner, aggregate, total, tokens=-1):
        super().__init__(tf1, lambda train: train.SyncReplicasOptimizer(inner(train), replicas_to_aggregate=aggregate, total_num_replicas=total),
                         tf1.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster.spec))
        self.index, self.taken, self.error, self.opened = index, 0, None, threading.Event()
        filters = ["/job:ps", f"/job:worker/task:{index}"]
        with self.graph.as_default():
            hook = self.optimizer.make_session_run_hook(index == 0, num_tokens=tokens)
            self.open = lambda: tf1.train.MonitoredTrainingSession(
                cluster.target(f"worker/{index}"), is_chief=index == 0, hooks=[hook], config=tf1.ConfigProto(device_filters=filters),
                stop_grace_period_secs=5)

    def run(self, last_step, go_on=lambda: True):
        try:
            with self.graph.as_default(), self.open() as session:
                self.opened.set()
                now = 0
                while now < last_step and go_on():
                    _, now = session.run([self.train, self.step], self.feed(self.index, self.taken))
                    self.taken += 1
        except Exception as error:
            self.error = error
        finally:
            self.opened.set()

    def start(self, *arguments):
        self.thread = threading.Thread(target=self.run, args=arguments, daemon=True)
        self.thread.start()
        if self.index == 0:  # a worker that finds nothing initialised looks again after half a minute
            assert self.opened.wait(WATCHDOG)
        return self


def finish(workers):
    for worker in list(workers):
        worker.thread.join(WATCHDOG)
        assert not worker.thread.is_alive(), f"worker {worker.index} waits for a token"
        assert worker.error is None, worker.error


def variables_at(tf1, cluster, model):
    config = tf1.ConfigProto(device_filters=["/job:ps", "/job:worker/task:0"])
    with tf1.Session(cluster.target("worker/0"), graph=model.graph, config=config) as session:
        return session.run([model.w, model.b, model.step])


@pytest.fixture
def cluster():
    with running("troupe", {"ps": 1, "worker": 3}) as cluster:
        yield cluster


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_three_workers_equal_one_process_with_the_merged_batches(cluster, tf1, name):
    """Without tokens in advance, nobody begins a step before the last one is applied."""
    steps = 20
    workers = [Worker(tf1, cluster, i, OPTIMIZERS[name], 3, 3, tokens=0) for i in range(3)]
    finish([worker.start(2 * steps, lambda worker=worker: worker.taken < steps) for worker in workers])
    w, b, step = variables_at(tf1, cluster, workers[0])
    assert step == steps

    alone = Model(tf1, OPTIMIZERS[name])
    with tf1.Session(graph=alone.graph) as session:
        with alone.graph.as_default():
            session.run(tf1.global_variables_initializer())
        for step in range(steps):
            parts = [data(worker, step) for worker in range(3)]
            session.run(alone.train, {alone.x: np.concatenate([x for x, _ in parts]), alone.y: np.concatenate([y for _, y in parts])})
        expected_w, expected_b = session.run([alone.w, alone.b])
    np.testing.assert_allclose(w, expected_w, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(b, expected_b, rtol=1e-5, atol=1e-6)


def test_backup_workers_gradients_are_dropped(cluster, tf1):
    """Two of three gradients make an update; what comes late is not applied, and what was applied adds up."""
    steps = 30
    workers = [Worker(tf1, cluster, i, OPTIMIZERS["gd"], 2, 3) for i in range(3)]
    finish([worker.start(steps) for worker in workers])
    _, _, step = variables_at(tf1, cluster, workers[0])
    taken = sum(worker.taken for worker in workers)
    dropped = taken - 2 * int(step)
    print(f"{taken} gradients, {step} updates of two, {dropped} left over or dropped")
    assert step >= steps
    # Tokens are handed out per update for all three: never more steps than tokens.
    assert taken <= 3 * (int(step) + 1)
    assert dropped >= 0


def test_no_token_is_lost_with_a_worker(cluster, tf1):
    """A worker dies between its steps; the others, which are enough for an update, go on."""
    steps = 15
    workers = [Worker(tf1, cluster, i, OPTIMIZERS["momentum"], 2, 3) for i in range(3)]
    dying = workers[2]
    for worker in workers[:2]:
        worker.goal = float("inf")
        worker.start(float("inf"), lambda worker=worker: worker.taken < worker.goal)
    finish([dying.start(float("inf"), lambda: dying.taken < 5)])
    cluster.nodes["worker/2"].stop(9)
    _, _, then = variables_at(tf1, cluster, workers[0])
    for worker in workers[:2]:
        worker.goal = worker.taken + steps
    finish(workers[:2])
    _, _, now = variables_at(tf1, cluster, workers[0])
    # Three tokens come with each update of two gradients, so a third of the steps finds itself late.
    assert dying.taken == 5 and now - then >= steps // 2


def test_stale_gradients_are_counted_out(either, tf1):
    """What the synchronous optimizer builds on: a gradient of an earlier step leaves no trace."""
    gathered = tf1.ConditionalAccumulator(tf1.float32, shape=[2], shared_name="gathered_for_stale")
    late, now, again = (gathered.apply_grad([value, 1.0], local_step=step) for value, step in [(100.0, 1), (1.0, 2), (3.0, 2)])
    begin, taken = gathered.set_global_step(2), gathered.take_grad(2)
    with tf1.Session(either.target("worker/0")) as session:
        session.run(begin)
        for op, expected in (late, 0), (now, 1), (late, 1), (again, 2):
            session.run(op)
            assert session.run(gathered.num_accumulated()) == expected
        assert session.run(taken).tolist() == [2.0, 1.0]
        session.run(now)  # the step has gone on to 3
        assert session.run(gathered.num_accumulated()) == 0
