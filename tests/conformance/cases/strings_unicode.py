"""Unicode: decoding, encoding, transcoding, scripts, upper and lower case."""

import tensorflow as tf
from framework import *
from values import *


def text(value):
    return tensor(value, "string")


ODD = ["", "abc", "caf\u00e9", "\U0001f600 smile", "\u0645\u0631\u062d\u0628\u0627", "tab\there\x01", "\u4f60\u597d", "a\u0301"]
BROKEN = [b"\xff", b"a\xffb", b"\xe2\x82", b"x\xe2\x82", b"\xe2\x82y", b"\xf0\x9f\x98", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80\x80a", b"ok"]
SIXTEEN = [t.encode("utf-16-be") for t in ODD] + [b"\xd8\x00", b"\xd8\x00\x00a", b"\xdc\x00", b"a"]
THIRTY_TWO = [t.encode("utf-32-be") for t in ODD] + [b"\x00\x11\x00\x00", b"\x00\x00\xd8\x00", b"\x00\x00\x00"]

for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
    # TensorFlow aborts on offsets together with splits of 32 bits.
    for splits in ("int32", "int64") if op == "UnicodeDecode" else ("int64",):
        case(op, [text(ODD)], input_encoding="UTF-8", Tsplits=splits)
        case(op, [strings(0)], input_encoding="UTF-8", Tsplits=splits)
        case(op, [text([ODD[:3], ODD[3:6]])], input_encoding="UTF-8", Tsplits=splits)
    for errors in ("replace", "ignore"):
        for control in (False, True):
            for replacement in (65533, 0, 63):
                case(op, [text(ODD + BROKEN)], input_encoding="UTF-8", errors=errors, replace_control_characters=control, replacement_char=replacement)
        case(op, [text(SIXTEEN)], input_encoding="UTF-16-BE", errors=errors)
        case(op, [text(THIRTY_TWO)], input_encoding="UTF-32-BE", errors=errors)
    for broken in BROKEN[:-1]:
        refuse(op, [text([broken])], input_encoding="UTF-8", errors="strict")
    case(op, [text(ODD)], input_encoding="UTF-8", errors="strict")
    for encoding in ("US-ASCII", "ISO-8859-1", "UTF-16", "UTF-16LE", "windows-1252", "utf8", "latin1"):
        case(op, [text(["abcd", "", b"\xe9\x80ab", b"\xfe\xff\x00a", b"a\x00b\x00"])], input_encoding=encoding)
    case(op, [text("scalar \u00e9")], input_encoding="UTF-8")
    refuse(op, [text(["a"])], input_encoding="no such thing")
    refuse(op, [text(["a"])], input_encoding="UTF-8", replacement_char=0x110000)
    refuse(op, [text(["a"])], input_encoding="UTF-8", replacement_char=-1)
    refuse(op, [text(["a"])], input_encoding="UTF-8", errors="loose")

for output in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
    for errors in ("replace", "ignore"):
        for control in (False, True):
            case("UnicodeTranscode", [text(ODD + BROKEN)], input_encoding="UTF-8", output_encoding=output, errors=errors, replace_control_characters=control)
        case("UnicodeTranscode", [text(SIXTEEN)], input_encoding="UTF-16-BE", output_encoding=output, errors=errors, replacement_char=63)
        case("UnicodeTranscode", [text(THIRTY_TWO)], input_encoding="UTF-32-BE", output_encoding=output, errors=errors, replacement_char=0x1f600)
    case("UnicodeTranscode", [text(BROKEN)], input_encoding="UTF-8", output_encoding=output, replacement_char=0xd800)
    case("UnicodeTranscode", [text(ODD)], input_encoding="UTF-8", output_encoding=output, errors="strict")
    case("UnicodeTranscode", [strings(0, 2)], input_encoding="UTF-8", output_encoding=output)
    case("UnicodeTranscode", [text([["caf\u00e9".encode("latin1")]])], input_encoding="ISO-8859-1", output_encoding=output)
for broken in BROKEN[:-1]:
    refuse("UnicodeTranscode", [text(["fine", broken])], input_encoding="UTF-8", output_encoding="UTF-8", errors="strict")
refuse("UnicodeTranscode", [text(["\x01"])], input_encoding="UTF-8", output_encoding="UTF-8", errors="strict", replace_control_characters=True)
refuse("UnicodeTranscode", [text(["a"])], input_encoding="UTF-8", output_encoding="UTF-7")
refuse("UnicodeTranscode", [text(["a"])], input_encoding="", output_encoding="UTF-8", replacement_char=-5)

CODES = [72, 233, 0x1f600, 0, 0x4f60, 0x10ffff, 0xfffe, 0xd800, 0xdc00, 0xdfff, 9]
BAD_CODES = [65, -1, 0x110000, 66, 2**31 - 1, -(2**31)]
for splits in ("int32", "int64"):
    for output in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        case("UnicodeEncode", [tensor(CODES, "int32"), tensor([0, 3, 3, 7, 11], splits)], output_encoding=output, Tsplits=splits)
        for errors in ("replace", "ignore"):
            case("UnicodeEncode", [tensor(BAD_CODES, "int32"), tensor([0, 2, 6], splits)], output_encoding=output, errors=errors, Tsplits=splits)
            case("UnicodeEncode", [tensor(BAD_CODES, "int32"), tensor([0, 2, 6], splits)], output_encoding=output, errors=errors, replacement_char=63, Tsplits=splits)
    case("UnicodeEncode", [tensor([], "int32"), tensor([0], splits)], output_encoding="UTF-8", Tsplits=splits)
    case("UnicodeEncode", [tensor([], "int32"), tensor([0, 0, 0], splits)], output_encoding="UTF-8", Tsplits=splits)
    case("UnicodeEncode", [tensor(CODES, "int32"), tensor([0, 11], splits)], output_encoding="UTF-8", Tsplits=splits)
    for wrong in ([0, 2], [0, 4, 2, 11], [0, 12, 11], [0, -1, 11]):
        refuse("UnicodeEncode", [tensor(CODES, "int32"), tensor(wrong, splits)], output_encoding="UTF-8", Tsplits=splits)
    for bad in ([65, -1], [0x110000], [2**31 - 1]):
        refuse("UnicodeEncode", [tensor(bad, "int32"), tensor([0, len(bad)], splits)], output_encoding="UTF-8", errors="strict", Tsplits=splits)
    refuse("UnicodeEncode", [tensor(CODES, "int32"), tensor([0, 2, 12], splits)], output_encoding="UTF-8", Tsplits=splits)
    refuse("UnicodeEncode", [tensor(CODES, "int32"), tensor([1, 2], splits)], output_encoding="UTF-8", Tsplits=splits)
    refuse("UnicodeEncode", [tensor(CODES, "int32"), tensor([0, 4, 2], splits)], output_encoding="UTF-8", Tsplits=splits)
    refuse("UnicodeEncode", [tensor(CODES, "int32"), tensor([-1, 2], splits)], output_encoding="UTF-8", Tsplits=splits)
    refuse("UnicodeEncode", [tensor(CODES, "int32"), tensor([], splits)], output_encoding="UTF-8", Tsplits=splits)
for surrogate in (0xd800, 0xfffe, 0x1ffff):
    refuse("UnicodeEncode", [tensor([surrogate], "int32"), tensor([0, 1], "int64")], output_encoding="UTF-8", errors="strict")

case("UnicodeScript", [tensor([*CODES, *BAD_CODES], "int32")])
case("UnicodeScript", [tensor([[0x41, 0x3b1], [0x430, 0x5d0], [0x627, 0x905], [0xe01, 0x3042], [0xac00, 0x1f600]], "int32")])
case("UnicodeScript", [i32(0, 2)])
case("UnicodeScript", [tensor(list(range(0, 0x16f00, 7)), "int32")])
exempt("UnicodeScript", "refusal", why="takes any number")

CASED = ["", "Hello World", "CAF\u00c9 caf\u00e9", "stra\u00dfe", "\u0130\u0131Ii", "\u03a3\u03b1\u03c2 \u039f\u0394\u039f\u03a3", "\ufb01", "\u01c4\u01c5\u01c6", "\U00010400\U00010428", "a\0B",
         b"\xff\xfeABC", b"\xe2\x82Z", "123 \u4f60"]
for op in ("StringLower", "StringUpper"):
    for encoding in ("", "utf-8"):
        case(op, [text(CASED)], encoding=encoding)
        case(op, [text([CASED[:2], CASED[2:4]])], encoding=encoding)
        case(op, [text("Scalar")], encoding=encoding)
        case(op, [strings(0, 3)], encoding=encoding)
    refuse(op, [text(CASED)], encoding="latin1")
    refuse(op, [text(CASED)], encoding="UTF-8")
