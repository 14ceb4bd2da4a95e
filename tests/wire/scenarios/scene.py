"""What a scenario is: a client program, run once on each cluster, that keeps values for comparison and the graphs it made."""

import contextlib

import numpy as np

ALL = {}


class Scene:
    """One run of a scenario: where its tasks are, where it may write, and what it has kept."""

    def __init__(self, tf1, cluster, folder, backend, resource):
        self.tf1, self.cluster, self.folder, self.backend, self.resource = tf1, cluster, folder, backend, resource
        self.values = {}
        self.ops = set()

    def target(self, name="worker/0"):
        return self.cluster.target(name)

    def keep(self, **values):
        for name, value in values.items():
            assert name not in self.values, name
            self.values[name] = value

    def add(self, name, value):
        """Keeps a value of a step: one array per name in the end."""
        self.values.setdefault(name, []).append(value)

    def saw(self, graph):
        definition = graph.as_graph_def()
        self.ops |= {node.op for node in definition.node}
        self.ops |= {node.op for function in definition.library.function for node in function.node_def}

    def variable(self, name, shape=None, initializer=None):
        """A variable of the kind that the scenario is about; the client's own, as the global step, stay of the old kind."""
        return self.tf1.get_variable(name, shape, initializer=initializer, use_resource=self.resource)

    def setter(self, worker=0):
        """Variables go to the ps, the rest to a worker."""
        return self.tf1.train.replica_device_setter(worker_device=f"/job:worker/task:{worker}", cluster=self.cluster.spec)

    def config(self, worker=0):
        return self.tf1.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{worker}"])

    @contextlib.contextmanager
    def session(self, name="worker/0"):
        """A session over the default graph, which is looked at when it ends."""
        with self.tf1.Session(self.target(name)) as session:
            yield session
            self.saw(session.graph)


class Scenario:
    def __init__(self, name, play, resource, loops, absent, rtol, atol):
        self.name, self.play, self.resource, self.loops, self.absent = name, play, resource, loops, frozenset(absent)
        self.rtol, self.atol = rtol, atol


def scenario(*names, loops="v1", absent=(), rtol=1e-4, atol=1e-5):
    """Registers a function of a Scene under names; one that ends in _resource runs with resource variables. `absent` are
    ops of the recorded list that this program has no reason to make."""

    def register(play):
        for name in names:
            ALL[name] = Scenario(name, play, name.endswith("_resource"), loops, absent, rtol, atol)
        return play

    return register


def assert_same(name, ours, theirs, rtol, atol):
    """Numbers within the tolerance, everything else exactly."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), name
        for key in theirs:
            assert_same(f"{name}[{key}]", ours[key], theirs[key], rtol, atol)
        return
    if isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs), f"{name}: {ours} instead of {theirs}"
        for i, pair in enumerate(zip(ours, theirs)):
            assert_same(f"{name}[{i}]", *pair, rtol, atol)
        return
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), f"{name}: {ours!r} instead of {theirs!r}"
    if theirs.dtype.kind in "fc":
        np.testing.assert_allclose(ours, theirs, rtol, atol, err_msg=name)
    else:
        np.testing.assert_array_equal(ours, theirs, err_msg=name)
