"""Examples and sequence examples: every kind of feature, defaults, missing keys, wrong types, damaged bytes."""

import tensorflow as tf
from framework import *
from values import *


def text(value):
    return tensor(value, "string")


def feature(value):
    if value is None:
        return tf.train.Feature()
    kind = next((type(v) for v in value), int)
    if kind is float:
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    if kind is int:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=value))
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[v.encode() if isinstance(v, str) else v for v in value]))


NO_FLOATS = tf.train.Feature(float_list=tf.train.FloatList())
NO_BYTES = tf.train.Feature(bytes_list=tf.train.BytesList())


def features(given):
    return tf.train.Features(feature={key: value if isinstance(value, tf.train.Feature) else feature(value) for key, value in given.items()})


def example(**given):
    return tf.train.Example(features=features(given)).SerializeToString()


def sequence(context=None, **lists):
    every = {key: tf.train.FeatureList(feature=[f if isinstance(f, tf.train.Feature) else feature(f) for f in rows]) for key, rows in lists.items()}
    return tf.train.SequenceExample(context=features(context or {}), feature_lists=tf.train.FeatureLists(feature_list=every)).SerializeToString()


def entry(key, body):
    """A feature map entry out of raw bytes."""
    inner = b"\x0a" + bytes([len(key)]) + key + b"\x12" + bytes([len(body)]) + body
    return b"\x0a" + bytes([len(inner)]) + inner


def raw_example(*entries):
    whole = b"".join(entries)
    return b"\x0a" + bytes([len(whole)]) + whole


DTYPES = {"int64": ([1, -2], [3, 4], [2**62, -(2**63)]), "float": ([1.0, -2.5], [3.0, 4.0], [float("inf"), 1e-30]), "string": (["a", "bc"], ["", "d"], [b"\xff\x00", "e"])}
DEFAULTS = {"int64": tensor([7, 8], "int64"), "float": tensor([0.5, -0.5]), "string": text(["x", "y"])}
PADS = {"int64": tensor(-1, "int64"), "float": tensor(-1.0), "string": text("pad")}
NONE = {"int64": tensor([], "int64"), "float": tensor([]), "string": text([])}


def parse(op, serialized, dense=(), sparse=(), ragged=(), names=(), refused=False):
    """dense: (key, dtype, shape, default); sparse: (key, dtype); ragged: (key, dtype, dtype of splits)."""
    make = refuse if refused else case
    attrs = {"Tdense": [d[1] for d in dense], "dense_shapes": [d[2] for d in dense], "sparse_types": [s[1] for s in sparse]}
    defaults = [d[3] for d in dense]
    if op == "ParseExample":
        make(op, [text(serialized), text(list(names)), [text(s[0]) for s in sparse], [text(d[0]) for d in dense], defaults],
             Nsparse=len(sparse), Ndense=len(dense), **attrs)
    elif op == "ParseExampleV2":
        make(op, [text(serialized), text(list(names) if isinstance(names, (list, tuple)) else names), text([s[0] for s in sparse]), text([d[0] for d in dense]),
                  text([r[0] for r in ragged]), defaults],
             num_sparse=len(sparse), ragged_value_types=[r[1] for r in ragged], ragged_split_types=[r[2] for r in ragged], **attrs)
    else:
        make(op, [text(serialized), defaults], num_sparse=len(sparse), sparse_keys=[s[0] for s in sparse], dense_keys=[d[0] for d in dense], **attrs)


for dtype, rows in DTYPES.items():
    whole = [example(k=row, other=[1]) for row in rows]
    gaps = [example(k=rows[0]), example(other=["?"]), b"", example(k=rows[2][:1]), example(k=None)]
    wrong = "float" if dtype == "int64" else "int64"
    for op in ("ParseExample", "ParseExampleV2"):
        parse(op, whole, [("k", dtype, [2], NONE[dtype])])
        parse(op, whole, [("k", dtype, [2], DEFAULTS[dtype])])
        parse(op, whole, [("k", dtype, [1, 2], NONE[dtype])])
        parse(op, [example(k=row[:1]) for row in rows], [("k", dtype, [], PADS[dtype])])
        parse(op, [whole[0], example(), whole[2], b""], [("k", dtype, [2], DEFAULTS[dtype])])
        parse(op, gaps, [("k", dtype, [None], PADS[dtype])])
        parse(op, [whole[0], example(k=rows[0] * 3), b""], [("k", dtype, [None, 2], PADS[dtype])])
        parse(op, gaps, sparse=[("k", dtype)])
        parse(op, [], [("k", dtype, [2], NONE[dtype]), ("v", dtype, [None, 3], PADS[dtype])], sparse=[("s", dtype)])
        parse(op, [b""], [("v", dtype, [None], PADS[dtype])], sparse=[("s", dtype)])
        parse(op, whole, [("k", dtype, [3], NONE[dtype])], refused=True)
        parse(op, whole, [("k", dtype, [1], NONE[dtype])], refused=True)
        parse(op, whole, [("k", dtype, [None, 3], PADS[dtype])], names=["n0", "n1", "n2"], refused=True)
        parse(op, gaps, [("k", dtype, [2], NONE[dtype])], refused=True)
        parse(op, gaps, [("k", dtype, [2], NONE[dtype])], names=list("abcde"), refused=True)
        parse(op, whole, [("k", wrong, [2], NONE[wrong])], refused=True)
        parse(op, whole, [("k", wrong, [None], PADS[wrong])], names=["n0", "n1", "n2"], refused=True)
        parse(op, whole, sparse=[("k", wrong)], refused=True)
        parse(op, whole, [("k", dtype, [None], NONE[dtype])], refused=True)
        parse(op, whole, [("k", dtype, [3], DEFAULTS[dtype])], refused=True)
    for splits in ("int32", "int64"):
        parse("ParseExampleV2", gaps, ragged=[("k", dtype, splits)])
        parse("ParseExampleV2", [], ragged=[("k", dtype, splits)])
        parse("ParseExampleV2", gaps[0], ragged=[("k", dtype, splits), ("absent", dtype, splits)])
        parse("ParseExampleV2", whole, ragged=[("k", wrong, splits)], refused=True)
    for op in ("ParseExampleV2", "ParseSingleExample"):
        parse(op, whole[0], [("k", dtype, [2], NONE[dtype]), ("absent", dtype, [2], DEFAULTS[dtype])], sparse=[("other", "int64"), ("none", dtype)])
        parse(op, whole[1], [("k", dtype, [None], PADS[dtype]), ("absent", dtype, [None, 3], PADS[dtype])])
        parse(op, whole[2], [("k", dtype, [None, 2], PADS[dtype])])
        parse(op, whole[2], sparse=[("k", dtype)])
        parse(op, gaps[4], [("k", dtype, [2], DEFAULTS[dtype])])
        parse(op, b"", [("k", dtype, [2], DEFAULTS[dtype])], sparse=[("s", dtype)])
        parse(op, whole[0], [("k", dtype, [3], NONE[dtype])], refused=True)
        parse(op, whole[0], [("k", dtype, [1], NONE[dtype])], refused=True)
        parse(op, whole[0], [("k", dtype, [None, 3], PADS[dtype])], refused=True)
        parse(op, whole[0], [("k", wrong, [2], NONE[wrong])], refused=True)
        parse(op, whole[0], [("k", wrong, [None], PADS[wrong])], refused=True)
        parse(op, whole[0], sparse=[("k", wrong)], refused=True)
        parse(op, whole[0], [("absent", dtype, [2], NONE[dtype])], refused=True)
        parse(op, whole[0], [("k", dtype, [None], NONE[dtype])], refused=True)
        parse(op, whole[0], [("k", dtype, [3], DEFAULTS[dtype])], refused=True)

MIXED = [example(i=[1, 2, 3], f=[0.5], s=["x", "y"]), example(i=[], f=[1.5], s=[]), example(f=[2.5], s=["z"], i=[9])]
ALL = dict(dense=[("f", "float", [], NONE["float"])], sparse=[("s", "string"), ("i", "int64")])
parse("ParseExample", MIXED, **ALL)
parse("ParseExampleV2", MIXED, ragged=[("r", "float", "int32")], **ALL)
parse("ParseExampleV2", [MIXED[0]] * 40, dense=[("i", "int64", [None], PADS["int64"])], ragged=[("s", "string", "int64")], names=[str(i) for i in range(40)])
parse("ParseSingleExample", MIXED[0], **ALL)
parse("ParseExample", MIXED, refused=True, dense=[("f", "float", [], NONE["float"])], sparse=[("f", "float")])
parse("ParseExampleV2", MIXED, refused=True, dense=[("f", "float", [], NONE["float"])], ragged=[("f", "float", "int32")])
parse("ParseExampleV2", MIXED, refused=True, names=["a", "b"], **ALL)
parse("ParseExampleV2", [MIXED], refused=True, **ALL)
parse("ParseExample", MIXED[0], refused=True, **ALL)
parse("ParseSingleExample", MIXED, refused=True, **ALL)
refuse("ParseExampleV2", [text(MIXED), text([]), text(["s", "t"]), text([]), text([]), []], num_sparse=1, sparse_types=["string"], Tdense=[], dense_shapes=[],
       ragged_value_types=[], ragged_split_types=[])
refuse("ParseExampleV2", [text(MIXED), text([]), text([]), text(["f"]), text([]), []], num_sparse=0, sparse_types=[], Tdense=[], dense_shapes=[],
       ragged_value_types=[], ragged_split_types=[])
refuse("ParseExampleV2", [text(MIXED), text([]), text([]), text([]), text(["f"]), []], num_sparse=0, sparse_types=[], Tdense=[], dense_shapes=[],
       ragged_value_types=[], ragged_split_types=[])

# Bytes that no writer of today makes, and bytes that are damaged.
UNPACKED = raw_example(entry(b"i", b"\x1a\x04\x08\x05\x08\x06"), entry(b"f", b"\x12\x0a\x0d\x00\x00\x80\x3f\x0d\x00\x00\x00\x40"))
TWICE = example(i=[1, 2]) + example(i=[3, 4], f=[5.0])
STRANGE = b"\x10\x05\x1d\x01\x02\x03\x04\x21\x01\x02\x03\x04\x05\x06\x07\x08\x22\x02ab" + example(i=[1, 2])
for op, wrap in (("ParseExampleV2", lambda b: [b]), ("ParseExampleV2", lambda b: b), ("ParseSingleExample", lambda b: b)):
    parse(op, wrap(UNPACKED), sparse=[("i", "int64"), ("f", "float")])
    parse(op, wrap(UNPACKED), dense=[("i", "int64", [2], NONE["int64"]), ("f", "float", [2], NONE["float"])])
    parse(op, wrap(TWICE), dense=[("i", "int64", [2], NONE["int64"])], sparse=[("f", "float")])
    parse(op, wrap(TWICE), sparse=[("i", "int64")])
    parse(op, wrap(STRANGE), sparse=[("i", "int64")])
    parse(op, wrap(example(f=NO_FLOATS, s=NO_BYTES, i=[])), dense=[("f", "float", [0], NONE["float"])], sparse=[("s", "string"), ("i", "int64")])
    for damaged in ("garbage", MIXED[0][:-1], MIXED[0][:5], b"\x0a", b"\x0a\x05", b"\x0a\x02\x12\x00", b"\x0b", b"\x08" * 3, raw_example(entry(b"i", b"\x22\x00")),
                    raw_example(entry(b"i", b"\x1a\x02\x12\x00")), raw_example(entry(b"i", b"\x1a\x03\x0a\x01\xff")), raw_example(entry(b"i", b"\x1a\x05\x0a\x01"))):
        parse(op, wrap(damaged), sparse=[("i", "int64")], refused=True)
        parse(op, wrap(damaged), dense=[("i", "int64", [None], PADS["int64"])], refused=True)

# Sequence examples.
SEQUENCES = [
    sequence({"c": [1, 2], "f": [0.5]}, i=[[1, 2], [3, 4]], s=[["a"], ["b", "c"], []], f=[[1.0], [2.0]]),
    sequence({"c": [3, 4]}, i=[[5, 6]], s=[[], NO_BYTES], f=[]),
    sequence({"c": [5, 6], "f": [1.5, 2.5]}, i=[], s=[["d", "", "e"]], f=[[3.0], [4.0], [5.0]]),
]
KINDS = {"i": "int64", "f": "float", "s": "string"}


def parse_sequence(op, serialized, names=(), context_dense=(), context_sparse=(), context_ragged=(), dense=(), sparse=(), ragged=(), missing=(), refused=False):
    make = refuse if refused else case
    attrs = {
        "Tcontext_dense": [d[1] for d in context_dense], "context_dense_shapes": [d[2] for d in context_dense],
        "context_sparse_types": [s[1] for s in context_sparse], "Ncontext_sparse": len(context_sparse),
        "feature_list_dense_types": [d[1] for d in dense], "feature_list_dense_shapes": [d[2] for d in dense], "Nfeature_list_dense": len(dense),
        "feature_list_sparse_types": [s[1] for s in sparse], "Nfeature_list_sparse": len(sparse),
    }
    defaults = [d[3] for d in context_dense]
    keys = lambda given: [g[0] for g in given]
    if op == "ParseSequenceExampleV2":
        make(op, [text(serialized), text(list(names) if isinstance(names, (list, tuple)) else names), text(keys(context_sparse)), text(keys(context_dense)),
                  text(keys(context_ragged)), text(keys(sparse)), text(keys(dense)), text(keys(ragged)), tensor([d[0] in missing for d in dense], "bool"), defaults],
             context_ragged_value_types=[r[1] for r in context_ragged], context_ragged_split_types=[r[2] for r in context_ragged],
             feature_list_ragged_value_types=[r[1] for r in ragged], feature_list_ragged_split_types=[r[2] for r in ragged], **attrs)
    elif op == "ParseSequenceExample":
        make(op, [text(serialized), text(list(names)), defaults], Ncontext_dense=len(context_dense), context_sparse_keys=keys(context_sparse),
             context_dense_keys=keys(context_dense), feature_list_sparse_keys=keys(sparse), feature_list_dense_keys=keys(dense),
             feature_list_dense_missing_assumed_empty=list(missing), **attrs)
    else:
        make(op, [text(serialized), text(list(missing)), [text(k) for k in keys(context_sparse)], [text(k) for k in keys(context_dense)],
                  [text(k) for k in keys(sparse)], [text(k) for k in keys(dense)], defaults, text(names) if isinstance(names, str) else text("")],
             Ncontext_dense=len(context_dense), **attrs)


for op in ("ParseSequenceExample", "ParseSequenceExampleV2", "ParseSingleSequenceExample"):
    one = op.startswith("ParseSingle")
    for given in [SEQUENCES[0], SEQUENCES[1], SEQUENCES[2]] if one else [SEQUENCES, SEQUENCES[:1], SEQUENCES[0], SEQUENCES[1]]:
        parse_sequence(op, given, context_dense=[("c", "int64", [2], NONE["int64"])])
        parse_sequence(op, given, context_sparse=[("c", "int64"), ("f", "float"), ("absent", "string")])
        parse_sequence(op, given, dense=[("i", "int64", [2], None)])
        parse_sequence(op, given, dense=[("f", "float", [], None), ("i", "int64", [1, 2], None)])
        parse_sequence(op, given, dense=[("absent", "string", [3], None)], missing=["absent"])
        parse_sequence(op, given, sparse=[("i", "int64"), ("f", "float"), ("s", "string"), ("absent", "float")])
        parse_sequence(op, given, context_dense=[("absent", "float", [2], DEFAULTS["float"]), ("c", "int64", [2], DEFAULTS["int64"])], sparse=[("s", "string")])
        parse_sequence(op, given)
        for dtype in ("int64", "float"):
            parse_sequence(op, given, dense=[("s", dtype, [1], None)], refused=True)
            parse_sequence(op, given, sparse=[("s", dtype)], refused=dtype == "float" or True)
        parse_sequence(op, given, context_sparse=[("c", "float")], refused=True)
        parse_sequence(op, given, context_dense=[("c", "string", [2], NONE["string"])], refused=True)
        parse_sequence(op, given, context_dense=[("c", "int64", [3], NONE["int64"])], refused=True)
        parse_sequence(op, given, context_dense=[("c", "int64", [1], NONE["int64"])], refused=True)
        parse_sequence(op, given, context_dense=[("absent", "int64", [2], NONE["int64"])], refused=True)
        parse_sequence(op, given, context_dense=[("absent", "int64", [3], DEFAULTS["int64"])], refused=True)
        parse_sequence(op, given, dense=[("absent", "int64", [3], None)], refused=True)
        parse_sequence(op, given, dense=[("absent", "int64", [3], None)], missing=["other"], refused=True)
        parse_sequence(op, given, dense=[("s", "string", [1], None)], refused=True)
        parse_sequence(op, given, dense=[("f", "float", [2], None)], refused=True)
        parse_sequence(op, given, context_dense=[("f", "float", [3], NONE["float"])], refused=True)
    for damaged in ("garbage", SEQUENCES[1][:-1], SEQUENCES[1][:6], b"\x0a", b"\x12\x02\x12\x00"):
        parse_sequence(op, damaged if one else [damaged], sparse=[("i", "int64")], refused=True)
    if not one:
        parse_sequence(op, [], context_dense=[("c", "int64", [2], DEFAULTS["int64"])], sparse=[("s", "string")], context_sparse=[("f", "float")])
        parse_sequence(op, [SEQUENCES], sparse=[("s", "string")], refused=True)
        parse_sequence(op, SEQUENCES, names=["a"], sparse=[("s", "string")], refused=True)
        parse_sequence(op, SEQUENCES, names=["a", "b", "c"], sparse=[("s", "float")], refused=True)
        parse_sequence(op, SEQUENCES, context_sparse=[("c", "int64")], context_dense=[("c", "int64", [2], NONE["int64"])], refused=True)
        parse_sequence(op, SEQUENCES, sparse=[("i", "int64")], dense=[("i", "int64", [2], None)], refused=True)
    else:
        parse_sequence(op, SEQUENCES[0], names="name", dense=[("f", "int64", [1], None)], refused=True)
        parse_sequence(op, SEQUENCES, sparse=[("s", "string")], refused=True)

for splits in ("int32", "int64"):
    for given in (SEQUENCES, SEQUENCES[0], SEQUENCES[1], []):
        parse_sequence("ParseSequenceExampleV2", given, context_ragged=[("c", "int64", splits), ("f", "float", splits)],
                       ragged=[("i", "int64", splits), ("s", "string", splits), ("absent", "float", splits)])
    parse_sequence("ParseSequenceExampleV2", SEQUENCES, context_ragged=[("c", "float", splits)], refused=True)
    parse_sequence("ParseSequenceExampleV2", SEQUENCES, ragged=[("i", "string", splits)], refused=True)
parse_sequence("ParseSequenceExampleV2", SEQUENCES, ragged=[("i", "int64", "int32")], sparse=[("i", "int64")], refused=True)
parse_sequence("ParseSequenceExampleV2", SEQUENCES, context_ragged=[("c", "int64", "int32")], context_sparse=[("c", "int64")], refused=True)

# JSON.
case("DecodeJSONExample", [text(['{"features": {"feature": {"a": {"int64List": {"value": ["1", 2]}}}}}', "{}"])])
case("DecodeJSONExample", [text('{"features": {"feature": {"a": {"bytes_list": {"value": ["Zm9v"]}}}}}')])
case("DecodeJSONExample", [text('{"features": {"feature": {"a": {"floatList": {"value": [1.5, "NaN", "-Infinity"]}}}}}')])
case("DecodeJSONExample", [strings(0, 2)])
for bad in ("", "[]", "x", '{"features": 1}', '{"other": 1}', '{"features": {"feature": {"a": {"int64List": {"value": [1.5]}}}}}',
            '{"features": {"feature": {"a": {"bytesList": {"value": ["%"]}}}}}', '{"features": {'):
    refuse("DecodeJSONExample", [text(bad)])
