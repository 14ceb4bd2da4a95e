"""Start-up and memory of a node, and many clients at once."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import tensorflow as tf

from servers import Cluster
from workloads import Row, workload

tf1 = tf.compat.v1

FIRST_STEP = """
import os, sys; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
tf1 = tf.compat.v1; tf1.disable_eager_execution()
two = tf1.constant(1) + 1
print("ready", flush=True)
for line in sys.stdin:
    with tf1.Session(line.strip()) as session:
        print(session.run(two), flush=True)
    print("closed", flush=True)
"""


@workload(Row("process start to first finished step, s", scale=1, target="<= 0.1"), steps=1, whole=True)
def first_step(cluster):
    client = subprocess.Popen([sys.executable, "-c", FIRST_STEP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert client.stdout.readline() == "ready\n"

    def run(_):
        begin = time.monotonic()
        fresh = Cluster(cluster.kind)
        try:
            client.stdin.write(fresh.target() + "\n")
            client.stdin.flush()
            cluster.check(client.stdout.readline() == "2\n", "1 + 1")
            seconds = time.monotonic() - begin
            assert client.stdout.readline() == "closed\n"  # a client does not close a session whose server has gone
            return seconds
        finally:
            fresh.stop()

    yield run
    client.kill()
    client.wait()


@workload(Row("idle resident memory, MB", scale=1, target="<= 0.1"), steps=1, whole=True)
def idle_memory(cluster):
    yield lambda _: next(iter(cluster.processes.values())).resident_mb()


CLIENTS = 64


@workload(Row(f"{CLIENTS} sessions at once, steps/s in all", "rate", 1, target=">= 3"),
          Row(f"{CLIENTS} sessions at once, p50 of a step, us", "p50"),
          Row(f"{CLIENTS} sessions at once, p99 of a step, us (ratio: to TensorFlow's p50)", "p99", target="<= 1", against="p50"), steps=25_600, whole=True)
def many_sessions(cluster):
    """Driven by a program in C++ with one thread, which checks every sum: the threads of one Python client are slower than any server."""
    program = os.path.join(os.path.dirname(os.environ["TROUPE_BIN"]), "bench", "troupe_load")
    clients = subprocess.Popen([program, cluster.target().removeprefix("grpc://"), str(CLIENTS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(steps):
        print(steps, file=clients.stdin, flush=True)
        rate, p50, p99, refused = map(float, clients.stdout.readline().split())
        if refused and cluster.kind == "troupe":
            raise AssertionError("a step was taken for a repeated one")
        return {"time": 1 / rate, "rate": rate, "p50": p50, "p99": p99}

    run(10 * CLIENTS)
    yield run
    clients.stdin.close()
    cluster.check(clients.wait() == 0, "all sums, and a good end")
    clients.stdout.close()


@workload(Row(f"{CLIENTS} sessions of one Python client at once, steps/s in all", "rate", 1), steps=6400, floor=True, answer_bytes=4, whole=True)
def many_sessions_of_python(cluster):
    with tf1.Graph().as_default():
        x = tf1.placeholder(tf1.float32, [])
        y = x + 1.0
        sessions = [tf1.Session(cluster.target()) for _ in range(CLIENTS)]
        for i, session in enumerate(sessions):
            cluster.check(session.run(y, {x: float(i)}) == i + 1, "a session's own sum")

        def run(steps):
            def work(session):
                for _ in range(steps // CLIENTS):
                    session.run(y, {x: 1.0})

            threads = [threading.Thread(target=work, args=[session]) for session in sessions]
            begin = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return (time.perf_counter() - begin) / (steps // CLIENTS * CLIENTS)

        run(10 * CLIENTS)
        yield run
        for session in sessions:
            session.close()


@workload(Row("growth of resident memory over 100,000 steps, MB", "grown", 1, target="flat: <= 2 MB", has_ratio=False), steps=100_000, whole=True, pairs=1, quick=10)
def flat_memory(cluster):
    with tf1.Graph().as_default():
        x = tf1.placeholder(tf1.float32, [100])
        v = tf1.get_variable("v", initializer=tf1.zeros([100]), use_resource=False)
        step = tf1.assign_add(v, x)
        with tf1.Session(cluster.target()) as session:
            session.run(v.initializer)
            ones = np.ones(100, np.float32)
            server = next(iter(cluster.processes.values()))
            for _ in range(2000):
                session.run(step.op, {x: ones})

            def run(steps):
                before = server.resident_mb()
                # A TensorFlow server may take one of so many runs for a repeated one, and end the session.
                for _ in range(steps if cluster.kind == "troupe" else steps // 10):
                    session.run(step.op, {x: ones})
                return {"grown": server.resident_mb() - before}

            yield run
            cluster.check(session.run(v)[0] >= 2000, "a sum over all steps")
