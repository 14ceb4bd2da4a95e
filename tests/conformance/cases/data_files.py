"""Datasets of files: lines, records, and records of one length, plain and compressed."""

from framework import *
from values import *

import atexit
import gzip
import shutil
import tempfile
import zlib

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER, True)


def file(name, content):
    with open(f"{FOLDER}/{name}", "wb") as f:
        f.write(content)
    return f"{FOLDER}/{name}".encode()


TEXT = b"first\r\nsecond\n\n\rfo\rurth\nlast"
LINES = {"": file("lines", TEXT), "GZIP": file("lines.gz", gzip.compress(TEXT)), "ZLIB": file("lines.z", zlib.compress(TEXT))}
FIXED = b"HEAD" + b"abcdefghij" + b"FT"
FIXED_FILES = {"": file("fixed", FIXED), "GZIP": file("fixed.gz", gzip.compress(FIXED)), "ZLIB": file("fixed.z", zlib.compress(FIXED))}
EMPTY = file("empty", b"")
MISSING = f"{FOLDER}/missing".encode()


def records(name, compression):
    path = f"{FOLDER}/{name}"
    with tf.io.TFRecordWriter(path, compression) as writer:
        for text in (b"one", b"", b"three" * 100):
            writer.write(text)
    return path.encode()


RECORDS = {c: records(f"records{c}", c) for c in ("", "GZIP", "ZLIB")}
with open(RECORDS[""], "rb") as whole:
    _bytes = whole.read()
CUT = file("cut", _bytes[:-3])
SPOILT = file("spoilt", _bytes[:14] + b"X" + _bytes[15:])


def read(dataset, count):
    it = raw.IteratorV2(shared_name="", container="", output_types=[tf.string], output_shapes=[[]])
    get = raw.IteratorGetNext(iterator=it, output_types=[tf.string], output_shapes=[[]])
    return steps(raw.DatasetCardinality(input_dataset=dataset), raw.MakeIterator(dataset=dataset, iterator=it), *[get] * count)


def names(*files):
    return feed(np.array(files, object))


for kind in ("", "GZIP", "ZLIB"):

    @graph("TextLineDataset")
    def lines(kind=kind):
        return read(raw.TextLineDataset(filenames=names(LINES[kind]), compression_type=kind, buffer_size=0), 7)

    @graph("TFRecordDataset", "TFRecordDatasetV2")
    def of_records(kind=kind):
        return read(raw.TFRecordDataset(filenames=names(RECORDS[kind], RECORDS[kind]), compression_type=kind, buffer_size=0), 7)

    @graph("FixedLengthRecordDatasetV2")
    def of_one_length(kind=kind):
        return read(raw.FixedLengthRecordDatasetV2(filenames=names(FIXED_FILES[kind]), header_bytes=4, record_bytes=5, footer_bytes=2, buffer_size=0, compression_type=kind), 4)


for files in ((), (EMPTY,), (MISSING,), (LINES[""], MISSING, LINES[""])):

    @graph("TextLineDataset")
    def lines_of_files(files=files):
        return read(raw.TextLineDataset(filenames=names(*files), compression_type="", buffer_size=100), 13)


for files in ((), (EMPTY,), (MISSING,), (CUT,), (SPOILT,), (LINES[""],), (EMPTY, RECORDS[""])):

    @graph("TFRecordDataset")
    def records_of_files(files=files):
        return read(raw.TFRecordDataset(filenames=names(*files), compression_type="", buffer_size=100), 5)


@graph("TextLineDataset", "TFRecordDataset", "FixedLengthRecordDatasetV2")
def refused():
    size = lambda d: raw.DatasetCardinality(input_dataset=d)
    one, many = names(LINES[""]), feed(np.array([[b"a"]], object))
    return steps(size(raw.TextLineDataset(filenames=many, compression_type="", buffer_size=0)), size(raw.TextLineDataset(filenames=one, compression_type="LZ", buffer_size=0)),
                 size(raw.TextLineDataset(filenames=one, compression_type="", buffer_size=-1)), size(raw.TFRecordDataset(filenames=many, compression_type="", buffer_size=0)),
                 size(raw.TFRecordDataset(filenames=one, compression_type="", buffer_size=-1)), size(raw.TFRecordDataset(filenames=one, compression_type="LZ", buffer_size=0)),
                 *[size(raw.FixedLengthRecordDatasetV2(filenames=one, header_bytes=h, record_bytes=r, footer_bytes=f, buffer_size=b, compression_type=c))
                   for h, r, f, b, c in ((-1, 1, 0, 0, ""), (0, 0, 0, 0, ""), (0, 1, -1, 0, ""), (0, 1, 0, -1, ""), (0, 1, 0, 0, "LZ"))],
                 size(raw.FixedLengthRecordDatasetV2(filenames=many, header_bytes=0, record_bytes=1, footer_bytes=0, buffer_size=0, compression_type="")))


for lengths in ((4, 5, 2), (4, 2, 2), (0, 4, 0), (4, 3, 2), (30, 3, 2), (16, 3, 0), (4, 10, 2), (4, 11, 2)):

    @graph("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2")
    def of_lengths(lengths=lengths):
        header, record, footer = lengths
        return read(raw.FixedLengthRecordDatasetV2(filenames=names(FIXED_FILES[""]), header_bytes=header, record_bytes=record, footer_bytes=footer, buffer_size=0,
                                                   compression_type=""), 6)


@graph("FixedLengthRecordDataset")
def of_one_length_before():
    # TensorFlow cannot make an iterator of it.
    make = lambda h, r, f, b: raw.DatasetCardinality(input_dataset=raw.FixedLengthRecordDataset(filenames=names(EMPTY), header_bytes=h, record_bytes=r, footer_bytes=f, buffer_size=b))
    return steps(make(0, 1, 0, 0), make(-1, 1, 0, 0), make(0, 0, 0, 0), make(0, 1, -1, 0), make(0, 1, 0, -1))


for patterns in (("lines*",), ("fixed*", "lines"), ("none*",), ("none*", "empty"), ("[ef]*",)):

    @graph("MatchingFilesDataset")
    def matching(patterns=patterns):
        return read(raw.MatchingFilesDataset(patterns=names(*(f"{FOLDER}/{p}".encode() for p in patterns))), 6)


@graph("MatchingFilesDataset")
def matching_a_matrix():
    return steps(raw.DatasetCardinality(input_dataset=raw.MatchingFilesDataset(patterns=feed(np.array([[b"a"]], object)))))
