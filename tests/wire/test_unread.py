"""Values that a step only waits for, functions that are sent again, and steps that ask for nonsense."""

import numpy as np
import pytest


def missing_row(tf1):
    return tf1.gather(tf1.placeholder_with_default([1, 2], [None]), tf1.placeholder_with_default(9, []))


def after(tf1, value):
    with tf1.control_dependencies([value]):
        return tf1.constant(1) + tf1.placeholder_with_default(1, [])


def test_what_is_only_waited_for_is_not_computed(either, tf1):
    waits = after(tf1, tf1.identity(missing_row(tf1)))
    with tf1.Session(either.target("worker/0")) as session:
        assert session.run(waits) == 2


def test_a_target_is_computed(either, tf1):
    row = missing_row(tf1)
    tf1.constant(1)
    with tf1.Session(either.target("worker/0")) as session:
        with pytest.raises(tf1.errors.InvalidArgumentError, match="indices = 9 is not in"):
            session.run(row.op)


def test_a_check_is_made_though_only_waited_for(either, tf1):
    waits = after(tf1, tf1.identity(tf1.check_numerics(tf1.placeholder_with_default(np.nan, []), "bad")))
    with tf1.Session(either.target("worker/0")) as session:
        with pytest.raises(tf1.errors.InvalidArgumentError, match="bad : Tensor had NaN"):
            session.run(waits)


def test_a_session_may_want_everything_computed(either, tf1):
    fed = tf1.placeholder(tf1.int32, [])
    with tf1.control_dependencies([missing_row(tf1)]):
        waits = tf1.constant(1) + fed
    config = tf1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf1.Session(either.target("worker/0"), config=config) as session:
        with pytest.raises(tf1.errors.InvalidArgumentError, match="indices = 9 is not in"):
            session.run(waits, {fed: 1})


def test_a_branch_not_taken_is_not_waited_into(either, tf1):
    pred = tf1.placeholder_with_default(False, [])
    v = tf1.get_variable("counted", initializer=0, use_resource=True)
    chosen = tf1.cond(pred, lambda: after(tf1, tf1.identity(v.assign_add(1))), lambda: tf1.constant(7))
    with tf1.Session(either.target("worker/0")) as session:
        session.run(v.initializer)
        assert session.run(chosen) == 7 and session.run(v) == 0
        assert session.run(chosen, {pred: True}) == 2 and session.run(v) == 1


def test_a_session_grows_with_a_function_that_holds_a_nan(either, tf1):
    from tensorflow.python.framework import function

    @function.Defun(tf1.float32)
    def add_nothing(x):
        return tf1.where(tf1.is_nan(x), tf1.constant([0.0, np.nan]), x)

    with tf1.Session(either.target("worker/0")) as session:
        first = session.run(add_nothing(tf1.constant([1.0, 2.0])))
        again = session.run(add_nothing(tf1.constant([3.0, np.nan])))
    np.testing.assert_array_equal(first, [1.0, 2.0])
    np.testing.assert_array_equal(again, [3.0, np.nan])


def test_partial_runs_of_nothing_and_of_feeds(either, tf1):
    x = tf1.placeholder(tf1.float32, [])
    y = x + 1
    with tf1.Session(either.target("worker/0")) as session:
        with pytest.raises(tf1.errors.InvalidArgumentError, match="Must specify at least one target to fetch or execute."):
            session.partial_run_setup([], [])
        with pytest.raises(tf1.errors.InvalidArgumentError, match="is both fed and fetched."):
            session.partial_run_setup([x, y], [x])
