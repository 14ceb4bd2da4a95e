"""Stopping: a node ends with 0 on SIGTERM, whatever goes on, and every client is answered."""

import subprocess
import sys
import time

from conftest import FULL, WATCHDOG, Node, troupe_binary

# A process of its own: TensorFlow's client waits for ever when it closes a session whose server is gone, so it leaves without closing.
WAITING_CLIENT = """
import os, sys, threading
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
tf1 = tf.compat.v1
tf1.disable_eager_execution()
queue = tf1.FIFOQueue(1, [tf.float32], shared_name="q")
dequeue = queue.dequeue()
for target in sys.stdin:
    session = tf1.Session(target.strip())
    session.run(tf1.no_op())
    answers = []
    def wait():
        try:
            session.run(dequeue)
        except Exception as e:
            answers.append(type(e).__name__)
    clients = [threading.Thread(target=wait) for _ in range(3)]
    for c in clients: c.start()
    print("waiting", flush=True)
    for c in clients: c.join()
    print("answered", len(answers), *answers, flush=True)
    globals().setdefault("kept", []).append(session)
os._exit(0)
"""


def test_cycles_of_start_serve_and_stop():
    cycles = 200 if FULL else 5
    slowest = 0.0
    client = subprocess.Popen([sys.executable, "-c", WAITING_CLIENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(cycles):
            node = Node([troupe_binary(), "node", "--port=0", "--grace=0.05"]).wait_until_serving()
            client.stdin.write(node.target + "\n")
            client.stdin.flush()
            assert client.stdout.readline() == "waiting\n"
            time.sleep(0.02)  # some steps are under way, some perhaps not yet: both must be answered
            begin = time.monotonic()
            assert node.stop() == 0, node.log
            slowest = max(slowest, time.monotonic() - begin)
            assert client.stdout.readline().startswith("answered 3 ")
        client.stdin.close()
        assert client.wait(WATCHDOG) == 0
    finally:
        client.kill()
    print(f"slowest stop: {slowest:.3f} s")


def test_a_taken_port_is_named():
    first = Node([troupe_binary(), "node", "--port=0"]).wait_until_serving()
    port = first.target.rsplit(":", 1)[1]
    second = Node([troupe_binary(), "node", f"--port={port}"])
    assert second.process.wait(30) == 2
    second._reader.join(5)
    assert port in "\n".join(second.log)
    assert first.stop() == 0


def test_a_missing_peer_is_named(tf1):
    from conftest import free_ports, start_node

    ports = free_ports(2)
    cluster = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{ports[1]}"]}
    worker = start_node("troupe", cluster, "worker", 0).wait_until_serving()
    try:
        session = tf1.Session(worker.target, config=tf1.ConfigProto(operation_timeout_in_ms=2500))
        try:
            session.run(tf1.no_op())
            raise AssertionError("there is no ps")
        except tf1.errors.DeadlineExceededError as error:
            assert "/job:ps/replica:0/task:0 does not answer: failed to connect" in error.message
        assert any("/job:ps/replica:0/task:0" in line for line in worker.log), worker.log
    finally:
        assert worker.stop() == 0
