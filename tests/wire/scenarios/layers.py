"""tf.layers with batch normalisation and dropout, tf.losses and tf.metrics; two towers share nothing but the ps."""

from . import digits
from .scene import scenario


@scenario("layers_metrics", rtol=1e-3, atol=2e-4)
def layers_metrics(scene):
    import warnings

    tf1 = scene.tf1
    with warnings.catch_warnings(), tf1.device(scene.setter()):
        warnings.simplefilter("ignore")
        x = tf1.placeholder(tf1.float32, [None, 784])
        y = tf1.placeholder(tf1.float32, [None, 10])
        training = tf1.placeholder(tf1.bool, [])
        weights = tf1.placeholder(tf1.float32, [None])
        threshold = tf1.placeholder(tf1.float32, [])
        value = tf1.layers.conv2d(tf1.reshape(x, [-1, 28, 28, 1]), 4, 3, padding="same", strides=2)
        value = tf1.layers.batch_normalization(value, training=True, fused=True)
        value = tf1.layers.max_pooling2d(tf1.nn.relu(value), 2, 2)
        value = tf1.layers.dropout(tf1.layers.flatten(value), 0.3, training=training, seed=6)
        logits = tf1.layers.dense(value, 10)
        loss = tf1.losses.softmax_cross_entropy(y, logits, weights=weights)
        guess, truth = tf1.argmax(logits, 1), tf1.argmax(y, 1)
        confident = tf1.reduce_sum(tf1.nn.log_softmax(logits) * y, 1) > threshold
        metrics = {
            "accuracy": tf1.metrics.accuracy(truth, guess),
            "loss": tf1.metrics.mean(loss),
            "precision": tf1.metrics.precision(tf1.equal(truth, 3), confident),
            "auc": tf1.metrics.auc(tf1.equal(truth, 3), tf1.nn.softmax(logits)[:, 3], num_thresholds=5),
            "recall": tf1.metrics.recall(tf1.equal(truth, 3), confident),
        }
        with tf1.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            train = tf1.train.RMSPropOptimizer(0.01).minimize(loss)
    with scene.session() as session:
        session.run([tf1.global_variables_initializer(), tf1.local_variables_initializer()])
        for i, (images, labels) in enumerate(digits.batches(16, 4)):
            feed = {x: images, y: digits.one_hot(labels), training: True, weights: [1.0, 0.5] * 8, threshold: -2.0}
            scene.add("losses", session.run([train, loss], feed)[1])
            feed[training] = False
            session.run([update for _, update in metrics.values()], feed)
        scene.keep(metrics=session.run({name: value for name, (value, _) in metrics.items()}))
        scene.keep(weights=session.run(tf1.global_variables()))
