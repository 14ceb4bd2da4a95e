"""The drop-in for tf.train.Server: its calls and errors beside TensorFlow's, who owns the node, and where steps run."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

import programs
from conftest import WATCHDOG, free_ports

sys.path.insert(0, str(programs.PACKAGE))

import troupe  # noqa: E402


@pytest.fixture(autouse=True)
def binary(monkeypatch):
    monkeypatch.setenv("TROUPE_BIN", os.path.abspath(programs.troupe_binary()))


@pytest.fixture(params=["tensorflow", "troupe"])
def kind(request, tf1):
    """Both classes, so that the test says what TensorFlow's does too."""
    return tf1.train.Server if request.param == "tensorflow" else troupe.Server


def test_a_local_server(kind, tf1):
    server = kind.create_local_server()
    server.start()  # it has started already, which is no error
    assert re.fullmatch(r"grpc://localhost:\d+", server.target)
    assert server.server_def.job_name == "localhost"
    with tf1.Session(server.target) as session:
        assert session.run(tf1.constant(2) + 3) == 5
        assert [d.name for d in session.list_devices()] == ["/job:localhost/replica:0/task:0/device:CPU:0"]


def test_a_cluster_in_all_its_forms(kind, tf1):
    ports = free_ports(4)
    spec = tf1.train.ClusterSpec({"ps": {2: f"localhost:{ports[0]}"}, "worker": [f"localhost:{ports[1]}"]})
    ps = kind(spec, job_name="ps")
    worker = kind(tf1.train.ServerDef(cluster=spec.as_cluster_def(), job_name="ps", task_index=0, protocol="grpc"), job_name="worker",
                  config=tf1.ConfigProto(intra_op_parallelism_threads=1))
    assert (ps.server_def.task_index, worker.server_def.job_name) == (2, "worker")
    assert worker.server_def.default_session_config.intra_op_parallelism_threads == 1
    assert worker.target == f"grpc://localhost:{ports[1]}"
    with tf1.device("/job:ps/task:2"):
        v = tf1.get_variable("v", initializer=tf1.constant(4.0))
    with tf1.Session(worker.target) as session:
        session.run(v.initializer)
        assert session.run(v * 2.0) == 8.0


def test_several_devices_of_one_task(kind, tf1):
    """Each has resources of its own; loops and feeds cross between them."""
    import numpy as np

    server = kind.create_local_server(tf1.ConfigProto(device_count={"CPU": 3}))
    x = tf1.placeholder(tf1.float32, [2])
    with tf1.device("/cpu:1"):
        v = tf1.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        queue = tf1.FIFOQueue(3, tf1.float32, shared_name="q")
        put, size = queue.enqueue(3.0), queue.size()
    with tf1.device("/cpu:2"):
        added = v.assign_add(x)
        other_size = tf1.FIFOQueue(3, tf1.float32, shared_name="q").size()
        where = tf1.identity(x)

    def body(i, sum):
        with tf1.device("/cpu:2"):
            more = sum + x
        with tf1.device("/cpu:1"):
            return i + 1, more * 2

    looped = tf1.while_loop(lambda i, sum: i < 4, body, [0, tf1.zeros([2])], shape_invariants=[tf1.TensorShape([]), tf1.TensorShape([2])])[1]
    with tf1.Session(server.target) as session:
        assert [d.name[-5:] for d in session.list_devices()] == ["CPU:0", "CPU:1", "CPU:2"]
        session.run([v.initializer, put])
        assert session.run([size, other_size]) == [1, 0]
        np.testing.assert_array_equal(session.run(added, {x: [1, 1]}), [2, 3])
        np.testing.assert_array_equal(session.run([looped, where], {x: [1, 2]}), [[30, 60], [1, 2]])
        session.run(where.op, {x: [1, 2]})
        pieces = session.partial_run_setup([where, v.value()], [x])
        np.testing.assert_array_equal(session.partial_run(pieces, where, {x: [5, 6]}), [5, 6])
        with tf1.device("/cpu:5"):
            nowhere = tf1.constant(1) + 1
        with pytest.raises(tf1.errors.InvalidArgumentError, match="Cannot assign a device for operation"):
            session.run(nowhere)
    with tf1.Session(server.target, config=tf1.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(nowhere) == 2


@pytest.mark.parametrize("arguments, error", [
    (({"w": ["localhost:0"]}, "x"), "ValueError: No such job in cluster: 'x'"),
    (({"w": ["localhost:0"]}, "w", 5), 'InternalError: Task 5 was not defined in job "w"'),
    (({"w": ["localhost:0", "localhost:0"]}, ), "ValueError: Must specify an explicit `task_index`."),
    (({"w": ["localhost:0"], "v": ["localhost:0"]}, ), "ValueError: Must specify an explicit `job_name`."),
    (({"w": ["localhost:0"]}, "w", 0, "grpc+verbs"), "NotFoundError: No server factory registered for the given ServerDef: cluster {"),
    (({"w": ["localhost"]}, ), 'InvalidArgumentError: Could not parse port for local server from "localhost".'),
    (({"w": ["localhost:http"]}, ), 'InvalidArgumentError: Could not parse port for local server from "localhost:http".'),
    ((5, ), "TypeError: Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or `tf.train.ClusterSpec`."),
])
def test_errors(kind, arguments, error):
    with pytest.raises(Exception) as raised:
        kind(*arguments)
    assert f"{type(raised.value).__name__}: {raised.value}".startswith(error)


def test_a_taken_port(kind, tf1):
    port = kind.create_local_server().target.rsplit(":", 1)[1]
    with pytest.raises(tf1.errors.UnknownError, match="Could not start gRPC server"):
        kind({"w": [f"localhost:{port}"]})


def test_a_server_that_is_started_later(kind, tf1):
    server = kind.create_local_server(start=False)
    server.start()
    with tf1.Session(server.target) as session:
        session.run(tf1.no_op())


def test_a_forgotten_server_serves_on(kind, tf1):
    """As programs rely on that keep only the target."""
    import gc

    target = kind.create_local_server().target
    gc.collect()
    with tf1.Session(target) as session:
        session.run(tf1.no_op())


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pid):
    deadline = time.monotonic() + WATCHDOG
    while alive(pid):
        assert time.monotonic() < deadline, "the node goes on"
        time.sleep(0.02)


def test_stop_and_join():
    server = troupe.Server.create_local_server()
    pid = server._node.process.pid
    assert alive(pid)
    server.stop()
    server.stop()
    server.join()
    assert not alive(pid)


def test_join_tells_of_a_node_that_died(tf1):
    server = troupe.Server.create_local_server()
    server._node.process.kill()
    with pytest.raises(tf1.errors.AbortedError, match="ended with status -9"):
        server.join()


OWNER = """
import sys, troupe
server = troupe.Server.create_local_server()
print(server._node.process.pid, flush=True)
if sys.argv[1] == "join":
    server.join()
"""


@pytest.mark.parametrize("how", ["exit", signal.SIGTERM, signal.SIGKILL])
def test_the_node_ends_with_its_owner(how):
    owner = subprocess.Popen([sys.executable, "-c", OWNER, "exit" if how == "exit" else "join"], stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "PYTHONPATH": str(programs.PACKAGE)})
    pid = int(owner.stdout.readline())
    if how != "exit":
        assert alive(pid)
        owner.send_signal(how)
    owner.wait(WATCHDOG)
    wait_until_gone(pid)


def test_where_the_binary_is_found(monkeypatch, tmp_path):
    from troupe import binary

    (tmp_path / "troupe").write_text("#!/bin/sh\n")
    (tmp_path / "troupe").chmod(0o755)
    monkeypatch.setenv("TROUPE_BIN", str(tmp_path / "nothing"))
    with pytest.raises(FileNotFoundError, match="TROUPE_BIN"):
        binary.find_binary()
    monkeypatch.delenv("TROUPE_BIN")
    monkeypatch.setattr(binary, "_BESIDE", [tmp_path / "none", tmp_path / "troupe"])
    monkeypatch.setenv("PATH", "")
    assert binary.find_binary() == str(tmp_path / "troupe")
    monkeypatch.setattr(binary, "_BESIDE", [tmp_path / "none"])
    with pytest.raises(FileNotFoundError, match="set TROUPE_BIN"):
        binary.find_binary()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert binary.find_binary() == str(tmp_path / "troupe")


PROGRAM = """
import sys
import tensorflow.compat.v1 as tf
from tensorflow.python.training import server_lib
assert sys.argv[1:] == ["--flag", "word"], sys.argv
assert tf.train.Server is tf.distribute.Server is server_lib.Server
print("module", tf.train.Server.__module__, "name", __name__)
tf.disable_eager_execution()
server = tf.train.Server.create_local_server()
with tf.Session(server.target) as session:
    for i in range(50):
        session.run(tf.constant(1) + i)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The package as pip installs it."""
    folder = tmp_path_factory.mktemp("installed")
    source = folder / "source"
    subprocess.run(["cp", "-r", str(programs.PACKAGE), str(source)], check=True)  # pip leaves its own files beside the sources
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps",
                    "--no-build-isolation", "--target", str(folder / "site"), str(source)], check=True)
    return folder / "site"


def test_a_program_runs_unmodified(installed, tmp_path):
    """The node's own counters say that the steps ran there."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    ended = subprocess.run([sys.executable, "-m", "troupe", str(program), "--flag", "word"], capture_output=True, text=True, timeout=WATCHDOG * 2,
                           cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(installed), "TF_CPP_MIN_LOG_LEVEL": "0"})
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "module troupe.server name __main__\n"
    assert "calls received: CreateSession 1, ExtendSession 49, RunStep 50, CloseSession 1" in ended.stderr, ended.stderr


def test_usage():
    none = subprocess.run([sys.executable, "-m", "troupe"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(programs.PACKAGE)})
    assert none.returncode == 2 and "usage: python -m troupe" in none.stderr
    absent = subprocess.run([sys.executable, "-m", "troupe", "absent.py"], capture_output=True, text=True,
                            env={**os.environ, "PYTHONPATH": str(programs.PACKAGE)})
    assert absent.returncode == 2 and "absent.py does not exist" in absent.stderr
