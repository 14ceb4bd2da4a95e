"""Steps that meet in one batch, with equal results on TensorFlow and on Troupe."""

import threading

import pytest


def together(*runs):
    """Runs each on a thread of its own and gives what they returned, or raised."""
    results = [None] * len(runs)

    def run(i):
        try:
            results[i] = runs[i]()
        except Exception as e:
            results[i] = e

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(runs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


def on(tf1, cluster):
    return tf1.Session(cluster.target("worker/0"), config=tf1.ConfigProto(isolate_session_state=True))


LONG = 60 * 1000000


def test_a_full_batch_is_computed_at_once(either, tf1):
    x = tf1.placeholder(tf1.int32, [None])
    size = tf1.nondifferentiable_batch_function(1, 3, LONG)(lambda x: x * tf1.size(x))
    with on(tf1, either) as session:
        y = size(x)
        one, two = together(lambda: session.run(y, {x: [5]}), lambda: session.run(y, {x: [7, 8]}))
        assert one.tolist() == [15] and two.tolist() == [21, 24]


def test_a_batch_does_not_wait_for_ever(either, tf1):
    x = tf1.placeholder(tf1.int32, [None])
    y = tf1.nondifferentiable_batch_function(1, 10, 50000)(lambda x: x * tf1.size(x))(x)
    with on(tf1, either) as session:
        assert session.run(y, {x: [5, 6]}).tolist() == [10, 12]


def test_rows_of_different_shapes(either, tf1):
    x = tf1.placeholder(tf1.int32)
    y = tf1.nondifferentiable_batch_function(1, 2, LONG)(lambda x: x + 1)(x)
    with on(tf1, either) as session:
        for error in together(lambda: session.run(y, {x: [1]}), lambda: session.run(y, {x: [[1]]})):
            assert isinstance(error, tf1.errors.InvalidArgumentError) and "Ranks of all input tensors should match" in str(error)


def test_a_step_that_waits_for_a_batch_can_be_cancelled(troupe, tf1):
    x = tf1.placeholder(tf1.int32, [None])
    y = tf1.nondifferentiable_batch_function(1, 2, LONG)(lambda x: x + 1)(x)
    with on(tf1, troupe) as session:
        with pytest.raises(tf1.errors.DeadlineExceededError):
            session.run(y, {x: [1]}, options=tf1.RunOptions(timeout_in_ms=300))
        one, two = together(lambda: session.run(y, {x: [1]}), lambda: session.run(y, {x: [2]}))
        assert one.tolist() == [2] and two.tolist() == [3]


def test_the_last_one_gets_the_batch_and_all_their_parts(either, tf1):
    x = tf1.placeholder(tf1.int32, [None])
    (rows,), index, key = tf1.raw_ops.Batch(in_tensors=[x], num_batch_threads=1, max_batch_size=3, batch_timeout_micros=LONG, grad_timeout_micros=0)
    part = tf1.raw_ops.Unbatch(batched_tensor=rows * 10, batch_index=index, id=key, timeout_micros=LONG)
    with on(tf1, either) as session:
        one, two = together(lambda: session.run([rows, part], {x: [5]}), lambda: session.run([rows, part], {x: [7, 8]}))
        assert one[1].tolist() == [50] and two[1].tolist() == [70, 80]
        assert sorted(map(len, (one[0], two[0]))) == [0, 3]


def test_a_part_that_does_not_come(either, tf1):
    part = tf1.raw_ops.Unbatch(batched_tensor=tf1.zeros([0]), batch_index=tf1.zeros([0, 3], tf1.int64), id=tf1.constant(7, tf1.int64), timeout_micros=1000)
    with on(tf1, either) as session:
        with pytest.raises(tf1.errors.DeadlineExceededError, match="Batched data did not arrive within timeout window"):
            session.run(part)
