"""Staging areas, stacks, mutexes and barriers: what comes out, what is empty, what is refused."""

import tensorflow as tf
from framework import *
from values import *

raw = tf.raw_ops
F, S = tf.float32, tf.string
TYPES = [F, S]


def area(name, **attrs):
    return {"dtypes": TYPES, "shared_name": f"stages_{name}", **attrs}


def stage(values, name, **attrs):
    return raw.Stage(values=values, shared_name=f"stages_{name}", **attrs)


def pair(shape=(2,), text=(1,)):
    return [feed(f32(*shape)), feed(strings(*text))]


@graph("Stage", "Unstage", "StageSize", "StagePeek", "StageClear")
def first_in_first_out():
    how = area("plain")
    put, again = stage(pair(), "plain"), stage(pair((0, 3)), "plain")
    size = raw.StageSize(**how)
    return steps(size, put, again, size, raw.StagePeek(index=feed(1, "int32"), **how), raw.Unstage(**how), size, raw.Unstage(**how), size, put, raw.StageClear(**how), size)


@graph("Stage", "StageSize")
def other_names_are_others():
    return steps(stage(pair(), "x"), raw.StageSize(**area("x")), raw.StageSize(**area("y")), raw.StageSize(**area("x", container="other")))


@graph("Stage")
def too_large_for_the_limit():
    return stage([feed(f32(100)), feed(strings(1))], "limit", memory_limit=40)


exempt("StageSize", "empty", "refusal", why="takes nothing")
exempt("StageClear", "values", "empty", "refusal", why="takes nothing and gives nothing")
exempt("StagePeek", "refusal", why="waits for what is not there")
exempt("Unstage", "refusal", why="waits for what is not there")
exempt("Stage", "values", why="gives nothing")


def maps(kind):
    """MapStage or OrderedMapStage and their companions."""
    op = lambda name: getattr(raw, kind + name)
    key = lambda k: feed(k, "int64")
    indices = lambda *at: feed(list(at), "int32")

    @graph(kind + "Stage", kind + "Unstage", kind + "UnstageNoKey", kind + "Size", kind + "IncompleteSize", kind + "Peek", kind + "Clear")
    def by_key():
        how = area(kind + "keys")
        whole = lambda k, shape=(2,): op("Stage")(key=key(k), indices=indices(0, 1), values=pair(shape), **how)
        size, half = op("Size")(**how), op("IncompleteSize")(**how)
        return steps(
            [size, half],
            whole(5),
            whole(2, (0, 3)),
            [size, half],
            op("Peek")(key=key(5), indices=indices(0, 1), **how),
            op("Unstage")(key=key(2), indices=indices(0, 1), **how),
            size,
            op("UnstageNoKey")(indices=indices(0, 1), **how),
            [size, half],
            whole(9),
            op("Clear")(**how),
            [size, half],
        )

    @graph(kind + "Stage", kind + "Unstage", kind + "Size", kind + "IncompleteSize")
    def in_parts():
        how = area(kind + "parts")
        first = op("Stage")(key=key(1), indices=indices(0), values=[feed(f32(2))], **how)
        second = op("Stage")(key=key(1), indices=indices(1), values=[feed(strings(2))], **how)
        size, half = op("Size")(**how), op("IncompleteSize")(**how)
        return steps(first, [size, half], second, [size, half], op("Unstage")(key=key(1), indices=indices(0, 1), **how), [size, half])

    for name, indexed, given in (
        ("double", (0, 0), lambda: [feed(f32(2)), feed(f32(2))]),
        ("negative", (0, -1), lambda: pair()),
        ("swapped", (1, 0), lambda: pair()),
    ):

        @graph(kind + "Stage")
        def refused_stage(name=name, indexed=indexed, given=given):
            return op("Stage")(key=key(1), indices=indices(*indexed), values=given(), **area(kind + name))

    @graph(kind + "Stage")
    def same_key_twice():
        how = area(kind + "twice")
        put = op("Stage")(key=key(1), indices=indices(0, 1), values=pair(), **how)
        return steps(put, put)

    @graph(kind + "Stage", kind + "Unstage")
    def wrong_indices_out():
        how = area(kind + "out")
        put = op("Stage")(key=key(1), indices=indices(0, 1), values=pair(), **how)
        return steps(put, op("Unstage")(key=key(1), indices=indices(0, 3), **how))

    for name in ("Size", "IncompleteSize"):
        exempt(kind + name, "empty", "refusal", why="takes nothing")
    exempt(kind + "Clear", "values", "empty", "refusal", why="takes nothing and gives nothing")
    for name in ("Peek", "UnstageNoKey"):
        exempt(kind + name, "refusal", why="waits for what is not there")


maps("Map")
maps("OrderedMap")


def stack(kind=F, most=-1, name="s"):
    return raw.StackV2(max_size=feed(most, "int32"), elem_type=kind, stack_name=name)


for dtype in ("float", "int32", "string", "bool", "complex64"):

    @graph("StackV2", "StackPushV2", "StackPopV2")
    def last_in_first_out(dtype=dtype):
        kind = tf.as_dtype(dtype)
        handle = stack(kind)
        a = raw.StackPushV2(handle=handle, elem=feed(values(dtype, 2, 3)))
        with tf.control_dependencies([a]):
            b = raw.StackPushV2(handle=handle, elem=feed(values(dtype, 0, 3)))
        with tf.control_dependencies([b]):
            first = raw.StackPopV2(handle=handle, elem_type=kind)
        with tf.control_dependencies([first]):
            return [a, b, first, raw.StackPopV2(handle=handle, elem_type=kind)]


@graph("StackV2", "StackPopV2")
def pop_of_nothing():
    return raw.StackPopV2(handle=stack(), elem_type=F)


@graph("StackV2", "StackPushV2")
def push_of_another_type():
    return raw.StackPushV2(handle=stack(), elem=feed(i32(2)))


@graph("StackV2", "StackPushV2")
def push_beyond_the_size():
    handle = stack(most=1)
    a = raw.StackPushV2(handle=handle, elem=feed(f32(2)))
    with tf.control_dependencies([a]):
        return raw.StackPushV2(handle=handle, elem=feed(f32(2)))


@graph("StackV2")
def size_is_no_scalar():
    return stack(most=[1, 2])


@graph("StackCloseV2", "StackPushV2")
def push_after_close():
    handle = stack()
    closed = raw.StackCloseV2(handle=handle)
    with tf.control_dependencies([closed]):
        return raw.StackPushV2(handle=handle, elem=feed(f32(2)))


exempt("StackCloseV2", "values", "empty", why="gives nothing")
exempt("StackV2", "values", "empty", why="gives a handle")


@graph("MutexV2", "MutexLock", "ConsumeMutexLock")
def locked_and_released():
    handle = raw.MutexV2(shared_name="stages_mutex")
    lock = raw.MutexLock(mutex=handle)
    done = raw.ConsumeMutexLock(mutex_lock=lock)
    return steps(done, done, done)


@graph("MutexLock")
def lock_of_a_variable():
    return raw.MutexLock(mutex=raw.VarHandleOp(dtype=F, shape=[], shared_name="stages_no_mutex"))


for op in ("MutexV2", "MutexLock", "ConsumeMutexLock"):
    exempt(op, "values", "empty", why="gives a handle, a lock or nothing")
exempt("MutexV2", "refusal", why="takes nothing")
exempt("ConsumeMutexLock", "refusal", why="takes every lock")
