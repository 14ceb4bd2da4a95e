"""Clusters of node processes for the tests: Troupe's and TensorFlow's own, driven by the same client."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
# Some processors get TensorFlow's other kernels, with other texts and names.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

FULL = os.environ.get("TROUPE_FULL") == "1"
WATCHDOG = 60

TF_SERVER = """
import json, os, sys, threading
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
config = json.loads(sys.argv[1])
server = tf.distribute.Server(config["cluster"], job_name=config["task"]["type"], task_index=config["task"]["index"])
print(server.target, flush=True)
threading.Event().wait()
"""


def free_ports(count):
    """Ports that were free a moment ago; all are held until all are found."""
    sockets = []
    for _ in range(count):
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        sockets.append(s)
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Node:
    """A task in a process of its own; its standard error is kept for messages."""

    def __init__(self, command, env=None):
        self.command = command
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0", **(env or {})})
        self.log = []
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        self.target, self.told = None, False

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line.rstrip("\n"))

    def wait_until_serving(self):
        line = self.process.stdout.readline().strip()
        if not line.startswith("grpc://"):
            self.process.wait(WATCHDOG)
            self._reader.join(5)
            raise RuntimeError(f"{self.command} said {line!r} and ended with {self.process.returncode}:\n" + "\n".join(self.log))
        self.target = line
        return self

    def tell(self, sig=signal.SIGTERM):
        """Sends the first signal; a second one would end a node at once."""
        if self.process.poll() is None and not self.told:
            self.told = True
            self.process.send_signal(sig)

    def stop(self, sig=signal.SIGTERM):
        self.tell(sig)
        try:
            return self.process.wait(WATCHDOG)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


def troupe_binary():
    return os.environ.get("TROUPE_BIN", "build/release/troupe")


def start_node(kind, cluster, job, index, args=()):
    config = {"cluster": cluster, "task": {"type": job, "index": index}}
    if kind == "tensorflow":
        return Node([sys.executable, "-c", TF_SERVER, json.dumps(config)])
    return Node([troupe_binary(), "node", *args], {"TF_CONFIG": json.dumps(config)})


class Cluster:
    """Processes of one kind for every task; `kinds` overrides that for some ("ps/0": "tensorflow")."""

    def __init__(self, kind, jobs, kinds=None, args=()):
        ports = iter(free_ports(sum(jobs.values())))
        self.spec = {job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in jobs.items()}
        self.nodes = {}
        for job, addresses in self.spec.items():
            for index in range(len(addresses)):
                name = f"{job}/{index}"
                self.nodes[name] = start_node((kinds or {}).get(name, kind), self.spec, job, index, args)
        for node in self.nodes.values():
            node.wait_until_serving()

    def target(self, name):
        job, index = name.split("/")
        return "grpc://" + self.spec[job][int(index)]

    def stop(self):
        for node in self.nodes.values():
            node.tell(signal.SIGTERM if "troupe" in node.command[0] else signal.SIGKILL)
        return {name: node.stop() for name, node in self.nodes.items()}


@contextlib.contextmanager
def running(kind, jobs, **kwargs):
    cluster = Cluster(kind, jobs, **kwargs)
    try:
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def troupe():
    """One ps and two workers of Troupe, shared by the tests that leave no traces."""
    with running("troupe", {"ps": 1, "worker": 2}) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def tensorflow_cluster():
    """The same of TensorFlow."""
    with running("tensorflow", {"ps": 1, "worker": 2}) as cluster:
        yield cluster


@pytest.fixture(params=["troupe", "tensorflow"])
def either(request):
    """Runs a test on both, so that it says what TensorFlow does too."""
    return request.getfixturevalue("troupe" if request.param == "troupe" else "tensorflow_cluster")


@pytest.fixture
def tf1():
    import tensorflow as tf

    tf.compat.v1.disable_eager_execution()
    tf.compat.v1.disable_resource_variables()
    tf.compat.v1.reset_default_graph()
    return tf.compat.v1
