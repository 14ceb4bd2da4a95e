"""The distributed multi-layer perceptrons: every optimizer on two workers in turn, and MNIST with Adam, async and sync."""

import threading

from . import digits
from .scene import scenario

OPTIMIZERS = {
    "gd": lambda train: train.GradientDescentOptimizer(0.01),
    "momentum": lambda train: train.MomentumOptimizer(0.01, 0.9),
    "adagrad": lambda train: train.AdagradOptimizer(0.05),
    "ftrl": lambda train: train.FtrlOptimizer(0.05, l1_regularization_strength=0.001, l2_regularization_strength=0.001),
    "rmsprop": lambda train: train.RMSPropOptimizer(0.005),
}


class Replica:
    """A worker's graph; every replica is built alike, the variables are the same ones on the ps."""

    def __init__(self, scene, worker, optimizer):
        tf1 = scene.tf1
        self.graph = tf1.Graph()
        with self.graph.as_default():
            tf1.set_random_seed(8)
            with tf1.device(scene.setter(worker)):
                self.step = tf1.train.get_or_create_global_step()
                hidden_w = scene.variable("hid_w", [784, 12], initializer=tf1.truncated_normal_initializer(stddev=1 / 28))
                hidden_b = scene.variable("hid_b", [12], initializer=tf1.zeros_initializer())
                softmax_w = scene.variable("sm_w", [12, 10], initializer=tf1.truncated_normal_initializer(stddev=0.3))
                softmax_b = scene.variable("sm_b", [10], initializer=tf1.zeros_initializer())
                self.x = tf1.placeholder(tf1.float32, [None, 784])
                self.y = tf1.placeholder(tf1.float32, [None, 10])
                hidden = tf1.nn.relu(tf1.nn.xw_plus_b(self.x, hidden_w, hidden_b))
                guess = tf1.nn.softmax(tf1.nn.xw_plus_b(hidden, softmax_w, softmax_b))
                self.loss = -tf1.reduce_sum(self.y * tf1.log(tf1.clip_by_value(guess, 1e-10, 1.0)))
                self.optimizer = optimizer(tf1.train)
                self.train = self.optimizer.minimize(self.loss, global_step=self.step)
            self.variables = tf1.trainable_variables()

    def feed(self, batch):
        return {self.x: batch[0], self.y: digits.one_hot(batch[1])}


def train_in_turn(scene, optimizer, steps=6):
    tf1 = scene.tf1
    replicas = [Replica(scene, worker, optimizer) for worker in range(2)]
    sessions = []
    for worker, replica in enumerate(replicas):
        with replica.graph.as_default():
            sessions.append(tf1.train.MonitoredTrainingSession(scene.target(f"worker/{worker}"), worker == 0, config=scene.config(worker)))
    for i, batch in enumerate(digits.batches(8, steps)):
        replica = replicas[i % 2]
        _, loss = sessions[i % 2].run([replica.train, replica.loss], replica.feed(batch))
        scene.add("losses", loss)
    scene.keep(weights=sessions[1].run(replicas[1].variables), step=sessions[0].run(replicas[0].step))
    for session, replica in zip(sessions, replicas):
        session.close()
        scene.saw(replica.graph)


def mlp(name):
    scenario(f"dist_mlp_{name}_ref")(lambda scene: train_in_turn(scene, OPTIMIZERS[name]))


for each in OPTIMIZERS:
    mlp(each)


@scenario("dist_mnist_async_adam_ref", "dist_mnist_async_adam_resource", rtol=1e-3, atol=1e-4)
def dist_mnist_async(scene):
    train_in_turn(scene, lambda train: train.AdamOptimizer(0.01))


@scenario("dist_mnist_sync_adam_ref", "dist_mnist_sync_adam_resource", rtol=1e-3, atol=1e-4)
def dist_mnist_sync(scene):
    """Both workers give one gradient to each step. Without tokens to begin with, a worker's step ends after the update, so
    the weights it sees next are always the same."""
    tf1 = scene.tf1
    steps = 4
    meeting = threading.Barrier(2, timeout=20)
    losses = [[], []]
    errors = []
    final = {}

    def optimizer(train):
        return train.SyncReplicasOptimizer(train.AdamOptimizer(0.01), replicas_to_aggregate=2, total_num_replicas=2)

    replicas = [Replica(scene, worker, optimizer) for worker in range(2)]

    def work(worker):
        replica = replicas[worker]
        try:
            with replica.graph.as_default():
                hook = replica.optimizer.make_session_run_hook(worker == 0, num_tokens=0)
                if worker == 1:
                    meeting.wait()
                session = tf1.train.MonitoredTrainingSession(scene.target(f"worker/{worker}"), worker == 0, hooks=[hook],
                                                             config=scene.config(worker), stop_grace_period_secs=1)
                if worker == 0:
                    meeting.wait()
                with session:
                    for batch in digits.batches(8, steps, start=worker * steps):
                        meeting.wait()
                        losses[worker].append(session.run([replica.train, replica.loss], replica.feed(batch))[1])
                    meeting.wait()
                    if worker == 0:
                        final.update(weights=session.run(replica.variables), step=session.run(replica.step))
                    meeting.wait()
        except Exception as error:
            errors.append(error)
            meeting.abort()

    threads = [threading.Thread(target=work, args=[worker], daemon=True) for worker in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if errors:
        raise errors[0]
    scene.keep(losses=losses, **final)
    for replica in replicas:
        scene.saw(replica.graph)
