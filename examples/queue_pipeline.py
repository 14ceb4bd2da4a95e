"""An input pipeline of queues and queue runners, as programs had it before tf.data: names, records, examples, batches."""

import tensorflow.compat.v1 as tf

import digits
import records

tf.disable_v2_behavior()

flags = tf.app.flags
flags.DEFINE_string("target", "", "A server to run on, as grpc://host:port; otherwise this process")
flags.DEFINE_integer("ps_tasks", 0, "Parameter servers in the server's cluster, whose worker 0 computes; 0: the server does it all")
flags.DEFINE_string("data_dir", "digit_records", "Where the record files are, for this program and the worker")
flags.DEFINE_boolean("shuffle", True, "Mix the examples, with several threads; otherwise they come in the order of the files")
flags.DEFINE_integer("train_steps", 300, "Steps to train")
flags.DEFINE_integer("batch_size", 50, "Images per step")
flags.DEFINE_integer("seed", 1, "Seed of weights and shuffling")
FLAGS = flags.FLAGS


def pipeline(paths):
    names = tf.train.string_input_producer(paths, shuffle=FLAGS.shuffle, seed=FLAGS.seed)
    _, record = tf.TFRecordReader().read(names)
    image, label = records.decode(tf.io.parse_single_example(record, records.FEATURES))
    if FLAGS.shuffle:
        return tf.train.shuffle_batch([image, label], FLAGS.batch_size, capacity=600, min_after_dequeue=300, num_threads=2, seed=FLAGS.seed)
    return tf.train.batch([image, label], FLAGS.batch_size, num_threads=1, capacity=4 * FLAGS.batch_size)


def network(images):
    with tf.variable_scope("network", reuse=tf.AUTO_REUSE):
        return tf.layers.dense(tf.layers.dense(images, 64, tf.nn.relu, name="hidden"), 10, name="logits")


def main(_):
    tf.set_random_seed(FLAGS.seed)
    paths = records.write(FLAGS.data_dir)
    with tf.device(tf.train.replica_device_setter(ps_tasks=FLAGS.ps_tasks, worker_device="/job:worker/task:0" if FLAGS.ps_tasks else None)):
        images, labels = pipeline(paths)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, network(images))
        train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, global_step=tf.train.get_or_create_global_step())
        fed = tf.placeholder(tf.float32, [None, 784])
        guesses = tf.argmax(network(fed), 1)

    with tf.Session(FLAGS.target) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for i in range(FLAGS.train_steps):
            _, value = session.run([train, loss])
            print(f"step {i + 1} loss {value:.9g}", flush=True)
        test_images, test_labels = digits.test_set()
        score = (session.run(guesses, {fed: test_images}) == test_labels).mean()
        print(f"accuracy {score:.4f}", flush=True)
        coordinator.request_stop()
        coordinator.join(threads)


if __name__ == "__main__":
    tf.app.run()
