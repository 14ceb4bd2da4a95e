"""What TensorBoard's own reader finds in event files: all that the client's writers wrote, and a node's metrics."""

import os

import numpy as np
import pytest

from conftest import running


def read_back(directory):
    """A reader of everything that lies in a directory; nothing is left out by sampling."""
    from tensorboard.backend.event_processing import event_accumulator as ea

    everything = {kind: 0 for kind in (ea.SCALARS, ea.HISTOGRAMS, ea.COMPRESSED_HISTOGRAMS, ea.IMAGES, ea.AUDIO, ea.TENSORS, ea.GRAPH, ea.META_GRAPH, ea.RUN_METADATA)}
    return ea.EventAccumulator(str(directory), size_guidance=everything).Reload()


def numbers(reader, tag):
    """Steps and values of a scalar, however it was written."""
    from tensorboard.util import tensor_util

    if tag in reader.Tags()["scalars"]:
        return [(e.step, e.value) for e in reader.Scalars(tag)]
    return [(e.step, tensor_util.make_ndarray(e.tensor_proto).item()) for e in reader.Tensors(tag)]


def same_proto(theirs, ours):
    """TensorBoard has classes of its own for TensorFlow's messages."""
    return type(ours).FromString(theirs.SerializeToString()) == ours


STEPS = 40  # more than a reader keeps when it samples images and sounds


def test_all_that_a_writer_in_the_graph_wrote(either, tf1, tmp_path):
    """Every op that writes: the older ones of the contrib library, those of TensorFlow 2, and whole protos."""
    import tensorflow as tf
    from tensorflow.core.util import event_pb2

    rng = np.random.RandomState(5)
    pictures, sounds = rng.uniform(size=[2, 4, 4, 3]).astype(np.float32), rng.uniform(-1, 1, [1, 100, 2]).astype(np.float32)
    raw = tf.raw_ops
    with tf1.device("/job:worker/task:0"):
        step = tf1.placeholder("int64", [])
        value = tf.cast(step, tf.float64) / 4
        writer = raw.SummaryWriter(shared_name=f"w{os.getpid()}", container="")
        create = raw.CreateSummaryFileWriter(writer=writer, logdir=str(tmp_path), max_queue=7, flush_millis=1_000_000, filename_suffix=".x")
        foreign = event_pb2.Event(step=77, wall_time=5.0)
        foreign.summary.value.add(tag="imported", simple_value=1.25)
        summary = tf1.Summary()
        summary.value.add(tag="raw", simple_value=2.5)
        plugin = tf1.SummaryMetadata(plugin_data=tf1.SummaryMetadata.PluginData(plugin_name="mine", content=b"\0\1"))
        writes = [
            raw.WriteScalarSummary(writer=writer, step=step, tag="scalar", value=value),
            raw.WriteHistogramSummary(writer=writer, step=step, tag="histogram", values=tf.range(10.0) * tf.cast(value, tf.float32)),
            raw.WriteImageSummary(writer=writer, step=step, tag="image", tensor=pictures, bad_color=tf.constant([255, 0, 0, 255], tf.uint8), max_images=2),
            raw.WriteAudioSummary(writer=writer, step=step, tag="sound", tensor=sounds, sample_rate=8000.0, max_outputs=1),
            raw.WriteSummary(writer=writer, step=step, tensor=tf.stack([value, -value]), tag="tensor", summary_metadata=plugin.SerializeToString()),
            raw.WriteSummary(writer=writer, step=step, tensor=tf.constant(["a", "b"]), tag="text", summary_metadata=b""),
            raw.WriteRawProtoSummary(writer=writer, step=step, tensor=summary.SerializeToString()),
        ]
        graph = tf1.get_default_graph().as_graph_def()
        once = [raw.ImportEvent(writer=writer, event=foreign.SerializeToString()),
                raw.WriteGraphSummary(writer=writer, step=step, tensor=graph.SerializeToString())]
        close = raw.CloseSummaryWriter(writer=writer)
    with tf1.Session(either.target("worker/0")) as session:
        session.run(create)
        session.run(once, {step: 0})
        for i in range(STEPS):
            session.run(writes, {step: i})
        session.run(close)
    reader = read_back(tmp_path)
    assert reader.file_version == 2.0
    assert numbers(reader, "scalar") == [(i, i / 4) for i in range(STEPS)]
    assert numbers(reader, "raw") == [(i, 2.5) for i in range(STEPS)]
    assert numbers(reader, "imported") == [(77, 1.25)]
    histograms = reader.Histograms("histogram")
    assert [(h.step, h.histogram_value.num) for h in histograms] == [(i, 10) for i in range(STEPS)]
    assert [h.histogram_value.sum for h in histograms] == pytest.approx([45 * i / 4 for i in range(STEPS)], rel=1e-5)
    assert all(sum(h.histogram_value.bucket) == 10 for h in histograms)
    for k in range(2):
        images = reader.Images(f"image/image/{k}")
        assert [(e.step, e.width, e.height) for e in images] == [(i, 4, 4) for i in range(STEPS)]
        assert images[0].encoded_image_string[:4] == b"\x89PNG"
    assert [(e.step, e.sample_rate, e.length_frames) for e in reader.Audio("sound/audio")] == [(i, 8000, 100) for i in range(STEPS)]
    tensors = [(e.step, tf.make_ndarray(e.tensor_proto).tolist()) for e in reader.Tensors("tensor")]
    assert tensors == [(i, [i / 4, -i / 4]) for i in range(STEPS)]
    assert reader.SummaryMetadata("tensor").plugin_data.content == b"\0\1"
    assert [tf.make_ndarray(e.tensor_proto).tolist() for e in reader.Tensors("text")] == [[b"a", b"b"]] * STEPS
    assert same_proto(reader.Graph(), graph)


def test_all_that_a_file_writer_wrote(either, tf1, tmp_path):
    """Every op that makes a summary, run on the node and written by the client; with the graph and a step's metadata."""
    import tensorflow as tf

    with tf1.device("/job:worker/task:0"):
        step = tf1.placeholder("int64", [])
        x = tf.cast(step, tf.float32)
        tf1.summary.scalar("scalar", x / 4)
        tf1.summary.histogram("histogram", tf.fill([5], x))
        tf1.summary.image("image", tf.ones([1, 3, 3, 1]))
        tf1.summary.audio("sound", tf.zeros([1, 50]), 4000)
        tf1.summary.text("text", tf.as_string(step))
        tf1.summary.tensor_summary("tensor", tf.stack([x, x]))
        merged = tf1.summary.merge_all()
    metadata = tf1.RunMetadata()
    with tf1.summary.FileWriter(str(tmp_path), tf1.get_default_graph()) as writer, tf1.Session(either.target("worker/0")) as session:
        for i in range(STEPS):
            options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE) if i == 0 else None
            writer.add_summary(session.run(merged, {step: i}, options=options, run_metadata=metadata if i == 0 else None), i)
        writer.add_run_metadata(metadata, "first", 0)
    reader = read_back(tmp_path)
    steps = list(range(STEPS))
    assert numbers(reader, "scalar") == [(i, i / 4) for i in steps]
    assert [(h.step, h.histogram_value.min, h.histogram_value.num) for h in reader.Histograms("histogram")] == [(i, i, 5) for i in steps]
    assert [e.step for e in reader.Images("image/image/0")] == steps and [e.step for e in reader.Audio("sound/audio/0")] == steps
    assert [tf.make_ndarray(e.tensor_proto).item() for e in reader.Tensors("text")] == [str(i).encode() for i in steps]
    assert [tf.make_ndarray(e.tensor_proto).tolist() for e in reader.Tensors("tensor")] == [[i, i] for i in steps]
    assert same_proto(reader.Graph(), tf1.get_default_graph().as_graph_def(add_shapes=True))
    assert same_proto(reader.RunMetadata("first"), metadata)


def test_a_node_writes_its_own_metrics(tf1, tmp_path):
    import tensorflow as tf

    with running("troupe", {"ps": 1, "worker": 1}, args=[f"--metrics_dir={tmp_path}", "--metrics_secs=0.1"]) as cluster:
        with tf1.device("/job:ps/task:0"):
            x = tf1.placeholder("float", [None])
            doubled = x * 2
            wrong = tf.debugging.Assert(False, ["no"])
        with tf1.Session(cluster.target("worker/0")) as session:
            for i in range(20):
                session.run(doubled, {x: np.zeros(10_000, np.float32)})
            for i in range(3):
                with pytest.raises(tf.errors.InvalidArgumentError):
                    session.run(wrong)
    assert sorted(os.listdir(tmp_path)) == ["ps_0", "worker_0"]
    worker, ps = read_back(tmp_path / "worker_0"), read_back(tmp_path / "ps_0")
    last = {tag: numbers(worker, tag)[-1][1] for tag in worker.Tags()["tensors"]}
    assert last["calls/RunStep/calls"] == 23 and last["calls/RunStep/errors"] == 3
    assert last["calls/CreateSession/calls"] == last["calls/CloseSession/calls"] == 1
    assert last["node/calls"] >= 25 and last["node/errors"] == 3
    assert last["calls/RunStep/received_bytes"] > 20 * 40_000 and last["calls/RunStep/sent_bytes"] > 20 * 40_000
    assert last["node/resident_bytes"] > 1e6
    # Durations are told once, in the report after the call: nothing is lost and nothing told twice.
    durations = [h.histogram_value for h in worker.Histograms("durations/RunStep")]
    assert sum(d.num for d in durations) == 23
    assert sum(d.sum for d in durations) == pytest.approx(last["calls/RunStep/seconds"])
    counts = [value for _, value in numbers(worker, "node/calls")]
    assert counts == sorted(counts) and [step for step, _ in numbers(worker, "node/calls")] == list(range(len(counts)))
    # What one Troupe node asks of another goes by their link, but for the first steps.
    by_call = numbers(ps, "calls/RunGraph/calls")[-1][1] if "calls/RunGraph/calls" in ps.Tags()["tensors"] else 0
    assert by_call + numbers(ps, "links/runs_served")[-1][1] == 23 == by_call + last["links/runs_sent"]


def test_metrics_that_cannot_be_written_are_refused(tmp_path):
    from conftest import Node, troupe_binary

    (tmp_path / "file").write_text("")
    for flag, text in ((f"--metrics_dir={tmp_path}/file", "metrics_dir"), ("--metrics_secs=0", "--metrics_secs: 0 is out of range")):
        with pytest.raises(RuntimeError, match=text):
            Node([troupe_binary(), "node", "--port=0", flag]).wait_until_serving()
