"""Graphs that the C++ builder wrote: they run on TensorFlow's server and on Troupe, with the same numbers, and their gradients are TensorFlow's."""

import os
import pathlib
import re
import subprocess
import threading

import numpy as np
import pytest
import tensorflow as tf
from conftest import WATCHDOG, running, troupe_binary
from tensorflow.core.protobuf import meta_graph_pb2

TABLES = ["descent", "momentum", "adagrad", "rmsprop", "adam", "adam_parts", "ftrl"]


def models_program():
    return os.environ.get("TROUPE_MODELS", str(pathlib.Path(troupe_binary()).parent / "troupe_models"))


def models(*arguments, timeout=600):
    done = subprocess.run([models_program(), *map(str, arguments)], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    models("write", folder)
    return folder


@pytest.fixture
def load(written, tf1):
    def load(name):
        """Imports a model into the default graph; its MetaGraphDef."""
        meta = meta_graph_pb2.MetaGraphDef.FromString((written / f"{name}.pb").read_bytes())
        tf1.import_graph_def(meta.graph_def, name="")
        return meta

    return load


def noted(meta, key):
    return list(meta.collection_def[key].node_list.value)


def sample(meta, batch=8):
    """Feeds by the names and shapes of the placeholders, the same on each call."""
    random = np.random.RandomState(5)
    feeds = {}
    for node in meta.graph_def.node:
        if node.op != "Placeholder":
            continue
        shape = [batch if d.size < 0 else d.size for d in node.attr["shape"].shape.dim]
        dtype = tf.as_dtype(node.attr["dtype"].type).as_numpy_dtype
        feeds[node.name + ":0"] = random.randint(0, 10, shape).astype(dtype) if np.issubdtype(dtype, np.integer) else random.randn(*shape).astype(dtype)
    return feeds


def train(tf1, target, meta, steps):
    feeds = sample(meta)
    with tf1.Session(target) as session:
        session.run("init")
        losses = [session.run(["loss:0", "train"], feeds)[0] for _ in range(steps)]
        variables = session.run([n.name + ":0" for n in meta.graph_def.node if n.name.endswith("/Read/ReadVariableOp") or n.name.endswith("/read")])
    return losses, variables


@pytest.mark.parametrize("name", ["mlp", "cnn", "references", *TABLES])
def test_losses_are_the_same_on_both_servers(troupe, tensorflow_cluster, tf1, load, name):
    meta = load(name)
    ours, our_variables = train(tf1, troupe.target("worker/0"), meta, 5)
    theirs, their_variables = train(tf1, tensorflow_cluster.target("worker/0"), meta, 5)
    np.testing.assert_allclose(ours, theirs, rtol=2e-4)
    # FTRL makes zeros of the rows that it meets before it learns.
    assert ours[-1] < ours[0] if name != "ftrl" else ours[-1] != ours[0]
    # Adam's steps are as large for a gradient near zero as for any: what rounding does there shows at the size of some steps.
    for mine, other in zip(our_variables, their_variables):
        np.testing.assert_allclose(mine, other, rtol=2e-3, atol=2e-3 if name == "cnn" else 2e-4)


@pytest.mark.parametrize("name", ["mlp", "cnn", "zoo", "references", "descent", "adagrad"])
def test_gradients_are_tensorflows(either, tf1, load, name):
    meta = load(name)
    graph = tf1.get_default_graph()
    xs = [graph.get_tensor_by_name(x) for x in noted(meta, "xs")]
    assert xs
    expected = tf1.gradients(graph.get_tensor_by_name("loss:0"), xs)
    feeds = sample(meta)
    with tf1.Session(either.target("worker/0"), graph=graph) as session:
        session.run("init")
        for x, built, theirs in zip(xs, noted(meta, "grads"), expected):
            if isinstance(theirs, tf.IndexedSlices):
                rows, indices, values, places = session.run([*built.split("|"), theirs.values, theirs.indices], feeds)
                np.testing.assert_array_equal(indices, places, err_msg=x.name)
                np.testing.assert_allclose(rows, values, rtol=1e-4, atol=1e-6, err_msg=x.name)
            else:
                mine, other = session.run([built, theirs], feeds)
                np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-5, err_msg=x.name)


def test_optimizers_are_tensorflows(troupe, tf1, written):
    """The same model and optimizer written in Python: equal losses, equal names of slots."""
    made = {
        "descent": lambda: tf1.train.GradientDescentOptimizer(0.1), "momentum": lambda: tf1.train.MomentumOptimizer(0.1, 0.9),
        "rmsprop": lambda: tf1.train.RMSPropOptimizer(0.01), "adam": lambda: tf1.train.AdamOptimizer(0.05), "ftrl": lambda: tf1.train.FtrlOptimizer(0.1),
    }
    for name, optimizer in made.items():
        meta = meta_graph_pb2.MetaGraphDef.FromString((written / f"{name}.pb").read_bytes())
        feeds = sample(meta)
        with tf.Graph().as_default(), tf1.Session(troupe.target("worker/0")) as session:
            tf1.import_graph_def(meta.graph_def, name="")
            session.run("init")
            start = session.run(["rows/Read/ReadVariableOp:0", "w/Read/ReadVariableOp:0"])
            built = [session.run(["loss:0", "train"], feeds)[0] for _ in range(5)]
        with tf.Graph().as_default() as graph, tf1.Session(troupe.target("worker/0")) as session:
            x, y = tf1.placeholder(tf.int32, [None, 3]), tf1.placeholder(tf.float32, [None])
            rows = tf1.get_variable("rows", initializer=start[0], use_resource=True)
            w = tf1.get_variable("w", initializer=start[1], use_resource=True)
            loss = tf.reduce_mean(tf.math.squared_difference(tf.reshape(tf.matmul(tf.reduce_mean(tf.nn.embedding_lookup(rows, x), 1), w), [-1]), y))
            step = optimizer().minimize(loss)
            session.run(tf1.global_variables_initializer())
            python = [session.run([loss, step], {x: feeds["x:0"], y: feeds["y:0"]})[0] for _ in range(5)]
            theirs = {n.name for n in graph.as_graph_def().node if n.op == "VarHandleOp"}
        np.testing.assert_allclose(built, python, rtol=1e-5, err_msg=name)
        ours = {n.name for n in meta.graph_def.node if n.op == "VarHandleOp"} - {"global_step"}
        assert ours == theirs, name


@pytest.mark.parametrize("kind", ["troupe", "tensorflow"])
def test_replicas_step_together(kind, tf1, written):
    metas = [meta_graph_pb2.MetaGraphDef.FromString((written / f"together_{w}.pb").read_bytes()) for w in range(2)]
    x, y, steps = np.array([[1, 2], [3, 4]], np.float32), np.array([1, 2], np.float32), 4
    with running(kind, {"ps": 1, "worker": 2}) as cluster:
        sessions = []
        for worker, meta in enumerate(metas):
            with tf.Graph().as_default() as graph:
                tf1.import_graph_def(meta.graph_def, name="")
                sessions.append(tf1.Session(cluster.target(f"worker/{worker}"), graph=graph))
        chief = sessions[0]
        chief.run("init")
        chief.run(noted(metas[0], "chief_start")[0])
        sessions[1].run(noted(metas[1], "local_start")[0])
        chief.run(noted(metas[0], "init_tokens")[0])
        failures, done = [], threading.Event()

        def worker(session):
            try:
                while not done.is_set():
                    session.run("train", {"x:0": x, "y:0": y})
            except Exception as e:  # noqa: BLE001
                failures.append(e)

        threads = [threading.Thread(target=worker, args=(s,), daemon=True) for s in sessions]
        for t in threads:
            t.start()
        options = tf1.RunOptions(timeout_in_ms=WATCHDOG * 1000)
        for _ in range(steps):
            chief.run(noted(metas[0], "update")[0], options=options)
        done.set()
        chief.run(noted(metas[0], "init_tokens")[0])  # lets those who wait go home
        for t in threads:
            t.join(WATCHDOG)
        assert not failures, failures
        assert not any(t.is_alive() for t in threads), "a replica still waits"
        w, rows, step = chief.run(["w/Read/ReadVariableOp:0", "rows/Read/ReadVariableOp:0", "global_step/Read/ReadVariableOp:0"])
        for session in sessions:
            session.close()
    assert step == steps
    expected_w, expected_rows = np.ones((2, 1), np.float64), np.ones((5, 2), np.float64)
    for _ in range(steps):
        error = 2 * ((x @ expected_w).reshape(-1) + expected_rows[[1, 3, 1]].mean() - y) / 2
        slope = np.zeros((5, 2))
        for row in (1, 3, 1):
            slope[row] += error.sum() / 6
        expected_w = expected_w - 0.1 * (x.T @ error).reshape(2, 1)
        expected_rows = expected_rows - 0.1 * slope
    np.testing.assert_allclose(w, expected_w, rtol=1e-4)
    np.testing.assert_allclose(rows, expected_rows, rtol=1e-4)


def test_a_checkpoint_of_one_is_restored_by_the_other(troupe, tensorflow_cluster, tf1, load, tmp_path):
    meta = load("adam")
    prefix = str(tmp_path / "model")
    feeds = sample(meta)
    saver = meta.saver_def
    with tf1.Session(troupe.target("worker/0")) as session:
        session.run("init")
        for _ in range(3):
            session.run("train", feeds)
        assert session.run(saver.save_tensor_name, {saver.filename_tensor_name: prefix}).decode() == prefix
        after = session.run(["loss:0", "train"], feeds)[0]
    reader = tf.train.load_checkpoint(prefix)
    assert sorted(reader.get_variable_to_shape_map()) == sorted(n.name for n in meta.graph_def.node if n.op == "VarHandleOp")
    with tf1.Session(tensorflow_cluster.target("worker/0")) as session:
        session.run(saver.restore_op_name, {saver.filename_tensor_name: prefix})
        np.testing.assert_allclose(session.run("loss:0", feeds), after, rtol=1e-5)


def test_a_meta_graph_is_imported_by_tensorflow(tf1, written, tmp_path):
    file = tmp_path / "m.meta"
    file.write_bytes((written / "mlp.pb").read_bytes())
    saver = tf1.train.import_meta_graph(str(file))
    assert saver is not None
    with tf1.Session() as session:
        session.run("init")
        saver.save(session, str(tmp_path / "x"))


@pytest.mark.parametrize("name", ["mlp", "references"])
def test_a_services_session_runs_on_every_server(troupe, tensorflow_cluster, name):
    """The same operations to a node of the process, to a Troupe node and to TensorFlow's server: training, variables, mistakes, cancellation."""
    said = {where: models("await", name, target).splitlines() for where, target in
            [("here", "here"), ("troupe", troupe.target("worker/0")), ("tensorflow", tensorflow_cluster.target("worker/0"))]}
    losses = {where: [float(line.split()[1]) for line in lines if line.startswith("loss")] for where, lines in said.items()}
    rest = {where: [line for line in lines if not line.startswith("loss")] for where, lines in said.items()}
    assert len(losses["here"]) == 4 and losses["here"][-1] < losses["here"][0]
    np.testing.assert_allclose(losses["troupe"], losses["here"], rtol=1e-5)
    np.testing.assert_allclose(losses["tensorflow"], losses["here"], rtol=2e-4)
    assert rest["here"] == rest["troupe"] == rest["tensorflow"]
    assert [line.rpartition(": ")[2] for line in rest["here"] if ": " in line] == [
        "INVALID_ARGUMENT", "NOT_FOUND", "NOT_FOUND", "refused", "CANCELLED", "2"], rest["here"]


def serve(folder, cluster):
    lines = models("serve", folder, cluster.target("worker/0").removeprefix("grpc://")).splitlines()
    outputs = {}
    for line in lines:
        if match := re.fullmatch(r"output (\S+) \[([\d,]*)\](.*)", line):
            outputs[match[1]] = np.array(match[3].split(), np.float32).reshape([int(d) for d in match[2].split(",") if d])
    return outputs, [line.split()[1] for line in lines if line.startswith("variable")]


def test_a_saved_model_of_version_1_is_served(either, tf1, tmp_path):
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [None, 3], "x")
        w = tf1.get_variable("w", [3, 2], use_resource=True)
        y = tf.nn.softmax(tf.matmul(x, w))
        session.run(tf1.global_variables_initializer())
        tf1.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
        expected = session.run(y, {x: np.arange(6, dtype=np.float32).reshape(2, 3)})
    outputs, variables = serve(folder, either)
    np.testing.assert_allclose(outputs["y"], expected, rtol=1e-4)
    assert variables == ["w"]


def test_a_saved_model_of_version_2_is_served(either, tmp_path):
    """Made in a process of its own, where execution is eager."""
    folder = tmp_path / "model"
    script = f"""
import numpy as np, tensorflow as tf
class Line(tf.Module):
    def __init__(self):
        self.w = tf.Variable(tf.constant([[1., 2.], [3., 4.], [5., 6.]]))
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def __call__(self, x):
        return {{"y": tf.nn.relu(tf.matmul(x, self.w) - 20.)}}
line = Line()
tf.saved_model.save(line, {str(folder)!r}, signatures=line.__call__)
"""
    import sys

    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, timeout=300)
    outputs, _ = serve(folder, either)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(outputs["y"], np.maximum(x @ [[1, 2], [3, 4], [5, 6]] - 20, 0), rtol=1e-5)


@pytest.mark.parametrize("text", [False, True])
def test_a_graph_of_python_is_differentiated(troupe, tf1, tmp_path, text):
    x = tf1.placeholder(tf.float32, [None, 4], "x")
    y = tf.reduce_sum(tf.nn.relu(tf.matmul(x, tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3) - 5))) ** 2, name="y")
    expected = tf1.gradients(y, x)[0]
    tf1.train.write_graph(tf1.get_default_graph(), str(tmp_path), "graph", as_text=text)
    name = models("gradient", tmp_path / "graph", "y:0", "x:0", tmp_path / "more").strip()
    feed = np.random.RandomState(1).randn(5, 4).astype(np.float32)
    with tf1.Session(troupe.target("worker/0")) as session:
        theirs = session.run(expected, {x: feed})
    with tf.Graph().as_default() as graph, tf1.Session(troupe.target("worker/0"), graph=graph) as session:
        tf1.import_graph_def(tf1.GraphDef.FromString((tmp_path / "more").read_bytes()), name="")
        np.testing.assert_allclose(session.run(name, {"x:0": feed}), theirs, rtol=1e-5)


@pytest.mark.timeout(1800)
@pytest.mark.skipif(not (os.environ.get("TROUPE_FULL") and os.environ.get("TROUPE_MNIST_DIR")), reason="takes minutes, and needs TROUPE_MNIST_DIR: ./run test --full")
@pytest.mark.parametrize("model, wanted, epochs", [("mlp", 0.97, 4), ("cnn", 0.985, 3)])
def test_digits_are_learned(troupe, model, wanted, epochs):
    said = models("train", model, troupe.target("worker/0").removeprefix("grpc://"), os.environ["TROUPE_MNIST_DIR"], epochs, timeout=1800)
    best = max(float(a) for a in re.findall(r"accuracy ([\d.]+)", said))
    assert best >= wanted, said
