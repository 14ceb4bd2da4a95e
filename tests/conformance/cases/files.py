"""Whole files: read, written, found by patterns."""

import gzip
import os
import zlib

from framework import *
from scratch import file, path
from values import *

import tensorflow as tf

raw = tf.raw_ops


def text(value):
    return tensor(value, "string")


for name, content in (("files/a/one.txt", b"one"), ("files/a/two.txt", b""), ("files/b/one.txt", bytes(range(256)) * 300), ("files/a/.hidden", b"h"),
                      ("files/we[ird]", b"w"), ("files/a/deep/one.txt", b"deep"), ("files/st*r", b"s"), ("files/star", b"s")):
    file(name, content)
if not os.path.lexists(path("files/dangling")):
    os.symlink("nowhere", path("files/dangling"))
    os.symlink("a", path("files/link"))

for name in ("files/a/one.txt", "files/a/two.txt", "files/b/one.txt", "files/link/one.txt"):
    case("ReadFile", [text(path(name))])
case("ReadFile", [text("file://" + path("files/a/one.txt"))])
for name in ("files/none", "files/a", "files/a/one.txt/x"):
    refuse("ReadFile", [text(path(name))])
refuse("ReadFile", [text("")])
refuse("ReadFile", [text("unknown://x/y")])
refuse("ReadFile", [text("file://x")])
refuse("ReadFile", [text([path("files/a/one.txt")])])
exempt("ReadFile", "empty", why="takes a scalar")

for content in (b"abc", b"", b"\0\1\n" * 5000):

    @graph("WriteFile", "ReadFile")
    def written_then_read(content=content):
        name = feed(path(f"files/new/{len(content)}/x.bin"), "string")
        write = raw.WriteFile(filename=name, contents=feed(content, "string"))
        return steps(write, raw.ReadFile(filename=name), write, raw.ReadFile(filename=name))


refuse("WriteFile", [text(path("files/a")), text("x")])
refuse("WriteFile", [text(path("files/a/one.txt/x")), text("x")])
refuse("WriteFile", [text(""), text("x")])
refuse("WriteFile", [text("unknown://a/b"), text("x")])
refuse("WriteFile", [text([path("files/q")]), text("x")])
refuse("WriteFile", [text(path("files/q")), text(["x"])])
exempt("WriteFile", "empty", why="takes scalars")

PATTERNS = ["*", "a/*", "*/one.txt", "?/*.txt", "[ab]/one.txt", "[!a]/one.txt", "a/one.txt", "a/none", "none/*", "a", "a/", "st\\*r", "st[*]r", "we\\[ird\\]", "dangling",
            "link/*", "**/one.txt", "{a,b}/one.txt", "a/.*", "*/", "*/*/one.txt", "a/one.txt/*", "./a/*", "../files/a/*", "/a/*", "[", "a/[o-p]*"]
for pattern in PATTERNS:
    case("MatchingFiles", [text(path("files") + "/" + pattern)])
case("MatchingFiles", [text([path("files/b/*"), path("files/a/*"), path("files/a/o*")])])
case("MatchingFiles", [text(np.zeros([0], object))])
case("MatchingFiles", [text("")])
case("MatchingFiles", [text("file://" + path("files/a/*"))])
case("MatchingFiles", [text("file://" + path("files/a/one.txt"))])
refuse("MatchingFiles", [text([[path("files/*")]])])
refuse("MatchingFiles", [text("unknown://x/*")])


def packed(method, *contents):
    return text([method(c) for c in contents])


for name, method in (("ZLIB", zlib.compress), ("GZIP", gzip.compress)):
    case("DecodeCompressed", [packed(method, b"abc", b"", b"x" * 700000, bytes(range(256)))], compression_type=name)
    case("DecodeCompressed", [text(method(b"scalar"))], compression_type=name)
    case("DecodeCompressed", [text(method(b"one") + method(b"two"))], compression_type=name)
    case("DecodeCompressed", [text([method(b"abc" * 100)[:-5], b""])], compression_type=name)
    case("DecodeCompressed", [text(np.zeros([0, 2], object))], compression_type=name)
    refuse("DecodeCompressed", [text([b"abc"])], compression_type=name)
case("DecodeCompressed", [text([[b"abc"], [b""]])], compression_type="")
refuse("DecodeCompressed", [text([b"abc"])], compression_type="unknown")
refuse("DecodeCompressed", [text([b"abc"])], compression_type="NONE")


file("files/region", bytes(range(64)) + b"xyz")
for dtype, shape in (("float", [2, 3]), ("int64", [8]), ("uint8", [67]), ("bool", []), ("complex128", [2, 1]), ("half", [0, 3]), ("qint8", [4])):
    case("ImmutableConst", [], dtype=dtype, shape=shape, memory_region_name=path("files/region"))
for dtype, shape, name in (("float", [17], "region"), ("float", [2], "none"), ("string", [1], "region"), ("variant", [1], "region"), ("float", [None, 2], "region"), ("float", [2], "a"),
                           ("float", [2], "a/two.txt")):  # fmt: skip
    refuse("ImmutableConst", [], dtype=dtype, shape=shape, memory_region_name=path("files/" + name))
