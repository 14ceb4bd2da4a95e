"""A TF_CONFIG cluster whose tasks live in network namespaces of their own, each with its own address."""

import contextlib
import json
import os
import shutil
import subprocess

import pytest
from conftest import Node, troupe_binary

TAG = f"tr{os.getpid() % 100000}"
NET = f"10.{os.getpid() % 250 + 1}.77"

CLIENT = """
import sys, json
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
with tf.device("/job:ps/task:0"):
    v = tf.get_variable("v", initializer=tf.constant([1.0, 2.0]), use_resource=False)
with tf.device("/job:worker/task:1"):
    doubled = v * 2.0
with tf.device("/job:worker/task:0"):
    update = tf.assign_add(v, doubled)
with tf.Session(sys.argv[1]) as session:
    session.run(tf.global_variables_initializer())
    session.run(update)
    devices = sorted(d.name for d in session.list_devices() if d.device_type == "CPU")
    print(json.dumps([session.run(v).tolist(), devices]))
"""


def ip(*args):
    subprocess.run(["ip", *args], check=True, capture_output=True, text=True)


@contextlib.contextmanager
def namespaces(count):
    """A bridge and that many namespaces behind it: names and addresses."""
    made, bridge = [], f"{TAG}br"
    try:
        ip("link", "add", bridge, "type", "bridge")
        ip("addr", "add", f"{NET}.254/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        for i in range(count):
            name, outer, inner = f"{TAG}n{i}", f"{TAG}o{i}", f"{TAG}i{i}"
            ip("netns", "add", name)
            made.append(name)
            ip("link", "add", outer, "type", "veth", "peer", "name", inner)
            ip("link", "set", outer, "master", bridge, "up")
            ip("link", "set", inner, "netns", name)
            ip("-n", name, "addr", "add", f"{NET}.{i + 1}/24", "dev", inner)
            ip("-n", name, "link", "set", inner, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield [(name, f"{NET}.{i + 1}") for i, name in enumerate(made)]
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False)
        subprocess.run(["ip", "link", "del", bridge], check=False, capture_output=True)


@pytest.fixture
def three_hosts():
    if not shutil.which("ip"):
        pytest.skip("no `ip` (package iproute2)")
    with contextlib.ExitStack() as stack:
        try:
            hosts = stack.enter_context(namespaces(3))
        except subprocess.CalledProcessError as e:
            pytest.skip(f"network namespaces are not permitted here: {e.stderr.strip()}")
        yield hosts


def test_a_cluster_of_three_hosts(three_hosts):
    import sys

    (ps, ps_ip), (w0, w0_ip), (w1, w1_ip) = three_hosts
    cluster = {"ps": [f"{ps_ip}:2222"], "worker": [f"{w0_ip}:2222", f"{w1_ip}:2222"]}
    nodes = []
    try:
        for host, job, index in ((ps, "ps", 0), (w0, "worker", 0), (w1, "worker", 1)):
            config = {"cluster": cluster, "task": {"type": job, "index": index}}
            command = ["ip", "netns", "exec", host, troupe_binary(), "node"]
            nodes.append(Node(command, {"TF_CONFIG": json.dumps(config)}).wait_until_serving())
        answer = subprocess.run(
            ["ip", "netns", "exec", w0, sys.executable, "-c", CLIENT, f"grpc://{w0_ip}:2222"],
            check=True, capture_output=True, text=True, timeout=120)
        value, devices = json.loads(answer.stdout.strip().splitlines()[-1])
        assert value == [3.0, 6.0]
        assert devices == [f"/job:{job}/replica:0/task:{task}/device:CPU:0" for job, task in (("ps", 0), ("worker", 0), ("worker", 1))]
        # Each listens on all interfaces now, and says what that means.
        assert all(any("run code" in line for line in node.log) for node in nodes), [node.log for node in nodes]
    finally:
        assert [node.stop() for node in nodes] == [0] * len(nodes)
