"""Troupe and TensorFlow's own server side by side, in one run, with the same client: medians, spread and ratio.

Fresh processes for each pair, interleaved (TensorFlow, Troupe, TensorFlow, Troupe, ...). Prints a table and writes build/bench.json.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

TF_SERVER = (
    "import os, threading; os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'\n"
    "import tensorflow as tf\n"
    "server = tf.distribute.Server.create_local_server()\n"
    "print(server.target, flush=True)\n"
    "threading.Event().wait()\n")

FIRST_STEP = (
    "import os, sys; os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'\n"
    "import tensorflow as tf\n"
    "tf1 = tf.compat.v1; tf1.disable_eager_execution()\n"
    "no_op = tf1.no_op()\n"
    "print('ready', flush=True)\n"
    "for line in sys.stdin:\n"
    "    with tf1.Session(line.strip()) as session:\n"
    "        session.run(no_op)\n"
    "    print('done', flush=True)\n")


class Server:
    def __init__(self, kind):
        command = [sys.executable, "-c", TF_SERVER] if kind == "tensorflow" else [os.environ["TROUPE_BIN"], "node", "--port=0", "--log_level=error"]
        self.started = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.target = self.process.stdout.readline().strip()
        if not self.target.startswith("grpc://"):
            raise RuntimeError(f"the {kind} server did not start")

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def null_step_us(server, client, steps):
    import tensorflow as tf

    tf1 = tf.compat.v1
    with tf1.Graph().as_default():
        no_op = tf1.no_op()
        one = tf1.constant(1) + 1
        with tf1.Session(server.target) as session:
            assert session.run(one) == 2, "a do-nothing server would answer faster"
            for _ in range(50):
                session.run(no_op)
            begin = time.perf_counter()
            for _ in range(steps):
                session.run(no_op)
            return (time.perf_counter() - begin) / steps * 1e6


def scalar_us(server, client, steps):
    import tensorflow as tf

    tf1 = tf.compat.v1
    with tf1.Graph().as_default():
        x = tf1.placeholder(tf1.float32, [])
        y = x + 1.0
        with tf1.Session(server.target) as session:
            assert session.run(y, {x: 2.0}) == 3.0
            begin = time.perf_counter()
            for _ in range(steps):
                session.run(y, {x: 2.0})
            return (time.perf_counter() - begin) / steps * 1e6


def chain_us(server, client, steps):
    import tensorflow as tf

    tf1 = tf.compat.v1
    with tf1.Graph().as_default():
        x = tf1.placeholder(tf1.float32, [])
        y = x
        for _ in range(1000):
            y = y + 1.0
        with tf1.Session(server.target) as session:
            assert session.run(y, {x: 0.0}) == 1000.0
            begin = time.perf_counter()
            for _ in range(max(1, steps // 20)):
                session.run(y, {x: 0.0})
            return (time.perf_counter() - begin) / max(1, steps // 20) / 1000 * 1e6


def first_step_s(server, client, steps):
    client.stdin.write(server.target + "\n")
    client.stdin.flush()
    assert client.stdout.readline() == "done\n"
    return time.monotonic() - server.started


def idle_mb(server, client, steps):
    return server.resident_mb()


WORKLOADS = {
    "start to first step, s": first_step_s,
    "idle resident memory, MB": idle_mb,
    "null step, us": null_step_us,
    "feed and fetch a scalar, us": scalar_us,
    "chain of 1,000 adds, us per op": chain_us,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two pairs and fewer steps")
    parser.add_argument("--only", help="workloads whose name contains this")
    arguments = parser.parse_args()
    import tensorflow as tf

    tf.compat.v1.disable_eager_execution()
    pairs, steps = (2, 300) if arguments.quick else (5, 2000)
    chosen = {name: f for name, f in WORKLOADS.items() if not arguments.only or arguments.only in name}
    client = subprocess.Popen([sys.executable, "-c", FIRST_STEP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert client.stdout.readline() == "ready\n"
    results = {name: {"tensorflow": [], "troupe": []} for name in chosen}
    for pair in range(pairs):
        for kind in ("tensorflow", "troupe"):
            print(f"pair {pair + 1} of {pairs}: {kind}", file=sys.stderr, flush=True)
            server = Server(kind)
            for name, workload in chosen.items():
                results[name][kind].append(workload(server, client, steps))
            server.stop()
    client.kill()
    table = {}
    print(f"{'workload':34} {'TensorFlow':>12} {'Troupe':>12} {'ratio':>7}   spread (TensorFlow, Troupe)")
    for name, values in results.items():
        theirs, ours = (statistics.median(values[k]) for k in ("tensorflow", "troupe"))
        spread = [f"{min(values[k]):.4g}..{max(values[k]):.4g}" for k in ("tensorflow", "troupe")]
        table[name] = {"tensorflow": values["tensorflow"], "troupe": values["troupe"], "ratio": ours / theirs}
        print(f"{name:34} {theirs:12.4g} {ours:12.4g} {ours / theirs:7.3f}   {spread[0]}, {spread[1]}")
    os.makedirs("build", exist_ok=True)
    with open("build/bench.json", "w") as out:
        json.dump(table, out, indent=1)


if __name__ == "__main__":
    main()
