"""Summaries: scalars, histograms, images, sounds, tensors, their merging, and event files."""

import atexit
import glob
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf
from framework import *
from definitions import for_dtypes
from values import *


def text(value):
    return tensor(value, "string")


# Scalars.
for dtype in for_dtypes("ScalarSummary"):
    case("ScalarSummary", [text("loss"), values(dtype)])
    case("ScalarSummary", [text(["a", "b", ""]), values(dtype, 3)])
    case("ScalarSummary", [text([["a", "b"], ["c", "a"]]), values(dtype, 2, 2, kind="extreme")])
    case("ScalarSummary", [strings(0, 2), values(dtype, 0, 2)])
case("ScalarSummary", [text(["x"] * 8), f32(8, kind="special")])
case("ScalarSummary", [text(["x"] * 4), tensor([1e300, -1e300, 1e-300, 0.1], "double")])
refuse("ScalarSummary", [text(["a", "b"]), f32(3)])
refuse("ScalarSummary", [text("a"), f32(1)])
refuse("ScalarSummary", [text(["a"]), f32()])
refuse("ScalarSummary", [text(["a", "b"]), f32(2, 1)])

# Histograms.
for dtype in for_dtypes("HistogramSummary"):
    case("HistogramSummary", [text("h"), values(dtype, 17)])
    case("HistogramSummary", [text("h"), values(dtype, 5, 7, kind="distinct")])
    case("HistogramSummary", [text("h"), values(dtype, 3, kind="zeros")])
    case("HistogramSummary", [text("h"), values(dtype)])
    case("HistogramSummary", [text("h"), values(dtype, 0, 3)])
case("HistogramSummary", [text(""), f64(200)])
case("HistogramSummary", [text("h"), tensor([1e-12, 1.1e-12, -1e-12, 1e20, -1e20, 1e300, -1e300, 1e-300, 5.0, 5.0], "double")])
case("HistogramSummary", [text("h"), i64(6, kind="extreme")])
refuse("HistogramSummary", [text("h"), tensor([1.0, np.nan])])
refuse("HistogramSummary", [text("h"), tensor([np.inf, 1.0], "half")])
refuse("HistogramSummary", [text("h"), tensor([-np.inf, np.nan], "double")])
refuse("HistogramSummary", [text(["h", "i"]), f32(2)])
refuse("HistogramSummary", [text(["h"]), f32(2)])

# Merging.
Summary = tf.compat.v1.Summary


def summary(*pairs, **more):
    return Summary(value=[Summary.Value(tag=tag, simple_value=value) for tag, value in pairs]).SerializeToString()


case("MergeSummary", [[text(summary(("a", 1.0)))]])
case("MergeSummary", [[text(summary(("a", 1.0))), text(summary(("b", 2.0), ("c", -3.0)))]])
case("MergeSummary", [[text([summary(("a", 1.0)), b"", summary(("b", 0.0))]), text([[summary()]])]])
case("MergeSummary", [[text(summary(("", 1.0), ("", 2.0)))]])
case("MergeSummary", [[strings(0), text("")]])
refuse("MergeSummary", [[text(summary(("a", 1.0))), text(summary(("a", 2.0)))]])
refuse("MergeSummary", [[text(summary(("a", 1.0), ("b", 2.0), ("b", 2.0)))]])
refuse("MergeSummary", [[text("no summary")]])

# Images.
for dtype in ("float", "double", "half", "uint8"):
    for depth in (1, 3, 4):
        case("ImageSummary", [text("i"), values(dtype, 2, 5, 4, depth)])
        case("ImageSummary", [text("i"), values(dtype, 1, 3, 7, depth, kind="positive")], max_images=1)
    case("ImageSummary", [text("i"), values(dtype, 5, 2, 2, 1, kind="zeros")])
    case("ImageSummary", [text("i"), values(dtype, 0, 2, 2, 1)])
    case("ImageSummary", [text("i"), values(dtype, 4, 2, 2, 3)], max_images=2)
for dtype in ("float", "double", "half"):
    case("ImageSummary", [text("i"), values(dtype, 2, 4, 4, 3, kind="special")])
    case("ImageSummary", [text("i"), tensor(np.full((1, 2, 2, 1), np.nan), dtype)])
    case("ImageSummary", [text("i"), tensor(np.linspace(-3, 1, 24).reshape(1, 4, 6, 1), dtype)])
    case("ImageSummary", [text("i"), tensor(np.linspace(0, 1, 24).reshape(1, 4, 6, 1), dtype)])
    case("ImageSummary", [text("i"), tensor(np.full((1, 2, 2, 1), 1e-7), dtype)])
refuse("ImageSummary", [text("i"), f32(2, 5, 4, 2)])
refuse("ImageSummary", [text("i"), f32(5, 4, 3)])
refuse("ImageSummary", [text(["i", "j"]), f32(2, 5, 4, 3)])
refuse("ImageSummary", [text(["i"]), f32(2, 5, 4, 3)])
refuse("ImageSummary", [text("i"), f32(1, 0, 4, 3)])
refuse("ImageSummary", [text("i"), f32(0, 0, 4, 3)])
refuse("ImageSummary", [text("i"), tensor(np.zeros((1, 0, 0, 1)), "uint8")])
refuse("ImageSummary", [text("i"), f32(1, 2, 2, 3)], bad_color=tf.make_tensor_proto([1, 2], tf.uint8))
refuse("ImageSummary", [text("i"), f32(1, 2, 2, 3)], bad_color=tf.make_tensor_proto([[1, 2, 3]], tf.uint8))
refuse("ImageSummary", [text("i"), f32(1, 2, 2, 3)], bad_color=tf.make_tensor_proto([1, 2, 3], tf.int32))
refuse("ImageSummary", [text("i"), f32(1, 2, 2, 3)], max_images=2**31)

# Sounds. The first version of the op is gone from graphs of today.
case("AudioSummaryV2", [text("s"), f32(2, 7), tensor(44100.0)])
case("AudioSummaryV2", [text("s"), f32(5, 3, 2), tensor(8000.0)])
case("AudioSummaryV2", [text("s"), f32(2, 3, 1), tensor(0.25)], max_outputs=1)
case("AudioSummaryV2", [text("s"), tensor([[0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 1e-5, 3e-5, np.inf, -np.inf]]), tensor(22050.4)])
case("AudioSummaryV2", [text("s"), f32(0, 3), tensor(8000.0)])
case("AudioSummaryV2", [text("s"), f32(2, 0), tensor(8000.0)])
refuse("AudioSummaryV2", [text("s"), f32(2, 3, 4, 1), tensor(8000.0)])
refuse("AudioSummaryV2", [text("s"), f32(2, 3), tensor([8000.0, 1.0])])
refuse("AudioSummaryV2", [text("s"), f32(2, 3), tensor([8000.0])])
refuse("AudioSummaryV2", [text("s"), f32(2, 3), tensor(0.0)])
refuse("AudioSummaryV2", [text("s"), f32(2, 3), tensor(-5.0)])
refuse("AudioSummaryV2", [text("s"), f32(2, 3), tensor(1e10)])
refuse("AudioSummaryV2", [text("s"), f32(2, 3, 0), tensor(8000.0)])
refuse("AudioSummaryV2", [text(["s", "t"]), f32(2, 3), tensor(8000.0)])

# Tensors.
METADATA = tf.compat.v1.SummaryMetadata(plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="p", content=b"\xff\x01"), display_name="d")
for dtype in for_dtypes("TensorSummaryV2"):
    # TensorFlow repeats in each handle what it has said of those before it.
    some = values(dtype, *(() if dtype == "resource" else (2, 3)))
    case("TensorSummary", [some])
    case("TensorSummary", [values(dtype)], description="d", labels=["x"], display_name="n")
    case("TensorSummary", [values(dtype, 0, 3)])
    case("TensorSummaryV2", [text("t"), some, text(METADATA.SerializeToString())])
    case("TensorSummaryV2", [text(""), values(dtype), text("")])
    case("TensorSummaryV2", [text("t"), values(dtype, 0), text("")])
exempt("TensorSummary", "refusal", why="takes any tensor")
refuse("TensorSummaryV2", [text(["t"]), f32(2), text("")])
refuse("TensorSummaryV2", [text("t"), f32(2), text([""])])

# Writers. Each run writes to a directory of its own; what is in the files is compared but for times.
BASE = os.path.join(tempfile.gettempdir(), f"conformance_summaries_{os.getpid()}")
raw = tf.raw_ops
atexit.register(shutil.rmtree, BASE, ignore_errors=True)


def events_in(path):
    events = []
    for file in sorted(glob.glob(os.path.join(path, "events.out.tfevents.*"))):
        for event in tf.compat.v1.train.summary_iterator(file):
            event.ClearField("wall_time")
            events.append(event)
    shutil.rmtree(path, ignore_errors=True)
    return events


def same_events(reference, ours):
    expected, found = (events_in(np.asarray(path).item().decode()) for path in (reference, ours))
    if not expected:
        return "TensorFlow wrote nothing"
    return None if expected == found else f"{expected} != {found}"


def writes(name, *ops, close=False, max_queue=10):
    """One step for each function that makes an op out of a writer, then a flush or a close."""

    def build():
        path = raw.VariableV2(shape=[], dtype=tf.string)
        number = tf.strings.reduce_join(tf.strings.as_string(raw.RandomUniformInt(shape=[3], minval=0, maxval=1 << 30)))
        writer = raw.SummaryWriter(shared_name=name)
        made = raw.CreateSummaryFileWriter(writer=writer, logdir=tf.identity(path), max_queue=max_queue, flush_millis=120000, filename_suffix=".v2")
        end = raw.CloseSummaryWriter(writer=writer) if close else raw.FlushSummaryWriter(writer=writer)
        return steps(raw.Assign(ref=path, value=tf.strings.join([f"{BASE}/{name}", number])).op, made, *[op(writer) for op in ops], end, tf.identity(path))

    build.__name__ = name
    used = ["SummaryWriter", "CreateSummaryFileWriter", "CloseSummaryWriter" if close else "FlushSummaryWriter"]
    graph(*used, *[op.about for op in ops if hasattr(op, "about")], check=same_events)(build)


def write(about, **inputs):
    """A function that makes the op out of a writer; arrays are fed."""

    def make(writer):
        fed = {key: feed(value) if isinstance(value, np.ndarray) else value for key, value in inputs.items()}
        return getattr(raw, about)(writer=writer, **fed)

    make.about = about
    return make


STEP = tensor(7, "int64")
GRAPH = tf.compat.v1.GraphDef(node=[tf.compat.v1.NodeDef(name="n", op="NoOp")]).SerializeToString()
EVENT = tf.compat.v1.Event(wall_time=1.0, step=3, summary=Summary(value=[Summary.Value(tag="e", simple_value=2.0)])).SerializeToString()
writes("nothing_written")
writes("nothing_written_and_closed", close=True)
for dtype in for_dtypes("ScalarSummary"):
    writes(f"scalars_{dtype}", write("WriteScalarSummary", step=STEP, tag=text("a"), value=values(dtype)),
           write("WriteScalarSummary", step=tensor(-8, "int64"), tag=text(""), value=values(dtype, 2, 2)))
    writes(f"histograms_{dtype}", write("WriteHistogramSummary", step=STEP, tag=text("a"), values=values(dtype, 3, 5)), close=True)
    writes(f"tensors_{dtype}", write("WriteSummary", step=STEP, tensor=values(dtype, 2, 3), tag=text("a"), summary_metadata=text(METADATA.SerializeToString())),
           write("WriteSummary", step=STEP, tensor=values(dtype, 0, 3), tag=text("a"), summary_metadata=text("")))
writes("tensors_of_strings", write("WriteSummary", step=STEP, tensor=strings(2, 3), tag=text("a"), summary_metadata=text("")))
writes("no_values", write("WriteHistogramSummary", step=STEP, tag=text("a"), values=f32(0)))
writes("nan", write("WriteHistogramSummary", step=STEP, tag=text("a"), values=tensor([1.0, np.nan])))
writes("infinity", write("WriteHistogramSummary", step=STEP, tag=text("a"), values=tensor([1.0, np.inf])))
for dtype in ("float", "half", "uint8"):
    for depth in (1, 3, 4):
        writes(f"images_{dtype}_{depth}", write("WriteImageSummary", step=STEP, tag=text("a"), tensor=values(dtype, 4, 3, 5, depth), bad_color=tensor([255, 0, 0, 255], "uint8")))
writes("one_image", write("WriteImageSummary", step=STEP, tag=text("a"), tensor=f32(2, 3, 5, 1), bad_color=tensor([1], "uint8"), max_images=1))
writes("no_images", write("WriteImageSummary", step=STEP, tag=text("a"), tensor=f32(0, 3, 5, 1), bad_color=tensor([1], "uint8")))
writes("images_of_two_channels", write("WriteImageSummary", step=STEP, tag=text("a"), tensor=f32(1, 3, 5, 2), bad_color=tensor([1, 2], "uint8")))
writes("few_bad_colors", write("WriteImageSummary", step=STEP, tag=text("a"), tensor=f32(1, 3, 5, 3), bad_color=tensor([1, 2], "uint8")))
writes("bad_color_of_rank_2", write("WriteImageSummary", step=STEP, tag=text("a"), tensor=f32(1, 3, 5, 3), bad_color=tensor([[1, 2, 3]], "uint8")))
writes("sounds", write("WriteAudioSummary", step=STEP, tag=text("a"), tensor=f32(4, 6, 2), sample_rate=tensor(44100.0)),
       write("WriteAudioSummary", step=STEP, tag=text("a"), tensor=f32(2, 6), sample_rate=tensor(0.1), max_outputs=1))
writes("no_sounds", write("WriteAudioSummary", step=STEP, tag=text("a"), tensor=f32(0, 6, 2), sample_rate=tensor(44100.0)))
writes("sounds_of_no_rate", write("WriteAudioSummary", step=STEP, tag=text("a"), tensor=f32(4, 6, 2), sample_rate=tensor(0.0)))
writes("serialized", write("WriteRawProtoSummary", step=STEP, tensor=text([summary(("a", 1.0)), summary(("b", 2.0))])), write("WriteRawProtoSummary", step=STEP, tensor=text([])),
       write("WriteRawProtoSummary", step=STEP, tensor=text(summary(("a", 1.0)))))
writes("serialized_badly", write("WriteRawProtoSummary", step=STEP, tensor=text([summary(("a", 1.0)), b"garbage"])))
writes("graphs", write("WriteGraphSummary", step=STEP, tensor=text(GRAPH)), write("WriteGraphSummary", step=STEP, tensor=text("")), write("WriteGraphSummary", step=STEP, tensor=text(GRAPH)))
writes("no_graph", write("WriteGraphSummary", step=STEP, tensor=text("garbage")))
writes("imported", write("ImportEvent", event=text(EVENT)), write("ImportEvent", event=text("")), write("ImportEvent", event=text(EVENT)))
writes("no_event", write("ImportEvent", event=text("garbage")))
writes("many", *[write("WriteScalarSummary", step=tensor(i, "int64"), tag=text("a"), value=tensor(float(i))) for i in range(12)], max_queue=3)


@graph("CloseSummaryWriter")
def closed_twice():
    writer = raw.SummaryWriter(shared_name="never_made")
    return steps(raw.CloseSummaryWriter(writer=writer))


@graph("FlushSummaryWriter")
def flushed_before_it_is_made():
    return steps(raw.FlushSummaryWriter(writer=raw.SummaryWriter(shared_name="never_made")))


@graph("WriteSummary")
def written_before_it_is_made():
    writer = raw.SummaryWriter(shared_name="never_made")
    return steps(raw.WriteSummary(writer=writer, step=STEP, tensor=feed(f32(2)), tag="a", summary_metadata=""))


@graph("WriteScalarSummary")
def a_scalar_written_before_the_writer_is_made():
    return steps(raw.WriteScalarSummary(writer=raw.SummaryWriter(shared_name="never_made"), step=STEP, tag="a", value=feed(f32())))


@graph("ImportEvent")
def an_event_imported_before_the_writer_is_made():
    return steps(raw.ImportEvent(writer=raw.SummaryWriter(shared_name="never_made"), event=feed(text(EVENT))))


@graph("CreateSummaryFileWriter")
def a_directory_that_is_a_file():
    return steps(raw.CreateSummaryFileWriter(writer=raw.SummaryWriter(shared_name="at_a_file"), logdir="/dev/null", max_queue=1, flush_millis=1, filename_suffix=""))


@graph("CreateSummaryFileWriter")
def a_directory_that_cannot_be_made():
    return steps(raw.CreateSummaryFileWriter(writer=raw.SummaryWriter(shared_name="nowhere"), logdir="/proc/no/where", max_queue=1, flush_millis=1, filename_suffix=""))


for op in ("SummaryWriter", "CreateSummaryFileWriter", "CloseSummaryWriter", "FlushSummaryWriter", "ImportEvent"):
    exempt(op, "empty", why="takes no tensor that may be empty")
exempt("WriteScalarSummary", "empty", why="takes one value")
exempt("SummaryWriter", "refusal", why="takes any name")
