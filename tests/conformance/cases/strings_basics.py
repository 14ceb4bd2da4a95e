"""Strings joined, split, cut, matched, hashed and turned to numbers: odd texts, empty tensors, everything that is refused."""

import tensorflow as tf
from framework import *
from definitions import for_dtypes
from values import *


def text(value):
    return tensor(value, "string")


ODD = ["", "a", "hello world", "tab\there", "caf\u00e9", "\U0001f600 smile", b"\xff\xfe raw", "x" * 300]

# Joining.
case("StringJoin", [[text(["a", "b"]), text("x"), text(["c", "d"])]], separator="-")
case("StringJoin", [[text("a")]])
case("StringJoin", [[strings(2, 3), strings(2, 3)]])
case("StringJoin", [[strings(0, 3), text("x")]], separator=",")
refuse("StringJoin", [[strings(2), strings(3)]])
refuse("StringJoin", [[strings(2), strings(2, 1)]])

for keep in (False, True):
    for along in (0, -1, [0], [1, 0], [0, 1], [-3, 2], [2, 0, 1]):
        case("ReduceJoin", [strings(2, 3, 2), tensor(along, "int32")], keep_dims=keep, separator="|")
case("ReduceJoin", [strings(2, 2), i32(0)])
case("ReduceJoin", [strings(), i32(0)])
case("ReduceJoin", [strings(2, 0), tensor(1, "int32")])
case("ReduceJoin", [strings(2, 0), tensor(0, "int32")])
case("ReduceJoin", [strings(0, 2), tensor([0], "int32")], keep_dims=True)
case("ReduceJoin", [strings(2, 2), tensor([[0]], "int32")])
refuse("ReduceJoin", [strings(2, 2), tensor(2, "int32")])
refuse("ReduceJoin", [strings(2, 2), tensor(-3, "int32")])
refuse("ReduceJoin", [strings(2, 2), tensor([0, 0], "int32")])
refuse("ReduceJoin", [strings(2, 2), tensor([0, -2], "int32")])
refuse("ReduceJoin", [strings(), tensor(0, "int32")])

for ids_type in ("int32", "int64"):
    for count_type in ("int32", "int64"):
        case("UnsortedSegmentJoin", [strings(4), tensor([0, 2, 0, 1], ids_type), tensor(4, count_type)], separator=":")
case("UnsortedSegmentJoin", [strings(2, 3), tensor([1, 1], "int32"), tensor(2, "int32")], separator=":")
case("UnsortedSegmentJoin", [strings(2, 3), tensor([[1, 1, 0], [0, 1, 2]], "int32"), tensor(3, "int32")], separator=":")
case("UnsortedSegmentJoin", [strings(0), i32(0), tensor(2, "int32")])
case("UnsortedSegmentJoin", [strings(0), i32(0), tensor(0, "int32")])
refuse("UnsortedSegmentJoin", [strings(3), tensor([0, 3, 0], "int32"), tensor(3, "int32")])
refuse("UnsortedSegmentJoin", [strings(3), tensor([0, -1, 0], "int32"), tensor(3, "int32")])
refuse("UnsortedSegmentJoin", [strings(3), tensor([0, 1], "int32"), tensor(3, "int32")])
refuse("UnsortedSegmentJoin", [strings(3), tensor([0, 1, 1], "int32"), tensor(-1, "int32")])
refuse("UnsortedSegmentJoin", [strings(3), tensor([0, 1, 1], "int32"), tensor([3], "int32")])
refuse("UnsortedSegmentJoin", [strings(), tensor([0], "int32"), tensor(3, "int32")])

# Splitting.
for skip in (True, False):
    for delimiter in (" ", ",;", "", "l"):
        case("StringSplit", [text([*ODD, "a b  c", " d ", ",", "a,b;c", ";;"]), text(delimiter)], skip_empty=skip)
    case("StringSplit", [strings(0), text(",")], skip_empty=skip)
refuse("StringSplit", [text("abc"), text("")])
refuse("StringSplit", [text(["abc"]), text([",", ";"])])
refuse("StringSplit", [text([["abc"]]), text(",")])
for most in (-1, 0, 1, 2):
    for separator in ("", " ", "<>", "o"):
        case("StringSplitV2", [text([*ODD, "a b  c", " d ", "", "x\ty", "a<>b<>c", "<>", "<><>"]), text(separator)], maxsplit=most)
case("StringSplitV2", [strings(0), text(",")])
case("StringSplitV2", [text(["a", "a ", " a b ", "", "  ", "a b c"]), text("")], maxsplit=2)
refuse("StringSplitV2", [text("abc"), text("")])
refuse("StringSplitV2", [text(["abc"]), text([""])])

# Lengths and parts.
for unit in ("BYTE", "UTF8_CHAR"):
    case("StringLength", [text(ODD)], unit=unit)
    case("StringLength", [strings(2, 0)], unit=unit)
    for dtype in ("int32", "int64"):
        case("Substr", [text(ODD[1:6]), tensor(0, dtype), tensor(3, dtype)], unit=unit)
        case("Substr", [text(ODD[2:6]), tensor([1, -2, 3, -4], dtype), tensor([3, 1, 0, 100], dtype)], unit=unit)
        case("Substr", [text("hello"), tensor([[1, 2], [-1, -5]], dtype), tensor([[1, 2], [3, 4]], dtype)], unit=unit)
        case("Substr", [text(["hello", "abcde"]), tensor([[1], [0]], dtype), tensor([[1], [2]], dtype)], unit=unit)
        case("Substr", [text([["hello", "abcd"], ["xyzw", "12345"]]), tensor([1, 2], dtype), tensor([1, 2], dtype)], unit=unit)
        case("Substr", [text("hello"), tensor(1, dtype), tensor(-3, dtype)], unit=unit)
        case("Substr", [text("hello"), tensor(5, dtype), tensor(3, dtype)], unit=unit)
        case("Substr", [strings(0), tensor(0, dtype), tensor(0, dtype)], unit=unit)
        case("Substr", [strings(2, 2, 2), tensor(0, dtype), tensor(1, dtype)], unit=unit)
    refuse("Substr", [text([["hello", "abc"], ["hello", "wo"]]), tensor([1, 3], "int32"), tensor([1, 1], "int32")], unit=unit)
    case("Substr", [text(["hello", "h\u00e9llo"]), tensor([0, 2], "int32"), tensor([-1, -2], "int32")], unit=unit)
    for at in (6, -6, [6], [[6]], [[1, 2], [3, 9]]):
        refuse("Substr", [text("hello"), tensor(at, "int32"), tensor(at, "int32")], unit=unit)
    refuse("Substr", [text(["hello", "abc"]), tensor([1, 2, 1], "int32"), tensor([1, 1, 1], "int32")], unit=unit)
    refuse("Substr", [text(["hello", "abc"]), tensor([1, 2], "int32"), tensor([1], "int32")], unit=unit)
    refuse("Substr", [text([[["hello"]]]), i32(1, 1, 1, 1, kind="zeros"), i32(1, 1, 1, 1, kind="zeros")], unit=unit)
exempt("StringLength", "refusal", why="takes any string")
case("StringStrip", [text([" a b \n", "\t\x0b\x0cx\r", "\u00a0y", *ODD])])
case("StringStrip", [text("  one ")])
case("StringStrip", [text([["", " "], ["\n\n", " x\ty "]])])
case("StringStrip", [strings(0, 2)])
exempt("StringStrip", "refusal", why="takes any string")

# Patterns.
for everywhere in (True, False):
    for pattern, rewrite in (("a+(b)", "[\\1]"), ("l", "L"), ("", "-"), ("(x)(y)?", "\\2\\1"), ("a", "\\3"), ("^h", ""), ("[[:space:]]", "_")):
        case("RegexReplace", [text([*ODD[:6], "aab ab", "xyx"]), text(pattern), text(rewrite)], replace_global=everywhere)
        case("StaticRegexReplace", [text([*ODD[:6], "aab ab", "xyx"])], pattern=pattern, rewrite=rewrite, replace_global=everywhere)
case("RegexReplace", [strings(0), text("a"), text("b")])
case("StaticRegexReplace", [strings(0)], pattern="a", rewrite="b")
refuse("RegexReplace", [text("a"), text("a("), text("Z")])
refuse("RegexReplace", [text("a"), text(["a"]), text("Z")])
refuse("RegexReplace", [text("a"), text("a"), text(["Z"])])
refuse("StaticRegexReplace", [text("a")], pattern="a(", rewrite="Z")
for pattern in ("a+b", "", ".*", "^s3://.*", "[a-z ]+", "(?i)HELLO.*"):
    case("RegexFullMatch", [text([*ODD, "aab", "s3://bucket/x"]), text(pattern)])
    case("StaticRegexFullMatch", [text([*ODD, "aab", "s3://bucket/x"])], pattern=pattern)
case("RegexFullMatch", [strings(0), text("a")])
case("StaticRegexFullMatch", [strings(0)], pattern="a")
refuse("RegexFullMatch", [text("a"), text(["a"])])
refuse("RegexFullMatch", [text("a"), text("*a")])
refuse("StaticRegexFullMatch", [text("a")], pattern="[a")

# Names of files.
case("ShardedFilename", [text("/tmp/a"), tensor(3, "int32"), tensor(100000, "int32")])
case("ShardedFilename", [text(""), tensor(0, "int32"), tensor(1, "int32")])
case("ShardedFilename", [text("b"), tensor(-1, "int32"), tensor(5, "int32")])
case("ShardedFilespec", [text(""), tensor(0, "int32")])
case("ShardedFilespec", [text("b"), tensor(1234567, "int32")])
refuse("ShardedFilename", [text(["a"]), tensor(3, "int32"), tensor(10, "int32")])
refuse("ShardedFilename", [text("a"), tensor([3], "int32"), tensor(10, "int32")])
refuse("ShardedFilename", [text("a"), tensor(3, "int32"), tensor([10], "int32")])
case("ShardedFilespec", [text("/tmp/a"), tensor(12, "int32")])
refuse("ShardedFilespec", [text(["a"]), tensor(10, "int32")])
refuse("ShardedFilespec", [text("a"), tensor([10], "int32")])
exempt("ShardedFilename", "empty", why="takes scalars")
exempt("ShardedFilespec", "empty", why="takes scalars")

# Numbers.
NUMERALS = ["1", "-3", " 7 ", "12345", "-0"]
BAD = ["", "a", "1 2", "--1", "1_0", "-", "infinity", "1e", "1f", "0x", "1.2.3", "\uff11", "5\0"]
for dtype in for_dtypes("StringToNumber", "out_type"):
    case("StringToNumber", [text(NUMERALS)], out_type=dtype)
    case("StringToNumber", [strings(0, 2)], out_type=dtype)
    for bad in BAD:
        refuse("StringToNumber", [text([bad])], out_type=dtype)
    for odd in ("+2", "1.5", "1e3", " ", "0x10", "99999999999", "-2147483649", "9223372036854775808", "inf", "-INF", "NaN", "1e400", "1e-400", ".5", "1."):
        case("StringToNumber", [text([odd])], out_type=dtype, alone=True)
for dtype in for_dtypes("AsString"):
    if dtype in ("variant", "resource"):
        continue
    case("AsString", [values(dtype, 7)])
    case("AsString", [values(dtype, 2, 0)])
    case("AsString", [values(dtype, 5)], width=12)
    for fill in (" ", "0", "+", "-"):
        case("AsString", [values(dtype, 5)], width=9, fill=fill)
    refuse("AsString", [values(dtype, 5)], width=9, fill="x")
    refuse("AsString", [values(dtype, 5)], fill="ab")
    case("AsString", [values(dtype, 5)], scientific=True, alone=True)
    case("AsString", [values(dtype, 5)], shortest=True, alone=True)
    case("AsString", [values(dtype, 5)], precision=3, alone=True)
    refuse("AsString", [values(dtype, 5)], shortest=True, scientific=True)
case("AsString", [f32(10, kind="special")])
case("AsString", [f64(8, kind="extreme")])

# Hashes.
HASHED = ["", "a", "b", "abcdefg", "abcdefgh", "abcdefghi", "0123456789abcdef", "x" * 33, "y" * 65, "z" * 1000, "caf\u00e9"]
for op in ("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong"):
    key = {"key": [123, -456]} if op.endswith("Strong") else {}
    for buckets in (1, 10, 1000003, 2**62):
        case(op, [text(HASHED)], num_buckets=buckets, **key)
    case(op, [strings(0, 3)], num_buckets=7, **key)
    refuse(op, [text(HASHED)], num_buckets=0, **key)
refuse("StringToHashBucketStrong", [text(HASHED)], num_buckets=10, key=[1, 2, 3])
for dtype in ("float", "int32", "uint8", "bool", "double", "complex64", "half", "string"):
    case("Fingerprint", [values(dtype, 3), text("farmhash64")])
    case("Fingerprint", [values(dtype, 3, 2, 2), text("farmhash64")])
    case("Fingerprint", [values(dtype, 0, 2), text("farmhash64")])
    if dtype != "string":  # of no strings TensorFlow gives what is in memory
        case("Fingerprint", [values(dtype, 2, 0), text("farmhash64")])
case("Fingerprint", [strings(3, 1), text("farmhash64")])
case("Fingerprint", [strings(3, 1, 1), text("farmhash64")])
case("Fingerprint", [strings(1, 2), text("farmhash64")])
refuse("Fingerprint", [f32(), text("farmhash64")])
refuse("Fingerprint", [f32(2), text("md5")])
refuse("Fingerprint", [f32(2), text(["farmhash64"])])

for pad in (False, True):
    case("EncodeBase64", [text([*HASHED, b"\xff\xfe?>"])], pad=pad)
    case("EncodeBase64", [strings(0)], pad=pad)
exempt("EncodeBase64", "refusal", why="takes any string")
case("DecodeBase64", [text("YWJjZGVm")])
case("DecodeBase64", [text([["AAAA", "____"]])])
case("DecodeBase64", [text(["", "YQ", "YWI", "YWJj", "YQ==", "w7_Dvj8-", "-_==", "YR", "YWJ="])])
case("DecodeBase64", [strings(0)])
for bad in ("Y", "YQ=", "Y!", "Y=Q=", "YQ===", "Y Q", "+/", "YQ==YQ==", "YWJjY", "===="):
    refuse("DecodeBase64", [text([bad])])
