"""A session whose ConfigProto brings the cluster: nodes that know only themselves work together under the names it gives them."""

import sys

import pytest
from conftest import TF_SERVER, Node, troupe_binary

LOCAL = TF_SERVER.replace('tf.distribute.Server(config["cluster"], job_name=config["task"]["type"], task_index=config["task"]["index"])',
                          "tf.distribute.Server.create_local_server()")


@pytest.fixture(params=["troupe", "tensorflow"], scope="module")
def strangers(request):
    """Targets of three servers that have not heard of each other."""
    command = [troupe_binary(), "node", "--port=0"] if request.param == "troupe" else [sys.executable, "-c", LOCAL, "{}"]
    nodes = [Node(command) for _ in range(3)]
    try:
        yield [node.wait_until_serving().target for node in nodes]
    finally:
        for node in nodes:
            node.stop(15 if request.param == "troupe" else 9)


def config_with(tf1, jobs, **fields):
    config = tf1.ConfigProto(**fields)
    for name, targets in jobs.items():
        job = config.cluster_def.job.add(name=name)
        for index, target in enumerate(targets):
            job.tasks[index] = target.removeprefix("grpc://")
    return config


def test_devices_bear_the_names_of_the_session(strangers, tf1):
    with tf1.Session(strangers[0], config=config_with(tf1, {"worker": strangers[:2]})) as session:
        assert session.run(tf1.constant(17)) == 17
        names = sorted(d.name for d in session.list_devices() if d.device_type == "CPU")
        assert names == [f"/job:worker/replica:0/task:{i}/device:CPU:0" for i in (0, 1)]


def test_a_step_over_three(strangers, tf1):
    with tf1.device("/job:ps/task:0"):
        v = tf1.get_variable("v", initializer=tf1.constant([1.0, 2.0]))
    with tf1.device("/job:worker/task:1"):
        update = tf1.assign_add(v, v * 2.0)
    with tf1.device("/job:worker/task:0"):
        result = tf1.reduce_sum(update)
    config = config_with(tf1, {"ps": strangers[:1], "worker": strangers[1:]})
    with tf1.Session(strangers[1], config=config) as session:
        session.run(tf1.global_variables_initializer())
        assert session.run(result) == 9.0
        metadata = tf1.RunMetadata()
        session.run(result, options=tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE), run_metadata=metadata)
        traced = {stats.device for stats in metadata.step_stats.dev_stats if stats.node_stats}
        assert {"/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0"} <= traced


def test_sessions_of_different_clusters_share_no_variables(strangers, tf1):
    def session():
        return tf1.Session(strangers[0], config=config_with(tf1, {"worker": strangers[:2]}, isolate_session_state=True))

    with tf1.device("/job:worker/task:1"):
        v = tf1.get_variable("shared", initializer=tf1.constant(1))
        more = tf1.assign_add(v, 1)
    with session() as one, session() as two:
        one.run(v.initializer)
        assert one.run(more) == 2
        with pytest.raises(tf1.errors.FailedPreconditionError):
            two.run(v)
        two.run(v.initializer)
        assert [one.run(more), two.run(more)] == [3, 2]


def test_a_name_that_the_server_already_has(strangers, tf1):
    with tf1.Session(strangers[0]) as session:
        job = session.list_devices()[0].name.split("/")[1].removeprefix("job:")
    with tf1.Session(strangers[0], config=config_with(tf1, {job: strangers})) as session, pytest.raises(tf1.errors.InvalidArgumentError) as raised:
        session.run(tf1.constant(1))
    assert ("The ClusterSpec names the job and task index to be the same names that were provided when the server booted. "
            f"This is currently not allowed. Job: {job}, task index: 0") in str(raised.value)


def test_partial_run(strangers, tf1):
    with tf1.device("/job:worker/task:1"):
        a, b = tf1.placeholder(tf1.float32, []), tf1.placeholder(tf1.float32, [])
        first, second = a + 1.0, a * b
    with tf1.Session(strangers[0], config=config_with(tf1, {"worker": strangers[:2]})) as session:
        handle = session.partial_run_setup([first, second], [a, b])
        assert session.partial_run(handle, first, {a: 2.0}) == 3.0
        assert session.partial_run(handle, second, {b: 5.0}) == 10.0
