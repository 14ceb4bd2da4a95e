"""Queues: every kind, by handle and by reference, in batches, closed, and what they refuse."""

from framework import *
from values import *

import tensorflow as tf

raw = tf.raw_ops

KINDS = ("FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue")


def make(kind, types, shapes, version="V2", capacity=10, **more):
    more.setdefault("shared_name", f"life_of_{kind}{version}")  # private names hold a number that differs
    if kind == "RandomShuffleQueue":
        more.setdefault("seed", 3)
        more.setdefault("seed2", 5)
    if kind == "PriorityQueue":
        # The op prepends the priority itself.
        types, shapes = types[1:], shapes[1:]
    return getattr(raw, kind + version)(component_types=types, shapes=shapes, capacity=capacity, **more)


def named(op, version):
    return getattr(raw, op + version)


def components(kind, n):
    rows = [np.arange(n, dtype=np.int64)[::-1].copy(), f32(n, 2), np.array([b"a%d" % i for i in range(n)], dtype=object)]
    return [feed(r) for r in rows], [tf.int64, tf.float32, tf.string], [[], [2], []]


for kind in KINDS:
    for version in ("", "V2"):

        @graph(f"{kind}{version}", f"QueueEnqueue{version}", f"QueueEnqueueMany{version}", f"QueueDequeue{version}", f"QueueDequeueMany{version}",
               f"QueueDequeueUpTo{version}", f"QueueClose{version}", f"QueueSize{version}")
        def whole_life(kind=kind, version=version):
            batch, types, shapes = components(kind, 7)
            q = make(kind, types, shapes, version)
            one = [b[0] for b in batch]
            put = named("QueueEnqueue", version)(handle=q, components=one)
            put_many = named("QueueEnqueueMany", version)(handle=q, components=batch)
            take = named("QueueDequeue", version)(handle=q, component_types=types)
            take_3 = named("QueueDequeueMany", version)(handle=q, n=3, component_types=types)
            take_none = named("QueueDequeueMany", version)(handle=q, n=0, component_types=types)
            take_9 = named("QueueDequeueMany", version)(handle=q, n=9, component_types=types)
            up_to_4 = named("QueueDequeueUpTo", version)(handle=q, n=4, component_types=types)
            size = named("QueueSize", version)(handle=q)
            close = named("QueueClose", version)(handle=q)
            return steps(put, put_many, size, take, take_3, take_none, size, close, take_9, up_to_4, up_to_4, take, take_3, put, put_many, close, size)


@graph("QueueIsClosed", "QueueIsClosedV2", "FIFOQueue")
def is_closed():
    q2 = raw.FIFOQueueV2(component_types=[tf.int32])
    q1 = raw.FIFOQueue(component_types=[tf.int32])
    both = [raw.QueueIsClosedV2(handle=q2), raw.QueueIsClosed(handle=q1)]
    return steps(both, raw.QueueCloseV2(handle=q2, cancel_pending_enqueues=True), both, raw.QueueClose(handle=q1, cancel_pending_enqueues=True), both,
                 raw.QueueCloseV2(handle=q2, cancel_pending_enqueues=True))


@graph("QueueEnqueueMany", "QueueDequeueMany", "FIFOQueueV2")
def larger_batches_than_room():
    q = raw.FIFOQueueV2(component_types=[tf.int32], shapes=[[]], capacity=2)
    put = raw.QueueEnqueueManyV2(handle=q, components=[feed(np.arange(7, dtype=np.int32))])
    take = raw.QueueDequeueManyV2(handle=q, n=7, component_types=[tf.int32])
    with tf.control_dependencies([put]):
        after = tf.constant(1)
    return steps([take[0], after], raw.QueueSizeV2(handle=q))


@graph("PaddingFIFOQueueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2")
def padding():
    types, shapes = [tf.float32, tf.string, tf.int64], [[None], [None, 2], []]
    q = raw.PaddingFIFOQueueV2(component_types=types, shapes=shapes, shared_name="padding")
    puts = [raw.QueueEnqueueV2(handle=q, components=[feed(f32(n)), feed(np.full((3 - n, 2), b"x", dtype=object)), feed(n, "int64")]) for n in (1, 3, 0, 2)]
    take = raw.QueueDequeueManyV2(handle=q, n=3, component_types=types)
    some = raw.QueueDequeueUpToV2(handle=q, n=3, component_types=types)
    many = raw.QueueEnqueueManyV2(handle=q, components=[feed(f32(2, 4)), feed(np.full((2, 1, 2), b"y", dtype=object)), feed(np.arange(2))])
    wrong = raw.QueueEnqueueV2(handle=q, components=[feed(f32(1, 1)), feed(np.full((1, 2), b"x", dtype=object)), feed(1, "int64")])
    return steps(*puts, take, many, take, wrong, raw.QueueCloseV2(handle=q), some)


@graph("RandomShuffleQueueV2", "QueueDequeueV2")
def shuffling_in_the_same_order():
    q = raw.RandomShuffleQueueV2(component_types=[tf.int32], shapes=[[]], min_after_dequeue=4, capacity=100, seed=42, seed2=7, shared_name="shuffling")
    put = raw.QueueEnqueueManyV2(handle=q, components=[feed(np.arange(30, dtype=np.int32))])
    take = raw.QueueDequeueManyV2(handle=q, n=10, component_types=[tf.int32])
    return steps(put, take, take, raw.QueueCloseV2(handle=q), take, take)


@graph("PriorityQueueV2", "QueueDequeueManyV2")
def priorities():
    q = raw.PriorityQueueV2(component_types=[tf.string], shapes=[[]])
    keys = np.array([5, 1, 9, -3, 1, 7, 5, 0], dtype=np.int64)
    put = raw.QueueEnqueueManyV2(handle=q, components=[feed(keys), feed(np.array([b"%d" % i for i in range(8)], dtype=object))])
    take = raw.QueueDequeueManyV2(handle=q, n=3, component_types=[tf.int64, tf.string])
    wrong = raw.QueueEnqueueV2(handle=q, components=[feed(keys), feed(b"x", "string")])
    return steps(put, take, take, wrong, raw.QueueSizeV2(handle=q))


@graph("FIFOQueueV2", "QueueEnqueueV2", "QueueEnqueueManyV2", "QueueDequeueManyV2", "QueueDequeueV2", "QueueDequeueUpToV2")
def refusals():
    q = raw.FIFOQueueV2(component_types=[tf.float32, tf.int32], shapes=[[2], []])
    shapeless = raw.FIFOQueueV2(component_types=[tf.float32])
    return steps(
        raw.QueueEnqueueV2(handle=q, components=[feed(f32(3)), feed(i32())]),
        raw.QueueEnqueueV2(handle=q, components=[feed(f32(2))]),
        raw.QueueEnqueueV2(handle=q, components=[feed(f32(2)), feed(f32())]),
        raw.QueueEnqueueManyV2(handle=q, components=[feed(f32(4, 2)), feed(i32(3))]),
        raw.QueueEnqueueManyV2(handle=q, components=[feed(f32(4, 3)), feed(i32(4))]),
        raw.QueueDequeueV2(handle=q, component_types=[tf.float32]),
        raw.QueueDequeueManyV2(handle=q, n=feed(-1, "int32"), component_types=[tf.float32, tf.int32]),
        raw.QueueDequeueUpToV2(handle=q, n=feed(-2, "int32"), component_types=[tf.float32, tf.int32]),
        raw.QueueDequeueManyV2(handle=shapeless, n=2, component_types=[tf.float32]),
        raw.QueueDequeueUpToV2(handle=shapeless, n=2, component_types=[tf.float32]),
    )


@graph("FIFOQueueV2", "RandomShuffleQueueV2", "PaddingFIFOQueueV2")
def clashes_of_shared_queues():
    def q(name, kind="FIFOQueueV2", types=(tf.float32,), shapes=((2,),), capacity=5, **more):
        return getattr(raw, kind)(component_types=list(types), shapes=list(shapes), capacity=capacity, shared_name=name, **more)

    return steps(
        q("clash_a").op, q("clash_a", capacity=6).op, q("clash_a", types=(tf.int32,)).op, q("clash_a", shapes=((3,),)).op,
        q("clash_a", kind="PaddingFIFOQueueV2").op, q("clash_a").op,
        q("clash_b", "RandomShuffleQueueV2", min_after_dequeue=2, seed=1, seed2=2).op, q("clash_b", "RandomShuffleQueueV2", min_after_dequeue=3, seed=1, seed2=2).op,
        q("clash_b", "RandomShuffleQueueV2", min_after_dequeue=2, seed=1, seed2=3).op, q("clash_b", "RandomShuffleQueueV2", min_after_dequeue=2).op,
        q("clash_c", "RandomShuffleQueueV2", min_after_dequeue=7).op,
    )  # fmt: skip


for op in ("FIFOQueue", "FIFOQueueV2", "PaddingFIFOQueue", "PaddingFIFOQueueV2", "RandomShuffleQueue", "RandomShuffleQueueV2", "PriorityQueue", "PriorityQueueV2",
           "QueueSize", "QueueSizeV2", "QueueClose", "QueueIsClosed", "QueueIsClosedV2"):
    exempt(op, "empty", why="takes no tensors whose size matters")
