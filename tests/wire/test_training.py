"""A small training through MonitoredTrainingSession: one ps, two workers, replica_device_setter."""

import os
import subprocess
import sys

import pytest

from conftest import WATCHDOG

TRAINER = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
tf1 = tf.compat.v1
tf1.disable_eager_execution()
task, target, ps, workers, resource = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4].split(","), sys.argv[5] == "resource"
cluster = tf.train.ClusterSpec({"ps": [ps], "worker": workers})
if not resource:
    tf1.disable_resource_variables()
with tf1.device(tf1.train.replica_device_setter(worker_device=f"/job:worker/task:{task}", cluster=cluster)):
    x = tf1.placeholder(tf.float32, [None, 2])
    y = tf1.placeholder(tf.int64, [None])
    w1 = tf1.get_variable("w1", [2, 16], initializer=tf1.truncated_normal_initializer(stddev=0.5, seed=1))
    b1 = tf1.get_variable("b1", [16], initializer=tf1.zeros_initializer())
    w2 = tf1.get_variable("w2", [16, 2], initializer=tf1.truncated_normal_initializer(stddev=0.5, seed=2))
    b2 = tf1.get_variable("b2", [2], initializer=tf1.zeros_initializer())
    hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
    logits = tf.matmul(hidden, w2) + b2
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    step = tf1.train.get_or_create_global_step()
    train = tf1.train.GradientDescentOptimizer(0.5).minimize(loss, global_step=step)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
rng = np.random.RandomState(task)
def batch():
    points = rng.uniform(-1, 1, [64, 2]).astype(np.float32)
    return points, (points[:, 0] * points[:, 1] > 0).astype(np.int64)
hooks = [tf1.train.StopAtStepHook(last_step=400)]
config = tf1.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{task}"])
best = 0.0
with tf1.train.MonitoredTrainingSession(target, is_chief=task == 0, hooks=hooks, config=config) as session:
    while not session.should_stop():
        points, labels = batch()
        _, a = session.run([train, accuracy], {x: points, y: labels})
        best = max(best, a)
print("best", best)
sys.exit(0 if best > 0.9 else 3)
"""


@pytest.mark.parametrize("kind", ["ref", "resource"])
def test_a_monitored_session_trains(troupe, kind):
    from tensorflow.compat.v1 import Session

    Session.reset(troupe.target("worker/0"))
    arguments = [troupe.spec["ps"][0], ",".join(troupe.spec["worker"]), kind]
    workers = [
        subprocess.Popen([sys.executable, "-c", TRAINER, str(i), troupe.target(f"worker/{i}"), *arguments],
                         env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}) for i in range(2)
    ]
    codes = [worker.wait(WATCHDOG * 4) for worker in workers]
    assert codes == [0, 0]
