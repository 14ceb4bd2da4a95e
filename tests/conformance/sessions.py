"""Graphs of many cases, and the sessions that run them: TensorFlow's own and a node's."""

import os
import subprocess
import threading

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2, versions_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import pywrap_tf_session as c_session

from compare import Refusal
from framework import ANCHOR, Built, build_graph, build_raw

tf1 = tf.compat.v1
TIMEOUT_MS = 30000
PROGRESS = os.environ.get("TROUPE_CONFORMANCE_PROGRESS")


def _config():
    """Every op runs as it is: nothing folded, fused or rewritten."""
    config = config_pb2.ConfigProto(inter_op_parallelism_threads=2, intra_op_parallelism_threads=1)
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.optimizer_options.global_jit_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.place_pruned_graph = True
    return config


def as_array(value):
    """A scalar string comes as bytes, of which NumPy's own type of strings would drop zeros at the end."""
    return np.asarray(value, dtype=object) if isinstance(value, bytes) else np.asarray(value)


class SharedGraph:
    """One tf.Graph with the nodes of many cases. Cases that TensorFlow refuses to make nodes of are in `refused`."""

    def __init__(self, cases):
        self.graph = tf.Graph()
        self.producer = cases[0].producer
        self.built, self.refused = {}, {}
        raw = [new for new in cases if new.build is None]
        with self.graph.as_default():
            # A graph is as old as the oldest that was imported.
            tf.import_graph_def(graph_pb2.GraphDef(versions=versions_pb2.VersionDef(producer=self.producer)), name="")
            self._add_anchor()
            self._add_raw(raw)
            for new in cases:
                if new.build:
                    feeds, steps = build_graph(new)
                    self.built[new.key] = Built([], feeds, steps)
        if any(new.build for new in cases):
            self._collect_nodes({new.key for new in cases if new.build})

    def _add_anchor(self):
        """A variable that every session sets first: whether the container of resources exists must not depend on the order of cases."""
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name=ANCHOR, name=ANCHOR)
        tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant(0.0), name=ANCHOR + "/set")

    def _add_raw(self, cases):
        """All at once where TensorFlow takes them, otherwise what it takes of the halves."""
        nodes = graph_pb2.GraphDef()
        nodes.versions.producer = self.producer
        for new in cases:
            if new.key not in self.built:
                self.built[new.key] = build_raw(new)
            nodes.node.extend(self.built[new.key].nodes)
        try:
            tf.import_graph_def(nodes, name="")
        except (ValueError, TypeError, tf.errors.OpError) as refused:
            if len(cases) > 1:
                self._add_raw(cases[: len(cases) // 2])
                self._add_raw(cases[len(cases) // 2 :])
                return
            code = refused.error_code if isinstance(refused, tf.errors.OpError) else 3
            self.refused[cases[0].key] = Refusal(code, str(refused), by_graph=True)

    def _collect_nodes(self, keys):
        for node in self.graph.as_graph_def(add_shapes=False).node:
            key = node.name.partition("/")[0]
            if key in keys:
                self.built[key].nodes.append(node)


class TensorFlowSession:
    """Runs cases of a shared graph through a TensorFlow client session: in process, or at a target."""

    def __init__(self, shared, target=""):
        self.shared = shared
        self.at_target = bool(target)
        # In process, TensorFlow may take what is fed for a variable's memory and write into it.
        self.fed = (lambda array: array) if target else np.copy
        self.session = tf1.Session(target, graph=shared.graph, config=_config())
        self.options = c_session.TF_NewBufferFromString(config_pb2.RunOptions(timeout_in_ms=TIMEOUT_MS).SerializeToString())
        self._outputs = {}
        self._run({}, [ANCHOR + "/set"])

    def _output(self, name):
        if name not in self._outputs:
            self._outputs[name] = self.shared.graph.get_tensor_by_name(name)._as_tf_output()
        return self._outputs[name]

    def _run(self, feeds, wanted):
        """One step; arrays for what of `wanted` is a tensor."""
        if PROGRESS:
            with open(PROGRESS, "w") as progress:
                progress.write("\n".join(w.split("/")[0] for w in wanted))
        graph = self.shared.graph
        fetches = [w for w in wanted if ":" in w]
        targets = [graph.get_operation_by_name(w)._c_op for w in wanted if ":" not in w]
        self.session._extend_graph()
        return c_session.TF_SessionRun_wrapper(
            self.session._session,
            self.options,
            {self._output(name + ":0"): self.fed(array) for name, array in feeds.items()},
            [self._output(f) for f in fetches],
            targets,
            None,
        )

    def run(self, new, change=None):
        """An outcome for each step of a case that runs alone."""
        built = self.shared.built[new.key]
        feeds = change(built.feeds) if change else built.feeds
        outcomes = []
        for wanted in built.steps:
            try:
                outcomes.append([as_array(a) for a in self._run(feeds, wanted)])
            except tf.errors.OpError as refused:
                outcomes.append(Refusal(refused.error_code, refused.message))
        return outcomes

    def run_together(self, cases, change=None):
        """Outcomes by key of cases that take each step at the same time. Raises when one of them fails."""
        outcomes = {new.key: [] for new in cases}
        for k in range(max(len(self.shared.built[new.key].steps) for new in cases)):
            feeds, wanted, counts = {}, [], {}
            for new in cases:
                built = self.shared.built[new.key]
                if k < len(built.steps):
                    feeds.update(change(built.feeds) if change else built.feeds)
                    counts[new.key] = sum(":" in w for w in built.steps[k])
                    wanted += built.steps[k]
            arrays = iter(self._run(feeds, wanted))
            for key, count in counts.items():
                outcomes[key].append([as_array(next(arrays)) for _ in range(count)])
        return outcomes

    def close(self):
        c_session.TF_DeleteBuffer(self.options)
        if self.at_target:
            self.session.close()
        else:
            # TensorFlow's iterators of datasets wait for their tuning, for as long again as they have lived; nobody else has to.
            threading.Thread(target=_end, args=[[self.session]], daemon=True).start()
        self.session = None


def _end(holding):
    holding.pop().close()


def run_cases(shared, cases, target="", change=None):
    """Outcomes by key: together what can be, then the others one by one. What fails in company is found by halving."""
    session, outcomes = TensorFlowSession(shared, target), {}
    groups = [[new for new in cases if not new.alone]]
    while groups:
        group = groups.pop()
        if len(group) == 1:
            outcomes[group[0].key] = session.run(group[0], change)
        elif group:
            try:
                outcomes.update(session.run_together(group, change))
            except tf.errors.OpError:
                groups += [group[len(group) // 2 :], group[: len(group) // 2]]
                # Variables and random generators have moved on.
                session = _with_fresh_state(session, shared, target)
    outcomes.update((new.key, session.run(new, change)) for new in cases if new.alone)
    session.close()
    return outcomes


def _with_fresh_state(session, shared, target):
    session.close()
    # In process, the state of a session goes with it; a server keeps it.
    if target:
        tf1.Session.reset(target)
    return TensorFlowSession(shared, target)


def absolute(feeds):
    """The same feeds with the signs of numbers taken away."""
    def strip(array):
        if array.dtype.kind == "c":
            return np.abs(array).astype(array.dtype)
        return np.abs(array) if array.dtype.kind == "f" or array.dtype.name == "bfloat16" else array

    return {name: strip(array) for name, array in feeds.items()}


class Node:
    """A Troupe node: started from TROUPE_BIN, or already there at a target."""

    def __init__(self, target=None):
        self.process, self.target = None, target
        if target:
            # What other runs left there.
            tf1.Session.reset(target)
        else:
            self.start()

    def start(self):
        command = [os.environ["TROUPE_BIN"], "node", "--job_name", "localhost", "--port", "0", "--log_level", "error"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.target = self.process.stdout.readline().strip()
        if not self.target.startswith("grpc://"):
            raise RuntimeError(f"{' '.join(command)} ended without naming its target")

    def died(self):
        return self.process is not None and self.process.poll() is not None

    def close(self):
        if self.process:
            self.process.terminate()
            status = self.process.wait()
            if status:  # a sanitizer's report at the end of the process is one of the reasons
                raise RuntimeError(f"the node ended with status {status}")
