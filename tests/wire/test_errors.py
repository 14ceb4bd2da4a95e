"""Errors that clients rely on: the same code and text from Troupe as from TensorFlow, asked in the same test."""

import re

import pytest


def outcome(tf1, call):
    """Class and text of what a call raises, without what differs by nature: ports, times, handles, file positions, node numbers."""
    try:
        call()
    except tf1.errors.OpError as e:
        text = e.message
        text = text[text.find("From /job:"):] if "From /job:" in text else text
        text = text.split("\nRecent warning and error logs:")[0]  # TensorFlow's optional postscript
        text = re.sub(r"\n:\{.*", "", text)
        text = re.sub(r"_S\d+", "_S#", text)
        text = re.sub(r"\b[0-9a-f]{16}\b", "<handle>", text)
        text = re.sub(r"for step \d+", "for step #", text)
        return type(e).__name__, text
    return "no error", ""


def both(tf1, troupe, tensorflow_cluster, build, target="worker/0", **session_arguments):
    """Runs what build(session) returns on both clusters."""
    results = []
    for cluster in (tensorflow_cluster, troupe):
        tf1.reset_default_graph()
        with tf1.Session(cluster.target(target), **session_arguments) as session:
            results.append(outcome(tf1, build(session)))
    return results


CASES = {
    "placeholder not fed": lambda tf1, s: (lambda p: lambda: s.run(p))(tf1.placeholder(tf1.float32, [2], name="p")),
    "uninitialized ref variable": lambda tf1, s: (lambda v: lambda: s.run(v))(tf1.get_variable("never_set", [2], use_resource=False)),
    "uninitialized resource variable": lambda tf1, s: (lambda v: lambda: s.run(v))(tf1.get_variable("never_set_r", [2], use_resource=True)),
    "matmul of wrong sizes": lambda tf1, s: (lambda a, b: lambda: s.run(tf1.matmul(a, b), {a: [[1.0, 2.0]], b: [[1.0]]}))(
        tf1.placeholder(tf1.float32), tf1.placeholder(tf1.float32)),
    "a fetch that died": lambda tf1, s: (lambda dead: lambda: s.run(dead))(
        tf1.raw_ops.Switch(data=tf1.constant(1.0), pred=tf1.placeholder_with_default(True, []))[0]),
    "incompatible shapes": lambda tf1, s: (lambda a, b: lambda: s.run(a + b, {a: [1.0, 2.0], b: [1.0, 2.0, 3.0]}))(
        tf1.placeholder(tf1.float32), tf1.placeholder(tf1.float32)),
    "assertion": lambda tf1, s: (lambda x: lambda: s.run(tf1.Assert(tf1.equal(x, 1), [x, "said"]), {x: 3}))(tf1.placeholder(tf1.int32, [])),
    "division by zero": lambda tf1, s: (lambda x: lambda: s.run(tf1.floordiv(1, x), {x: 0}))(tf1.placeholder(tf1.int32, [])),
}


@pytest.mark.parametrize("name", CASES)
def test_a_step_fails_as_in_tensorflow(troupe, tensorflow_cluster, tf1, name):
    theirs, ours = both(tf1, troupe, tensorflow_cluster, lambda session: CASES[name](tf1, session))
    assert theirs[0] != "no error"
    assert ours == theirs


def test_an_unknown_device_is_refused_as_in_tensorflow(troupe, tensorflow_cluster, tf1):
    def build(session):
        with tf1.device("/job:worker/task:7"):
            c = tf1.constant(1.0, name="far")
        return lambda: session.run(c)

    theirs, ours = both(tf1, troupe, tensorflow_cluster, build)
    assert ours == theirs


def test_a_closed_session_is_not_found(either, tf1):
    import tensorflow as tf

    session = tf1.Session(either.target("worker/0"))
    c = tf1.constant(1)
    session.run(c)
    session.close()
    with pytest.raises((RuntimeError, tf.errors.OpError)):
        session.run(c)
