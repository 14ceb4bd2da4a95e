"""Bytes, records and n-grams: DecodeRaw, DecodeCSV, tensors as protos, StringNGrams."""

from framework import *
from definitions import for_dtypes
from values import *


def text(value):
    return tensor(value, "string")


for dtype in for_dtypes("DecodeRaw", "out_type"):
    for little in (True, False):
        case("DecodeRaw", [text(["0123456789abcdef", "ABCDEFGHIJKLMNOP"])], out_type=dtype, little_endian=little)
    case("DecodeRaw", [text(["", ""])], out_type=dtype)
    case("DecodeRaw", [strings(0, 2)], out_type=dtype)
    case("DecodeRaw", [text("0123456789abcdef")], out_type=dtype)
refuse("DecodeRaw", [text(["abc", "efgh"])], out_type="int16")
refuse("DecodeRaw", [text(["abc"])], out_type="int16")
for dtype in for_dtypes("DecodePaddedRaw", "out_type"):
    for little in (True, False):
        case("DecodePaddedRaw", [text(["0123456789", "ABCDEFGHIJKLMNOPQRST"]), tensor(16, "int32")], out_type=dtype, little_endian=little)
    case("DecodePaddedRaw", [strings(0), tensor(8, "int32")], out_type=dtype)
refuse("DecodePaddedRaw", [text(["abc"]), tensor(3, "int32")], out_type="int16")
refuse("DecodePaddedRaw", [text(["abc"]), tensor(0, "int32")], out_type="int16")
refuse("DecodePaddedRaw", [text(["abc"]), tensor(-2, "int32")], out_type="int16")
refuse("DecodePaddedRaw", [text(["abc"]), tensor([4], "int32")], out_type="int16")

for dtype in for_dtypes("SerializeTensor"):
    if dtype in ("resource", "variant"):
        continue
    case("SerializeTensor", [values(dtype, 2, 3)])
    case("SerializeTensor", [values(dtype)])
    case("SerializeTensor", [values(dtype, 0, 3)])

    @graph("ParseTensor", "SerializeTensor")
    def there_and_back(dtype=dtype):
        import tensorflow as tf

        array = values(dtype, 2, 3)
        return tf.raw_ops.ParseTensor(serialized=tf.raw_ops.SerializeTensor(tensor=feed(array)), out_type=tf.as_dtype(dtype_of_array(array)))


exempt("SerializeTensor", "refusal", why="takes any tensor")
ONE_FLOAT = b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08\x00\x00\x80?\x00\x00\x00@"
case("ParseTensor", [text(ONE_FLOAT)], out_type="float")
case("ParseTensor", [text(b"\x08\x01\x12\x04\x12\x02\x08\x03\x2d\x00\x00\x80?")], out_type="float")
case("ParseTensor", [text(b"\x08\x01\x12\x04\x12\x02\x08\x00")], out_type="float")
refuse("ParseTensor", [text(ONE_FLOAT)], out_type="int32")
refuse("ParseTensor", [text("garbage")], out_type="float")
refuse("ParseTensor", [text("")], out_type="float")
refuse("ParseTensor", [text([""])], out_type="float")


def defaults(*given):
    return [tensor(value, dtype) for value, dtype in given]


def csv(records, given, **attrs):
    return case("DecodeCSV", [text(records), given], **attrs)


I, L, F, D, S = (([7], "int32"), ([8], "int64"), ([1.5], "float"), ([2.5], "double"), (["d"], "string"))
csv(["1,2,3.5,4.5,abc", ",,,,", '"5","6","7","8","x ""y"", z"'], defaults(I, L, F, D, S))
csv([["1"], ["2"]], defaults(I))
csv("1", defaults(I))
csv(text([]), defaults(I, S))
csv(["1"], defaults((1, "int32")))
csv(["1|2"], defaults(I, I), field_delim="|")
csv(['1,"a","b"'], defaults(I, S, S), use_quote_delim=False)
csv(["NA,5,NA"], defaults(I, I, S), na_value="NA")
csv(["1,2,3,4", '5,"6",7,"8"'], defaults(I, I), select_cols=[1, 3])
csv(["1,2,3,"], defaults(I, S), select_cols=[0, 3])
csv(['"1"', " 2 "], defaults(I))
csv(['"a\nb","c,d"'], defaults(S, S))
csv(["\n\r\n1,2"], defaults(I, I))
for records, given, attrs in (
    (["1,2.5"], (I, F, S), {}),
    (["1,2.5,a,b"], (I, F, S), {}),
    (["x"], (I,), {}),
    (["x"], (L,), {}),
    (["x"], (F,), {}),
    (["x"], (D,), {}),
    (["99999999999"], (I,), {}),
    ([""], (I,), {}),
    ([",1"], (([], "int32"), I), {}),
    (["1"], (([1, 2], "int32"),), {}),
    (["1"], (([[1]], "int32"),), {}),
    (["1|2"], (I, I), {"field_delim": "||"}),
    (["1,\"2"], (I, S), {}),
    (["1,a\"2"], (I, S), {}),
    (["1,\"a\"2"], (I, S), {}),
    (["1,2,3,4"], (I, I), {"select_cols": [3, 1]}),
    (["1,2,3,4"], (I, I), {"select_cols": [1]}),
    (["1,2"], (I, I), {"select_cols": [1, 3]}),
    (["1\n"], (I,), {}),
    (["1,2", ""], (I, I), {}),
):  # fmt: skip
    refuse("DecodeCSV", [text(records), defaults(*given)], **attrs)


def ngrams(data, splits, *, splits_type="int32", refused=False, **attrs):
    given = {"separator": "|", "ngram_widths": [2], "left_pad": "L", "right_pad": "R", "pad_width": -1, "preserve_short_sequences": False, **attrs}
    (refuse if refused else case)("StringNGrams", [text(data), tensor(splits, splits_type)], **given)


FIVE = ["a", "b", "c", "d", "e"]
for preserve in (False, True):
    for pad in (-1, 0, 1, 2, 9):
        for widths in ([1], [2], [3], [4], [1, 3], [6], [4, 5]):
            ngrams(FIVE, [0, 3, 3, 5], ngram_widths=widths, pad_width=pad, preserve_short_sequences=preserve)
ngrams(FIVE, [0, 3, 5], splits_type="int64")
ngrams(FIVE, [0, 3, 5], separator="", left_pad="", right_pad="")
ngrams([], [0])
ngrams([], [0, 0, 0])
ngrams(["a"], [0, 1], ngram_widths=[])
ngrams([["a"]], [0, 1])
ngrams(FIVE, [0, 3], refused=True)
ngrams(FIVE, [1, 5], refused=True)
ngrams(FIVE, [0, 4, 2, 5], refused=True)
ngrams(FIVE, [0, 9], refused=True)
ngrams(["a"], [0, 1], ngram_widths=[0], refused=True)
