"""Sessions from the smallest one to the trainers of the guides: a canonical trainer, a convolutional network, a worker that waits."""

from . import digits, events
from .scene import scenario


@scenario("session_hello")
def session_hello(scene):
    tf1 = scene.tf1
    x = tf1.placeholder(tf1.float32, [2], name="x")
    y = x + tf1.constant([1.0, 2.0])
    with scene.session() as session:
        scene.keep(y=session.run(y, {x: [3.0, 4.0]}), again=session.run([y, tf1.constant(b"hello")], {x: [-1.0, 0.5]}))


def canonical_graph(scene, worker):
    tf1 = scene.tf1
    with tf1.device(scene.setter(worker)):
        x = tf1.placeholder(tf1.float32, [None, 784], name="x")
        y = tf1.placeholder(tf1.int64, [None], name="y")
        initial = tf1.truncated_normal_initializer(stddev=0.1)
        w1 = scene.variable("hidden/w", [784, 16], initializer=initial)
        b1 = scene.variable("hidden/b", [16], initializer=tf1.zeros_initializer())
        w2 = scene.variable("softmax/w", [16, 10], initializer=initial)
        b2 = scene.variable("softmax/b", [10], initializer=tf1.zeros_initializer())
        hidden = tf1.nn.relu(tf1.nn.bias_add(tf1.matmul(x, w1), b1))
        logits = tf1.nn.bias_add(tf1.matmul(hidden, w2), b2)
        loss = tf1.reduce_mean(tf1.losses.sparse_softmax_cross_entropy(labels=y, logits=logits))
        accuracy = tf1.reduce_mean(tf1.cast(tf1.equal(tf1.argmax(logits, 1), y), tf1.float32))
        tf1.summary.scalar("loss", loss)
        tf1.summary.scalar("accuracy", accuracy)
        tf1.summary.histogram("logits", logits)
        tf1.summary.merge_all()
        step = tf1.train.get_or_create_global_step()
        train = tf1.train.AdagradOptimizer(0.05).minimize(loss, global_step=step)
    return x, y, [train, loss, accuracy, step], [w1, b1, w2, b2]


@scenario("canonical_trainer_adagrad_ref", "canonical_trainer_adagrad_resource")
def canonical_trainer(scene):
    tf1 = scene.tf1
    graphs = [tf1.Graph(), tf1.Graph()]
    with graphs[0].as_default():
        tf1.set_random_seed(3)
        x0, y0, chief_fetches, _ = canonical_graph(scene, 0)
        chief = tf1.train.MonitoredTrainingSession(
            scene.target(), is_chief=True, checkpoint_dir=str(scene.folder), save_summaries_steps=2, save_checkpoint_secs=600,
            hooks=[tf1.train.StopAtStepHook(last_step=12)], config=scene.config(0))
    with graphs[1].as_default():
        x1, y1, worker_fetches, variables = canonical_graph(scene, 1)
        worker = tf1.train.MonitoredTrainingSession(scene.target("worker/1"), is_chief=False, config=scene.config(1),
                                                    hooks=[tf1.train.StopAtStepHook(last_step=12)])
    turns = [(chief, x0, y0, chief_fetches), (worker, x1, y1, worker_fetches)]
    for i, (images, labels) in enumerate(digits.batches(16, 10)):
        session, x, y, fetches = turns[i % 2]
        _, loss, accuracy, step = session.run(fetches, {x: images, y: labels})
        scene.add("losses", loss)
        scene.add("accuracies", accuracy)
    scene.keep(weights=worker.run(variables))
    worker.close()
    chief.close()
    scene.saw(graphs[0])
    scene.keep(scalars=events.scalars(scene.folder, ["loss", "accuracy"]), counts=events.histogram_counts(scene.folder, "logits"))
    reader = tf1.train.load_checkpoint(tf1.train.latest_checkpoint(str(scene.folder)))
    scene.keep(saved={name: reader.get_tensor(name) for name in sorted(reader.get_variable_to_shape_map())})


@scenario("cnn_mnist_ref", "cnn_mnist_resource", rtol=1e-3, atol=2e-4)
def cnn_mnist(scene):
    tf1 = scene.tf1

    def weights(name, shape):
        return scene.variable(name, shape, initializer=tf1.truncated_normal_initializer(stddev=0.1))

    def biases(name, size):
        return scene.variable(name, [size], initializer=tf1.constant_initializer(0.1))

    with tf1.device(scene.setter()):
        x = tf1.placeholder(tf1.float32, [None, 784], name="x")
        y = tf1.placeholder(tf1.int64, [None], name="y")
        keep = tf1.placeholder(tf1.float32, [], name="keep")
        value = tf1.reshape(x, [-1, 28, 28, 1])
        for i, (before, after) in enumerate([(1, 4), (4, 8)]):
            value = tf1.nn.conv2d(value, weights(f"conv{i}/w", [5, 5, before, after]), strides=[1, 1, 1, 1], padding="SAME")
            value = tf1.nn.relu(tf1.nn.bias_add(value, biases(f"conv{i}/b", after)))
            value = tf1.nn.max_pool(value, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        dense = tf1.nn.relu(tf1.matmul(tf1.reshape(value, [-1, 7 * 7 * 8]), weights("dense/w", [392, 24])) + biases("dense/b", 24))
        rate = 1.0 - keep
        logits = tf1.matmul(tf1.nn.dropout(dense, rate=rate, seed=9), weights("out/w", [24, 10])) + biases("out/b", 10)
        loss = tf1.reduce_mean(tf1.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        hits = tf1.reduce_sum(tf1.cast(tf1.nn.in_top_k(logits, y, 2), tf1.int32))
        step = tf1.train.get_or_create_global_step()
        train = tf1.train.AdamOptimizer(1e-3).minimize(loss, global_step=step)
    hooks = [tf1.train.StopAtStepHook(last_step=100)]
    with tf1.train.MonitoredTrainingSession(scene.target(), hooks=hooks, config=scene.config()) as session:
        for images, labels in digits.batches(16, 5):
            scene.add("losses", session.run([train, loss], {x: images, y: labels, keep: 0.5})[1])
        images, labels = next(digits.batches(32, 1, start=3))
        scene.keep(logits=session.run(logits, {x: images, keep: 1.0}), hits=session.run(hits, {x: images, y: labels, keep: 1.0}))
        scene.keep(weights=session.run(tf1.trainable_variables()), step=session.run(step))
        scene.saw(session.graph)


@scenario("monitored_session_worker")
def monitored_session_worker(scene):
    """A worker that finds what the chief has made."""
    tf1 = scene.tf1

    def network(worker):
        tf1.set_random_seed(4)
        with tf1.device(scene.setter(worker)):
            x = tf1.placeholder(tf1.float32, [None, 784])
            initial = tf1.truncated_normal_initializer(stddev=0.1)
            value = x
            for i, (before, after) in enumerate([(784, 8), (8, 10)]):
                w = tf1.get_variable(f"w{i}", [before, after], initializer=initial)
                value = tf1.nn.bias_add(tf1.matmul(value, w), tf1.get_variable(f"b{i}", [after], initializer=tf1.zeros_initializer()))
                value = tf1.nn.relu(value) if i == 0 else value
            step = tf1.train.get_or_create_global_step()
        return x, value, step

    images, _ = next(digits.batches(8, 1))
    with tf1.Graph().as_default():
        x, logits, step = network(0)
        with tf1.train.MonitoredTrainingSession(scene.target("worker/0"), is_chief=True, config=scene.config(0)) as chief:
            scene.keep(chief=chief.run(logits, {x: images}))
            with tf1.Graph().as_default():
                x, logits, step = network(1)
                with tf1.train.MonitoredTrainingSession(scene.target("worker/1"), is_chief=False, config=scene.config(1)) as worker:
                    scene.keep(worker=worker.run(logits, {x: images}), step=worker.run(step))
                    scene.saw(worker.graph)
