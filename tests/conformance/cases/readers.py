"""Readers: every kind, by handle and by reference, over files that a queue names."""

import gzip
import zlib

from framework import *
from scratch import file, path, record
from values import *

import tensorflow as tf

raw = tf.raw_ops


OLD = 25  # the last version of graphs with readers by reference
RECORDS = b"".join(record(b"x" * n) for n in (0, 10, 300, 1))
LETTERS = bytes(range(65, 65 + 23))
FILES = {
    "lines": b"a\r\nb\rc\n\n\r\nlast\r", "ends": b"one\ntwo\n", "returns": b"a\r\r\n\r\r", "return": b"a\n\r", "empty": b"", "long": b"y" * 200000 + b"\nz", "letters": LETTERS,
    "letters_zlib": zlib.compress(LETTERS), "records": RECORDS, "records_gzip": gzip.compress(RECORDS), "records_zlib": zlib.compress(RECORDS), "two_gzip": gzip.compress(RECORDS) * 2,
    "two_zlib": zlib.compress(RECORDS) * 2, "cut_body": RECORDS[:-2], "cut_head": RECORDS[:20], "no_head": RECORDS[:5], "bad_head": RECORDS[:20] + b"Z" + RECORDS[21:],
    "bad_body": RECORDS[:30] + b"Z" + RECORDS[31:], "bad_start": b"Z" + RECORDS[1:], "cut_gzip": gzip.compress(RECORDS)[:-15], "junk_gzip": gzip.compress(RECORDS) + b"junk",
    "cut_zlib": zlib.compress(RECORDS)[:-6]
}
for name, content in FILES.items():
    file("readers/" + name, content)


def at(name):
    return path("readers", name)


class Life:
    """A reader with a queue of files, and all that can be done with it; by handle (V2) or by reference."""

    def __init__(self, kind, files, version="V2", **attrs):
        self.version = version
        key = f"{kind}{version}_{next(Life.numbers)}"
        self.queue = self.op("FIFOQueue", component_types=[tf.string], shared_name=key)
        self.reader = self.op(kind, shared_name=key, **attrs)
        self.put = self.op("QueueEnqueueMany", handle=self.queue, components=[feed(tensor([at(f) for f in files], "string"))])
        self.close = self.op("QueueClose", handle=self.queue)
        self.read = list(self.op("ReaderRead", reader_handle=self.reader, queue_handle=self.queue))
        self.counts = [self.op("ReaderNumRecordsProduced", reader_handle=self.reader), self.op("ReaderNumWorkUnitsCompleted", reader_handle=self.reader)]
        self.save = self.op("ReaderSerializeState", reader_handle=self.reader)
        self.reset = self.op("ReaderReset", reader_handle=self.reader)

    numbers = iter(range(10**6))

    def op(self, name, **arguments):
        return getattr(raw, name + self.version)(**arguments)

    def up_to(self, n):
        return list(self.op("ReaderReadUpTo", reader_handle=self.reader, queue_handle=self.queue, num_records=feed(n, "int64")))

    def restore(self, state):
        return self.op("ReaderRestoreState", reader_handle=self.reader, state=feed(state, "string"))

    def start(self):
        return [self.put, self.close]


def all_of(life, times):
    return steps(*life.start(), *[life.read] * times, life.counts)


for version in ("", "V2"):
    OPS = [op + version for op in ("ReaderRead", "ReaderReadUpTo", "ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted", "ReaderSerializeState", "ReaderRestoreState", "ReaderReset")]
    for kind, files, attrs in (("WholeFileReader", ["ends", "none", "lines", "empty"], {}), ("IdentityReader", ["ends", "none", "lines", "empty"], {}),
                               ("TextLineReader", ["lines", "none", "empty", "ends"], {}), ("TFRecordReader", ["records", "empty", "none", "records"], {}),
                               ("FixedLengthRecordReader", ["letters", "none", "letters"], {"record_bytes": 4})):

        @graph(kind + version, *OPS, **({} if version else {"producer": OLD}))
        def whole_life(kind=kind, version=version, files=files, attrs=attrs):
            life = Life(kind, files, version, **attrs)
            up_to_3 = life.up_to(3)
            return steps(life.counts, life.put, life.save, life.read, life.counts, life.save, life.read, life.counts, life.read, up_to_3, life.counts, life.put, up_to_3,
                         up_to_3, life.counts, life.up_to(0), life.up_to(100), life.reset, life.counts, life.put, life.read, life.save, life.close,
                         *[life.read] * 30, life.counts, up_to_3)

    for kind, attrs in (("WholeFileReader", {}), ("IdentityReader", {}), ("TextLineReader", {}), ("TFRecordReader", {})):

        @graph(f"ReaderRestoreState{version}", f"ReaderSerializeState{version}", kind + version, **({} if version else {"producer": OLD}))
        def restored(kind=kind, version=version, attrs=attrs):
            life = Life(kind, ["ends", "lines"], version, **attrs)
            states = (b"\x08\x02\x10\x02\x18\x05", b"\x08\x02\x10\x05", b"junk\xff\"\n", b"\x08\x03\x10\x02\x18\x05\"\x02w1", b"\x08" + b"\xff" * 9 + b"\x01", b"", b"\x08",
                      b"\x08\x02\x10\x02\"\x02w\xff", b"\x28\x05\x08\x01\x10\x01")
            order = [life.put, life.read, life.close]
            for state in states:
                order += [life.restore(state), life.counts, life.save]
            return steps(*order, life.read, life.counts)


for kind, count in (("IdentityReader", 1), ("IdentityReader", 3), ("WholeFileReader", 2)):

    @graph("ReaderSerializeStateV2", "ReaderRestoreStateV2", "ReaderResetV2")
    def saved_and_restored(kind=kind, count=count):
        life = Life(kind, ["ends", "lines", "returns"])
        state = b"\x08\x07\x10\x07\x18\x07\"\x03abc"
        return steps(life.put, *[life.read] * count, life.save, life.reset, life.save, life.restore(state), life.save, life.counts, life.put, life.read, life.save)


for version in ("", "V2"):
    for kind, name, attrs in (("WholeFileReader", "ends", {}), ("IdentityReader", "ends", {}), ("TextLineReader", "lines", {}), ("TFRecordReader", "records", {}),
                              ("FixedLengthRecordReader", "letters", {"record_bytes": 4})):
        for count in (1, 2, 3):
            used = [op + version for op in ("ReaderRead", "ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted", "ReaderReset")]

            @graph(kind + version, *used, **({} if version else {"producer": OLD}))
            def read_well(kind=kind, version=version, name=name, attrs=attrs, count=count):
                life = Life(kind, [name] * count, version, **attrs)
                return steps(life.counts, life.put, *[life.read] * count, life.counts, life.reset, life.counts)


for files in (["lines"], ["ends"], ["returns"], ["return"], ["empty", "empty", "ends"], ["long"]):

    @graph("TextLineReaderV2", "ReaderReadV2")
    def lines(files=files):
        return all_of(Life("TextLineReader", files), 7)


for skipped in (0, 1, 2, 100):

    @graph("TextLineReaderV2")
    def skipped_lines(skipped=skipped):
        return all_of(Life("TextLineReader", ["ends", "lines"], skip_header_lines=skipped), 7)


for name, compression in (("records", ""), ("records_gzip", "GZIP"), ("records_zlib", "ZLIB"), ("two_gzip", "GZIP"), ("two_zlib", "ZLIB"), ("cut_body", ""), ("cut_head", ""),
                          ("no_head", ""), ("bad_head", ""), ("bad_body", ""), ("bad_start", ""), ("cut_gzip", "GZIP"), ("junk_gzip", "GZIP"), ("cut_zlib", "ZLIB"), ("records", "GZIP"),
                          ("records", "ZLIB"), ("records_zlib", "GZIP"), ("empty", "GZIP"), ("empty", ""), ("records", "unknown")):

    @graph("TFRecordReaderV2", "ReaderReadV2")
    def records(name=name, compression=compression):
        life = Life("TFRecordReader", [name], compression_type=compression)
        return steps(*life.start(), *[life.read] * (5 if name != "two_gzip" else 9), life.reset, life.counts)


for attrs in ({"record_bytes": 4}, {"record_bytes": 4, "header_bytes": 3}, {"record_bytes": 4, "header_bytes": 3, "footer_bytes": 2}, {"record_bytes": 23}, {"record_bytes": 24},
              {"record_bytes": 4, "header_bytes": 3, "footer_bytes": 2, "hop_bytes": 6}, {"record_bytes": 4, "hop_bytes": 2}, {"record_bytes": 4, "hop_bytes": 9},
              {"record_bytes": 4, "header_bytes": 25}, {"record_bytes": 1, "footer_bytes": 22}):
    for name, encoding in (("letters", ""), ("letters_zlib", "ZLIB"), ("letters", "other")):

        @graph("FixedLengthRecordReaderV2", "ReaderReadV2")
        def fixed(name=name, encoding=encoding, attrs=attrs):
            return all_of(Life("FixedLengthRecordReader", [name, "empty" if not encoding else name], encoding=encoding, **attrs), 12)


for kind, name, attrs in (("TFRecordReader", "records", {}), ("TFRecordReader", "records_gzip", {"compression_type": "GZIP"}), ("TFRecordReader", "records_zlib", {"compression_type": "ZLIB"}),
                          ("TextLineReader", "lines", {}), ("FixedLengthRecordReader", "letters", {"record_bytes": 4})):

    @graph(f"{kind}V2", "ReaderReadV2", "ReaderReadUpToV2", "ReaderNumRecordsProducedV2")
    def without_an_end(kind=kind, name=name, attrs=attrs):
        life = Life(kind, [name, name], **attrs)
        return steps(life.put, life.read, life.up_to(2), life.up_to(50), life.up_to(0), life.read, life.counts)


for attrs in ({"record_bytes": -1}, {"record_bytes": 4, "header_bytes": -1}, {"record_bytes": 4, "footer_bytes": -2}, {"record_bytes": 4, "hop_bytes": -3}):
    refuse("FixedLengthRecordReaderV2", [], **attrs)
refuse("TextLineReaderV2", [], skip_header_lines=-1)


@graph("ReaderReadV2", "ReaderReadUpToV2", "ReaderRestoreStateV2")
def wrong_uses():
    reader = raw.WholeFileReaderV2(shared_name="wrong_uses")

    def queue(name, *components):
        made = raw.FIFOQueueV2(component_types=[c.dtype for c in components], shared_name=name)
        put = raw.QueueEnqueueV2(handle=made, components=components)
        return [put, list(raw.ReaderReadV2(reader_handle=reader, queue_handle=made)), put, raw.ReaderReadUpToV2(reader_handle=reader, queue_handle=made, num_records=feed(2, "int64"))]

    names = raw.FIFOQueueV2(component_types=[tf.string], shared_name="wrong_names")
    return steps(raw.QueueCloseV2(handle=names), *queue("numbers", tf.constant(1)), *queue("pairs", tf.constant("a"), tf.constant("b")), *queue("vectors", tf.constant(["a", "b"])),
                 *queue("one", tf.constant([at("ends")])), raw.ReaderRestoreStateV2(reader_handle=reader, state=feed([b""], "string")),
                 raw.ReaderReadUpToV2(reader_handle=reader, queue_handle=names, num_records=feed([1], "int64")))


for op in ("WholeFileReader", "WholeFileReaderV2", "IdentityReaderV2", "TextLineReaderV2", "TFRecordReaderV2", "FixedLengthRecordReaderV2", "ReaderNumWorkUnitsCompletedV2"):
    exempt(op, "empty", why="it has no inputs")
for op in ("WholeFileReader", "WholeFileReaderV2", "IdentityReaderV2", "TFRecordReaderV2"):
    exempt(op, "refusal", why="it takes anything")

EPOCH = sorted(b"%d-%d" % (i, j) for i in range(3) for j in range(4))
for i in range(3):
    file(f"readers/input-{i}", b"".join(record(b"%d-%d" % (i, j)) for j in range(4)))


def epochs(reference, ours):
    """Every epoch has every record once, in an order that threads decide."""
    for name, outputs in (("TensorFlow", reference), ("Troupe", ours)):
        if sorted(np.concatenate([np.asarray(o).ravel() for o in outputs])) != EPOCH:
            return f"{name} gave {outputs}"
    return None


for batch in ({"batch_size": 12}, {"batch_size": 12, "file_buffer_size": 1, "file_parallelism": 1}, {"batch_size": 12, "file_shuffle_shift_ratio": 0.4}):
    case("RecordInput", [], file_pattern=at("input-*"), check=epochs, **batch)
case("RecordInput", [], file_pattern=at("input-*"), batch_size=0)
refuse("RecordInput", [], file_pattern=at("none-*"))
refuse("RecordInput", [], file_pattern=at("lines"))
