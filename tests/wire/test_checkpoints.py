"""Checkpoints between a client, Troupe and TensorFlow: what one writes the other reads."""

import os

import numpy as np
import pytest

TYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128"]


def sample(name, seed):
    import tensorflow as tf

    numbers = np.random.RandomState(seed).randint(0, 100, [3, 4])
    return (numbers % 2 == 0) if name == "bool" else numbers.astype(tf.as_dtype(name).as_numpy_dtype)


def typed_variables(tf1, shift):
    """One variable of each type, with values that depend on shift, and one of strings."""
    import tensorflow as tf

    made = {name: tf1.get_variable(f"v_{name}", initializer=tf.constant(sample(name, shift)), use_resource=True) for name in TYPES}
    made["string"] = tf1.get_variable("v_string", initializer=tf.constant([b"a", b"", b"\0x" * 200, str(shift).encode()]), use_resource=True)
    return made


def partitioned(tf1, shift, resource):
    def piece(shape, dtype=None, partition_info=None):
        begin = partition_info.var_offset[0]
        return np.arange(21, dtype=np.float32).reshape(7, 3)[begin : begin + shape[0]] + shift

    return tf1.get_variable("part", shape=[7, 3], initializer=piece, partitioner=tf1.fixed_size_partitioner(3), use_resource=resource)


def values_of(session, variables):
    return {name: np.asarray(session.run(v.value())) for name, v in variables.items()}


def same(a, b):
    return a.keys() == b.keys() and all(a[k].dtype == b[k].dtype and np.array_equal(a[k], b[k]) for k in a)


def forget(tf1, target):
    """Variables of earlier graphs may have the same names and other shapes."""
    if target:
        tf1.Session.reset(target)


def save_at(tf1, target, prefix, build, **options):
    """Builds variables in a new graph, initializes them at the target, saves them; returns their values."""
    forget(tf1, target)
    with tf1.Graph().as_default():
        variables = build()
        saver = tf1.train.Saver(**options)
        with tf1.Session(target) as session:
            session.run(tf1.global_variables_initializer())
            path = saver.save(session, prefix)
            return path, values_of(session, variables)


def restore_at(tf1, target, path, build, **options):
    forget(tf1, target)
    with tf1.Graph().as_default():
        variables = build()
        saver = tf1.train.Saver(**options)
        with tf1.Session(target) as session:
            saver.restore(session, path)
            return values_of(session, variables)


@pytest.fixture
def fresh(troupe, tf1):
    """Troupe's worker without variables of tests before."""
    target = troupe.target("worker/0")
    tf1.Session.reset(target)
    yield target
    tf1.Session.reset(target)


@pytest.mark.parametrize("sharded", [False, True])
def test_every_type_goes_both_ways(fresh, tf1, tmp_path, sharded):
    theirs, ours = str(tmp_path / "theirs"), str(tmp_path / "ours")
    for target, prefix, other in ((fresh, ours, ""), ("", theirs, fresh)):
        path, written = save_at(tf1, target, prefix, lambda: typed_variables(tf1, 1), sharded=sharded)
        for reader in (target, other):
            assert same(restore_at(tf1, reader, path, lambda: typed_variables(tf1, 2), sharded=sharded), written)
    assert not [name for name in os.listdir(tmp_path) if "temp" in name]


def test_the_client_reads_what_troupe_writes(fresh, tf1, tmp_path):
    import tensorflow as tf

    path, written = save_at(tf1, fresh, str(tmp_path / "ours"), lambda: typed_variables(tf1, 3))
    reader = tf.train.load_checkpoint(path)
    for name, value in written.items():
        assert np.array_equal(reader.get_tensor("v_" + name), value)
    assert dict(tf.train.list_variables(path)) == {"v_" + name: list(value.shape) for name, value in written.items()}


def test_files_are_the_same(fresh, tf1, tmp_path):
    """Byte for byte: the same variables make the same checkpoint."""
    paths = [save_at(tf1, target, str(tmp_path / name), lambda: typed_variables(tf1, 1))[0] for target, name in ((fresh, "ours"), ("", "theirs"))]
    for ending in (".index", ".data-00000-of-00001"):
        ours, theirs = (open(path + ending, "rb").read() for path in paths)
        assert ours == theirs


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("sharded", [False, True])
def test_partitioned_variables(fresh, tf1, tmp_path, resource, sharded):
    def pieces(shift):
        return lambda: {f"piece_{i}": v for i, v in enumerate(partitioned(tf1, shift, resource))}

    def other_pieces():
        cut = tf1.get_variable("part", shape=[7, 3], initializer=tf1.zeros_initializer(), partitioner=tf1.fixed_size_partitioner(2), use_resource=resource)
        return {f"piece_{i}": v for i, v in enumerate(cut)}

    def whole():
        return {"whole": tf1.get_variable("part", shape=[7, 3], initializer=tf1.zeros_initializer(), use_resource=resource)}

    expected = np.arange(21, dtype=np.float32).reshape(7, 3) + 5
    for target, name in ((fresh, "ours"), ("", "theirs")):
        path, written = save_at(tf1, target, str(tmp_path / name), pieces(5), sharded=sharded)
        for reader in (fresh, ""):
            assert same(restore_at(tf1, reader, path, pieces(0)), written)
            assert np.array_equal(restore_at(tf1, reader, path, whole)["whole"], expected)
            assert np.array_equal(np.concatenate(list(restore_at(tf1, reader, path, other_pieces).values())), expected)


def test_shards_of_several_tasks(troupe, fresh, tf1, tmp_path):
    """Variables on the ps and on both workers; each task writes a shard, the chief merges them."""
    import tensorflow as tf

    def build():
        made = {}
        for i, device in enumerate(("/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1")):
            with tf1.device(device):
                made[f"on_{i}"] = tf1.get_variable(f"on_{i}", initializer=tf.range(4) * (i + 1), use_resource=bool(i % 2))
        return made

    path, written = save_at(tf1, fresh, str(tmp_path / "model"), build, sharded=True)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint"] + [f"model.data-0000{i}-of-00003" for i in range(3)] + ["model.index", "model.meta"]
    assert same(restore_at(tf1, fresh, path, build, sharded=True), written)
    with tf1.Graph().as_default():
        local = {name: tf1.get_variable(name, initializer=tf.zeros([4], tf.int32)) for name in written}
        with tf1.Session() as session:
            tf1.train.Saver().restore(session, path)
            assert same(values_of(session, local), written)


def test_checkpoints_of_version_1(fresh, tf1, tmp_path):
    version = tf1.train.SaverDef.V1

    def build(shift):
        return lambda: {k: v for k, v in typed_variables(tf1, shift).items() if k not in ("bfloat16", "uint32", "uint64")}

    for target, name in ((fresh, "ours"), ("", "theirs")):
        with tf1.Graph().as_default():
            variables = build(4)()
            saver = tf1.train.Saver(list(variables.values()), write_version=version)
            with tf1.Session(target) as session:
                session.run(tf1.global_variables_initializer())
                path, written = saver.save(session, str(tmp_path / name)), values_of(session, variables)
        for reader in (fresh, ""):
            with tf1.Graph().as_default():
                variables = build(0)()
                saver = tf1.train.Saver(list(variables.values()), write_version=version)
                with tf1.Session(reader) as session:
                    saver.restore(session, path)
                    assert same(values_of(session, variables), written)


def test_object_based_checkpoints(fresh, tf1, tmp_path):
    import tensorflow as tf

    def build(shift):
        return tf1.train.Checkpoint(a=tf1.get_variable("a", initializer=tf.range(3) + shift), b=tf1.get_variable("b", initializer=tf.ones([2, 2]) * shift))

    paths = []
    for target, name in ((fresh, "ours"), ("", "theirs")):
        with tf1.Graph().as_default():
            checkpoint = build(7)
            with tf1.Session(target) as session:
                session.run(tf1.global_variables_initializer())
                paths.append(checkpoint.save(str(tmp_path / name), session=session))
    for path in paths:
        for reader in (fresh, ""):
            with tf1.Graph().as_default():
                checkpoint = build(0)
                with tf1.Session(reader) as session:
                    checkpoint.restore(path).assert_consumed().run_restore_ops(session)
                    assert session.run(checkpoint.a).tolist() == [7, 8, 9] and session.run(checkpoint.b).tolist() == [[7, 7], [7, 7]]


def test_restored_variables_of_another_checkpoint_are_named(either, tf1, tmp_path):
    import tensorflow as tf

    target = either.target("worker/0")
    path, _ = save_at(tf1, target, str(tmp_path / "one"), lambda: {"x": tf1.get_variable("x", initializer=tf.ones([2]))})
    with pytest.raises(tf.errors.NotFoundError, match="Key y not found in checkpoint"):
        restore_at(tf1, target, path, lambda: {"y": tf1.get_variable("y", initializer=tf.ones([2]))})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Assign requires shapes of both tensors to match. lhs shape= \[3\] rhs shape= \[2\]"):
        restore_at(tf1, target, path, lambda: {"x": tf1.get_variable("x", initializer=tf.ones([3]))})
    with pytest.raises(ValueError, match="The passed save_path is not a valid checkpoint"):
        restore_at(tf1, target, str(tmp_path / "none"), lambda: {"x": tf1.get_variable("x", initializer=tf.ones([2]))})
    tf1.Session.reset(target)


def test_a_save_that_fails_leaves_nothing(fresh, tf1, tmp_path):
    import tensorflow as tf

    prefix = str(tmp_path / "broken")
    with tf1.Graph().as_default():
        save = tf.raw_ops.SaveV2(prefix=prefix, tensor_names=["x", "x"], shape_and_slices=["", ""], tensors=[tf.ones([3]), tf.ones([3])])
        with tf1.Session(fresh) as session, pytest.raises(tf.errors.InvalidArgumentError, match="Adding duplicate key: x"):
            session.run(save)
    assert os.listdir(tmp_path) == []


def test_a_monitored_session_goes_on_where_it_stopped(fresh, tf1, tmp_path):
    """Checkpoints by a hook; a second session starts from the last one."""
    for steps in (5, 12):
        tf1.Session.reset(fresh)
        with tf1.Graph().as_default():
            step = tf1.train.get_or_create_global_step()
            count = tf1.assign_add(step, 1)
            hooks = [tf1.train.StopAtStepHook(last_step=steps)]
            seen = []
            with tf1.train.MonitoredTrainingSession(fresh, checkpoint_dir=str(tmp_path), hooks=hooks, save_checkpoint_steps=2) as session:
                while not session.should_stop():
                    seen.append(int(session.run(count)))
    assert seen == list(range(6, 13))
    assert tf1.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-12")
