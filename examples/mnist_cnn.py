"""A convolutional network for MNIST: two convolutions, dropout, Adam; variables on the parameter servers if there are any."""

import random

import tensorflow.compat.v1 as tf

import digits

tf.disable_eager_execution()

flags = tf.app.flags
flags.DEFINE_string("target", "", "A server to run on, as grpc://host:port; otherwise this process")
flags.DEFINE_integer("ps_tasks", 0, "Parameter servers in the server's cluster, whose worker 0 computes; 0: the server does it all")
flags.DEFINE_integer("train_steps", 1000, "Steps to train")
flags.DEFINE_integer("batch_size", 64, "Images per step")
flags.DEFINE_integer("filters", 32, "Filters of the first convolution; the second has twice as many")
flags.DEFINE_integer("hidden_units", 256, "Width of the dense layer")
flags.DEFINE_float("learning_rate", 1e-3, "Learning rate of Adam")
flags.DEFINE_integer("seed", 1, "Seed of weights, dropout and the order of images")
FLAGS = flags.FLAGS


def network(images, training):
    value = tf.reshape(images, [-1, 28, 28, 1])
    for i in range(2):
        value = tf.layers.conv2d(value, FLAGS.filters << i, 5, padding="same", activation=tf.nn.relu, name=f"conv{i}")
        value = tf.layers.max_pooling2d(value, 2, 2, name=f"pool{i}")
    value = tf.layers.dense(tf.layers.flatten(value), FLAGS.hidden_units, tf.nn.relu, name="dense")
    value = tf.layers.dropout(value, 0.4, training=training, seed=FLAGS.seed)
    return tf.layers.dense(value, 10, name="logits")


def main(_):
    random.seed(FLAGS.seed)  # Keras layers draw the seeds of their weights from there
    tf.set_random_seed(FLAGS.seed)
    with tf.device(tf.train.replica_device_setter(ps_tasks=FLAGS.ps_tasks, worker_device="/job:worker/task:0" if FLAGS.ps_tasks else None)):
        images = tf.placeholder(tf.float32, [None, 784])
        labels = tf.placeholder(tf.int64, [None])
        training = tf.placeholder_with_default(False, [])
        logits = network(images, training)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        hits = tf.reduce_sum(tf.cast(tf.nn.in_top_k(logits, labels, 1), tf.int32))
        train = tf.train.AdamOptimizer(FLAGS.learning_rate).minimize(loss, global_step=tf.train.get_or_create_global_step())

    batches = digits.Batches(*digits.train_set(), seed=FLAGS.seed)
    with tf.train.MonitoredTrainingSession(FLAGS.target) as session:
        for i in range(FLAGS.train_steps):
            some, their_labels = batches.next(FLAGS.batch_size)
            _, value = session.run([train, loss], {images: some, labels: their_labels, training: True})
            print(f"step {i + 1} loss {value:.9g}", flush=True)
        test_images, test_labels = digits.test_set()
        right = 0
        for start in range(0, len(test_labels), 500):
            part = slice(start, start + 500)
            right += session.run(hits, {images: test_images[part], labels: test_labels[part]})
        print(f"accuracy {right / len(test_labels):.4f}", flush=True)


if __name__ == "__main__":
    tf.app.run()
