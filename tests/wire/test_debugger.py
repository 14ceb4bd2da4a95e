"""What TensorFlow's first debugger sees: tensors that steps dump where a client watches them, the same from Troupe as from TensorFlow."""

import collections
import glob
import os
import threading

import numpy as np
import pytest

from conftest import free_ports


@pytest.fixture
def tools():
    from tensorflow.python.debug.lib import debug_data, debug_utils

    return debug_data, debug_utils


def model(tf1):
    tf1.disable_control_flow_v2()  # its loops have nodes of other names in steps
    x = tf1.placeholder(tf1.float32, [2], name="x")
    with tf1.name_scope("scope"):
        y = tf1.multiply(x, 2.0, name="y")
    v = tf1.get_variable("v", [2], initializer=tf1.ones_initializer(), use_resource=False)
    z = tf1.add(y, v, name="z")
    first, second = tf1.split(z, 2, name="parts")
    w = tf1.concat([first, second], 0, name="w")
    updated = tf1.assign_add(v, z, name="updated")
    with tf1.control_dependencies([w]):
        _, last = tf1.while_loop(lambda i, q: i < 3, lambda i, q: (i + 1, q * 2.0), [0, z[0]], name="loop")
    return x, v, [w, updated, last, tf1.equal(z, w, name="same")]


def values_of(dump):
    """Tensors in the order of their dumps, by node, slot and op."""
    found = collections.defaultdict(list)
    for datum in dump.dumped_tensor_data:
        found[datum.node_name, datum.output_slot, datum.debug_op].append(np.array(datum.get_tensor()))
    return dict(found)


def watched_run(tf1, target, directory, watch, feed=(1.0, float("nan")), runs=1):
    tf1.reset_default_graph()
    x, v, fetches = model(tf1)
    with tf1.Session(target) as session:
        session.run(v.initializer)
        options, metadata = tf1.RunOptions(output_partition_graphs=True), tf1.RunMetadata()
        watch(options, session.graph)
        for _ in range(runs):
            results = session.run(fetches, {x: feed}, options=options, run_metadata=metadata)
    return results, metadata


NODES = ["x", "v", "scope/y", "z", "parts", "w", "updated", "loop/Merge_1", "loop/Switch_1", "loop/mul", "loop/Exit_1"]


def test_dumps_are_those_of_tensorflow(troupe, tensorflow_cluster, tf1, tools, tmp_path):
    debug_data, debug_utils = tools
    outcomes = []
    for cluster in (tensorflow_cluster, troupe):
        directory = str(tmp_path / f"dump{len(outcomes)}")

        def watch(options, graph):
            debug_utils.watch_graph(options, graph, node_name_regex_allowlist="^(" + "|".join(NODES) + ")$", debug_urls=["file://" + directory],
                                    debug_ops=["DebugIdentity", "DebugNumericSummary(lower_bound=-1.0; mute_if_healthy=false)"], global_step=7)

        results, metadata = watched_run(tf1, cluster.target("worker/0"), directory, watch)
        dump = debug_data.DebugDumpDir(directory, partition_graphs=metadata.partition_graphs)
        alone = debug_data.DebugDumpDir(directory)  # with the graphs that were dumped, too
        assert alone.size == dump.size
        device, = dump.devices()
        names = sorted(name for name in dump.nodes() if name in NODES)
        outcomes.append((results, dump.core_metadata, values_of(dump), device, names, dump.node_inputs("updated")))
    theirs, ours = outcomes
    np.testing.assert_equal(ours[0], theirs[0])
    assert ours[1] == theirs[1] and ours[3:] == theirs[3:]
    assert ours[2].keys() == theirs[2].keys() and len(theirs[2]) > 15
    for key, tensors in theirs[2].items():
        np.testing.assert_equal(ours[2][key], tensors, str(key))


def test_each_run_is_told_and_dumped(either, tf1, tools, tmp_path):
    debug_data, debug_utils = tools
    directory = str(tmp_path / "dump")
    watched_run(tf1, either.target("worker/0"), directory, lambda options, graph: debug_utils.add_debug_tensor_watch(
        options, "z", 0, ["DebugIdentity"], ["file://" + directory, "file://" + directory + "/second"]), feed=(1.0, 2.0), runs=3)
    told = sorted(os.path.basename(f).rsplit("_", 1)[0] for f in glob.glob(directory + "/_tfdbg_core_metadata_*"))
    assert told == [f"_tfdbg_core_metadata_sessionrun{i:014d}" for i in range(3)]
    assert len(glob.glob(directory + "/_tfdbg_device_*/z_0_DebugIdentity_*")) == 3
    assert len(glob.glob(directory + "/second/_tfdbg_device_*/z_0_DebugIdentity_*")) == 3
    assert len(glob.glob(directory + "/_tfdbg_device_*/_tfdbg_graph_hash*")) == 1


REFUSED = {
    "unknown op": ("z", 0, ["DebugFoo"]),
    "unknown attribute": ("z", 0, ["DebugNumericSummary(foo=1.5)"]),
    "no number": ("z", 0, ["DebugNumericSummary(lower_bound=abc)"]),
    "unfinished": ("z", 0, ["DebugNumericSummary(lower_bound=1"]),
    "no kernel": ("same", 0, ["DebugNanCount"]),
    "a wildcard with a slot": ("*", 0, ["DebugIdentity"]),
    "no wildcard and no slot": ("z", -1, ["DebugIdentity"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_watches_that_cannot_be_are_refused(troupe, tensorflow_cluster, tf1, tools, tmp_path, name):
    _, debug_utils = tools
    texts = []
    for cluster in (tensorflow_cluster, troupe):
        with pytest.raises(tf1.errors.FailedPreconditionError) as refusal:
            watched_run(tf1, cluster.target("worker/0"), "", lambda options, graph: debug_utils.add_debug_tensor_watch(
                options, *REFUSED[name], ["file://" + str(tmp_path)]))
        texts.append(refusal.value.message)
    assert texts[1] == texts[0]


def test_failures_that_are_tolerated_and_nodes_that_are_not_there(either, tf1, tools, tmp_path):
    debug_data, debug_utils = tools
    directory = str(tmp_path)

    def watch(options, graph):
        for node, slot, ops in [("loop/Less", 0, ["DebugIdentity", "DebugNanCount"]), ("nobody", 0, ["DebugIdentity"]), ("z", 5, ["DebugIdentity"])]:
            debug_utils.add_debug_tensor_watch(options, node, slot, ops, ["file://" + directory], tolerate_debug_op_creation_failures=True)

    _, metadata = watched_run(tf1, either.target("worker/0"), directory, watch)
    dump = debug_data.DebugDumpDir(directory, partition_graphs=metadata.partition_graphs)
    assert {key: len(tensors) for key, tensors in values_of(dump).items()} == {("loop/Less", 0, "DebugIdentity"): 4}


def test_the_dumping_session(either, tf1, tools, tmp_path):
    from tensorflow.python.debug.wrappers import dumping_wrapper

    debug_data, _ = tools
    x, v, fetches = model(tf1)
    session = dumping_wrapper.DumpingDebugWrapperSession(tf1.Session(either.target("worker/0")), session_root=str(tmp_path))
    session.run(v.initializer)
    session.run(fetches, {x: [1.0, 2.0]})
    first, second = sorted(glob.glob(str(tmp_path) + "/run_*"))
    np.testing.assert_equal(debug_data.DebugDumpDir(second).get_tensors("z", 0, "DebugIdentity")[0], [3.0, 5.0])
    np.testing.assert_equal(debug_data.DebugDumpDir(first).get_tensors("v/Assign", 0, "DebugIdentity")[0], [1.0, 1.0])


def test_events_go_to_a_debuggers_server(either, tf1, tools):
    from tensorflow.python.debug.lib import grpc_debug_server

    debug_data, debug_utils = tools
    runs, graphs, tensors = [], [], []

    class Handler(grpc_debug_server.EventListenerBaseStreamHandler):
        def on_core_metadata_event(self, event):
            runs.append(event.log_message.message)

        def on_graph_def(self, graph_def, device_name, wall_time):
            graphs.append(device_name)

        def on_value_event(self, event):
            tensors.append((event.summary.value[0].node_name, debug_data.load_tensor_from_event(event).tolist()))

    port, = free_ports(1)
    server = grpc_debug_server.EventListenerBaseServicer(port, Handler)
    server.run_server(blocking=False)
    try:
        watched_run(tf1, either.target("worker/0"), "", lambda options, graph: debug_utils.add_debug_tensor_watch(
            options, "z", 0, ["DebugIdentity"], [f"grpc://localhost:{port}"]), feed=(1.0, 2.0))
    finally:
        server.stop_server(5).wait()
    assert tensors == [("z:0:DebugIdentity", [3.0, 5.0])]
    assert len(runs) == 1 and len(graphs) == 1


def test_a_debuggers_server_that_takes_its_time_keeps_nobody_else_waiting(either, tf1):
    from tensorflow.python.debug.lib import grpc_debug_server

    told, go_on = threading.Event(), threading.Event()

    class Handler(grpc_debug_server.EventListenerBaseStreamHandler):
        def on_core_metadata_event(self, event):
            told.set()
            assert go_on.wait(9)

        def on_graph_def(self, graph_def, device_name, wall_time):
            pass

        def on_value_event(self, event):
            pass

    port, = free_ports(1)
    server = grpc_debug_server.EventListenerBaseServicer(port, Handler)
    server.run_server(blocking=False)
    x = tf1.constant(3.0, name="x") * 2.0
    options = tf1.RunOptions()
    watch = options.debug_options.debug_tensor_watch_opts.add(node_name="mul", output_slot=0)
    watch.debug_ops.append("DebugIdentity")
    watch.debug_urls.append(f"grpc://localhost:{port}")
    results = []
    try:
        with tf1.Session(either.target("worker/0")) as watched, tf1.Session(either.target("worker/0")) as other:
            thread = threading.Thread(target=lambda: results.append(watched.run(x, options=options)))
            thread.start()
            assert told.wait(60)
            assert other.run(x) == 6.0
            go_on.set()
            thread.join()
    finally:
        go_on.set()
        server.stop_server(5).wait()
    assert results == [6.0]
