"""Sessions: growing, listing, filtering, callables, partial runs, metadata, deadlines and closing, on Troupe and on TensorFlow."""

import re
import threading

import numpy as np
import pytest
from conftest import WATCHDOG, running


def test_a_session_grows(either, tf1):
    with tf1.Session(either.target("worker/0")) as session:
        a = tf1.constant(1.0)
        assert session.run(a) == 1.0
        b = a + 2.0
        assert session.run(b) == 3.0


def test_the_steps_of_a_smaller_graph_are_forgotten(tf1):
    with running("troupe", {"ps": 1, "worker": 1}) as cluster:
        with tf1.Session(cluster.target("worker/0")) as session:
            with tf1.device("/job:ps/task:0"):
                total = tf1.placeholder_with_default(0.0, [])
                for i in range(5):
                    total = total + 1.0
                    assert session.run(total) == i + 1
        ps = cluster.nodes["ps/0"]
    ps._reader.join(WATCHDOG)
    (calls,) = (line for line in ps.log if "calls received" in line)
    registered, forgotten = (int(re.search(rf"\b{method} (\d+)", calls)[1]) for method in ("RegisterGraph", "DeregisterGraph"))
    assert registered == 5 and forgotten >= 4, calls


def test_list_devices_names_all_tasks(either, tf1):
    with tf1.Session(either.target("worker/0")) as session:
        names = sorted(d.name for d in session.list_devices())
    assert names == [f"/job:{task}/device:CPU:0" for task in ("ps/replica:0/task:0", "worker/replica:0/task:0", "worker/replica:0/task:1")]


def test_device_filters_hide_tasks(either, tf1):
    config = tf1.ConfigProto(device_filters=["/job:ps", "/job:worker/task:0"])
    with tf1.Session(either.target("worker/0"), config=config) as session:
        assert len(session.list_devices()) == 2
        with tf1.device("/job:worker/task:1"):
            outside = tf1.constant(1.0, name="outside")
        with pytest.raises(tf1.errors.InvalidArgumentError, match="Cannot assign a device for operation outside"):
            session.run(outside)


def test_an_operation_timeout_in_the_config_ends_a_wait(either, tf1):
    queue = tf1.FIFOQueue(1, [tf1.float32], shared_name="never_filled_1")
    config = tf1.ConfigProto(operation_timeout_in_ms=300)
    session = tf1.Session(either.target("worker/0"), config=config)
    with pytest.raises(tf1.errors.DeadlineExceededError):
        session.run(queue.dequeue())


def test_a_run_option_timeout_ends_a_wait(either, tf1):
    queue = tf1.FIFOQueue(1, [tf1.float32], shared_name="never_filled_2")
    with tf1.Session(either.target("worker/0")) as session:
        with pytest.raises(tf1.errors.DeadlineExceededError):
            session.run(queue.dequeue(), options=tf1.RunOptions(timeout_in_ms=300))
        assert session.run(tf1.constant(7)) == 7


def test_closing_cancels_a_waiting_step(either, tf1):
    queue = tf1.FIFOQueue(1, [tf1.float32], shared_name="never_filled_3")
    dequeue = queue.dequeue()
    session = tf1.Session(either.target("worker/0"))
    session.run(tf1.constant(0))
    failure = []

    def wait():
        try:
            session.run(dequeue)
        except tf1.errors.OpError as e:
            failure.append(e)

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join(1.0)
    session.close()
    thread.join(60)
    assert not thread.is_alive()
    assert isinstance(failure[0], tf1.errors.CancelledError), failure


def test_a_callable_from_options(either, tf1):
    from tensorflow.core.protobuf import config_pb2

    x = tf1.placeholder(tf1.float32, [2], name="x")
    y = tf1.multiply(x, 3.0, name="y")
    with tf1.Session(either.target("worker/0")) as session:
        options = config_pb2.CallableOptions(feed=["x:0"], fetch=["y:0"])
        call = session._make_callable_from_options(options)
        for i in range(3):
            np.testing.assert_array_equal(call(np.array([i, 1], np.float32))[0], [3.0 * i, 3.0])


def test_a_partial_run_in_two_pieces(either, tf1):
    a = tf1.placeholder(tf1.float32, [], name="a")
    b = tf1.placeholder(tf1.float32, [], name="b")
    r1 = a + 1.0
    r2 = r1 * b
    with tf1.Session(either.target("worker/0")) as session:
        handle = session.partial_run_setup([r1, r2], [a, b])
        first = session.partial_run(handle, r1, {a: 1.0})
        assert first == 2.0
        assert session.partial_run(handle, r2, {b: first * 10}) == 40.0


def test_a_partial_run_says_what_is_wrong_and_goes_on(either, tf1):
    a, b, c = (tf1.placeholder(tf1.float32, [], name=name) for name in "abc")
    first = tf1.add(a, b, name="first")
    second = tf1.multiply(first, c, name="second")
    with tf1.Session(either.target("worker/0")) as session:

        def refused(text, *piece):
            with pytest.raises(tf1.errors.InvalidArgumentError, match=text):
                session.partial_run(*piece)

        handle = session.partial_run_setup([first, second], [a, b, c])
        refused("Fetch c:0 can't be computed from the feeds that have been fed so far.$", handle, second, {a: 1.0, b: 2.0})
        assert session.partial_run(handle, first, {a: 1.0, b: 2.0}) == 3.0
        refused("The feed a:0 has already been fed.$", handle, second, {a: 1.0, c: 1.0})
        refused("The fetch first:0 has already been fetched.$", handle, first, {c: 1.0})
        assert session.partial_run(handle, second, {c: 5.0}) == 15.0
        handle = session.partial_run_setup([first], [a, b])
        refused("The fetch second:0 was not specified in partial_run_setup.$", handle, second, {a: 1.0, b: 2.0})
        refused("The feed c:0 was not specified in partial_run_setup.$", handle, first, {a: 1.0, b: 2.0, c: 3.0})
        assert session.partial_run(handle, first, {a: 1.0, b: 2.0}) == 3.0


def test_metadata_only_of_a_full_trace(either, tf1):
    x = tf1.placeholder(tf1.float32, [None, 3], name="x")
    product = tf1.matmul(tf1.abs(x, name="abs"), tf1.ones([3, 4]), name="product")
    feed = {x: np.ones([2, 3])}
    with tf1.Session(either.target("worker/0")) as session:
        for level in (tf1.RunOptions.NO_TRACE, tf1.RunOptions.SOFTWARE_TRACE, tf1.RunOptions.HARDWARE_TRACE):
            metadata = tf1.RunMetadata()
            session.run(product, feed, tf1.RunOptions(trace_level=level), metadata)
            assert not metadata.step_stats.dev_stats
        metadata = tf1.RunMetadata()
        session.run(product, feed, tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE), metadata)
    stats = [node for device in metadata.step_stats.dev_stats for node in device.node_stats if node.node_name == "product"]
    assert len(stats) == 1
    assert stats[0].timeline_label.startswith("product = MatMul(abs")
    assert stats[0].op_end_rel_micros > 0
    (output,) = stats[0].output
    assert output.tensor_description.dtype == tf1.float32.as_datatype_enum
    assert [d.size for d in output.tensor_description.shape.dim] == [2, 4]
    assert output.tensor_description.allocation_description.requested_bytes >= 32


def test_a_profile_of_a_step(either, tf1):
    x = tf1.placeholder_with_default(np.ones([4, 8], np.float32), [None, 8])
    w = tf1.get_variable("profiled", [8, 3])
    loss = tf1.reduce_sum(tf1.matmul(x, w))
    metadata = tf1.RunMetadata()
    with tf1.Session(either.target("worker/0")) as session:
        session.run(w.initializer)
        session.run(loss, options=tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE), run_metadata=metadata)
        builder = tf1.profiler.ProfileOptionBuilder
        options = builder(builder.time_and_memory(min_micros=0, min_bytes=0)).with_empty_output().build()
        profile = tf1.profiler.profile(session.graph, run_meta=metadata, cmd="op", options=options)
    assert profile.total_exec_micros > 0
    assert profile.total_requested_bytes > 0


def test_a_record_names_what_ran_and_shows_what_variables_hold(either, tf1):
    v = tf1.get_variable("recorded", [2, 3], use_resource=False)
    updated = tf1.assign_add(v, tf1.ones([2, 3]), name="updated")
    metadata = tf1.RunMetadata()
    with tf1.Session(either.target("worker/0")) as session:
        session.run(v.initializer)
        session.run(updated, options=tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE), run_metadata=metadata)
    nodes = {node.node_name: node for device in metadata.step_stats.dev_stats for node in device.node_stats}
    assert "_SOURCE" in nodes and not [name for name in nodes if name.startswith("_send")]
    for name in ("recorded", "updated"):
        (output,) = nodes[name].output
        assert [d.size for d in output.tensor_description.shape.dim] == [2, 3]
        assert output.tensor_description.allocation_description.requested_bytes == 24


def test_metadata_when_asked_for(either, tf1):
    with tf1.device("/job:ps/task:0"):
        a = tf1.constant([1.0, 2.0], name="a")
    with tf1.device("/job:worker/task:0"):
        b = tf1.add(a, a, name="b")
    metadata = tf1.RunMetadata()
    options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE, output_partition_graphs=True)
    with tf1.Session(either.target("worker/0")) as session:
        session.run(b, options=options, run_metadata=metadata)
    assert any("/job:worker" in d.device for d in metadata.step_stats.dev_stats)
    assert len(metadata.partition_graphs) >= 1


def test_towers_on_several_workers(either, tf1):
    x = tf1.placeholder(tf1.float32, [None, 4])
    with tf1.device("/job:ps/task:0"):
        w = tf1.get_variable("tower_w", initializer=tf1.ones([4, 1]))
    towers = []
    for i, part in enumerate(tf1.split(x, 2)):
        with tf1.device(f"/job:worker/task:{i}"):
            towers.append(tf1.reduce_sum(tf1.matmul(part, w)))
    total = tf1.add_n(towers)
    with tf1.Session(either.target("worker/0")) as session:
        session.run(w.initializer)
        assert session.run(total, {x: np.arange(16, dtype=np.float32).reshape(4, 4)}) == 120.0


def test_a_partial_run_needs_something_to_fetch(either, tf1):
    a = tf1.placeholder(tf1.float32, [])
    with tf1.Session(either.target("worker/0")) as session:
        with pytest.raises(tf1.errors.InvalidArgumentError, match="Must specify at least one target to fetch or execute."):
            session.partial_run_setup([], [a])


def test_a_barrier_without_a_shared_name_is_of_its_own_session(either, tf1):
    barrier = tf1.raw_ops.Barrier(component_types=[tf1.float32], shapes=[[]], name="lone")
    insert = tf1.raw_ops.BarrierInsertMany(handle=barrier, keys=["k"], values=[1.0], component_index=0)
    ready = tf1.raw_ops.BarrierReadySize(handle=barrier)
    with tf1.Session(either.target("worker/0")) as one, tf1.Session(either.target("worker/0")) as other:
        one.run(insert)
        assert one.run(ready) == 1
        assert other.run(ready) == 0
        assert re.fullmatch(rb"_\d+_lone", one.run(barrier)[1])


def test_a_partial_run_ends_with_the_piece_that_fails(either, troupe, tf1):
    a, b = (tf1.placeholder(tf1.float32, [], name=name) for name in "ab")
    checked = tf1.check_numerics(a, "bad", name="checked")
    alone, total = tf1.identity(b, name="alone"), tf1.add(checked, b, name="total")
    pieces = [([checked, total], checked, total), ([checked, alone], checked, alone)]
    if either is troupe:  # from TensorFlow's server the copy comes now and then before the failure beside it
        copy = tf1.identity(a, name="copy")
        pieces.append(([copy, total], copy, total))
    with tf1.Session(either.target("worker/0"), config=tf1.ConfigProto(operation_timeout_in_ms=60000)) as session:
        for fetches, first, second in pieces:
            handle = session.partial_run_setup(fetches, [a, b])
            with pytest.raises(tf1.errors.InvalidArgumentError, match="bad : Tensor had NaN values"):
                session.partial_run(handle, first, {a: float("nan")})
            with pytest.raises(tf1.errors.InvalidArgumentError, match="Must run PartialRunSetup before performing partial runs"):
                session.partial_run(handle, second, {b: 1.0})
        assert session.run(total, {a: 1.0, b: 2.0}) == 3.0


def test_a_piece_of_a_partial_run_that_waits_can_be_given_up(troupe, tf1):
    queue = tf1.FIFOQueue(1, tf1.float32, shared_name="never_filled")
    a, b = (tf1.placeholder(tf1.float32, [], name=name) for name in "ab")
    waits, other = queue.dequeue() + a, tf1.identity(b)
    with tf1.Session(troupe.target("worker/0"), config=tf1.ConfigProto(operation_timeout_in_ms=3000)) as session:
        handle = session.partial_run_setup([waits, other], [a, b])
        with pytest.raises(tf1.errors.DeadlineExceededError):
            session.partial_run(handle, waits, {a: 1.0})


def test_a_handle_is_fed_in_place_of_the_tensor_that_it_keeps(troupe, tf1):
    """As in a process of one's own; TensorFlow's server keeps no tensors."""
    x = tf1.placeholder(tf1.float32, [2])
    y = x + 1.0
    keep = tf1.get_session_handle(y)
    number = tf1.placeholder(tf1.int32)
    with tf1.Session(troupe.target("worker/0")) as session:
        handle = session.run(keep, {x: [1.0, 2.0]})
        assert session.run([x, y], {x: handle})[1].tolist() == [3.0, 4.0]
        for _ in range(3):
            handle = session.run(keep, {x: handle})
        assert handle.eval().tolist() == [5.0, 6.0]
        with pytest.raises(tf1.errors.InternalError, match="Output 0 of type float does not match declared output type int32"):
            session.run(number + 1, {number: handle})
        handle.delete()
