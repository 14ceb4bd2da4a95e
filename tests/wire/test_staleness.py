"""A node's metrics of what updates were computed from: versions, workers, gradients that came too late, waits; for unmodified programs."""

import re
import threading

import pytest

from conftest import WATCHDOG, running


def page(folder, task):
    """The samples of a node's page, by name and labels; each line has the form that Prometheus reads."""
    samples = {}
    for line in (folder / task / "metrics.prom").read_text().splitlines():
        if re.fullmatch(r"# (HELP|TYPE) [a-z_]+ .+", line):
            continue
        match = re.fullmatch(r'([a-zA-Z_:]+(?:\{(?:[a-z]+="(?:[^"\\]|\\.)*",?)*\})?) (\S+)', line)
        assert match, line
        assert match[1] not in samples, line
        samples[match[1]] = float(match[2])
    return samples


@pytest.fixture
def cluster(tmp_path):
    with running("troupe", {"ps": 1, "worker": 2}, args=[f"--metrics_dir={tmp_path}", "--metrics_secs=0.1"]) as cluster:
        yield cluster


@pytest.mark.parametrize("resource", [False, True])
def test_an_update_knows_what_it_was_computed_from(cluster, tf1, tmp_path, resource):
    """Worker 1 reads, then worker 0 updates three times, then worker 1 updates from what it had read."""
    import tensorflow as tf

    with tf1.device("/job:ps/task:0"):
        w = tf1.get_variable("w", initializer=[1.0, 2.0], use_resource=resource)
        has_read = tf1.FIFOQueue(1, ["float"], shapes=[[2]], shared_name="has_read")
        may_go = tf1.FIFOQueue(1, ["float"], shapes=[[]], shared_name="may_go")
    with tf1.device("/job:worker/task:1"):
        old = w * 1.0
    told = has_read.enqueue(old)
    with tf1.control_dependencies([told]):
        factor = may_go.dequeue()
    slow = tf1.assign_sub(w, old * factor)
    with tf1.device("/job:worker/task:0"):
        quick = tf1.train.GradientDescentOptimizer(0.25).minimize(tf.reduce_sum(w * w))
    release, seen = may_go.enqueue(1.0), has_read.dequeue()
    options = tf1.RunOptions(timeout_in_ms=WATCHDOG * 1000)
    with tf1.Session(cluster.target("worker/0")) as first, tf1.Session(cluster.target("worker/1")) as second:
        first.run(w.initializer)
        thread = threading.Thread(target=lambda: second.run(slow, options=options))
        thread.start()
        assert list(first.run(seen, options=options)) == [1, 2]
        for _ in range(3):
            first.run(quick)
        first.run(release)
        thread.join(WATCHDOG)
        assert list(first.run(w)) == [0.125 - 1, 0.25 - 2]
    cluster.stop()
    found = page(tmp_path, "ps_0")
    assert found['troupe_variable_staleness_count{variable="w"}'] == 4 and found['troupe_variable_staleness_sum{variable="w"}'] == 3
    assert [found[f'troupe_variable_staleness_bucket{{variable="w",le="{le}"}}'] for le in ["0", "1", "2", "4", "+Inf"]] == [3, 3, 3, 4, 4]
    assert found['troupe_worker_staleness_count{worker="/job:worker/task:0"}'] == 3 and found['troupe_worker_staleness_sum{worker="/job:worker/task:0"}'] == 0
    assert found['troupe_worker_staleness_count{worker="/job:worker/task:1"}'] == 1 and found['troupe_worker_staleness_sum{worker="/job:worker/task:1"}'] == 3
    assert found['troupe_variable_version{variable="w"}'] == 5
    assert found['troupe_waits{worker="/job:worker/task:1",for="queue"}'] == 1
    assert found['troupe_waits_seconds{worker="/job:worker/task:1",for="queue"}'] >= 0
    assert "troupe_node_resident_bytes" in found and page(tmp_path, "worker_0")['troupe_calls_calls{method="RunStep"}'] >= 5


def test_gradients_that_come_too_late_are_counted(cluster, tf1, tmp_path):
    with tf1.device("/job:ps/task:0"):
        accumulator = tf1.ConditionalAccumulator("float", shape=[], shared_name="sum")
        step = tf1.placeholder("int64", [])
        apply, take = accumulator.apply_grad(2.0, local_step=step), accumulator.take_grad(2)
    with tf1.Session(cluster.target("worker/0")) as first, tf1.Session(cluster.target("worker/1")) as second:
        for session in (first, second):
            session.run(apply, {step: 0})
        assert first.run(take) == 2.0
        first.run(apply, {step: 1})
        second.run(apply, {step: 0})  # of the step before
        second.run(apply, {step: 0})
    cluster.stop()
    found = page(tmp_path, "ps_0")
    assert found['troupe_accumulator_gradients{accumulator="sum",fate="taken"}'] == 3
    assert found['troupe_accumulator_gradients{accumulator="sum",fate="dropped"}'] == 2
    assert found['troupe_worker_gradients{worker="/job:worker/task:0",fate="dropped"}'] == 0
    assert found['troupe_worker_gradients{worker="/job:worker/task:1",fate="dropped"}'] == 2
    assert found['troupe_waits{worker="/job:worker/task:0",for="gradients"}'] == 1


def test_tensorboard_shows_staleness(cluster, tf1, tmp_path):
    from test_tensorboard import read_back

    import tensorflow as tf

    with tf1.device("/job:ps/task:0"):
        w = tf1.get_variable("w", initializer=3.0)
    step = tf1.train.AdamOptimizer(0.1).minimize(tf.square(w))
    with tf1.Session(cluster.target("worker/0")) as session:
        session.run(tf1.global_variables_initializer())
        for _ in range(6):
            session.run(step)
    cluster.stop()
    reader = read_back(tmp_path / "ps_0")
    by_variable, by_worker = reader.Histograms("staleness/variables/w")[-1].histogram_value, reader.Histograms("staleness/workers/job:worker/task:0")[-1]
    assert (by_variable.num, by_variable.sum) == (6, 0)
    assert by_worker.histogram_value.num >= 6
