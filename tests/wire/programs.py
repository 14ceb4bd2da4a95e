"""Runs the programs of examples/ for the tests, and reads the losses and accuracies that they print.

A forkserver that has TensorFlow loaded starts them, which spares each the seconds of that.
"""

import multiprocessing
import multiprocessing.forkserver
import os
import pathlib
import re
import runpy
import sys
import tempfile

from conftest import FULL, WATCHDOG, free_ports, troupe_binary

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PACKAGE = ROOT / "config" / "python"
PATIENCE = WATCHDOG * (15 if FULL else 4)

_context = None


def _forkserver():
    global _context
    if _context is None:
        _context = multiprocessing.get_context("forkserver")
        _context.set_forkserver_preload(["tensorflow", "tensorflow_estimator"])
        # Losses are compared over a hundred steps: with convolutions of the same library, as TensorFlow has them on newer processors.
        others = os.environ.get("TF_ENABLE_ONEDNN_OPTS", "0")
        os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"
        multiprocessing.forkserver.ensure_running()
        os.environ["TF_ENABLE_ONEDNN_OPTS"] = others
    return _context


def _run(program, arguments, environment, output, on_troupe):
    """In the new process: the program as __main__, with its output in a file; on Troupe as `python -m troupe` does it."""
    out = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.environ.update(environment)
    sys.argv = [str(program), *arguments]
    sys.path.insert(0, str(pathlib.Path(program).parent))
    if not on_troupe:
        runpy.run_path(str(program), run_name="__main__")
        return
    sys.path.insert(0, str(PACKAGE))
    import troupe.node

    troupe.replace_server()
    try:
        runpy.run_path(str(program), run_name="__main__")
    finally:
        troupe.node._stop_all()  # a process of multiprocessing ends without its exit functions


class Output:
    """What a program has printed so far."""

    @property
    def text(self):
        return pathlib.Path(self.output).read_text()

    @property
    def steps(self):
        """Losses by global step, in the order of printing."""
        return [(int(step), float(loss)) for step, loss in re.findall(r"^step (\d+) loss (\S+)$", self.text, re.M)]

    @property
    def losses(self):
        return [loss for _, loss in self.steps]

    @property
    def accuracy(self):
        """The last one that it tells."""
        return float(re.findall(r"^accuracy (\S+)$", self.text, re.M)[-1])


_outputs = None


def _new_output():
    global _outputs
    if _outputs is None:
        _outputs = tempfile.TemporaryDirectory(prefix="troupe_programs_")
    descriptor, path = tempfile.mkstemp(suffix=".txt", dir=_outputs.name)
    os.close(descriptor)
    return path


class Program(Output):
    """A program of examples/ in a process of its own."""

    def __init__(self, program, arguments, environment, on_troupe=False):
        self.name, self.output = program, _new_output()
        # A few steps teach less of real handwriting than of drawn digits; who trains long asks for it.
        environment = {"TROUPE_BIN": os.path.abspath(troupe_binary()), "TROUPE_MNIST_DIR": "", **environment}
        arguments = [str(a) for a in arguments]
        self.process = _forkserver().Process(target=_run, args=(str(EXAMPLES / program), arguments, environment, self.output, on_troupe))
        self.process.start()

    def wait(self):
        self.process.join(PATIENCE)
        if self.process.exitcode is None:
            self.process.kill()
            raise AssertionError(f"{self.name} does not end:\n{self.text[-3000:]}")
        assert self.process.exitcode == 0, f"{self.name} ended with {self.process.exitcode}:\n{self.text[-3000:]}"
        return self

    def kill(self):
        self.process.kill()
        self.process.join()

    alive = property(lambda self: self.process.is_alive())


def start(program, *arguments, **environment):
    """Starts a program of examples/."""
    return Program(program, arguments, {"TF_CPP_MIN_LOG_LEVEL": "3", **environment})


def run(program, *arguments, **environment):
    """Runs a program of examples/ to its end, which must be a good one."""
    return start(program, *arguments, **environment).wait()


def all_of(started):
    """Waits for programs that run side by side; none is left when one fails."""
    started = list(started)
    try:
        return [program.wait() for program in started]
    finally:
        for program in started:
            program.kill()


def start_on_troupe(program, *arguments, **environment):
    """Starts a program whose servers are Troupe nodes; what they log is in its output too."""
    return Program(program, arguments, {"TF_CPP_MIN_LOG_LEVEL": "0", **environment}, on_troupe=True)


def _serve(cluster, job, index, threads, pipe):
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=threads)
    server = tf.distribute.Server(cluster, job_name=job, task_index=index, config=config)
    pipe.send(server.target)
    server.join()


class TensorflowCluster:
    """TensorFlow's servers with a number of intra-op threads, from the same forkserver."""

    def __init__(self, jobs, threads):
        ports = iter(free_ports(sum(jobs.values())))
        self.spec = {job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in jobs.items()}
        self.processes, pipes = [], []
        for job, addresses in self.spec.items():
            for index in range(len(addresses)):
                ours, theirs = _forkserver().Pipe()
                process = _forkserver().Process(target=_serve, args=(self.spec, job, index, threads, theirs), daemon=True)
                process.start()
                theirs.close()
                self.processes.append(process)
                pipes.append(ours)
        for pipe in pipes:
            assert pipe.poll(PATIENCE), "a TensorFlow server does not start"
            pipe.recv()

    def target(self, name):
        job, index = name.split("/")
        return "grpc://" + self.spec[job][int(index)]

    def stop(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.join()
