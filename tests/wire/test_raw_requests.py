"""Requests that no client of TensorFlow makes: unknown handles, repeats, random bytes; code and text as TensorFlow's server gives them."""

import random

import pytest

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


def test_a_wrong_incarnation_tells_of_a_restart(troupe):
    raw = Raw(troupe.target("ps/0"))
    device = "/job:ps/replica:0/task:0/device:CPU:0"
    code, text = raw.failure(WORKER + "RecvTensor", field(1, 5) + field(2, f"{device};0000000000000001;{device};edge_1_x;0:0"))
    assert code == "ABORTED"
    assert text.startswith("RecvTensor expects a different device incarnation: 1 vs. ")
    raw.close()


def test_random_bytes_do_not_hurt(troupe, tf1):
    generator = random.Random(7)
    raw = Raw(troupe.target("worker/1"))
    for method in ("CreateSession", "ExtendSession", "RunStep", "MakeCallable", "RunCallable", "PartialRunSetup", "ListDevices"):
        for _ in range(20):
            raw.failure(MASTER + method, generator.randbytes(generator.randrange(1, 200)), timeout=5)
    for method in ("RegisterGraph", "RunGraph", "CleanupGraph", "CreateWorkerSession", "DeregisterGraph"):
        for _ in range(20):
            raw.failure(WORKER + method, generator.randbytes(generator.randrange(1, 200)), timeout=5)
    raw.close()
    with tf1.Session(troupe.target("worker/1")) as session:
        assert session.run(tf1.constant(3) * 2) == 6


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
