"""The programs of examples/ over several tasks: with servers of their own, restarted, preempted, synchronous, and mixed with TensorFlow's."""

import contextlib
import json
import re
import signal
import time

import pytest

import programs
from conftest import FULL, WATCHDOG, Cluster, free_ports, running, start_node


@contextlib.contextmanager
def ending(started):
    """Whatever happens, none of these programs is left."""
    try:
        yield started
    finally:
        for program in started.values():
            program.kill()


def until(program, condition):
    """Waits for something that a program prints."""
    deadline = time.monotonic() + WATCHDOG * 3
    while not condition(program):
        assert program.alive and time.monotonic() < deadline, program.text[-3000:]
        time.sleep(0.05)


def calls_received(program):
    """What the node of a program that has ended tells of itself."""
    account = re.findall(r"calls received: (.*)", program.text)
    assert account, program.text[-3000:]
    return {name: int(count) for name, count in re.findall(r"(\w+) (\d+)", account[-1])}


def test_a_trainer_brings_its_own_servers(tmp_path):
    """As `python -m troupe` runs them: a ps, a chief and a worker. The steps ran on their nodes; a new chief goes on from the checkpoint."""
    ports = free_ports(3)
    hosts = [f"--ps_hosts=localhost:{ports[0]}", f"--worker_hosts=localhost:{ports[1]},localhost:{ports[2]}", f"--checkpoint_dir={tmp_path}",
             "--checkpoint_steps=20"]

    def task(job, index, last_step):
        return programs.start_on_troupe("trainer.py", *hosts, f"--job_name={job}", f"--task_index={index}", f"--last_step={last_step}")

    with ending({"ps": task("ps", 0, 0), "chief": task("worker", 0, 100)}) as started:
        until(started["chief"], lambda p: p.steps)
        started["worker"] = task("worker", 1, 100)
        for name in "chief", "worker":
            program = started[name].wait()
            assert program.steps[-1][0] >= 99
            assert calls_received(program)["RunStep"] >= len(program.steps)
        assert started["chief"].losses[-1] < 0.5 * started["chief"].losses[0]
        started["ps"].kill()
        # All tasks are new and know nothing: the step is in the checkpoint.
        started["ps"], started["chief"] = task("ps", 0, 0), task("worker", 0, 130)
        again = started["chief"].wait()
        # A step that is fetched beside its update is read before or after it.
        assert again.steps[0][0] in (100, 101, 102) and again.steps[-1][0] in (129, 130)
        assert again.losses[0] < 0.7 * 2.3


def test_a_preempted_ps(tmp_path):
    """It ends by SIGTERM and comes back empty: the chief's session recovers from the checkpoint, and training ends well."""
    with running("troupe", {"ps": 1, "worker": 1}) as cluster:
        program = programs.start("trainer.py", f"--ps_hosts={cluster.spec['ps'][0]}", f"--worker_hosts={cluster.spec['worker'][0]}",
                                 f"--target={cluster.target('worker/0')}", f"--checkpoint_dir={tmp_path}", "--checkpoint_steps=10", "--last_step=400")
        with ending({"chief": program}):
            until(program, lambda p: len(p.steps) > 60)
            assert cluster.nodes["ps/0"].stop(signal.SIGTERM) == 0
            cluster.nodes["ps/0"] = start_node("troupe", cluster.spec, "ps", 0).wait_until_serving()
            program.wait()
    steps = [step for step, _ in program.steps]
    assert steps[-1] in (399, 400)
    assert max(a - b for a, b in zip(steps, steps[1:])) <= 20, "back to the last checkpoint, not further"
    # It says so for AbortedError and UnavailableError only.
    assert "This may be due to a preemption in a connected worker or parameter server." in program.text


def replicas(cluster, *arguments, workers=None):
    """mnist_replica.py for every worker of a cluster that runs."""
    hosts = [f"--ps_hosts={','.join(cluster.spec['ps'])}", f"--worker_hosts={','.join(cluster.spec['worker'])}"]
    return programs.all_of(programs.start("mnist_replica.py", *hosts, "--existing_servers", f"--task_index={i}", *arguments)
                           for i in range(len(cluster.spec["worker"])))


AGGREGATES = {"asynchronous": [], "fewer": ["--sync_replicas", "--replicas_to_aggregate=1"], "as_many": ["--sync_replicas"],
              "more": ["--sync_replicas", "--replicas_to_aggregate=3"]}


@pytest.mark.parametrize("how", AGGREGATES)
def test_mnist_with_replicas(how):
    """Two parameter servers and two workers, however many gradients make an update."""
    with running("troupe", {"ps": 2, "worker": 2}) as cluster:
        workers = replicas(cluster, *AGGREGATES[how], f"--train_steps={400 if FULL else 120}")
    assert max(step for worker in workers for step, _ in worker.steps) >= 120
    assert min(worker.accuracy for worker in workers) >= 0.93


MIXES = {
    "tensorflow_ps": {"ps/0": "tensorflow"},
    "tensorflow_workers": {"worker/0": "tensorflow", "worker/1": "tensorflow"},
    "tensorflow_master": {"worker/0": "tensorflow"},
    "troupe_master": {"ps/0": "tensorflow", "worker/1": "tensorflow"},
}


@pytest.mark.parametrize("mix", MIXES)
def test_mixed_clusters_train(mix):
    """Trained to the same accuracy, whichever kind the tasks are; the graph optimisations of TensorFlow's masters are on."""
    cluster = Cluster("troupe", {"ps": 1, "worker": 2}, kinds=MIXES[mix])
    try:
        workers = replicas(cluster, f"--train_steps={600 if FULL else 150}")
    finally:
        cluster.stop()
    print(mix, [worker.accuracy for worker in workers])
    assert min(worker.accuracy for worker in workers) >= 0.95


def census(tmp_path, start, jobs, *arguments):
    """Tasks of the wide and deep classifier, to the end of all but the ps; the evaluator's accuracies are the result."""
    names = [job for job in jobs if job != "evaluator"]
    cluster = {job: [f"localhost:{port}"] for job, port in zip(names, free_ports(len(names)))}
    started = {}
    with ending(started):
        for job in jobs:
            config = json.dumps({"cluster": cluster, "task": {"type": job, "index": 0}})
            started[job] = start("census_wide_deep.py", f"--data_dir={tmp_path / 'data'}", f"--model_dir={tmp_path / 'model'}", *arguments,
                                 TF_CONFIG=config)
        for job in jobs[1:]:
            started[job].wait()
    text = started["evaluator"].text
    accuracies = [float(a) for a in re.findall(r"Saving dict for global step \d+: accuracy = ([\d.]+)", text)]
    assert accuracies, text[-3000:]
    return started, accuracies


def test_census_by_tf_config(tmp_path):
    """tf.estimator.train_and_evaluate starts its servers from TF_CONFIG: here they are Troupe nodes.

    Its worker starts five seconds after the chief: so many steps that some are left."""
    started, accuracies = census(tmp_path, programs.start_on_troupe, ["ps", "chief", "worker", "evaluator"], "--train_steps=6000", "--checkpoint_steps=3000")
    steps = {job: calls_received(started[job])["RunStep"] for job in ("chief", "worker")}
    assert min(steps.values()) > 5 and sum(steps.values()) >= 2000
    assert accuracies[-1] > 0.75


@pytest.mark.skipif(not FULL, reason="the same on TensorFlow's servers: with TROUPE_FULL=1")
def test_census_is_as_good_as_on_tensorflow(tmp_path):
    """With a chief alone nothing is left to chance."""
    jobs = ["ps", "chief", "evaluator"]
    ours = census(tmp_path / "troupe", programs.start_on_troupe, jobs, "--train_steps=400")[1]
    theirs = census(tmp_path / "tensorflow", programs.start, jobs, "--train_steps=400")[1]
    print(ours, theirs)
    assert abs(ours[-1] - theirs[-1]) <= 0.005
