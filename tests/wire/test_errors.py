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
        text = re.sub(r"for step \d+", "for step #", text)  # which may have as many digits as a handle
        text = re.sub(r"\b[0-9a-f]{16}\b", "<handle>", text)
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
    "operands that change places": lambda tf1, s: (lambda b, a: lambda: s.run(tf1.identity(b + a) * 2.0, {b: [1.0, 2.0], a: [1.0, 2.0, 3.0]}))(
        tf1.placeholder(tf1.float32, name="b"), tf1.placeholder(tf1.float32, name="a")),
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


def bad(tf1, x, name):
    return tf1.check_numerics(x, "no number", name=name)


def in_a_function(tf1, p):
    import tensorflow as tf

    @tf.function
    def inner(x):
        return bad(tf1, x, "checked")

    @tf.function
    def outer(x):
        return inner(x * 2.0) + 1.0

    return outer(p)


def in_functions_by_name(tf1, p):
    from tensorflow.python.framework import function

    @function.Defun(tf1.float32, func_name="inner")
    def inner(x):
        return bad(tf1, x, "checked")

    @function.Defun(tf1.float32, func_name="outer")
    def outer(x):
        return inner(x, name="the_inner") + 1.0

    return outer(p, name="the_outer")


def in_an_if_that_is_a_kernel(tf1, p):
    from tensorflow.python.framework import function
    from tensorflow.python.ops import functional_ops

    @function.Defun(tf1.float32)
    def branch(x):
        return bad(tf1, x, "checked")

    return functional_ops.If(p > 1.0, [p], branch, branch)[0]


def in_a_partitioned_function(tf1, p):
    from tensorflow.python.framework import function

    @function.Defun(tf1.float32)
    def called(x):
        return bad(tf1, x, "checked")

    return tf1.raw_ops.PartitionedCall(args=[p], Tout=[tf1.float32], f=called)[0]


def with_control_flow_2(build):
    def built(tf1, p):
        tf1.enable_control_flow_v2()
        try:
            return build(tf1, p)
        finally:
            tf1.disable_control_flow_v2()

    return built


INSIDE = {
    "function": in_a_function,
    "functions by name": in_functions_by_name,
    "If": in_an_if_that_is_a_kernel,
    "PartitionedCall": in_a_partitioned_function,
    "cond": with_control_flow_2(lambda tf1, p: tf1.cond(p > 1.0, lambda: p, lambda: bad(tf1, p * 2.0, "checked"))),
    "while": with_control_flow_2(
        lambda tf1, p: tf1.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, bad(tf1, x * 2.0, "checked")), [0, p])[1]),
}


@pytest.mark.parametrize("name", INSIDE)
def test_errors_name_nodes_in_functions_as_tensorflow_does(troupe, tensorflow_cluster, tf1, name):
    def build(session):
        p = tf1.placeholder(tf1.float32, [], name="p")
        fetch = INSIDE[name](tf1, p) + 1.0
        return lambda: session.run(fetch, {p: float("nan")})

    theirs, ours = both(tf1, troupe, tensorflow_cluster, build)
    assert "no number" in theirs[1] and ours == theirs


def test_a_callable_with_a_feed_of_another_type(troupe, tensorflow_cluster, tf1):
    import numpy as np
    from tensorflow.core.protobuf import config_pb2

    def build(session):
        p = tf1.placeholder(tf1.float32, [], name="p")
        options = config_pb2.CallableOptions(feed=[p.name], fetch=[(p + 1.0).name])
        return lambda: session._make_callable_from_options(options)(np.float64(1))

    theirs, ours = both(tf1, troupe, tensorflow_cluster, build)
    assert theirs[0] == "InternalError" and ours == theirs


def test_an_op_without_a_kernel_is_refused_before_the_step_runs(troupe, tensorflow_cluster, tf1):
    def build(session):
        product = tf1.raw_ops.MatMul(a=tf1.ones([2, 2], tf1.uint8), b=tf1.ones([2, 2], tf1.uint8), name="product")
        return lambda: session.run(product)

    theirs, ours = (r[1].split(" with these attrs")[0] + r[1][-15:] for r in both(tf1, troupe, tensorflow_cluster, build))
    assert "No OpKernel" in theirs and ours == theirs


def test_the_rest_of_a_closed_priority_queue_and_numbers_in_vectors(either, tf1):
    n = tf1.placeholder(tf1.int32, name="n")
    queue = tf1.PriorityQueue(10, [tf1.int32], shapes=[[]])
    with tf1.Session(either.target("worker/0")) as session:
        session.run(queue.enqueue_many([[3, 1, 2], [30, 10, 20]]))
        assert session.run(queue.dequeue_many(n), {n: [2]})[1].tolist() == [10, 20]
        session.run(queue.close())
        with pytest.raises(tf1.errors.OutOfRangeError, match=r"requested 3, current size 0"):
            session.run(queue.dequeue_up_to(n), {n: 4})
        assert session.run(queue.size()) == 0


def test_a_convolution_whose_dimensions_are_named_twice_is_refused(troupe, tf1):
    """TensorFlow computes something; here no place may lie outside of the tensor."""
    import tensorflow as tf
    from tensorflow.core.util.quantization import uniform_quant_ops_attr_pb2

    numbers = uniform_quant_ops_attr_pb2.UniformQuantizedConvolutionDimensionNumbersAttr(
        input_spatial_dimensions=[0, 0], kernel_input_feature_dimension=1, kernel_spatial_dimensions=[2, 3], output_feature_dimension=1, output_spatial_dimensions=[2, 3])
    y = tf.raw_ops.UniformQuantizedConvolutionHybrid(
        lhs=tf1.ones([2, 2, 2, 2]), rhs=tf.bitcast(tf1.ones([1, 2, 1, 1], tf.int8), tf.qint8), rhs_scales=1.0, rhs_zero_points=0, Tout=tf.float32, padding="VALID",
        rhs_quantization_min_val=-128, rhs_quantization_max_val=127, dimension_numbers=numbers.SerializeToString())
    with tf1.Session(troupe.target("worker/0")) as session:
        with pytest.raises(tf1.errors.InvalidArgumentError, match="dimension"):
            session.run(y)
        assert session.run(tf1.constant(1)) == 1
