"""Tensor arrays: gradients, closing, what was never written, and every refusal."""

import tensorflow as tf
from framework import *
from values import *

raw = tf.raw_ops
F = tf.float32


def array(size=3, **attrs):
    return raw.TensorArrayV3(**{"size": feed(size, "int32"), "dtype": F, "clear_after_read": False, **attrs})


def write(handle, flow, index, value):
    return raw.TensorArrayWriteV3(handle=handle, index=feed(index, "int32"), value=feed(value), flow_in=flow)


def filled(rows=3, **attrs):
    handle, flow = array(rows, **attrs)
    return handle, raw.TensorArrayScatterV3(handle=handle, indices=feed(list(range(rows)), "int32"), value=feed(f32(rows, 2)), flow_in=flow)


def read(handle, flow, index, dtype=F):
    return raw.TensorArrayReadV3(handle=handle, index=feed(index, "int32"), flow_in=flow, dtype=dtype)


def declare(*ops):
    def of(build):
        @graph(*ops)
        def arrays():
            return build()

    return of


def with_(build, **attrs):
    """Builds on a filled array."""
    return lambda: build(*filled(**attrs))


MAKE, WRITE, READ, GATHER, SCATTER = "TensorArrayV3", "TensorArrayWriteV3", "TensorArrayReadV3", "TensorArrayGatherV3", "TensorArrayScatterV3"
CONCAT, SPLIT, SIZE, CLOSE, GRAD = "TensorArrayConcatV3", "TensorArraySplitV3", "TensorArraySizeV3", "TensorArrayCloseV3", "TensorArrayGradV3"


def gather(h, f, indices, **attrs):
    return raw.TensorArrayGatherV3(handle=h, indices=feed(indices, "int32"), flow_in=f, **{"dtype": F, **attrs})


# Empty ones.
declare(MAKE, SIZE)(lambda: raw.TensorArraySizeV3(handle=array(0)[0], flow_in=array(0)[1]))
declare(GATHER, SCATTER)(with_(lambda h, f: gather(h, f, [])))
declare(GATHER, SCATTER)(with_(lambda h, f: gather(h, f, [], element_shape=[2])))
declare(MAKE, GATHER)(lambda: gather(*array(0, element_shape=[2]), []))
declare(WRITE, READ)(lambda: (lambda h, f: read(h, write(h, f, 1, f32(0, 2)), 1))(*array()))
declare(CONCAT, SPLIT)(lambda: (lambda h, f: [*raw.TensorArrayConcatV3(handle=h, flow_in=raw.TensorArraySplitV3(handle=h, value=feed(f32(3, 2)), lengths=feed([0, 3, 0], "int64"), flow_in=f), dtype=F)])(*array()))
declare(CONCAT)(lambda: [*raw.TensorArrayConcatV3(handle=(h := array(0, element_shape=[None, 2]))[0], flow_in=h[1], dtype=F)])
declare(CLOSE)(with_(lambda h, f: steps(raw.TensorArrayCloseV3(handle=h))))

# What was never written.
declare(READ)(lambda: read(*array(), 1))
declare(READ)(lambda: read(*array(element_shape=[2]), 1))
declare(READ)(lambda: (lambda h, f: read(h, write(h, f, 0, f32(2)), 1))(*array(identical_element_shapes=True)))
declare(GATHER)(lambda: (lambda h, f: gather(h, write(h, f, 0, f32(2)), [0, 1]))(*array()))
declare(GATHER)(lambda: (lambda h, f: gather(h, write(h, f, 0, f32(2)), [0, 1]))(*array(element_shape=[2])))
declare(CONCAT)(lambda: (lambda h, f: [*raw.TensorArrayConcatV3(handle=h, flow_in=write(h, f, 0, f32(2)), dtype=F)])(*array()))

# Refusals.
declare(MAKE)(lambda: list(array(-1))[1])
declare(MAKE)(lambda: list(array([3]))[1])
declare(WRITE)(with_(lambda h, f: write(h, f, 3, f32(2))))
declare(WRITE)(with_(lambda h, f: write(h, f, -1, f32(2))))
declare(WRITE)(with_(lambda h, f: write(h, f, 0, f32(2))))
declare(WRITE)(lambda: (lambda h, f: write(h, f, 0, i32(2)))(*array()))
declare(WRITE)(lambda: (lambda h, f: write(h, f, [0], f32(2)))(*array()))
declare(WRITE)(lambda: (lambda h, f: write(h, f, 0, f32(3)))(*array(element_shape=[2])))
declare(WRITE)(lambda: (lambda h, f: write(h, write(h, f, 0, f32(2)), 1, f32(3)))(*array(identical_element_shapes=True)))
declare(WRITE, SIZE)(lambda: (lambda h, f: raw.TensorArraySizeV3(handle=h, flow_in=write(h, f, 7, f32(2))))(*array(dynamic_size=True)))
declare(READ)(with_(lambda h, f: read(h, f, 3)))
declare(READ)(with_(lambda h, f: read(h, f, -1)))
declare(READ)(with_(lambda h, f: read(h, f, [1])))
declare(READ)(with_(lambda h, f: read(h, f, 1, tf.int32)))
declare(READ)(with_(lambda h, f: steps(read(h, f, 1))))


@graph(READ)
def read_twice():
    h, f = filled(clear_after_read=True)
    first = read(h, f, 1)
    with tf.control_dependencies([first]):
        return read(h, f, 1)


@graph(CLOSE, READ)
def read_after_close():
    h, f = filled()
    with tf.control_dependencies([f]):
        closed = raw.TensorArrayCloseV3(handle=h)
    with tf.control_dependencies([closed]):
        return read(h, f, 1)


@graph(CLOSE)
def close_twice():
    h, f = filled()
    with tf.control_dependencies([f]):
        closed = raw.TensorArrayCloseV3(handle=h)
    with tf.control_dependencies([closed]):
        return raw.TensorArrayCloseV3(handle=h)


declare(GATHER)(with_(lambda h, f: gather(h, f, [0, 3])))
declare(GATHER)(with_(lambda h, f: gather(h, f, [0, -1])))
declare(GATHER)(with_(lambda h, f: gather(h, f, [[0]])))
declare(GATHER)(with_(lambda h, f: gather(h, f, [0], dtype=tf.int32)))
declare(GATHER)(with_(lambda h, f: gather(h, f, [0], element_shape=[3])))
declare(GATHER)(lambda: (lambda h, f: gather(h, write(h, write(h, f, 0, f32(2)), 1, f32(3)), [0, 1]))(*array()))


def scatter(h, f, indices, value):
    return raw.TensorArrayScatterV3(handle=h, indices=feed(indices, "int32"), value=feed(value), flow_in=f)


def split(h, f, value, lengths):
    return raw.TensorArraySplitV3(handle=h, value=feed(value), lengths=feed(lengths, "int64"), flow_in=f)


for indices, value in (([0, 1], f32(3, 2)), ([0, 5], f32(2, 2)), ([0, -1], f32(2, 2)), ([[0]], f32(1, 2)), ([0], f32()), ([0, 0], f32(2, 2)), ([0], i32(1, 2))):
    declare(SCATTER)(lambda indices=indices, value=value: (lambda h, f: scatter(h, f, indices, value))(*array()))
for value, lengths in ((f32(3, 2), [1, 1]), (f32(3, 2), [1, 1, 2]), (f32(3, 2), [[1, 1, 1]]), (f32(), [1, 1, 1]), (i32(3, 2), [1, 1, 1]), (f32(3, 2), [1, 1, 0])):
    declare(SPLIT)(lambda value=value, lengths=lengths: (lambda h, f: split(h, f, value, lengths))(*array()))
declare(CONCAT)(lambda: (lambda h, f: [*raw.TensorArrayConcatV3(handle=h, flow_in=scatter(h, f, [0, 1, 2], f32(3)), dtype=F)])(*array()))
declare(CONCAT)(with_(lambda h, f: [*raw.TensorArrayConcatV3(handle=h, flow_in=f, dtype=tf.int32)]))
declare(CONCAT)(with_(lambda h, f: [*raw.TensorArrayConcatV3(handle=h, flow_in=f, dtype=F, element_shape_except0=[3])]))
declare(CONCAT)(lambda: (lambda h, f: [*raw.TensorArrayConcatV3(handle=h, flow_in=write(h, write(h, f, 0, f32(1, 2)), 1, f32(1, 3)), dtype=F)])(*array(2)))
exempt(SIZE, "refusal", why="takes every array")
exempt(CLOSE, "values", "empty", why="gives nothing")

# Gradients.
for source in ("a", "b"):
    declare(GRAD, WRITE, READ)(with_(lambda h, f, source=source: (lambda g, gf: [read(g, write(g, gf, 1, f32(2)), 1), raw.TensorArraySizeV3(handle=g, flow_in=gf)])(*raw.TensorArrayGradV3(handle=h, flow_in=f, source=source))))
declare(GRAD, WRITE, READ)(with_(lambda h, f: (lambda g, gf: read(g, write(g, write(g, gf, 1, f32(2)), 1, f32(2)), 1))(*raw.TensorArrayGradV3(handle=h, flow_in=f, source="sum"))))
declare(GRAD, GATHER)(with_(lambda h, f: (lambda g, gf: gather(g, write(g, gf, 0, f32(2)), [0, 1, 2]))(*raw.TensorArrayGradV3(handle=h, flow_in=f, source="rest"))))
declare(GRAD)(with_(lambda h, f: (lambda g, gf: write(g, write(g, gf, 1, f32(2)), 1, f32(3)))(*raw.TensorArrayGradV3(handle=h, flow_in=f, source="bad"))))
declare(GRAD)(with_(lambda h, f: (lambda g, gf: write(g, gf, 5, f32(2)))(*raw.TensorArrayGradV3(handle=h, flow_in=f, source="out"))))
declare(GRAD)(with_(lambda h, f: (lambda g, gf: read(g, gf, 0))(*raw.TensorArrayGradV3(handle=h, flow_in=f, source="none"))))
declare(GRAD)(lambda: (lambda h, f: (lambda g, gf: raw.TensorArraySizeV3(handle=g, flow_in=gf))(*raw.TensorArrayGradV3(handle=h, flow_in=f, source="empty")))(*array(0)))
declare(GRAD)(with_(lambda h, f: (lambda g, gf: (lambda g2, gf2: read(g2, write(g2, gf2, 1, f32(2)), 1))(*raw.TensorArrayGradV3(handle=g, flow_in=gf, source="second")))(*raw.TensorArrayGradV3(handle=h, flow_in=f, source="first"))))
SHAPED = "TensorArrayGradWithShape"


def shaped(h, f, source, shape):
    return raw.TensorArrayGradWithShape(handle=h, flow_in=f, shape_to_prepend=feed(shape, "int32"), source=source)


declare(SHAPED)(with_(lambda h, f: (lambda g, gf: read(g, write(g, gf, 1, f32(4, 2)), 1))(*shaped(h, f, "s", [4]))))
declare(SHAPED)(with_(lambda h, f: (lambda g, gf: read(g, gf, 1))(*shaped(h, f, "z", [4])), element_shape=[2]))
declare(SHAPED)(with_(lambda h, f: (lambda g, gf: read(g, write(g, gf, 1, f32(0, 2)), 1))(*shaped(h, f, "e", [0]))))
declare(SHAPED)(with_(lambda h, f: (lambda g, gf: raw.TensorArraySizeV3(handle=g, flow_in=gf))(*shaped(h, f, "n", []))))
declare(SHAPED)(with_(lambda h, f: shaped(h, f, "r", [[1]])[1]))
declare(SHAPED)(with_(lambda h, f: (lambda g, gf: write(g, gf, 1, f32(3, 2)))(*shaped(h, f, "w", [4])), element_shape=[2]))


@graph(GRAD)
def grad_of_a_growing_array():
    h, f = array(3, dynamic_size=True)
    return raw.TensorArrayGradV3(handle=h, flow_in=f, source="g")[1]
