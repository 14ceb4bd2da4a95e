"""Protocol messages to tensors and back."""

from framework import *
from values import *

import numpy as np
import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

raw = tf.raw_ops
F = descriptor_pb2.FieldDescriptorProto


def describe():
    file = descriptor_pb2.FileDescriptorProto(name="cases.proto", package="cases", syntax="proto2")
    inner = file.message_type.add(name="Inner")
    inner.field.add(name="x", number=1, type=F.TYPE_INT32, label=F.LABEL_OPTIONAL)
    outer = file.message_type.add(name="Outer")
    kinds = [k for k in F.Type.keys() if k not in ("TYPE_GROUP", "TYPE_MESSAGE", "TYPE_ENUM")]
    for i, kind in enumerate(kinds):
        name = kind[5:].lower()
        outer.field.add(name=name, number=40 - i, type=F.Type.Value(kind), label=F.LABEL_OPTIONAL)
        outer.field.add(name=name + "s", number=80 - i, type=F.Type.Value(kind), label=F.LABEL_REPEATED)
        if name not in ("string", "bytes"):
            packed = outer.field.add(name=name + "_packed", number=120 - i, type=F.Type.Value(kind), label=F.LABEL_REPEATED)
            packed.options.packed = True
    outer.field.add(name="inner", number=1, type=F.TYPE_MESSAGE, type_name=".cases.Inner", label=F.LABEL_OPTIONAL)
    outer.field.add(name="inners", number=2, type=F.TYPE_MESSAGE, type_name=".cases.Inner", label=F.LABEL_REPEATED)
    outer.field.add(name="chosen", number=3, type=F.TYPE_INT64, label=F.LABEL_OPTIONAL, default_value="42")
    outer.field.add(name="named", number=4, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL, default_value="nobody")
    return file, kinds


FILE, KINDS = describe()
POOL = descriptor_pool.DescriptorPool()
POOL.Add(FILE)
Outer = message_factory.GetMessageClass(POOL.FindMessageTypeByName("cases.Outer"))
SOURCE = b"bytes://" + descriptor_pb2.FileDescriptorSet(file=[FILE]).SerializeToString()
TYPES = {"double": "double", "float": "float", "int64": "int64", "uint64": "uint64", "int32": "int32", "fixed64": "uint64", "fixed32": "uint32", "bool": "bool",
         "string": "string", "bytes": "string", "uint32": "uint32", "sfixed32": "int32", "sfixed64": "int64", "sint32": "int32", "sint64": "int64"}


def message(n):
    made = Outer()
    for kind in TYPES:
        one = {"bool": True, "string": "text", "bytes": b"\0\1"}.get(kind, 3)
        if n > 0:
            setattr(made, kind, one)
        for i in range(n):
            value = {"bool": i % 2 == 0, "string": f"t{i}", "bytes": bytes([i])}.get(kind, i + 1)
            getattr(made, kind + "s").append(value)
            if kind not in ("string", "bytes"):
                getattr(made, kind + "_packed").append(value)
    for i in range(n):
        made.inners.add(x=i)
    if n > 1:
        made.inner.x = 5
        made.chosen = -1
    return made


def decode(texts, names, types, **more):
    return raw.DecodeProtoV2(bytes=feed(texts), message_type="cases.Outer", field_names=names, output_types=[tf.as_dtype(number_of(t)) for t in types], descriptor_source=SOURCE, **more)


BYTES = np.array([message(n).SerializeToString() for n in (2, 0, 3, 1)], object)
for kind, dtype in TYPES.items():
    for suffix in ("", "s", "_packed"):
        if suffix != "_packed" or kind not in ("string", "bytes"):

            @graph("DecodeProtoV2")
            def one_field(name=kind + suffix, dtype=dtype):
                return tf.nest.flatten(decode(BYTES, [name], [dtype]))


@graph("DecodeProtoV2")
def messages_within():
    return tf.nest.flatten(decode(BYTES.reshape(2, 2), ["inners", "chosen", "inner", "named", "int32s"], ["string", "int64", "string", "string", "int64"]))


@graph("DecodeProtoV2")
def from_text():
    return tf.nest.flatten(decode(np.array(b"int32: 4 strings: 'a' strings: 'b'", object), ["int32", "strings"], ["int32", "string"], message_format="text"))


@graph("DecodeProtoV2")
def from_nothing():
    return tf.nest.flatten(decode(np.zeros((0,), object), ["int32"], ["int32"]))


@graph("DecodeProtoV2")
def unknown_field():
    return tf.nest.flatten(decode(BYTES, ["nobody"], ["int32"]))


@graph("DecodeProtoV2")
def unfit_type():
    return tf.nest.flatten(decode(BYTES, ["int32"], ["float"]))


@graph("DecodeProtoV2")
def unknown_message():
    return raw.DecodeProtoV2(bytes=feed(BYTES), message_type="cases.Nobody", field_names=["x"], output_types=[tf.int32], descriptor_source=SOURCE)[0]


exempt("DecodeProtoV2", "empty", why="wants at least one message")


def encode(sizes, names, tensors):
    return raw.EncodeProto(sizes=feed(np.array(sizes, np.int32)), values=[feed(t) for t in tensors], field_names=names, message_type="cases.Outer", descriptor_source=SOURCE)


for kind, dtype in TYPES.items():
    for suffix in ("", "s", "_packed"):
        if suffix != "_packed" or kind not in ("string", "bytes"):

            @graph("EncodeProto")
            def encoded(kind=kind, suffix=suffix, dtype=dtype):
                width = 3 if suffix else 1
                made = strings(4, width) if dtype == "string" else values(dtype, 4, width)
                return encode([[width], [0], [1], [width]], [kind + suffix], [made])


@graph("EncodeProto")
def encoded_together():
    return encode([[[1, 2, 1]], [[0, 1, 1]]], ["sint64", "floats", "chosen"], [i64(2, 1, 1), f32(2, 1, 2), i64(2, 1, 3)])


@graph("EncodeProto")
def encoded_nothing():
    return encode(np.zeros((0, 1)), ["int32s"], [i32(0, 2)])


@graph("EncodeProto")
def too_many():
    return encode([[2]], ["int32s"], [i32(1, 1)])


@graph("EncodeProto")
def other_sizes():
    return encode([[2, 1]], ["int32s"], [i32(1, 2)])


@graph("EncodeProto")
def unfit_values():
    return encode([[2]], ["int32s"], [f32(1, 2)])


@graph("EncodeProto")
def only_a_vector():
    return encode([1], ["int32s"], [i32(2)])
