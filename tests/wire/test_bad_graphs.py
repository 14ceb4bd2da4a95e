"""Graphs that no server can run: refused with TensorFlow's code and text, and the node goes on."""

import re

import pytest
from raw import Raw, field
from tensorflow.core.framework import graph_pb2, types_pb2

CREATE = "/tensorflow.MasterService/CreateSession"


def node(graph, name, op, *inputs, device="", **attrs):
    n = graph.node.add(name=name, op=op, input=inputs, device=device)
    for key, value in attrs.items():
        if isinstance(value, bytes):
            n.attr[key].s = value
        elif isinstance(value, tuple):
            n.attr[key].list.s.extend(value)
        else:
            n.attr[key].type = value
    return n


def const(graph, name, dtype=types_pb2.DT_FLOAT):
    n = node(graph, name, "Const", dtype=dtype)
    n.attr["value"].tensor.dtype = dtype
    n.attr["value"].tensor.tensor_shape.SetInParent()
    return n


F = types_pb2.DT_FLOAT


def unknown_op(g):
    node(g, "n", "NoSuchOp")


def cycle(g):
    node(g, "a", "Identity", "b", T=F)
    node(g, "b", "Identity", "a", T=F)


def missing_input(g):
    node(g, "a", "Identity", "nobody", T=F)


def missing_control_input(g):
    node(g, "a", "NoOp", "^nobody")


def too_few_inputs(g):
    const(g, "c")
    node(g, "a", "Add", "c", T=F)


def too_many_inputs(g):
    const(g, "c")
    node(g, "a", "Identity", "c", "c", T=F)


def wrong_dtype(g):
    const(g, "c", types_pb2.DT_INT32)
    node(g, "a", "Identity", "c", T=F)


def bad_output(g):
    const(g, "c")
    node(g, "a", "Identity", "c:1", T=F)


def missing_attribute(g):
    node(g, "a", "Placeholder")


def dtype_not_allowed(g):
    const(g, "c", types_pb2.DT_STRING)
    node(g, "a", "MatMul", "c", "c", T=types_pb2.DT_STRING)


def wrong_kind_of_attribute(g):
    const(g, "c")
    node(g, "a", "Identity", "c", T=b"float")


def name_twice(g):
    const(g, "c")
    const(g, "c")


def bad_name(g):
    const(g, "a b")


def no_name(g):
    const(g, "")


def control_before_data(g):
    const(g, "c")
    node(g, "a", "Identity", "^c", "c", T=F)


def device_that_is_not_there(g):
    const(g, "c").device = "/job:worker/task:9"


def device_that_is_no_name(g):
    const(g, "c").device = "what is this"


def gpu_that_is_not_there(g):
    const(g, "c").device = "/job:worker/task:0/device:GPU:0"


def colocation_with_nobody(g):
    const(g, "c").attr["_class"].list.s.append(b"loc:@nobody")


def colocation_that_cannot_be(g):
    const(g, "c").device = "/job:worker/task:0"
    d = const(g, "d")
    d.device = "/job:worker/task:1"
    d.attr["_class"].list.s.append(b"loc:@c")


def const_without_value(g):
    node(g, "c", "Const", dtype=F)


def const_of_another_dtype(g):
    n = const(g, "c")
    n.attr["dtype"].type = types_pb2.DT_INT32


GRAPHS = [unknown_op, missing_input, missing_control_input, too_many_inputs, wrong_dtype, bad_output, missing_attribute,
          dtype_not_allowed, name_twice, bad_name, no_name, control_before_data, device_that_is_not_there,
          device_that_is_no_name, gpu_that_is_not_there, colocation_with_nobody, colocation_that_cannot_be, const_of_another_dtype]

# TensorFlow says less of the first, and refuses the others only when a step needs the node.
SOONER = {
    cycle: ("INVALID_ARGUMENT", "2 nodes in a cycle: a, b"),
    too_few_inputs: ("INVALID_ARGUMENT", "NodeDef expected inputs 'float, float' do not match 1 inputs specified"),
    wrong_kind_of_attribute: ("INVALID_ARGUMENT", "AttrValue had value with type 'string' when 'type' expected\n\t for attr 'T'"),
    const_without_value: ("INVALID_ARGUMENT", "NodeDef missing attr 'value' from Op<name=Const;"),
}


def answer(cluster, graph):
    raw = Raw(cluster.target("worker/0"))
    try:
        failed = raw.failure(CREATE, field(1, graph.SerializeToString()))
        if not failed:
            return "OK", ""
        code, text = failed
        text = re.sub(r"in binary running on \S+\.", "in binary running on HOST.", text)
        return code, text.split("\nRecent warning and error logs:")[0]
    finally:
        raw.close()


@pytest.mark.parametrize("build", GRAPHS, ids=lambda f: f.__name__)
def test_a_graph_is_refused_as_in_tensorflow(troupe, tensorflow_cluster, build):
    graph = graph_pb2.GraphDef()
    graph.versions.producer = 1645
    build(graph)
    theirs, ours = answer(tensorflow_cluster, graph), answer(troupe, graph)
    assert ours == theirs


@pytest.mark.parametrize("build", SOONER, ids=lambda f: f.__name__)
def test_a_graph_is_refused_at_once(troupe, build):
    graph = graph_pb2.GraphDef()
    graph.versions.producer = 1645
    build(graph)
    code, text = answer(troupe, graph)
    assert code == SOONER[build][0]
    assert text.startswith(SOONER[build][1])


NEWER = {"a_hint": (True, "grad_a", True), "nothing": (False, "some_day", True), "something": (True, "some_day", False)}


@pytest.mark.parametrize("case", NEWER)
def test_attributes_of_newer_clients(troupe, case):
    """A newer client names attributes that ops have got since: what makes no difference is accepted from it, and from it only."""
    value, name, accepted = NEWER[case]
    graph = graph_pb2.GraphDef()
    const(graph, "c")
    node(graph, "a", "MatMul", "c", "c", T=F).attr[name].b = value
    for producer, good in (1645, False), (2474, accepted):
        graph.versions.producer = producer
        code, text = answer(troupe, graph)
        assert code == ("OK" if good else "INVALID_ARGUMENT")
        assert good or text.startswith(f"NodeDef mentions attr '{name}' not in Op<name=MatMul;")
