"""Clusters of server processes to measure: TensorFlow's own, Troupe's, and a server that does nothing but answer."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

TENSORFLOW = """
import json, os, sys, threading
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
config = json.loads(sys.argv[1])
server = tf.distribute.Server(config["cluster"], job_name=config["task"]["type"], task_index=config["task"]["index"])
print(server.target, flush=True)
threading.Event().wait()
"""


def free_ports(count):
    """Ports that were free a moment ago; all are held until all are found."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def floor_program():
    """The do-nothing server, built beside Troupe's program; None where it was not built."""
    path = os.environ.get("TROUPE_FLOOR") or os.path.join(os.path.dirname(os.environ["TROUPE_BIN"]), "bench", "troupe_floor")
    return path if os.access(path, os.X_OK) else None


class Process:
    def __init__(self, command, env=None):
        self.started = time.monotonic()
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **(env or {})})
        self.target = None

    def wait_until_ready(self):
        self.target = self._process.stdout.readline().strip()
        if not self.target.startswith("grpc://"):
            raise RuntimeError(f"a server did not start: {' '.join(self._process.args[:3])}")

    def cpu_seconds(self):
        total = 0
        for thread in self._threads():
            with contextlib.suppress(OSError), open(f"{thread}/schedstat") as stat:
                total += int(stat.read().split()[0])
        return total / 1e9

    def sleeps(self):
        """Voluntary context switches of all threads."""
        total = 0
        for thread in self._threads():
            with contextlib.suppress(OSError), open(f"{thread}/status") as status:
                total += next(int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt_switches"))
        return total

    def resident_mb(self):
        with open(f"/proc/{self._process.pid}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))

    def stop(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()

    def _threads(self):
        folder = f"/proc/{self._process.pid}/task"
        return [f"{folder}/{thread}" for thread in os.listdir(folder)]


class Cluster:
    """`jobs` maps job names to numbers of tasks; None is one node for itself. A floor is always one node."""

    def __init__(self, kind, jobs=None, spin_us=None, answer_bytes=0):
        self.kind = kind
        self.computes = kind != "floor"
        jobs = jobs or {"local": 1}
        ports = iter(free_ports(sum(jobs.values())))
        self.addresses = {job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in jobs.items()}
        self.processes = {}
        for job, count in jobs.items():
            for index in range(count):
                self.processes[f"{job}/{index}"] = self._start(job, index, spin_us, answer_bytes)
        for process in self.processes.values():
            process.wait_until_ready()

    def _start(self, job, index, spin_us, answer_bytes):
        spin = [] if spin_us is None else [f"--spin_us={spin_us}"]
        if self.kind == "floor":
            return Process([floor_program(), f"--answer_bytes={answer_bytes}", *spin])
        config = json.dumps({"cluster": self.addresses, "task": {"type": job, "index": index}})
        if self.kind == "tensorflow":
            return Process([sys.executable, "-c", TENSORFLOW, config])
        return Process([os.environ["TROUPE_BIN"], "node", "--log_level=error", *spin], env={"TF_CONFIG": config})

    def target(self, task=None):
        return (self.processes[task] if task else next(iter(self.processes.values()))).target

    def check(self, right, what):
        """Results are looked at outside of the timed windows. A floor cannot pass a check that computes something."""
        if self.computes and not right:
            raise AssertionError(f"{self.kind} gave a wrong result: {what}")
        if not self.computes and right:
            raise AssertionError(f"the check of '{what}' would let a do-nothing server pass")

    def cpu_seconds(self):
        return sum(p.cpu_seconds() for p in self.processes.values())

    def sleeps(self):
        return sum(p.sleeps() for p in self.processes.values())

    def stop(self):
        for process in self.processes.values():
            process.stop()
