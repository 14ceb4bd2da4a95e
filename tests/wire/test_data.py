"""tf.data in graphs: iterators of every kind and a pipeline of records, with equal results on TensorFlow and on Troupe."""

import threading

import numpy as np
import pytest


def drain(tf1, session, element, most=1000):
    """All elements up to the end."""
    elements = []
    with pytest.raises(tf1.errors.OutOfRangeError, match="End of sequence"):
        for _ in range(most):
            elements.append(session.run(element))
    return elements


def on(tf1, cluster):
    config = tf1.ConfigProto(isolate_session_state=True)
    return tf1.Session(cluster.target("worker/0"), config=config)


def test_an_initializable_iterator(either, tf1):
    limit = tf1.placeholder(tf1.int64, [])
    iterator = tf1.data.make_initializable_iterator(tf1.data.Dataset.range(limit).map(lambda x: x * limit))
    element = iterator.get_next()
    with on(tf1, either) as session:
        with pytest.raises(tf1.errors.FailedPreconditionError, match="has not been initialized"):
            session.run(element)
        for n in (3, 5, 0):
            session.run(iterator.initializer, {limit: n})
            assert drain(tf1, session, element) == [i * n for i in range(n)]


def test_an_iterator_is_saved_in_a_checkpoint(either, tf1, tmp_path):
    iterator = tf1.data.make_initializable_iterator(tf1.data.Dataset.range(10).shuffle(5, seed=1))
    element = iterator.get_next()
    saver = tf1.train.Saver([tf1.data.experimental.make_saveable_from_iterator(iterator)])
    with on(tf1, either) as session:
        session.run(iterator.initializer)
        begin = [session.run(element) for _ in range(4)]
        place = saver.save(session, str(tmp_path / "iterator"))
        rest = drain(tf1, session, element)
        assert sorted(begin + rest) == list(range(10))
        saver.restore(session, place)
        assert drain(tf1, session, element) == rest


def test_a_one_shot_iterator(either, tf1):
    dataset = tf1.data.Dataset.from_tensor_slices((np.arange(4), np.array([b"a", b"b", b"c", b"d"]))).batch(3)
    numbers, letters = tf1.data.make_one_shot_iterator(dataset).get_next()
    with on(tf1, either) as session:
        got = drain(tf1, session, [numbers, letters])
    assert [n.tolist() for n, _ in got] == [[0, 1, 2], [3]]
    assert [s.tolist() for _, s in got] == [[b"a", b"b", b"c"], [b"d"]]


def test_a_reinitializable_iterator(either, tf1):
    training, validation = tf1.data.Dataset.range(3), tf1.data.Dataset.range(10, 14).filter(lambda x: tf1.equal(x % 2, 0))
    iterator = tf1.data.Iterator.from_structure(tf1.data.get_output_types(training), tf1.data.get_output_shapes(training))
    element = iterator.get_next()
    to_training, to_validation = iterator.make_initializer(training), iterator.make_initializer(validation)
    with on(tf1, either) as session:
        for _ in range(2):
            session.run(to_training)
            assert session.run(element) == 0
            session.run(to_validation)
            assert drain(tf1, session, element) == [10, 12]


def test_a_feedable_iterator(either, tf1):
    handle = tf1.placeholder(tf1.string, [])
    endless = tf1.data.make_one_shot_iterator(tf1.data.Dataset.range(2).repeat())
    short = tf1.data.make_initializable_iterator(tf1.data.Dataset.range(7, 9))
    element = tf1.data.Iterator.from_string_handle(handle, tf1.int64, []).get_next()
    with on(tf1, either) as session:
        first, second = session.run([endless.string_handle(), short.string_handle()])
        assert [session.run(element, {handle: first}) for _ in range(3)] == [0, 1, 0]
        session.run(short.initializer)
        assert session.run(element, {handle: second}) == 7
        assert session.run(element, {handle: first}) == 1
        assert session.run(element, {handle: second}) == 8
        with pytest.raises(tf1.errors.OutOfRangeError):
            session.run(element, {handle: second})


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_a_pipeline_of_records(troupe, tensorflow_cluster, tf1, tmp_path, compression):
    files = []
    for f in range(3):
        files.append(str(tmp_path / f"part-{f}"))
        with tf1.python_io.TFRecordWriter(files[-1], compression) as writer:
            for i in range(20):
                writer.write(b"%d" % (f * 100 + i))
    dataset = tf1.data.Dataset.from_tensor_slices(files).interleave(lambda f: tf1.data.TFRecordDataset(f, compression), cycle_length=2, block_length=3)
    dataset = dataset.map(lambda s: tf1.strings.to_number(s, tf1.int64), num_parallel_calls=2).shuffle(11, seed=3).repeat(2).batch(7).prefetch(2)
    iterator = tf1.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    results = []
    for cluster in (tensorflow_cluster, troupe):
        with on(tf1, cluster) as session:
            session.run(iterator.initializer)
            results.append([batch.tolist() for batch in drain(tf1, session, element)])
    assert results[0] == results[1]
    assert sorted(sum(results[1], [])) == sorted([f * 100 + i for f in range(3) for i in range(20)] * 2)


def test_lines(either, tf1, tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"one\r\ntwo\n\nlast")
    element = tf1.data.make_one_shot_iterator(tf1.data.TextLineDataset(str(path)).skip(1).repeat(2)).get_next()
    missing = tf1.data.make_one_shot_iterator(tf1.data.TextLineDataset(str(tmp_path / "none"))).get_next()
    with on(tf1, either) as session:
        assert drain(tf1, session, element) == [b"two", b"", b"last"] * 2
        with pytest.raises(tf1.errors.NotFoundError, match="No such file or directory"):
            session.run(missing)


def test_a_long_way_to_the_next_element(either, tf1):
    many = 30_000
    dataset = tf1.data.Dataset.range(many).filter(lambda x: x >= many - 1)
    empty = tf1.data.Dataset.range(0).repeat()
    elements = [tf1.data.make_one_shot_iterator(d).get_next() for d in (dataset, empty)]
    with on(tf1, either) as session:
        assert drain(tf1, session, elements[0]) == [many - 1]
        assert drain(tf1, session, elements[1]) == []


def test_steps_at_the_same_time_get_different_elements(either, tf1):
    element = tf1.data.make_one_shot_iterator(tf1.data.Dataset.range(60).map(lambda x: x + 1)).get_next()
    got, lock = [], threading.Lock()
    with on(tf1, either) as session:

        def take():
            for _ in range(15):
                value = session.run(element)
                with lock:
                    got.append(value)

        threads = [threading.Thread(target=take) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert sorted(got) == list(range(1, 61))


def test_a_step_that_waits_for_an_element_can_be_cancelled(either, tf1):
    queue = tf1.FIFOQueue(3, [tf1.int64], shapes=[[]], shared_name="never_filled")
    iterator = tf1.data.make_initializable_iterator(tf1.data.Dataset.range(2).map(lambda x: queue.dequeue() + x))
    element = iterator.get_next()
    put = queue.enqueue(tf1.constant(5, tf1.int64))
    with on(tf1, either) as session:
        session.run([queue.size(), iterator.initializer])
        with pytest.raises(tf1.errors.DeadlineExceededError):
            session.run(element, options=tf1.RunOptions(timeout_in_ms=300))
        session.run(put)


def test_a_graph_that_grows_keeps_its_functions(either, tf1):
    with on(tf1, either) as session:
        for n in range(1, 5):
            element = tf1.data.make_one_shot_iterator(tf1.data.Dataset.range(3).map(lambda x: x * n).filter(lambda x: x > 0)).get_next()
            assert session.run(element) == n


def test_what_a_function_keeps_lives_as_long_as_its_iterator(troupe, tensorflow_cluster, tf1):
    dataset = tf1.data.Dataset.range(3).map(lambda x: tf1.random.uniform([], seed=4)).repeat(2)
    nested = tf1.data.Dataset.range(2).flat_map(lambda x: tf1.data.Dataset.range(3).map(lambda y: tf1.random.uniform([], seed=5)))
    iterators = [tf1.data.make_initializable_iterator(d) for d in (dataset, nested)]
    elements = [i.get_next() for i in iterators]
    results = []
    for cluster in (tensorflow_cluster, troupe):
        with on(tf1, cluster) as session:
            for _ in range(2):
                session.run([i.initializer for i in iterators])
                results.append([drain(tf1, session, e) for e in elements])
    assert results[0] == results[1] == results[2] == results[3]


def test_optionals_have_zeros_and_sums(either, tf1):
    """The gradients of a cond carry values of its branches in optionals."""
    from tensorflow.python.ops import gen_optional_ops as optionals

    def value(*components):
        return optionals.optional_from_value(list(components))

    some = value(tf1.constant([1.0, 2.0]), tf1.constant(3))
    sums = tf1.raw_ops.AddN(inputs=[some, value(tf1.constant([0.5, 0.5]), tf1.constant(4))])
    zeros = tf1.raw_ops.ZerosLike(x=some)
    neither = tf1.raw_ops.AddN(inputs=[tf1.raw_ops.ZerosLike(x=optionals.optional_none()), optionals.optional_none()])
    with tf1.Session(either.target("worker/0")) as session:
        for optional, expected in (sums, [[1.5, 2.5], 7]), (zeros, [[0, 0], 0]):
            got = session.run(optionals.optional_get_value(optional, [tf1.float32, tf1.int32], [[2], []]))
            assert [v.tolist() for v in got] == expected
        assert not session.run(optionals.optional_has_value(neither))
        with pytest.raises(tf1.errors.InvalidArgumentError, match="Cannot add optionals because one has a value and the other doesn't."):
            session.run(tf1.raw_ops.AddN(inputs=[some, optionals.optional_none()]).op)
        with pytest.raises(tf1.errors.InvalidArgumentError, match="Trying to compute zeros_like for unsupported dtype string"):
            session.run(tf1.raw_ops.ZerosLike(x=value(tf1.constant("a"))).op)


@pytest.mark.parametrize("compression", [None, "GZIP", "SNAPPY"])
def test_a_dataset_saved_by_one_is_loaded_by_the_other(troupe, tensorflow_cluster, tf1, tmp_path, compression):
    import tensorflow as tf

    def elements():
        return tf.data.Dataset.range(300).map(lambda x: (x, tf.strings.as_string(x), tf.fill([50, 20], tf.cast(x, tf.float32))))

    for name, writer, reader in (("ours", troupe, tensorflow_cluster), ("theirs", tensorflow_cluster, troupe)):
        path = str(tmp_path / name)
        with tf.Graph().as_default():
            save = elements().save(path, compression=compression, shard_func=lambda x, *_: x % 3)
            with on(tf1, writer) as session:
                session.run(save)
        with tf.Graph().as_default():
            dataset = tf.data.Dataset.load(path, compression=compression, reader_func=lambda shards: shards.flat_map(lambda shard: shard))
            iterator = tf1.data.make_initializable_iterator(dataset)
            element, count = iterator.get_next(), dataset.cardinality()
            with on(tf1, reader) as session:
                assert session.run(count) == 300
                session.run(iterator.initializer)
                loaded = drain(tf1, session, element)
        assert [e[0] for e in loaded] == sorted(range(300), key=lambda x: (x % 3, x))
        assert all(e[1] == b"%d" % e[0] and (e[2] == e[0]).all() and e[2].shape == (50, 20) for e in loaded)


def test_a_snapshot_is_written_once(either, tf1, tmp_path):
    """The second pass, of another session, reads what the first one wrote."""
    import tensorflow as tf

    path = str(tmp_path / "snapshot")
    seen = []
    for _ in range(2):
        with tf.Graph().as_default():
            values = tf1.placeholder_with_default([3, 1, 4, 1, 5], [None])
            dataset = tf.data.Dataset.from_tensor_slices(values).map(lambda x: x * 10).snapshot(path, compression=None)
            iterator = tf1.data.make_initializable_iterator(dataset)
            element = iterator.get_next()
            with on(tf1, either) as session:
                session.run(iterator.initializer)
                seen.append(drain(tf1, session, element))
    assert seen == [[30, 10, 40, 10, 50]] * 2
    (directory,) = (tmp_path / "snapshot").iterdir()
    assert len([run for run in directory.iterdir() if run.is_dir()]) == 1


def test_an_iterator_with_a_state_elsewhere_is_not_saved(either, tf1, tmp_path):
    iterator = tf1.data.make_initializable_iterator(tf1.data.Dataset.range(5).map(lambda x: tf1.random.uniform([], seed=2)).batch(2))
    saver = tf1.train.Saver([tf1.data.experimental.make_saveable_from_iterator(iterator)])
    with on(tf1, either) as session:
        session.run(iterator.initializer)
        with pytest.raises(tf1.errors.FailedPreconditionError, match="RandomUniform is stateful."):
            saver.save(session, str(tmp_path / "state"))


@pytest.mark.parametrize("way", ["padded", "filtered", "zipped", "twice", "ignoring"])
def test_at_their_end_many_datasets_keep_nothing_that_could_not_be_saved(either, tf1, tmp_path, way):
    random = tf1.data.Dataset.range(5).map(lambda x: tf1.random.uniform([], seed=2))
    dataset = {"padded": lambda: random.padded_batch(2), "filtered": lambda: random.filter(lambda x: x > 0.5), "twice": lambda: random.repeat(2),
               "zipped": lambda: tf1.data.Dataset.zip((random, random)), "ignoring": lambda: random.ignore_errors()}[way]()
    iterator = tf1.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    saver = tf1.train.Saver([tf1.data.experimental.make_saveable_from_iterator(iterator)])
    with on(tf1, either) as session:
        session.run(iterator.initializer)
        with pytest.raises(tf1.errors.FailedPreconditionError, match="RandomUniform is stateful."):
            saver.save(session, str(tmp_path / "state"))
        drain(tf1, session, element)
        place = saver.save(session, str(tmp_path / "state"))
        session.run(iterator.initializer)
        session.run(element)
        saver.restore(session, place)
        assert drain(tf1, session, element) == []


def test_what_the_last_function_keeps_is_told_first(either, tf1, tmp_path):
    dataset = tf1.data.Dataset.range(5).map(lambda x: tf1.random.uniform([], seed=2)).filter(lambda x: tf1.random.normal([], seed=2) < x)
    iterator = tf1.data.make_initializable_iterator(dataset)
    saver = tf1.train.Saver([tf1.data.experimental.make_saveable_from_iterator(iterator)])
    with on(tf1, either) as session:
        session.run(iterator.initializer)
        with pytest.raises(tf1.errors.FailedPreconditionError, match="RandomStandardNormal is stateful."):
            saver.save(session, str(tmp_path / "state"))


def test_a_place_in_files_of_records_is_saved(either, tf1, tmp_path):
    files = [str(tmp_path / name) for name in "ab"]
    for file in files:
        with open(file, "wb") as f:
            f.write(file[-1:].encode() * 12)
    iterator = tf1.data.make_initializable_iterator(tf1.data.FixedLengthRecordDataset(files, 3))
    element = iterator.get_next()
    saver = tf1.train.Saver([tf1.data.experimental.make_saveable_from_iterator(iterator)])
    with on(tf1, either) as session:
        session.run(iterator.initializer)
        assert [session.run(element) for _ in range(3)] == [b"aaa"] * 3
        place = saver.save(session, str(tmp_path / "place"))
        session.run(element)
        saver.restore(session, place)
        assert drain(tf1, session, element) == [b"aaa"] + [b"bbb"] * 4


def test_a_function_that_calls_itself_is_looked_at_once(troupe, tf1):
    """Twice in its body: to look at every call would never end."""
    import tensorflow as tf

    iterator = tf1.data.make_initializable_iterator(tf1.data.Dataset.range(3).map(lambda x: x + 1))
    state = tf.raw_ops.SerializeIterator(resource_handle=iterator._iterator_resource, external_state_policy=2)
    tf1.shape(state, name="saved")
    graph_def = tf1.get_default_graph().as_graph_def()
    (function,) = graph_def.library.function
    for name in ("first", "second"):
        node = function.node_def.add(name=name, op="If", input=["args_0", "args_0"])
        for attr, dtype in ("Tcond", tf1.int64), ("Tin", [tf1.int64]), ("Tout", [tf1.int64]):
            if isinstance(dtype, list):
                node.attr[attr].list.type.append(dtype[0].as_datatype_enum)
            else:
                node.attr[attr].type = dtype.as_datatype_enum
        node.attr["output_shapes"].list.SetInParent()
        for attr in ("then_branch", "else_branch"):
            node.attr[attr].func.name = function.signature.name
    with tf1.Graph().as_default():
        tf1.import_graph_def(graph_def, name="")
        with on(tf1, troupe) as session:
            session.run("MakeIterator", options=tf1.RunOptions(timeout_in_ms=50_000))
            assert session.run("saved:0") == [1]


def test_a_dataset_is_written_down_on_one_task_and_made_again_on_another(either, tf1):
    tf = pytest.importorskip("tensorflow")
    with tf1.device("/job:worker/task:0"):
        table = tf1.get_variable("table", initializer=np.array([5, 6, 7]), use_resource=True)
        dataset = tf1.data.Dataset.range(3).map(lambda x: tf1.gather(table, x)).batch(2)
        text = tf.raw_ops.DatasetToGraphV2(input_dataset=dataset._variant_tensor, strip_device_assignment=True)
    with tf1.device("/job:worker/task:1"):
        again = tf1.data.experimental.from_variant(tf.raw_ops.DatasetFromGraph(graph_def=text), dataset.element_spec)
        iterator = tf1.data.make_initializable_iterator(again)
        element = iterator.get_next()
    with on(tf1, either) as session:
        session.run(table.initializer)
        session.run(iterator.initializer)
        assert [e.tolist() for e in drain(tf1, session, element)] == [[5, 6], [7]]


def test_the_iterator_of_a_strategy(either, tf1):
    strategy = tf1.distribute.MirroredStrategy(["/job:worker/task:0/cpu:0"])
    iterator = strategy.make_dataset_iterator(tf1.data.Dataset.range(8).map(lambda x: x * 2).batch(3))
    (element,) = strategy.experimental_local_results(iterator.get_next())
    with on(tf1, either) as session:
        session.run(iterator.initialize())
        assert [e.tolist() for e in drain(tf1, session, element)] == [[0, 2, 4], [6, 8, 10], [12, 14]]
