"""Datasets written down as graphs, and made again of them."""

from framework import *
from values import *

import numpy as np
import tensorflow as tf
from google.protobuf import descriptor_pb2
from tensorflow.python.data.ops import dataset_ops

raw = tf.raw_ops
tf1 = tf.compat.v1
D = tf1.data.Dataset
F = descriptor_pb2.FieldDescriptorProto


def describe():
    file = descriptor_pb2.FileDescriptorProto(name="graph.proto", package="cases", syntax="proto3")
    node = file.message_type.add(name="Node")
    for i, name in enumerate(("name", "op", "input", "device")):
        node.field.add(name=name, number=i + 1, type=F.TYPE_STRING, label=F.LABEL_REPEATED if name == "input" else F.LABEL_OPTIONAL)
    graph = file.message_type.add(name="Graph")
    graph.field.add(name="node", number=1, type=F.TYPE_BYTES, label=F.LABEL_REPEATED)
    return b"bytes://" + descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


SOURCE = describe()


def nodes_of(text):
    """Names, ops and inputs of the nodes of a graph."""
    nodes = raw.DecodeProtoV2(bytes=text, message_type="cases.Graph", field_names=["node"], output_types=[tf.string], descriptor_source=SOURCE).values[0]
    return raw.DecodeProtoV2(bytes=nodes, message_type="cases.Node", field_names=["name", "op", "input", "device"], output_types=[tf.string] * 4, descriptor_source=SOURCE).values


def again(dataset, text):
    return dataset_ops._VariantDataset(raw.DatasetFromGraph(graph_def=text), dataset.element_spec)


def read(dataset, count, *before):
    iterator = tf1.data.make_initializable_iterator(dataset)
    element = tf.nest.flatten(iterator.get_next(), expand_composites=True)
    return steps(*before, raw.DatasetCardinality(input_dataset=dataset._variant_tensor), iterator.initializer, *[element] * count)


def both(build, count, name="DatasetToGraphV2", seen=True, **attrs):
    """A case that looks at the nodes, and one that reads what is made of them again."""
    if seen:

        @graph(name)
        def written():
            return nodes_of(getattr(raw, name)(input_dataset=build()._variant_tensor, **attrs))

    @graph(name, "DatasetFromGraph")
    def made_again():
        dataset = build()
        return read(again(dataset, getattr(raw, name)(input_dataset=dataset._variant_tensor, **attrs)), count)


for NAME in ("DatasetToGraph", "DatasetToGraphV2"):
    both(lambda: D.range(3), 4, NAME)
    both(lambda: D.range(2, 9, 3).map(lambda x: x * x).batch(2).prefetch(1), 3, NAME, strip_device_assignment=True)
    both(lambda: D.from_tensor_slices((np.zeros((0, 2), np.float32), np.zeros(0, object))), 1, NAME)

for COUNT in (1, 2, 3):
    both(lambda: D.range(5).map(lambda x: x + 1), COUNT, seen=False)
both(lambda: D.from_tensor_slices({"a": [1, 2], "b": [b"x", b"yz"]}), 3)
both(lambda: D.zip((D.range(3), D.from_tensors([1.5, 2.5]).repeat())), 4)
both(lambda: D.range(3).concatenate(D.range(7, 9)).skip(1).take(3).cache(), 4)
both(lambda: D.range(4).interleave(lambda x: D.range(x), cycle_length=2), 7)
both(lambda: D.range(6).window(2).flat_map(lambda d: d.batch(2)), 4)
both(lambda: D.range(6).filter(lambda x: tf.equal(x % 2, 0)).map(lambda x: tf.cond(x > 2, lambda: x, lambda: -x)), 4)
both(lambda: D.range(6).shuffle(10, seed=4, reshuffle_each_iteration=False), 7)
both(lambda: D.range(6).apply(tf.data.experimental.group_by_reducer(
    lambda x: x % 2, tf.data.experimental.Reducer(lambda _: np.int64(0), lambda a, b: a + b, lambda a: a))), 3)
both(lambda: D.range(5).scan(np.int64(1), lambda a, b: (a * 2, a + b)), 6)
both(lambda: D.range(3).with_options(tf.data.Options()), 4)


def of_constant():
    table = tf.constant([5, 6, 7], tf.int64)
    return D.range(3).map(lambda x: table[x])


both(of_constant, 4)


@graph("DatasetToGraphV2", "DatasetFromGraph")
def of_variable():
    v = tf1.get_variable("written_down", [], tf.int64, use_resource=True, initializer=tf1.constant_initializer(5))
    dataset = D.range(3).map(lambda x: x + v)
    return read(again(dataset, raw.DatasetToGraphV2(input_dataset=dataset._variant_tensor)), 4, v.initializer)


@graph("DatasetToGraphV2", "DatasetFromGraph")
def of_table():
    filled = tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1], tf.int64), tf.constant([b"a", b"b"]))
    table = tf1.lookup.StaticHashTable(filled, "?")
    dataset = D.range(3).map(lambda x: table.lookup(x))
    return read(again(dataset, raw.DatasetToGraphV2(input_dataset=dataset._variant_tensor)), 4, table.initializer)


def drawn():
    return D.range(3).map(lambda x: x + tf.random.uniform([], 0, 1, tf.int64))


for policy in (0, 1, 2, 7):
    both(drawn, 4, external_state_policy=policy, seen=False)
both(drawn, 4, "DatasetToGraph", seen=False)
both(drawn, 4, "DatasetToGraph", seen=False, allow_stateful=True)
both(drawn, 4, "DatasetToGraph", seen=False, stateful_whitelist=["RandomUniformInt"])

for NAME in ("DatasetToGraph", "DatasetToGraphV2"):

    @graph(NAME)
    def of_no_dataset(name=NAME):
        return getattr(raw, name)(input_dataset=raw.EmptyTensorList(element_shape=np.zeros(0, np.int32), max_num_elements=1, element_dtype=tf.float32))


def given(text):
    @graph("DatasetFromGraph")
    def from_text():
        dataset = dataset_ops._VariantDataset(raw.DatasetFromGraph(graph_def=feed(text, "string")), tf.TensorSpec([], tf.int64))
        return read(dataset, 2)


def by_hand(result="d", op="RangeDataset", step=1, type_=21, index=0, name="dataset"):
    made = tf1.GraphDef()
    for i, value in enumerate((0, 1, step)):
        node = made.node.add(name=f"c{i}", op="Const")
        node.attr["dtype"].type = 9
        node.attr["value"].tensor.CopyFrom(tf1.make_tensor_proto(np.int64(value)))
    node = made.node.add(name="d", op=op, input=["c0", "c1", "c2"])
    node.attr["output_types"].list.type.append(9)
    node.attr["output_shapes"].list.shape.add()
    if result:
        node = made.node.add(name=name, op="_Retval", input=[result])
        node.attr["T"].type = type_
        node.attr["index"].i = index
    return made.SerializeToString()


for text in (b"", b"junk", by_hand(), by_hand(result=None), by_hand(op="Nope"), by_hand(step=0), by_hand(result="c0", type_=9), by_hand(name="other")):
    given(text)
given(np.array([b"", b""], object))
exempt("DatasetToGraph", "empty", why="takes a dataset")
exempt("DatasetToGraphV2", "empty", why="takes a dataset")
exempt("DatasetFromGraph", "empty", why="takes the text of a graph")
