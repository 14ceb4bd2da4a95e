"""Functions: called, chosen between and looped over, with state or without."""

import tensorflow as tf
from framework import *
from values import *

raw = tf.raw_ops


def made(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs)


def spec(dtype="float32", shape=None):
    return tf.TensorSpec(shape, tf.as_dtype(dtype))


for op in ("PartitionedCall", "StatefulPartitionedCall"):
    for dtype, shape in (("float32", (2, 3)), ("int32", ()), ("string", (2,)), ("bool", (0, 3))):

        @graph(op)
        def called(op=op, dtype=dtype, shape=shape):
            body = made(lambda x, y: (tf.identity(y), tf.stack([x, x])), spec(dtype), spec("float32"))
            body.add_to_graph()
            return getattr(raw, op)(args=[feed(values(dtype if dtype != "float32" else "float", *shape)), feed(f32(2))], Tout=[tf.float32, tf.as_dtype(dtype)], f=body)

    @graph(op)
    def fails_inside(op=op):
        body = made(lambda x: tf.reshape(x, [5]), spec())
        body.add_to_graph()
        return getattr(raw, op)(args=[feed(f32(2))], Tout=[tf.float32], f=body)

    @graph(op)
    def calls_another(op=op):
        inner = tf.function(lambda x: x * 2.0, autograph=False)
        body = made(lambda x: inner(x) + inner(x + 1.0), spec())
        body.add_to_graph()
        return getattr(raw, op)(args=[feed(f32(3))], Tout=[tf.float32], f=body)


@graph("StatefulPartitionedCall", "AssignAddVariableOp")
def changes_a_variable():
    handle = raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="functions_variable")
    start = raw.AssignVariableOp(resource=handle, value=feed(f32(2)))

    def add(resource, x):
        raw.AssignAddVariableOp(resource=resource, value=x)
        return raw.ReadVariableOp(resource=resource, dtype=tf.float32)

    body = made(add, tf.TensorSpec([], tf.resource), spec("float32", [2]))
    body.add_to_graph()
    call = raw.StatefulPartitionedCall(args=[handle, feed(f32(2))], Tout=[tf.float32], f=body)
    return steps(start, call, call)


def branches(op, condition, shape=(3,)):
    @graph(op)
    def chosen():
        yes, no = made(lambda x: x * 2.0, spec()), made(lambda x: -x, spec())
        for body in (yes, no):
            body.add_to_graph()
        return getattr(raw, op)(cond=condition(), input=[feed(f32(*shape))], Tout=[tf.float32], then_branch=yes, else_branch=no)


for op in ("If", "StatelessIf"):
    branches(op, lambda: feed(True, "bool"))
    branches(op, lambda: feed(False, "bool"))
    branches(op, lambda: feed(3, "int32"))
    branches(op, lambda: feed(0.0, "float"))
    branches(op, lambda: feed(strings()))
    branches(op, lambda: feed(tensor("")))
    branches(op, lambda: feed(f32(0)))
    branches(op, lambda: feed(f32(2, 2)))
    branches(op, lambda: feed(True, "bool"), (0, 2))
    exempt(op, "refusal", why="every tensor is true or false")

for op in ("Case", "StatelessCase"):
    for index in (0, 1, 2, 3, -1, 7):

        @graph(op)
        def one_of(op=op, index=index):
            bodies = [made(lambda x, k=k: x + float(k), spec()) for k in range(3)]
            for body in bodies:
                body.add_to_graph()
            return getattr(raw, op)(branch_index=feed(index, "int32"), input=[feed(f32(2))], Tout=[tf.float32], branches=bodies)

    @graph(op)
    def branch_fails(op=op):
        bodies = [made(lambda x, k=k: tf.reshape(x, [k]), spec()) for k in (2, 0)]
        for body in bodies:
            body.add_to_graph()
        call = getattr(raw, op)(branch_index=feed(1, "int32"), input=[feed(f32(0, 2))], Tout=[tf.float32], branches=bodies)
        return steps(call, getattr(raw, op)(branch_index=feed(0, "int32"), input=[feed(f32(0, 2))], Tout=[tf.float32], branches=bodies))


def rounds(op, limit, shape=(2,)):
    @graph(op)
    def looped():
        go, body = made(lambda i, x: i < limit, spec("int32"), spec()), made(lambda i, x: (i + 1, x * 1.5), spec("int32"), spec())
        for f in (go, body):
            f.add_to_graph()
        return getattr(raw, op)(input=[feed(0, "int32"), feed(f32(*shape))], cond=go, body=body)


for op in ("While", "StatelessWhile"):
    for limit in (0, 1, 9):
        rounds(op, limit)
    rounds(op, 3, (0, 2))

    @graph(op)
    def body_fails(op=op):
        go, body = made(lambda x: tf.size(x) < 9, spec()), made(lambda x: tf.reshape(x, [7]), spec())
        for f in (go, body):
            f.add_to_graph()
        return getattr(raw, op)(input=[feed(f32(2))], cond=go, body=body)


def total(count, body, parallel=10):
    @graph("For")
    def summed():
        f = made(body, spec("int32", []), spec())
        f.add_to_graph()
        return raw.For(start=feed(0, "int32"), limit=feed(count, "int32"), delta=feed(1, "int32"), input=[feed(f32(2))], body=f)


for count in (0, 1, 4):
    total(count, lambda i, x: x + tf.cast(i, tf.float32))

for inputs in ((True, False), (False, True)):

    @graph("Assert")
    def asserted(inputs=inputs):
        return [tf.raw_ops.Assert(condition=feed(flag, "bool"), data=[feed(f32(3)), feed(strings(2)), feed(i32(0))], summarize=2) for flag in inputs]


@graph("Assert")
def asserted_of_a_vector():
    return tf.raw_ops.Assert(condition=feed([True], "bool"), data=[feed(f32(3))])


exempt("Assert", "values", why="gives nothing")
