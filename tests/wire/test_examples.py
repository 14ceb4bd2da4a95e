"""The programs of examples/ with one worker: the same losses as on TensorFlow's servers, step by step, and the same accuracy."""

import os

import numpy as np
import pytest

import programs
from conftest import FULL, running

JOBS = {"ps": 2, "worker": 1}
REAL = "TROUPE_MNIST_DIR" in os.environ


@pytest.fixture(scope="module")
def clusters():
    """Troupe's, and TensorFlow's with one and with two threads in a kernel: what these two differ by, anybody may."""
    with running("troupe", JOBS) as ours:
        theirs = [programs.TensorflowCluster(JOBS, threads) for threads in (1, 2)]
        try:
            yield [ours, *theirs]
        finally:
            for cluster in theirs:
                cluster.stop()


def assert_same_losses(ours, one, two):
    """The first ten to 1e-5; up to the hundredth within three times what TensorFlow differs from itself by."""
    ours, one, two = (np.array(losses[:100]) for losses in (ours, one, two))
    assert len(ours) == len(one) == len(two) and len(ours) >= 10
    np.testing.assert_allclose(ours[:10], one[:10], rtol=1e-5)
    band = np.maximum.accumulate(np.abs(one - two) / np.abs(one))
    apart = np.maximum.accumulate(np.abs(ours - one) / np.abs(one))
    print(f"loss {one[0]:.4f} to {one[-1]:.4f}; TensorFlow apart from itself by {band[-1]:.2e}, Troupe from it by {apart[-1]:.2e}")
    worst = int(np.argmax(apart / np.maximum(3 * band, 1e-5)))
    assert apart[worst] <= max(3 * band[worst], 1e-5), f"at step {worst}: Troupe apart by {apart[worst]:.2e}, TensorFlow by {band[worst]:.2e}"


def on_all(clusters, program, arguments, **environment):
    """The same program on each cluster, all at once, without the variables of earlier ones."""
    from tensorflow.compat.v1 import Session

    for cluster in clusters:
        Session.reset(cluster.target("worker/0"))
    return programs.all_of(programs.start(program, *arguments(cluster), **environment) for cluster in clusters)


def by_target(*arguments):
    return lambda cluster: [f"--target={cluster.target('worker/0')}", f"--ps_tasks={len(cluster.spec['ps'])}", *arguments]


def by_hosts(*arguments):
    return lambda cluster: [f"--ps_hosts={','.join(cluster.spec['ps'])}", f"--worker_hosts={','.join(cluster.spec['worker'])}", *arguments]


def check(clusters, program, arguments, least):
    ours, one, two = on_all(clusters, program, arguments)
    assert_same_losses(ours.losses, one.losses, two.losses)
    print(f"accuracy {ours.accuracy}, TensorFlow {one.accuracy} and {two.accuracy}")
    assert ours.accuracy >= least
    assert abs(ours.accuracy - one.accuracy) <= 0.005 + abs(one.accuracy - two.accuracy)


def test_trainer(clusters):
    check(clusters, "trainer.py", lambda c: [*by_hosts("--last_step=150")(c), f"--target={c.target('worker/0')}"], 0.85)


def test_mnist_replica(clusters):
    check(clusters, "mnist_replica.py", by_hosts("--existing_servers", "--train_steps=150"), 0.9)


def test_mnist_replica_in_step(clusters):
    check(clusters, "mnist_replica.py", lambda c: [*by_hosts("--sync_replicas", "--train_steps=150")(c), f"--worker_grpc_url={c.target('worker/0')}"],
          0.9)


def test_mnist_cnn(clusters):
    check(clusters, "mnist_cnn.py", by_target("--train_steps=100", "--filters=8", "--hidden_units=64"), 0.9)


def test_keras_graph(clusters):
    check(clusters, "keras_graph.py", by_target("--train_steps=100"), 0.85)


def test_data_pipeline(clusters, tmp_path):
    check(clusters, "data_pipeline.py", by_target("--train_steps=150", f"--data_dir={tmp_path}"), 0.8)


def test_queue_pipeline(clusters, tmp_path):
    check(clusters, "queue_pipeline.py", by_target("--train_steps=100", "--noshuffle", f"--data_dir={tmp_path}"), 0.9)


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adagrad", "adam", "ftrl", "rmsprop"] if FULL else ["adagrad"])
def test_embeddings(clusters, optimizer):
    check(clusters, "embeddings.py", by_target("--train_steps=150", f"--optimizer={optimizer}"), 0.85)


@pytest.mark.skipif(not (FULL and REAL), reason="minutes of training: with TROUPE_FULL=1 and MNIST in TROUPE_MNIST_DIR")
@pytest.mark.parametrize("program, arguments, least", [
    ("mnist_replica.py", by_hosts("--existing_servers", "--train_steps=3000", "--learning_rate=0.002"), 0.97),
    ("mnist_cnn.py", by_target("--train_steps=1200"), 0.985),
])
@pytest.mark.timeout(3600)
def test_accuracy_on_the_real_digits(clusters, program, arguments, least):
    real = os.environ["TROUPE_MNIST_DIR"]
    ours, theirs = (on_all([cluster], program, arguments, TROUPE_MNIST_DIR=real)[0] for cluster in clusters[:2])
    print(f"accuracy {ours.accuracy}, TensorFlow {theirs.accuracy}")
    assert ours.accuracy >= least
    assert abs(ours.accuracy - theirs.accuracy) <= 0.005
