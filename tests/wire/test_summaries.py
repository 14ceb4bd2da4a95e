"""Summaries through real clients: merged summaries for FileWriter, writers in the graph, hooks of monitored sessions."""

import glob
import os

import numpy as np
import pytest


def events_in(directory):
    """The events of all files in a directory, in the order of the files' names."""
    import tensorflow as tf

    found = []
    for file in sorted(glob.glob(os.path.join(directory, "events.out.tfevents.*"))):
        found.extend(tf.compat.v1.train.summary_iterator(file))
    return found


def simple_values(events, tag):
    return [(e.step, v.simple_value) for e in events for v in e.summary.value if v.tag == tag]


def test_merged_summaries_go_to_a_file_writer(either, tf1, tmp_path):
    with tf1.device("/job:worker/task:0"):
        x = tf1.placeholder("float", [None])
        tf1.summary.scalar("average", tf1.reduce_mean(x))
        tf1.summary.histogram("all", x)
        tf1.summary.image("picture", tf1.reshape(x, [1, 2, 2, 1]))
        tf1.summary.audio("sound", tf1.reshape(x, [1, 4]), 8000)
        tf1.summary.text("words", tf1.constant("said"))
        merged = tf1.summary.merge_all()
    with tf1.summary.FileWriter(str(tmp_path), tf1.get_default_graph()) as writer, tf1.Session(either.target("worker/0")) as session:
        for step in range(3):
            writer.add_summary(session.run(merged, {x: np.arange(4, dtype=np.float32) + step}), step)
    events = events_in(tmp_path)
    assert simple_values(events, "average") == [(0, 1.5), (1, 2.5), (2, 3.5)]
    kinds = {v.tag: v.WhichOneof("value") for e in events for v in e.summary.value}
    assert kinds == {"average": "simple_value", "all": "histo", "picture/image/0": "image", "sound/audio/0": "audio", "words": "tensor"}
    histogram = next(v.histo for e in events for v in e.summary.value if v.tag == "all")
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (0, 3, 4, 6)
    assert sum(histogram.bucket) == 4


def test_both_make_the_same_summary(troupe, tensorflow_cluster, tf1):
    with tf1.device("/job:worker/task:0"):
        rng = np.random.RandomState(3)
        tf1.summary.histogram("h", tf1.constant(rng.normal(size=1000)))
        tf1.summary.scalar("s", tf1.constant(2.5))
        tf1.summary.image("i", tf1.constant(rng.uniform(-1, 1, [2, 8, 8, 3]).astype(np.float32)))
        merged = tf1.summary.merge_all()
    made = []
    for cluster in (troupe, tensorflow_cluster):
        with tf1.Session(cluster.target("worker/0")) as session:
            made.append(tf1.Summary.FromString(session.run(merged)))
    assert made[0] == made[1]


def test_a_writer_in_the_graph(either, tf1, tmp_path):
    from tensorflow.python.ops import summary_ops_v2

    with tf1.device("/job:worker/task:0"):
        step = tf1.train.get_or_create_global_step()
        advance = tf1.assign_add(step, 1)
        writer = summary_ops_v2.create_file_writer(str(tmp_path), max_queue=2, flush_millis=100000)
        with writer.as_default(), summary_ops_v2.always_record_summaries():
            written = summary_ops_v2.scalar("loss", tf1.constant(0.5), step=tf1.identity(advance))
        flush, close = writer.flush(), writer.close()
    with tf1.Session(either.target("worker/0")) as session:
        session.run([tf1.global_variables_initializer(), writer.init()])
        for _ in range(5):
            session.run(written)
        session.run(flush)
        events = events_in(tmp_path)
        assert events[0].file_version == "brain.Event:2"
        assert simple_values(events, "loss") == [(i, 0.5) for i in range(1, 6)]
        session.run(close)


@pytest.mark.parametrize("every", [1, 2])
def test_hooks_of_a_monitored_session_save_summaries(troupe, tf1, tmp_path, every):
    from tensorflow.compat.v1 import Session

    Session.reset(troupe.target("worker/0"))
    with tf1.device("/job:worker/task:0"):
        step = tf1.train.get_or_create_global_step()
        train = tf1.assign_add(step, 1)
        tf1.summary.scalar("step", tf1.cast(step, "float"))
        merged = tf1.summary.merge_all()
    hooks = [tf1.train.SummarySaverHook(save_steps=every, output_dir=str(tmp_path), summary_op=merged),
             tf1.train.StepCounterHook(every_n_steps=2, output_dir=str(tmp_path)),
             tf1.train.StopAtStepHook(last_step=6)]
    with tf1.train.MonitoredTrainingSession(troupe.target("worker/0"), hooks=hooks) as session:
        while not session.should_stop():
            session.run(train)
    tf1.summary.FileWriterCache.clear()
    steps = [s for s, _ in simple_values(events_in(tmp_path), "step")]
    assert steps == list(range(1, 7, every))


def test_examples_are_parsed_on_a_worker(either, tf1):
    import tensorflow as tf

    def example(i):
        ints = tf.train.Feature(int64_list=tf.train.Int64List(value=range(i)))
        name = tf.train.Feature(bytes_list=tf.train.BytesList(value=[f"row {i}".encode()]))
        return tf.train.Example(features=tf.train.Features(feature={"ints": ints, "name": name})).SerializeToString()

    with tf1.device("/job:worker/task:0"):
        serialized = tf1.placeholder("string", [None])
        parsed = tf.io.parse_example(serialized, {
            "ints": tf.io.RaggedFeature(tf.int64), "name": tf.io.FixedLenFeature([], tf.string), "absent": tf.io.VarLenFeature(tf.float32),
            "weight": tf.io.FixedLenFeature([2], tf.float32, [0.5, 1.5])})
    with tf1.Session(either.target("worker/0")) as session:
        got = session.run(parsed, {serialized: [example(i) for i in range(4)]})
    assert got["ints"].to_list() == [[], [0], [0, 1], [0, 1, 2]]
    assert list(got["name"]) == [b"row 0", b"row 1", b"row 2", b"row 3"]
    assert got["weight"].tolist() == [[0.5, 1.5]] * 4
    assert got["absent"].dense_shape.tolist() == [4, 0]
