"""Requests that no client of TensorFlow makes: unknown handles, repeats, random bytes; code and text as TensorFlow's server gives them."""

import random
import re

import grpc
import pytest
from conftest import FULL
from raw import Raw, field

MASTER = "/tensorflow.MasterService/"
WORKER = "/tensorflow.WorkerService/"
NO_SESSION = field(1, "00000000deadbeef")

SAME = {
    "ExtendSession of an unknown session": (MASTER + "ExtendSession", NO_SESSION),
    "RunStep of an unknown session": (MASTER + "RunStep", NO_SESSION + field(3, "x:0")),
    "CloseSession of an unknown session": (MASTER + "CloseSession", NO_SESSION),
    "ListDevices of an unknown session": (MASTER + "ListDevices", NO_SESSION),
    "MakeCallable of an unknown session": (MASTER + "MakeCallable", NO_SESSION),
    "RunCallable of an unknown session": (MASTER + "RunCallable", NO_SESSION),
    "ReleaseCallable of an unknown session": (MASTER + "ReleaseCallable", NO_SESSION),
    "PartialRunSetup of an unknown session": (MASTER + "PartialRunSetup", NO_SESSION),
    "RegisterGraph of an unknown worker session": (WORKER + "RegisterGraph", NO_SESSION + field(6, 1)),
    "RunGraph of an unknown graph": (WORKER + "RunGraph", field(1, "zz")),
    "DeregisterGraph of an unknown graph": (WORKER + "DeregisterGraph", field(1, "zz")),
    "DeleteWorkerSession of an unknown session": (WORKER + "DeleteWorkerSession", NO_SESSION),
    "CleanupGraph of an unknown step": (WORKER + "CleanupGraph", field(1, 12345)),
    "RecvTensor with a bad key": (WORKER + "RecvTensor", field(1, 5) + field(2, "junk")),
    "Tracing": (WORKER + "Tracing", b""),
    "Logging": (WORKER + "Logging", b""),
    "an unknown method": (MASTER + "NoSuchMethod", b""),
    "bytes that are no CreateSession": (MASTER + "CreateSession", b"\xff\xff\xff"),
}


@pytest.mark.parametrize("name", SAME)
def test_the_answer_is_tensorflow_s(troupe, tensorflow_cluster, name):
    method, body = SAME[name]
    answers = []
    for cluster in (tensorflow_cluster, troupe):
        raw = Raw(cluster.target("worker/0"))
        answers.append(raw.failure(method, body))
        raw.close()
    assert answers[1] == answers[0]


def test_a_wrong_incarnation_tells_of_a_restart(either):
    raw = Raw(either.target("ps/0"))
    device = "/job:ps/replica:0/task:0/device:CPU:0"
    code, text = raw.failure(WORKER + "RecvTensor", field(1, 5) + field(2, f"{device};0000000000000001;{device};edge_1_x;0:0"))
    assert code == "ABORTED"
    assert re.fullmatch(r'RecvTensor expects a different device incarnation: 1 vs. \d+. Your worker job \("/job:ps/replica:0/task:0"\) was probably '
                        "restarted. Check your worker job for the reason why it was restarted.", text)
    raw.close()


def one_session(raw, graph):
    """Handle of a fresh session with this graph, as bytes."""
    reply = raw.call(MASTER + "CreateSession", field(1, graph.SerializeToString()))
    return reply[2:2 + reply[1]]


# In a session with the constant c and the placeholder x; H stands for the handle.
IN_A_SESSION = {
    "an empty step": ("RunStep", b""),
    "a fetch that is not there": ("RunStep", field(3, "zz:0")),
    "a fetch with a bad output": ("RunStep", field(3, "c:3")),
    "a target that is not there": ("RunStep", field(4, "zz")),
    "a feed that is not there": ("RunStep", field(2, field(1, "zz:0") + field(2, field(1, 1))) + field(3, "c:0")),
    "a feed twice": ("RunStep", 2 * field(2, field(1, "x:0") + field(2, field(1, 1))) + field(3, "x:0")),
    "a fetch without its feed": ("RunStep", field(3, "x:0")),
    "a partial run that was not set up": ("RunStep", field(3, "c:0") + field(6, "zz")),
    "a callable that is not there": ("RunCallable", field(2, 9)),
    "a callable of a fetch that is not there": ("MakeCallable", field(2, field(2, "zz:0"))),
    "another version": ("ExtendSession", field(3, 7)),
    "a partial run of what is not there": ("PartialRunSetup", field(3, "zz:0")),
}


@pytest.mark.parametrize("name", IN_A_SESSION)
def test_in_a_session_the_answer_is_tensorflow_s(troupe, tensorflow_cluster, tf1, name):
    tf1.constant(1.0, name="c")
    tf1.placeholder(tf1.float32, [], name="x")
    graph = tf1.get_default_graph().as_graph_def()
    method, body = IN_A_SESSION[name]
    answers = []
    for cluster in (tensorflow_cluster, troupe):
        raw = Raw(cluster.target("worker/0"))
        handle = one_session(raw, graph)
        code, text = raw.failure(MASTER + method, field(1, handle) + body) or ("OK", "")
        text = text.split("\nRecent warning and error logs:")[0]
        answers.append((code, re.sub(r"\n:\{.*", "", text)))
        raw.call(MASTER + "CloseSession", field(1, handle))
        raw.close()
    assert answers[0][0] != "OK"
    assert answers[1] == answers[0]


METHODS = [MASTER + name for name in ("CreateSession", "ExtendSession", "PartialRunSetup", "RunStep", "CloseSession", "ListDevices", "MakeCallable",
                                      "RunCallable", "ReleaseCallable")] + [
    WORKER + name for name in ("GetStatus", "CreateWorkerSession", "DeleteWorkerSession", "RegisterGraph", "DeregisterGraph", "RunGraph", "CleanupGraph",
                               "RecvTensor", "Logging", "Tracing", "RecvBuf", "GetStepSequence", "CompleteGroup", "CompleteInstance", "MarkRecvFinished")]


def still_serves(node, tf1):
    with tf1.Session(node) as session:
        assert session.run(tf1.constant(3) * 2) == 6


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.rpartition("/")[2])
def test_random_bytes_do_not_hurt(troupe, tf1, method):
    generator = random.Random(method)
    raw = Raw(troupe.target("worker/1"))
    for _ in range(500 if FULL else 30):
        raw.failure(method, generator.randbytes(generator.randrange(1, 200)), timeout=2)
    raw.close()
    still_serves(troupe.target("worker/1"), tf1)


def damaged(generator, body):
    """A valid request with some bytes changed, cut out or repeated: most of it still parses."""
    body = bytearray(body)
    for _ in range(generator.randrange(1, 4)):
        at = generator.randrange(len(body))
        kind = generator.randrange(4)
        if kind == 0:
            body[at] = generator.randrange(256)
        elif kind == 1:
            del body[at:at + generator.randrange(1, 9)]
        elif kind == 2:
            body[at:at] = body[at:at + generator.randrange(1, 40)]
        else:
            body[at] ^= 1 << generator.randrange(8)
        if not body:
            return b"\x0a"
    return bytes(body)


def test_damaged_graphs_do_not_hurt(troupe, tf1):
    """Graphs of a training step, damaged at random, through CreateSession and RunStep."""
    x = tf1.placeholder(tf1.float32, [None, 3], name="x")
    w = tf1.get_variable("w", [3, 2], initializer=tf1.zeros_initializer())
    loss = tf1.reduce_mean(tf1.nn.softmax_cross_entropy_with_logits_v2(logits=tf1.matmul(x, w), labels=tf1.constant([[1.0, 0.0]])), name="loss")
    tf1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name="train")
    tf1.global_variables_initializer()
    names = [op.name for op in tf1.get_default_graph().get_operations()]
    whole = tf1.get_default_graph().as_graph_def().SerializeToString()
    raw = Raw(troupe.target("worker/1"))
    feed = field(2, field(1, "x:0") + field(2, field(1, 1) + field(2, field(2, field(1, 1)) + field(2, field(1, 3))) + field(4, b"\0" * 12)))
    ran = 0
    for seed in range(1000 if FULL else 150):
        generator = random.Random(seed)
        try:
            reply = raw.call(MASTER + "CreateSession", field(1, damaged(generator, whole)), timeout=20)
        except grpc.RpcError:
            continue
        handle = field(1, reply[2:2 + reply[1]])
        ran += 1
        for target in ("init", "train", generator.choice(names)):
            raw.failure(MASTER + "RunStep", handle + feed + field(4, target), timeout=20)
            raw.failure(MASTER + "RunStep", damaged(generator, handle + feed + field(4, target)), timeout=20)
        raw.failure(MASTER + "CloseSession", handle)
    raw.close()
    assert ran > 0, "all were refused; nothing was run"
    still_serves(troupe.target("worker/1"), tf1)


def test_a_repeated_request_is_refused(either, tf1):
    c = tf1.constant(1.0, name="c")
    from tensorflow.core.framework import graph_pb2

    graph = tf1.get_default_graph().as_graph_def()
    assert isinstance(graph, graph_pb2.GraphDef)
    raw = Raw(either.target("worker/0"))
    reply = raw.call(MASTER + "CreateSession", field(1, graph.SerializeToString()))
    handle = reply[2:2 + reply[1]]
    step = field(1, handle) + field(3, c.name) + field(8, 4711)
    raw.call(MASTER + "RunStep", step)
    code, text = raw.failure(MASTER + "RunStep", step)
    assert code == "ABORTED"
    assert text.startswith("The same RunStep (Master) request was received twice. ")
    raw.call(MASTER + "CloseSession", field(1, handle))
    raw.close()
