"""The laboratory's command line: specs, runs in all stages, reports, replays, changes of mode."""

import csv
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest
from conftest import FULL

TROUPE = os.environ.get("TROUPE_BIN", "troupe")

SMALL = """
title: A small comparison
data: {kind: digits, examples: 300, tests: 100}
workers: 3
seeds: [1]
length: {updates: 30}
target: 0.3
times: {compute: {exponential: 1}}
modes: [sync, async]
"""


def lab(*arguments, code=0):
    done = subprocess.run([TROUPE, "lab", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def spec(folder, text=SMALL, **changes):
    lines = [line for line in text.strip().splitlines() if line.split(":")[0] not in changes]
    lines += [f"{key}: {value}" for key, value in changes.items()]
    file = folder / "spec.yaml"
    file.write_text("\n".join(lines) + "\n")
    return file


def records(folder):
    return {json.loads(f.read_text())["id"]: json.loads(f.read_text()) for f in (folder / "runs").glob("*.json")}


def conserved(record):
    return record["computed"] == record["applied"] + record["dropped"] + record["lost"] + record["in_flight"]


def test_list_and_show(tmp_path):
    names = [line.split()[0] for line in lab("list").splitlines()]
    assert {"backup_workers", "staleness", "bounded_staleness", "slow_worker"} <= set(names)
    assert "modes:" in lab("show", "staleness")


def test_a_run_leaves_a_report(tmp_path):
    out = lab("run", spec(tmp_path), "--out", tmp_path / "out")
    assert "w3_async_seed1" in out and "report.html" in out
    page = (tmp_path / "out/report.html").read_text()
    assert page.count("<svg") >= 8 and "<script" not in page and "http" not in page
    rows = list(csv.DictReader((tmp_path / "out/runs.csv").open()))
    assert [row["mode"] for row in rows] == ["sync", "async"] and rows[0]["updates"] == "30"
    assert json.loads((tmp_path / "out/results.json").read_text())["modes"][0]["runs"] == 1
    assert list((tmp_path / "out/events").glob("*/events.out.tfevents.*"))
    assert all(conserved(r) for r in records(tmp_path / "out").values())


def test_equal_runs_give_equal_bytes(tmp_path):
    file = spec(tmp_path)
    for name in "ab":
        lab("run", file, "--out", tmp_path / name)
    for name in ["runs.csv", "curves.csv", "report.html", "runs/w3_async_seed1.json"]:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_instructions_are_chosen(tmp_path):
    """The same instructions give the same bytes; a build with sanitizers too, where there is one."""
    file = spec(tmp_path, model="cnn", length="{updates: 4}", batch=8, data="{kind: digits, examples: 60, tests: 20}", modes="[sync, async]")
    limited = {**os.environ, "TROUPE_ISA": "sse41"}
    builds = [TROUPE, TROUPE]
    asan = pathlib.Path(TROUPE).resolve().parents[1] / "asan" / "troupe"
    if asan.exists():
        builds.append(str(asan))
    for number, build in enumerate(builds):
        subprocess.run([build, "lab", "run", str(file), "--out", str(tmp_path / str(number))], check=True, capture_output=True, env=limited)
        assert records(tmp_path / str(number)) == records(tmp_path / "0"), build
    refused = subprocess.run([TROUPE, "lab", "list"], capture_output=True, text=True, env={**os.environ, "TROUPE_ISA": "mmx"})
    assert refused.returncode == 2 and "sse41, avx, avx2 and avx512" in refused.stderr


def test_an_interrupted_run_goes_on(tmp_path):
    file = spec(tmp_path)
    lab("run", file, "--out", tmp_path / "out")
    whole = records(tmp_path / "out")
    (tmp_path / "out/runs/w3_async_seed1.json").unlink()
    assert "1 runs are not finished" in lab("report", tmp_path / "out")
    assert "(done before)" in lab("run", file, "--out", tmp_path / "out")
    assert records(tmp_path / "out") == whole
    assert "another spec" in lab("run", spec(tmp_path, batch=8), "--out", tmp_path / "out", code=1)


def test_a_killed_run_goes_on(tmp_path):
    """What was finished is kept, a run that was cut off is done again from its beginning, and all ends as if nothing had happened."""
    file = spec(tmp_path, seeds="[1, 2, 3]", length="{updates: 1000}")
    run = subprocess.Popen([TROUPE, "lab", "run", str(file), "--out", str(tmp_path / "cut")], stdout=subprocess.DEVNULL)
    while run.poll() is None and not list((tmp_path / "cut/runs").glob("*.json")):
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    said = lab("report", tmp_path / "cut")
    assert "are not finished" in said or len(records(tmp_path / "cut")) == 6
    assert "(done before)" in lab("run", file, "--out", tmp_path / "cut")
    lab("run", file, "--out", tmp_path / "whole")
    assert records(tmp_path / "cut") == records(tmp_path / "whole")


MINE = """
import sys
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
resource, text = sys.argv[2] == "resource", sys.argv[3] == "text"
with tf.device("/job:ps/task:0"):
    x = tf.placeholder(tf.float32, [None, 28, 28, 1], "images")
    y = tf.placeholder(tf.float32, [None, 10], "classes")
    keep = tf.placeholder(tf.float32, [], "keep")
    w = tf.get_variable("net/w", [784, 32], use_resource=resource)
    c = tf.get_variable("net/c", [32], initializer=tf.zeros_initializer(), use_resource=resource)
    v = tf.get_variable("net/v", [32, 10], use_resource=resource, initializer=tf.truncated_normal_initializer(stddev=0.1))
logits = tf.matmul(tf.nn.relu(tf.matmul(tf.reshape(x, [-1, 784]), w) + c), v)
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=logits), name="cost")
tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1)), tf.float32), name="right")
tf.identity(loss * keep, name="uncertain")
tf.train.AdamOptimizer().minimize(loss, tf.train.get_or_create_global_step())
tf.train.write_graph(tf.get_default_graph(), ".", sys.argv[1], as_text=text)
"""

WORDS = """
import sys
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
x, y = tf.placeholder(tf.int64, [None, 8], "x"), tf.placeholder(tf.int32, [None], "y")
rows = tf.get_variable("rows", [500, 8], use_resource=True)
v = tf.get_variable("v", [8, 4], use_resource=True)
logits = tf.matmul(tf.reduce_mean(tf.nn.embedding_lookup(rows, x), 1), v)
tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits), name="loss")
tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), y), tf.float32), name="score")
tf.train.write_graph(tf.get_default_graph(), ".", sys.argv[1], as_text=False)
"""


def write_graph(script, *arguments):
    subprocess.run([sys.executable, "-c", script, *map(str, arguments)], check=True, capture_output=True, timeout=300)


@pytest.mark.parametrize("kind, form", [("resource", "text"), ("reference", "binary")])
def test_a_graph_of_ones_own_is_a_model(tmp_path, kind, form):
    """Written by TensorFlow, with devices, an optimizer and a shape of images that the data does not have."""
    write_graph(MINE, tmp_path / "mine.pb", kind, form)
    model = "{kind: graph, file: mine.pb, inputs: images, labels: classes, loss: cost, score: 'right:0'}"
    ends = {}
    for stage in ["virtual", "inprocess"]:
        lab("run", spec(tmp_path, stage=stage, model=model, modes="[sync, async]", ps=2, times="{compute: 0.001}", length="{updates: 60}"), "--out", tmp_path / stage)
        found = records(tmp_path / stage)
        assert all(conserved(r) for r in found.values())
        curve = found["w3_sync_seed1"]["curve"]
        assert curve[-1][3] < 0.8 * curve[0][3] and curve[-1][4] > curve[0][4]
        ends[stage] = curve[-1][3:]
    assert ends["inprocess"] == pytest.approx(ends["virtual"], abs=1e-5)


def test_rows_of_a_graph_of_ones_own(tmp_path):
    write_graph(WORDS, tmp_path / "words.pb")
    file = spec(tmp_path, model="{kind: graph, file: words.pb}", data="{kind: words, examples: 300, tests: 100}", optimizer="{kind: adagrad, rate: 0.5}",
                length="{updates: 200}")
    for name in "ab":
        lab("run", file, "--out", tmp_path / name)
    found = records(tmp_path / "a")
    assert found == records(tmp_path / "b")
    assert found["w3_sync_seed1"]["curve"][-1][3] < 0.8 * found["w3_sync_seed1"]["curve"][0][3]


LAYERS = """
import sys
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
x, y = tf.placeholder(tf.float32, [None, 28, 28, 1], "x"), tf.placeholder(tf.int64, [None], "y")
h = tf.layers.max_pooling2d(tf.layers.conv2d(x, 8, 5, padding="same", activation=tf.nn.relu), 2, 2)
h = tf.layers.dropout(tf.layers.flatten(tf.layers.batch_normalization(h, training=True)), 0.2, training=True)
logits = tf.layers.dense(h, 10)
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
tf.identity(loss + 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()]), name="loss")
tf.identity(tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32)), name="score")
tf.train.write_graph(tf.get_default_graph(), ".", sys.argv[1], as_text=False)
"""


def test_layers_of_a_graph_of_ones_own(tmp_path):
    """With variables that are not trained (moving averages), and with random numbers in every step: the same ones each time."""
    write_graph(LAYERS, tmp_path / "layers.pb")
    file = spec(tmp_path, model="{kind: graph, file: layers.pb}", optimizer="{kind: momentum, rate: 0.05}", length="{updates: 25}", modes="[sync]")
    for name in "ab":
        lab("run", file, "--out", tmp_path / name)
    found = records(tmp_path / "a")
    assert found == records(tmp_path / "b")
    curve = found["w3_sync_seed1"]["curve"]
    assert curve[-1][3] < 0.7 * curve[0][3] and curve[-1][4] > 0.5


@pytest.mark.parametrize("model, says", [
    ("{kind: graph}", "add file: a GraphDef"),
    ("{kind: graph, file: none.pb}", "none.pb does not exist"),
    ("{kind: graph, file: mine.pb, loss: lost, score: right}", "no node lost"),
    ("{kind: graph, file: mine.pb, inputs: images, labels: labels, loss: cost, score: right}", "no placeholder labels"),
    ("{kind: graph, file: mine.pb, inputs: images, labels: classes, loss: add, score: right}", "no single float"),
    ("{kind: graph, file: mine.pb, inputs: images, labels: classes, loss: uncertain, score: right}", "a placeholder keep besides"),
    ("{kind: graph, file: spec.yaml}", "spec.yaml"),
])
def test_graphs_that_are_no_models_start_nothing(tmp_path, mine, model, says):
    (tmp_path / "mine.pb").write_bytes(mine)
    done = subprocess.run([TROUPE, "lab", "run", str(spec(tmp_path, model=model)), "--out", str(tmp_path / "out")], capture_output=True, text=True)
    assert done.returncode in (1, 2) and says in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    file = tmp_path_factory.mktemp("graph") / "mine.pb"
    write_graph(MINE, file, "resource", "binary")
    return file.read_bytes()


@pytest.mark.parametrize("changes, says", [
    ({"wokers": 3}, "unknown key 'wokers'"),
    ({"modes": "[sync+3]"}, "b is at most 2"),
    ({"times": "{network: -1}"}, "must not be negative"),
    ({"data": "{kind: csv, file: none.csv, label: y}"}, "none.csv does not exist"),
])
def test_bad_specs_start_nothing(tmp_path, changes, says):
    file = spec(tmp_path, **changes)
    said = lab("run", file, "--out", tmp_path / "out", code=2)
    assert says in said and f"{file}:" in said
    assert not (tmp_path / "out").exists()


def test_missing_things_are_named(tmp_path):
    assert "neither a file nor a built-in" in lab("run", "nothing", code=2)
    assert "no spec.yaml" in lab("report", tmp_path, code=1)
    assert "no run is under way" in lab("set-mode", tmp_path, "sync", code=1)


def test_sync_is_the_same_on_every_stage(tmp_path):
    ends = {}
    for stage in ["virtual", "inprocess", "processes"]:
        lab("run", spec(tmp_path, stage=stage, modes="[sync]", times="{compute: 0.001}"), "--out", tmp_path / stage)
        ends[stage] = records(tmp_path / stage)["w3_sync_seed1"]["curve"][-1]
    for stage in ["inprocess", "processes"]:
        assert ends[stage][3:] == pytest.approx(ends["virtual"][3:], abs=1e-5)


def test_a_slow_process_holds_up_sync_only(tmp_path):
    file = spec(tmp_path, stage="processes", workers=4, length="{updates: 24}", times="{compute: 0.002}", faults="[{worker: 3, slow: 40}]",
                modes="[sync, sync+1, async]")
    lab("run", file, "--out", tmp_path / "out")
    found = records(tmp_path / "out")
    assert all(conserved(r) for r in found.values())
    # What the workers did, not how long it took: under sync all take equal part, otherwise the slow one hardly any.
    share = {r["mode"]: r["each_worker"][3]["applied"] / r["applied"] for r in found.values()}
    assert share["sync"] == 0.25
    assert share["sync+1"] < 0.1 and share["async"] < 0.2


def test_an_asynchronous_run_on_processes_is_replayed(tmp_path):
    file = spec(tmp_path, stage="processes", workers=4, ps=2, length="{updates: 60}", modes="[async]", times="{compute: {exponential: 0.002}}")
    lab("record", file, "--out", tmp_path / "out")
    assert "bit for bit" in lab("replay", tmp_path / "out", "w4_async_seed1")
    trace = tmp_path / "out/runs/w4_async_seed1.trace"
    text = trace.read_text()
    trace.write_text(text.replace("apply 0x1p+0", "apply 0x1.8p+0", 1))
    assert "as recorded" in lab("replay", tmp_path / "out", "w4_async_seed1", code=1)
    trace.write_text(text[:text.rindex("end")])
    assert "interrupted" in lab("replay", tmp_path / "out", "w4_async_seed1", code=1)


def test_the_mode_is_changed_while_a_job_runs(tmp_path):
    times, length = (100, "{seconds: 40}") if FULL else (30, "{seconds: 60, updates: 4000}")
    file = spec(tmp_path, stage="inprocess", workers=3, length=length, modes="[async]", times="{compute: {exponential: 0.003}}")
    run = subprocess.Popen([TROUPE, "lab", "run", str(file), "--out", str(tmp_path / "out")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "out/running").exists() and run.poll() is None:
        time.sleep(0.02)
    asked = 0
    modes = ["sync", "ssp(1)", "async", "sync+1", "auto", "async(aware)", "auto(ssp)"]
    random.seed(3)
    while run.poll() is None and asked < times:
        done = subprocess.run([TROUPE, "lab", "set-mode", str(tmp_path / "out"), modes[asked % len(modes)]], capture_output=True, text=True)
        asked += done.returncode == 0
        time.sleep(random.uniform(0, 0.06))
    out, err = run.communicate()
    assert run.returncode == 0, out + err
    record = records(tmp_path / "out")["w3_async_seed1"]
    assert len(record["changes"]) > (90 if FULL else 5) and conserved(record)
    assert record["curve"][-1][3] < record["curve"][0][3]
