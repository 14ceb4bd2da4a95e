"""Links between Troupe nodes: tensors are pushed, nothing is left behind, and a lost or restarted node is noticed as before."""

import json
import os
import signal
import subprocess
import threading
import time

import grpc
import pytest
from conftest import WATCHDOG, running, start_node, troupe_binary

HELD = ("unclaimed", "kept", "wants")


def report(cluster, name):
    with grpc.insecure_channel(cluster.spec[name.split("/")[0]][int(name.split("/")[1])]) as channel:
        return json.loads(channel.unary_unary("/troupe.Node/Report")(b"", timeout=WATCHDOG))


def reports(cluster):
    return {name: report(cluster, name) for name in cluster.nodes}


def eventually(condition):
    end = time.monotonic() + WATCHDOG
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def total(reports, *names):
    return sum(r[name] for r in reports.values() for name in names)


@pytest.fixture
def cluster():
    with running("troupe", {"ps": 1, "worker": 2}, args=("--grace=0.2",)) as cluster:
        yield cluster


def training(tf1):
    with tf1.device("/job:ps/task:0"):
        variables = [tf1.get_variable(f"v{i}", [100], initializer=tf1.zeros_initializer()) for i in range(5)]
    with tf1.device("/job:worker/task:1"):
        loss = tf1.add_n([tf1.reduce_sum(tf1.square(v - 1.0)) for v in variables])
        step = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
    return loss, step


def test_tensors_are_pushed_and_none_is_left(cluster, tf1):
    loss, step = training(tf1)
    with tf1.Session(cluster.target("worker/0")) as session:
        session.run(tf1.global_variables_initializer())
        for _ in range(3):  # links are made while the first steps run
            session.run(step)
        eventually(lambda: all(r["links"] + r["guests"] > 0 for r in reports(cluster).values()))
        session.run(step)
        before = reports(cluster)
        for _ in range(20):
            session.run(step)
        eventually(lambda: total(reports(cluster), "pushed") == total(reports(cluster), "taken"))
        after = reports(cluster)
        assert total(after, "asked") == total(before, "asked"), "no tensor is fetched by a call"
        assert total(after, "pushed") - total(before, "pushed") >= 20 * 10
        assert after["worker/0"]["runs_sent"] - before["worker/0"]["runs_sent"] == 2 * 20
        assert total(after, "unclaimed", "kept") == 0
        assert session.run(loss) < 500.0
    eventually(lambda: total(reports(cluster), *HELD) == 0)


def test_a_failing_step_leaves_nothing(cluster, tf1):
    with tf1.device("/job:ps/task:0"):
        x = tf1.placeholder(tf1.float32, [2], name="x")
        good, bad = x + 1.0, tf1.check_numerics(x, "seen on the ps")
    with tf1.device("/job:worker/task:1"):
        y = tf1.reduce_sum(good) + tf1.reduce_sum(bad)
    with tf1.Session(cluster.target("worker/0")) as session:
        for _ in range(3):
            assert session.run(y, {x: [1.0, 1.0]}) == 6.0
        for _ in range(10):
            with pytest.raises(tf1.errors.InvalidArgumentError, match="seen on the ps : Tensor had NaN values"):
                session.run(y, {x: [1.0, float("nan")]})
        assert session.run(y, {x: [1.0, 1.0]}) == 6.0
        eventually(lambda: total(reports(cluster), "unclaimed", "kept") == 0)
    eventually(lambda: total(reports(cluster), *HELD) == 0)


def test_a_step_that_fails_at_once_does_not_wait_for_tensors_that_it_has_just_asked_for(cluster, tf1):
    with tf1.device("/job:ps/task:0"):
        queue = tf1.FIFOQueue(1, [tf1.float32], shapes=[[]])
        never = queue.dequeue()
    with tf1.device("/job:worker/task:0"):
        x = tf1.placeholder(tf1.float32, [2])
        y = tf1.check_numerics(x, "seen on the worker") + never
    with tf1.Session(cluster.target("worker/0")) as session:
        for _ in range(3):
            session.run(queue.enqueue(1.0))
            assert session.run(y, {x: [1.0, 2.0]}).tolist() == [2.0, 3.0]
        for _ in range(3):
            with pytest.raises(tf1.errors.InvalidArgumentError, match="seen on the worker : Tensor had NaN values"):
                session.run(y, {x: [1.0, float("nan")]}, options=tf1.RunOptions(timeout_in_ms=1000 * WATCHDOG))
    eventually(lambda: total(reports(cluster), *HELD) == 0)


def test_closing_while_a_step_waits_leaves_nothing(cluster, tf1):
    with tf1.device("/job:ps/task:0"):
        queue = tf1.FIFOQueue(1, [tf1.float32], shapes=[[]])
        taken, other = queue.dequeue(), tf1.random_uniform([1000])
    with tf1.device("/job:worker/task:1"):
        result = tf1.reduce_sum(other) + taken
    session = tf1.Session(cluster.target("worker/0"))
    for _ in range(3):
        session.run(queue.enqueue(1.0))
        session.run(result)
    failures = []

    def wait():
        try:
            session.run(result)
        except tf1.errors.OpError as e:
            failures.append(e)

    waiting = [threading.Thread(target=wait) for _ in range(4)]
    for w in waiting:
        w.start()
    served = report(cluster, "ps/0")["runs_served"]
    eventually(lambda: report(cluster, "ps/0")["runs_served"] >= served)
    time.sleep(0.1)
    session.close()
    for w in waiting:
        w.join(WATCHDOG)
    assert len(failures) == 4
    eventually(lambda: total(reports(cluster), *HELD) == 0)


def test_large_tensors_go_through_shared_memory(cluster, tf1):
    """Different ones in every step, some of them held in a variable while others come and go."""
    with tf1.device("/job:ps/task:0"):
        seed = tf1.placeholder(tf1.float32, [])
        made = [tf1.fill([300 + i, 1000], seed) + tf1.range(1000.0) for i in range(3)]
    with tf1.device("/job:worker/task:1"):
        kept = tf1.get_variable("kept", [301, 1000], initializer=tf1.zeros_initializer())
        keep = tf1.assign(kept, made[1])
        sums = [tf1.reduce_sum(m, axis=0) for m in made]
        kept_row = tf1.reduce_max(kept, axis=0)
    ramp = list(range(1000))
    with tf1.Session(cluster.target("worker/0")) as session:
        for _ in range(3):
            session.run(sums, {seed: 0.0})
        eventually(lambda: session.run(sums, {seed: 0.0}) is not None and report(cluster, "ps/0")["shared"] > 0)
        before = report(cluster, "ps/0")
        for step in range(8):
            for i, total_of in enumerate(session.run(sums, {seed: float(step)})):
                assert total_of.tolist() == [(300 + i) * (step + r) for r in ramp]
            if step == 3:
                session.run(keep.op, {seed: 100.0})
        assert session.run(kept_row).tolist() == [100.0 + r for r in ramp]
        after = report(cluster, "ps/0")
        assert after["shared"] - before["shared"] == 3 * 8 + 1
        assert after["pushed"] - before["pushed"] >= 3 * 8 + 1
    eventually(lambda: total(reports(cluster), *HELD) == 0)


def doctor(cluster, task):
    told = subprocess.run([troupe_binary(), "doctor"], capture_output=True, text=True, timeout=WATCHDOG,
                          env={**os.environ, "TF_CONFIG": json.dumps({"cluster": cluster.spec, "task": task})})
    return told.stdout


def test_the_doctor_says_by_which_road(cluster):
    told = doctor(cluster, {"type": "worker", "index": 0})
    assert told.count("answers, a Troupe node on this machine: by link, large tensors through shared memory") == 2, told


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_lost_node_fails_the_step_and_may_come_back(cluster, tf1, how):
    with tf1.device("/job:ps/task:0"):
        v = tf1.get_variable("v", initializer=tf1.constant([1.0, 2.0]))
        queue = tf1.FIFOQueue(1, [tf1.float32], shapes=[[]], shared_name="q")
        taken = queue.dequeue()
    with tf1.device("/job:worker/task:1"):
        waits = taken + tf1.reduce_sum(v)
        total_of_v = tf1.reduce_sum(v)
    session = tf1.Session(cluster.target("worker/0"))
    session.run(tf1.global_variables_initializer())
    for _ in range(3):
        assert session.run(total_of_v) == 3.0
    failures = []

    def wait():
        try:
            session.run(waits)
        except tf1.errors.OpError as e:
            failures.append(e)

    served = report(cluster, "ps/0")["runs_served"]
    waiting = threading.Thread(target=wait)
    waiting.start()
    eventually(lambda: report(cluster, "ps/0")["runs_served"] > served)
    cluster.nodes["ps/0"].stop(how)
    waiting.join(WATCHDOG)
    assert [type(e) for e in failures] == [tf1.errors.UnavailableError], failures
    if how == signal.SIGKILL:
        assert "GRPC error information from remote target /job:ps/replica:0/task:0" in failures[0].message
    with pytest.raises(tf1.errors.UnavailableError):
        session.run(total_of_v)
    cluster.nodes["ps/0"] = start_node("troupe", cluster.spec, "ps", 0).wait_until_serving()

    def refused():
        try:
            session.run(total_of_v)
        except tf1.errors.AbortedError:
            return True
        except tf1.errors.UnavailableError:
            return False
        raise AssertionError("the session's variables are gone")

    eventually(refused)
    session.close()
    with tf1.Session(cluster.target("worker/0")) as again:
        again.run(tf1.global_variables_initializer())
        for _ in range(3):
            assert again.run(total_of_v) == 3.0
        pushed = report(cluster, "ps/0")["pushed"]
        assert again.run(total_of_v) == 3.0
        assert report(cluster, "ps/0")["pushed"] > pushed
    eventually(lambda: report(cluster, "worker/1")["unclaimed"] == 0)


def test_a_tensorflow_peer_gets_tensorflows_protocol(tf1):
    with running("troupe", {"ps": 1, "worker": 1}, kinds={"ps/0": "tensorflow"}) as cluster:
        with tf1.device("/job:ps/task:0"):
            v = tf1.get_variable("v", initializer=tf1.constant(1.0))
        with tf1.device("/job:worker/task:0"):
            doubled = v * 2.0
        with tf1.Session(cluster.target("worker/0")) as session:
            session.run(tf1.global_variables_initializer())
            for _ in range(3):
                assert session.run(doubled) == 2.0
            told = report(cluster, "worker/0")
            assert (told["links"], told["runs_sent"], told["taken"]) == (0, 0, 0)
            assert told["asked"] >= 3
        assert "answers, a TensorFlow task: tensors are fetched one by one" in doctor(cluster, {"type": "worker", "index": 0})
