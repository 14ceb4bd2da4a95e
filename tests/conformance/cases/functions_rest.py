"""Functions at the edge: gradients of functions, calls to a device, loops by number; texts and what is printed."""

import tensorflow as tf
from tensorflow.python.framework import function, op_def_library

from framework import *
from values import *

raw = tf.raw_ops
F = tf.float32


def defined(build, *types):
    """A function of the older kind, which gradients by name want."""
    return function.Defun(*types, func_name=f"rest_function_{next(numbers)}")(build)


numbers = iter(range(1000))


def square(x):
    return tf.square(x)


def product(x, y):
    return tf.matmul(x, y)


def mixed(x, y):
    return tf.reduce_sum(tf.tanh(x) * y, 0), tf.exp(y)


def refused(x):
    return tf.reshape(x, [7])


def symbolic(build, shapes, outputs):
    """SymbolicGradient of a function, with the gradients of its outputs as its last inputs."""

    @graph("SymbolicGradient", ulp=16)
    def gradients():
        body = defined(build, *[F] * len(shapes))
        body.add_to_graph(tf.compat.v1.get_default_graph())
        inputs = [feed(f32(*shape)) for shape in (*shapes, *outputs)]
        return op_def_library.apply_op("SymbolicGradient", input=inputs, Tout=[F] * len(shapes), f=body)


symbolic(square, [(3,)], [(3,)])
symbolic(square, [(0, 2)], [(0, 2)])
symbolic(product, [(2, 3), (3, 4)], [(2, 4)])
symbolic(mixed, [(2, 3), (2, 3)], [(3,), (2, 3)])
symbolic(refused, [(3,)], [(7,)])
symbolic(lambda x: tf.math.cumsum(x), [(3,)], [(3,)])

for dtype, shape in ((F, (2, 3)), (tf.string, (2,)), (tf.int32, ()), (F, (0, 2))):

    @graph("RemoteCall")
    def called_on_a_device(dtype=dtype, shape=shape):
        body = defined(lambda x: (tf.identity(x), tf.stack([x, x])), dtype)
        body.add_to_graph(tf.compat.v1.get_default_graph())
        target = tf.constant("/job:localhost/replica:0/task:0/device:CPU:0")
        return op_def_library.apply_op("RemoteCall", target=target, args=[feed(values(dtype.name.replace("float32", "float"), *shape))], Tout=[dtype, dtype], f=body)


@graph("RemoteCall")
def called_on_a_device_by_its_older_name():
    body = defined(square, F)
    body.add_to_graph(tf.compat.v1.get_default_graph())
    return op_def_library.apply_op("RemoteCall", target=tf.constant("/cpu:0"), args=[feed(f32(2))], Tout=[F], f=body)


@graph("SymbolicGradient")
def of_a_function_that_reads_a_variable():
    variable = tf.compat.v1.get_variable("read_by_a_function", initializer=f32(2), use_resource=True)
    x = feed(f32(2))
    y = defined(lambda x: x * variable, F)(x)
    return steps(variable.initializer, [y, *tf.compat.v1.gradients(y, x)])


@graph("RemoteCall")
def called_and_fails():
    body = defined(refused, F)
    body.add_to_graph(tf.compat.v1.get_default_graph())
    return op_def_library.apply_op("RemoteCall", target=tf.constant("/device:CPU:0"), args=[feed(f32(2))], Tout=[F], f=body)


@graph("For")
def loop_over_nothing():
    body = tf.function(lambda i, x: tf.concat([x, x], 0)).get_concrete_function(tf.TensorSpec([], tf.int32), tf.TensorSpec(None, F))
    body.add_to_graph()
    return raw.For(start=0, limit=3, delta=1, input=[feed(f32(0, 2))], body=body)


@graph("For")
def loop_that_never_ends():
    body = tf.function(lambda i, x: -x).get_concrete_function(tf.TensorSpec([], tf.int32), tf.TensorSpec(None, F))
    body.add_to_graph()
    return raw.For(start=feed(0, "int32"), limit=feed(3, "int32"), delta=feed(0, "int32"), input=[feed(f32(2))], body=body)


for template, inputs, attrs in (
    ("a %s b %s", (f32(2, 3), strings(3)), {}), ("%s", (i32(),), {}), ("%s", (boolean(2),), {}), ("{}|{}", (f64(5), i64(9)), {"placeholder": "{}", "summarize": 2}), ("none", (), {}),
    ("%s", (f32(0, 3),), {}), ("%s", (f32(30),), {"summarize": -1}), ("%s", (c64(3),), {}), ("%s %s", (u8(4), f16(3)), {"summarize": 0}),
):  # fmt: skip
    case("StringFormat", [list(inputs)], template=template, T=[dtype_of_array(i) for i in inputs], **attrs)
refuse("StringFormat", [[f32(2)]], template="%s %s", T=["float"])
refuse("StringFormat", [[f32(2)]], template="none", T=["float"])

for array, more, attrs in ((f32(2), [f32(3)], {}), (i32(), [strings(2), boolean()], {"message": "m: ", "first_n": 1, "summarize": 2}), (f32(0, 2), [], {"first_n": 0}), (strings(2), [f32(0)], {})):
    case("Print", [array, more], U=[dtype_of_array(m) for m in more], alone=True, **attrs)
exempt("Print", "refusal", why="prints whatever it gets")
for text in ("shown", "", "two\nlines"):
    case("PrintV2", [tensor(text)], output_stream="log(info)", alone=True)
case("PrintV2", [tensor("without an end")], output_stream="stderr", end="", alone=True)
refuse("PrintV2", [tensor("x")], output_stream="nowhere")
refuse("PrintV2", [strings(2)])
exempt("PrintV2", "empty", why="takes a scalar")


def element(count, index, shape=(2,)):
    @graph("GetElementAtIndex")
    def one_of_slices():
        dataset = raw.TensorSliceDataset(components=[feed(f32(count, *shape)), feed(i64(count))], output_shapes=[list(shape), []])
        return raw.GetElementAtIndex(dataset=dataset, index=feed(index, "int64"), output_types=[F, tf.int64], output_shapes=[list(shape), []])


element(3, 0)
element(3, 2)
element(2, 1, ())
element(2, 1, (0, 2))
element(3, 3)
element(3, -1)
