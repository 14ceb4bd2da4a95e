"""Steps and messages inside a service: a hundred nodes on the service's own thread, beside TensorFlow's local session and beside gRPC."""

import contextlib
import os
import subprocess
import tempfile
import time

import numpy as np
import tensorflow as tf

from workloads import Row, workload

tf1 = tf.compat.v1
X = np.arange(1, 9, dtype=np.float32).reshape(1, 8)


class Service:
    """The program that hosts a node and measures itself."""

    def __init__(self):
        path = os.path.join(os.path.dirname(os.environ["TROUPE_BIN"]), "bench", "troupe_embed_bench")
        self._process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, *command):
        """Seconds of one step or message."""
        print(*command, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def model(service):
    with tempfile.NamedTemporaryFile() as file:
        service("write", file.name)
        return tf1.GraphDef.FromString(file.read())


def seconds_of(call, steps):
    begin = time.perf_counter()
    for _ in range(steps):
        call()
    return (time.perf_counter() - begin) / steps


@workload(Row("100-node step inside a service (TensorFlow: local session less its call), us", "step", target="<= 0.3"),
          Row("step of nothing inside a service (TensorFlow: that call), us", "null"),
          Row("100-node step of a service's session over gRPC, us", "far"),
          Row("messages through async_request on one thread, 1/s", "messages", 1, target=">= 500,000"), steps=2000, whole=True)
def service_steps(cluster):
    with contextlib.closing(Service()) as service, tf1.Graph().as_default() as graph:
        tf1.import_graph_def(model(service), name="")
        with tf1.Session(graph=graph) as local, tf1.Session(cluster.target()) as session:
            for each in (local, session):
                each.run("init")
            here, there = local.run("y:0", {"x:0": X}), session.run("y:0", {"x:0": X})
            cluster.check(np.allclose(here, there, rtol=1e-4), "twenty layers")
            # A callable costs less of Python than run; what an op that does nothing costs is not the graph's.
            step, null = local.make_callable("y:0", ["x:0"]), local.make_callable("nothing")

            def window(steps):
                if cluster.kind == "tensorflow":
                    call = seconds_of(null, steps)
                    return {"null": call, "step": seconds_of(lambda: step(X), steps) - call, "far": service("far", cluster.target(), steps)}
                return {"null": service("null", steps), "step": service("step", steps), "far": service("far", cluster.target(), steps),
                        "messages": 1 / service("messages", 100 * steps)}

            window(200)
            yield window
