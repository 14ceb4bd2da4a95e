"""Input on the tasks: queues with their runners, and tf.data in graph mode, from files that the client wrote."""

import numpy as np

from .scene import scenario


def write_examples(tf, path, start, count):
    with tf.io.TFRecordWriter(str(path)) as out:
        for i in range(start, start + count):
            features = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i / 2])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 3])),
            }
            out.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())


def spec(tf):
    return {"x": tf.io.FixedLenFeature([2], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64)}


@scenario("queue_input_pipeline")
def queue_input_pipeline(scene):
    """One reader thread for each queue; the order after a shuffling queue depends on how the threads meet, so it is sorted."""
    tf1 = scene.tf1
    import tensorflow as tf

    files = [scene.folder / f"part{i}.tfrecord" for i in range(3)]
    for i, path in enumerate(files):
        write_examples(tf, path, i * 10, 10)
    with tf1.device("/job:worker/task:0"):
        names = tf1.train.string_input_producer([str(path) for path in files], num_epochs=None, shuffle=True, seed=2)
        key, record = tf1.TFRecordReader().read(names)
        records = tf1.train.batch([record], batch_size=5, capacity=20)
        parsed = tf1.parse_example(records, spec(tf))
        doubled = parsed["x"] * 2.0
    with tf1.device("/job:worker/task:1"):
        shuffled = tf1.train.shuffle_batch([doubled, parsed["label"]], batch_size=5, capacity=40, min_after_dequeue=10,
                                           enqueue_many=True, seed=3, allow_smaller_final_batch=True)
    with tf1.device("/job:ps/task:0"):
        queue = tf1.FIFOQueue(100, [tf1.float32, tf1.int64], [[], []], shared_name="hand_over")
        numbers = tf1.placeholder(tf1.float32, [None])
        fill = queue.enqueue_many([numbers, tf1.cast(numbers, tf1.int64)])
        put = queue.enqueue([tf1.constant(0.5), tf1.constant(7, tf1.int64)])
        take, take_many, take_up_to = queue.dequeue(), queue.dequeue_many(3), queue.dequeue_up_to(8)
        size, close = queue.size(), queue.close()
    with scene.session() as session:
        coordinator = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(session, coordinator)
        try:
            seen = [session.run([parsed["x"], parsed["label"], shuffled[0]]) for _ in range(6)]
        finally:
            coordinator.request_stop()
        session.run([fill, put], {numbers: np.arange(10)})
        scene.keep(size=session.run(size), some=sorted(float(x) for x in session.run(take_many)[0])[1:])
        session.run(close)
        rest = [session.run(take)[0], *session.run(take_up_to)[0]]
        scene.keep(rest=len(rest))
        try:
            session.run(take)
        except tf1.errors.OutOfRangeError as error:
            scene.keep(end=error.message.split("\n")[0])
        scene.saw(session.graph)
    coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
    for x, label, mixed in seen:
        assert (x[:, 0].astype(np.int64) % 3 == label).all()
        assert np.isin(mixed[:, 0], 2 * np.arange(30)).all() and (mixed[:, 1] * 2 == mixed[:, 0]).all()
    scene.keep(shapes=[part.shape for batch in seen for part in batch])


@scenario("tf_data")
def tf_data(scene):
    tf1 = scene.tf1
    import tensorflow as tf

    data = tf1.data.Dataset
    for i in range(2):
        write_examples(tf, scene.folder / f"{i}.tfrecord", i * 4, 4)
        (scene.folder / f"{i}.txt").write_text("head\n" + "".join(f"{i},{j}\n" for j in range(4)))
    records = [str(scene.folder / f"{i}.tfrecord") for i in range(2)]
    texts = [str(scene.folder / f"{i}.txt") for i in range(2)]

    def numbers():
        return data.from_tensor_slices({"a": np.arange(12, dtype=np.int32), "b": np.arange(24, dtype=np.float32).reshape(12, 2)})

    with tf1.device("/job:worker/task:0"):
        mapped = numbers().shuffle(8, seed=4).map(lambda row: {"a": row["a"] + 1, "b": row["b"] / 3.0}).repeat(2).batch(5).prefetch(1)
        examples = data.from_tensor_slices(records).interleave(tf1.data.TFRecordDataset, cycle_length=2).batch(3)
        examples = examples.map(lambda batch: tf.io.parse_example(batch, spec(tf)), num_parallel_calls=2)
        lines = data.from_tensor_slices(texts).flat_map(
            lambda name: tf1.data.TextLineDataset(name).skip(1).concatenate(data.from_tensors("end")))
        ranges = data.range(1, 6).flat_map(lambda n: data.range(n).filter(lambda m: m > 0).map(lambda m: tf1.cast(m + n, tf1.int32)))
        ranges = ranges.shard(2, 1).skip(1).take(4)
        iterators = {"mapped": tf1.data.make_initializable_iterator(mapped), "examples": tf1.data.make_initializable_iterator(examples),
                     "lines": tf1.data.make_initializable_iterator(lines)}
        single = tf1.data.make_one_shot_iterator(ranges)
    fetches = {name: iterator.get_next() for name, iterator in iterators.items()}
    fetches["ranges"] = single.get_next()
    with scene.session() as session:
        session.run([iterator.initializer for iterator in iterators.values()])
        for name, fetch in fetches.items():
            for _ in range(100):
                try:
                    scene.add(name, session.run(fetch))
                except tf1.errors.OutOfRangeError as error:
                    scene.keep(**{f"end_of_{name}": error.message.split("\n")[0]})
                    break
