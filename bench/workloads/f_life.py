"""Start-up and memory of a node, and many clients at once."""

import subprocess
import sys
import threading
import time

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
            return time.monotonic() - begin
        finally:
            fresh.stop()

    yield run
    client.kill()
    client.wait()


@workload(Row("idle resident memory, MB", scale=1, target="<= 0.1"), steps=1, whole=True)
def idle_memory(cluster):
    yield lambda _: next(iter(cluster.processes.values())).resident_mb()


CLIENTS = 64


@workload(Row(f"{CLIENTS} sessions at once, steps/s in all", "rate", 1, target=">= 3"), steps=2000, whole=True)
def many_sessions(cluster):
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

            threads = [threading.Thread(target=work, args=[s]) for s in sessions]
            begin = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return (time.perf_counter() - begin) / (steps // CLIENTS * CLIENTS)

        yield run
        for session in sessions:
            session.close()
