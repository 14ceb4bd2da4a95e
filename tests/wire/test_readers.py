"""Input pipelines of old: files named by a queue, readers, batches, threads that fill them."""

import numpy as np
import pytest


@pytest.fixture
def lines(tmp_path):
    names = []
    for i in range(3):
        names.append(str(tmp_path / f"part-{i}.csv"))
        with open(names[-1], "w") as f:
            f.writelines(f"{i},{j}\n" for j in range(5))
    return names


def test_a_pipeline_of_text_lines(either, tf1, lines):
    import tensorflow as tf

    tf1.Session.reset(either.target("worker/0"))
    with tf1.device("/job:worker/task:0"):
        files = tf1.train.string_input_producer(lines, num_epochs=2, shuffle=False)
        _, line = tf1.TextLineReader().read(files)
        batch = tf1.train.batch(tf1.decode_csv(line, [[0], [0]]), batch_size=5)
    seen = []
    with tf1.Session(either.target("worker/0")) as session:
        session.run([tf1.global_variables_initializer(), tf1.local_variables_initializer()])
        coordinator = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(session, coordinator)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                seen.append(np.stack(session.run(batch), axis=1))
        coordinator.request_stop()
        coordinator.join(threads)
    assert np.array_equal(np.concatenate(seen), np.array([[i, j] for i in range(3) for j in range(5)] * 2))


def test_readers_that_wait_take_turns(either, tf1, lines):
    """Several steps wait for a file at once; then each gets a line, in whatever order."""
    import concurrent.futures

    target = either.target("worker/0")
    tf1.Session.reset(target)
    queue = tf1.FIFOQueue(10, [tf1.string], shapes=[()], shared_name="files_that_come_late")
    key, value = tf1.TextLineReader().read(queue)
    with tf1.Session(target) as session, concurrent.futures.ThreadPoolExecutor(5) as threads:
        waiting = [threads.submit(session.run, value) for _ in range(5)]
        assert not concurrent.futures.wait(waiting, timeout=0.5).done
        session.run(queue.enqueue(lines[1]))
        assert sorted(w.result(timeout=20) for w in waiting) == [f"1,{j}".encode() for j in range(5)]


def test_a_waiting_reader_is_cancelled_with_its_step(either, tf1):
    import tensorflow as tf

    target = either.target("worker/0")
    tf1.Session.reset(target)
    queue = tf1.FIFOQueue(10, [tf1.string], shapes=[()], shared_name="files_that_never_come")
    key, value = tf1.WholeFileReader().read(queue)
    with tf1.Session(target) as session:
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(value, options=tf1.RunOptions(timeout_in_ms=300))
