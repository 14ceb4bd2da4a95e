"""Keras in graph mode: its session is one on the given server, its variables are where the device scope puts them."""

import random

import tensorflow.compat.v1 as tf

import digits

tf.disable_eager_execution()
keras = tf.keras

flags = tf.app.flags
flags.DEFINE_string("target", "", "A server to run on, as grpc://host:port; otherwise this process")
flags.DEFINE_integer("ps_tasks", 0, "Parameter servers in the server's cluster, whose worker 0 computes; 0: the server does it all")
flags.DEFINE_integer("train_steps", 300, "Steps to train")
flags.DEFINE_integer("batch_size", 100, "Images per step")
flags.DEFINE_integer("seed", 1, "Seed of weights, dropout and the order of images")
FLAGS = flags.FLAGS


def network():
    model = keras.Sequential([
        keras.layers.Reshape([28, 28, 1], input_shape=[784]),
        keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dropout(0.2, seed=FLAGS.seed),
        keras.layers.Dense(10, activation="softmax"),
    ])
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def main(_):
    random.seed(FLAGS.seed)  # Keras layers draw the seeds of their weights from there
    tf.set_random_seed(FLAGS.seed)
    batches = digits.Batches(*digits.train_set(), seed=FLAGS.seed)
    device = tf.train.replica_device_setter(ps_tasks=FLAGS.ps_tasks, worker_device="/job:worker/task:0") if FLAGS.ps_tasks else None
    with tf.Session(FLAGS.target) as session, tf.device(device):
        keras.backend.set_session(session)
        model = network()
        for i in range(FLAGS.train_steps):
            value, _ = model.train_on_batch(*batches.next(FLAGS.batch_size))
            print(f"step {i + 1} loss {value:.9g}", flush=True)
        _, score = model.evaluate(*digits.test_set(), batch_size=200, verbose=0)
        print(f"accuracy {score:.4f}", flush=True)


if __name__ == "__main__":
    tf.app.run()
