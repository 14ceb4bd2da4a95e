"""Tensors of every type that a checkpoint can have, written by one and read by the other; tools of the client that read checkpoints."""

import contextlib
import io

import numpy as np
import pytest

# Types without numpy values travel as the bits of one that has: (type, bits).
TYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
         "complex64", "complex128", "qint8", "quint8", "qint16", "quint16", "qint32", "float8_e5m2", "float8_e4m3fn", "string"]
BITS = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32", "bfloat16": "uint16", "float16": "uint16"}


def random_bits(name, seed):
    """Any pattern of bits: also NaNs with payloads, infinities, minus zero and denormals."""
    rng = np.random.RandomState(seed)
    if name == "string":
        return np.array([rng.bytes(n) for n in (0, 1, 127, 128, 70000)], object)
    if name == "bool":
        return rng.randint(0, 2, [5, 3]).astype(bool)
    import tensorflow as tf

    dtype = np.dtype(tf.as_dtype(BITS.get(name, name)).as_numpy_dtype)
    return np.frombuffer(rng.bytes(15 * dtype.itemsize), dtype).reshape(5, 3)


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and (a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes())


def run_at(tf1, target, build, feed=None):
    with tf1.Graph().as_default():
        fetches, feeds = build()
        with tf1.Session(target) as session:
            return session.run(fetches, feeds)


def save(tf1, target, prefix, values):
    import tensorflow as tf

    def build():
        holders = {name: tf1.placeholder(BITS.get(name, name), None) for name in values}
        typed = [tf.bitcast(holders[n], n) if n in BITS else holders[n] for n in values]
        op = tf.raw_ops.SaveV2(prefix=prefix, tensor_names=list(values), shape_and_slices=[""] * len(values), tensors=typed)
        return op, {holders[n]: v for n, v in values.items()}

    run_at(tf1, target, build)


def restore(tf1, target, prefix, names):
    import tensorflow as tf

    def build():
        got = tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=names, shape_and_slices=[""] * len(names), dtypes=[tf.as_dtype(n) for n in names])
        return {n: tf.bitcast(t, BITS[n]) if n in BITS else t for n, t in zip(names, got)}, None

    return run_at(tf1, target, build)


def test_every_bit_of_every_type(troupe, tf1, tmp_path):
    target = troupe.target("worker/0")
    values = {name: random_bits(name, seed) for seed, name in enumerate(TYPES)}
    for writer, prefix in ((target, str(tmp_path / "ours")), ("", str(tmp_path / "theirs"))):
        save(tf1, writer, prefix, values)
        for reader in (target, ""):
            got = restore(tf1, reader, prefix, TYPES)
            wrong = [name for name in TYPES if not same_bits(values[name], np.asarray(got[name]))]
            assert not wrong, (writer, reader, wrong)
    for ending in (".index", ".data-00000-of-00001"):
        assert open(tmp_path / ("ours" + ending), "rb").read() == open(tmp_path / ("theirs" + ending), "rb").read()


def trained(tf1, target, directory, rows=6):
    """A checkpoint that Troupe wrote of a matrix by words and a bias."""
    import tensorflow as tf

    tf1.Session.reset(target)
    with tf1.Graph().as_default():
        tf1.get_variable("words", initializer=tf.reshape(tf.range(rows * 2.0), [rows, 2]), partitioner=tf1.fixed_size_partitioner(2))
        tf1.get_variable("bias", initializer=tf.constant([7.0]))
        saver = tf1.train.Saver()
        with tf1.Session(target) as session:
            session.run(tf1.global_variables_initializer())
            return saver.save(session, str(directory / "model"), global_step=3)


def test_tools_of_the_client_read_what_troupe_wrote(troupe, tf1, tmp_path):
    import tensorflow as tf
    from tensorflow.python.tools import inspect_checkpoint

    path = trained(tf1, troupe.target("worker/0"), tmp_path)
    assert tf.train.latest_checkpoint(tmp_path) == path
    reader = tf.train.load_checkpoint(tmp_path)
    assert reader.get_variable_to_shape_map() == {"words": [6, 2], "bias": [1]}
    assert reader.get_variable_to_dtype_map() == {"words": tf.float32, "bias": tf.float32}
    assert reader.get_tensor("words").ravel().tolist() == list(range(12))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        inspect_checkpoint.print_tensors_in_checkpoint_file(path, "", all_tensors=True, all_tensor_names=True, count_exclude_pattern="")
    assert "tensor: words (float32) [6, 2]" in said.getvalue() and "# Total number of params: 13" in said.getvalue()


@pytest.mark.parametrize("reader", ["troupe", "tensorflow"])
def test_warm_starting(troupe, tf1, tmp_path, reader):
    """Variables of a new model begin with values of a checkpoint, rows moved to where a new vocabulary has their words."""
    import tensorflow as tf

    target = troupe.target("worker/0")
    path = trained(tf1, target, tmp_path)
    (tmp_path / "old").write_text("\n".join("abcdef"))
    (tmp_path / "new").write_text("\n".join("fxba"))
    tf1.Session.reset(target)
    with tf1.Graph().as_default():
        words = tf1.get_variable("words", [4, 2], initializer=tf1.zeros_initializer(), partitioner=tf1.fixed_size_partitioner(2))
        bias = tf1.get_variable("bias", [1])
        vocabulary = tf1.train.VocabInfo(str(tmp_path / "new"), 4, 0, str(tmp_path / "old"), 6, lambda shape, dtype=tf.float32, **_: -tf.ones(shape, dtype))
        tf1.train.warm_start(path, vars_to_warm_start="words|bias", var_name_to_vocab_info={"words": vocabulary})
        with tf1.Session(target if reader == "troupe" else "") as session:
            session.run(tf1.global_variables_initializer())
            assert session.run(words.as_tensor()).tolist() == [[10, 11], [-1, -1], [2, 3], [0, 1]]
            assert session.run(bias).tolist() == [7]


def test_an_estimator_is_warm_started(troupe, tf1, tmp_path):
    import tensorflow as tf

    path = trained(tf1, troupe.target("worker/0"), tmp_path)

    def model(features, labels, mode):
        bias = tf1.get_variable("bias", [1])
        step = tf1.train.get_global_step()
        return tf1.estimator.EstimatorSpec(mode, loss=tf.reduce_sum(bias), train_op=tf1.assign_add(step, 1).op)

    settings = tf1.estimator.WarmStartSettings(path, vars_to_warm_start="bias")
    estimator = tf1.estimator.Estimator(model, str(tmp_path / "next"), warm_start_from=settings)
    estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": 1.0}, 1.0)).repeat(2), steps=1)
    assert estimator.get_variable_value("bias").tolist() == [7]
