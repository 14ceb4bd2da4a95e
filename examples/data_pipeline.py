"""An input pipeline of tf.data: record files, interleaved, shuffled, parsed in parallel, batched ahead; it runs where the worker runs."""

import random

import tensorflow.compat.v1 as tf

import digits
import records

tf.disable_eager_execution()

flags = tf.app.flags
flags.DEFINE_string("target", "", "A server to run on, as grpc://host:port; otherwise this process")
flags.DEFINE_integer("ps_tasks", 0, "Parameter servers in the server's cluster, whose worker 0 computes; 0: the server does it all")
flags.DEFINE_string("data_dir", "digit_records", "Where the record files are, for this program and the worker")
flags.DEFINE_integer("train_steps", 300, "Steps to train")
flags.DEFINE_integer("batch_size", 50, "Images per step")
flags.DEFINE_integer("seed", 1, "Seed of the weights and of the order of images")
FLAGS = flags.FLAGS


def pipeline(paths):
    def parse(batch):
        return records.decode(tf.io.parse_example(batch, records.FEATURES))

    files = tf.data.Dataset.from_tensor_slices(paths)
    examples = files.interleave(tf.data.TFRecordDataset, cycle_length=len(paths), block_length=4)
    return examples.shuffle(500, seed=FLAGS.seed).repeat().batch(FLAGS.batch_size, drop_remainder=True).map(parse, num_parallel_calls=2).prefetch(2)


def network(images):
    with tf.variable_scope("network", reuse=tf.AUTO_REUSE):
        return tf.layers.dense(tf.layers.dense(images, 64, tf.nn.relu, name="hidden"), 10, name="logits")


def main(_):
    random.seed(FLAGS.seed)  # Keras layers draw the seeds of their weights from there
    tf.set_random_seed(FLAGS.seed)
    paths = records.write(FLAGS.data_dir)
    with tf.device(tf.train.replica_device_setter(ps_tasks=FLAGS.ps_tasks, worker_device="/job:worker/task:0" if FLAGS.ps_tasks else None)):
        iterator = tf.data.make_initializable_iterator(pipeline(paths))
        tf.add_to_collection(tf.GraphKeys.LOCAL_INIT_OP, tf.group(iterator.initializer, tf.local_variables_initializer(), tf.tables_initializer()))
        images, labels = iterator.get_next()
        loss = tf.losses.sparse_softmax_cross_entropy(labels, network(images))
        train = tf.train.RMSPropOptimizer(3e-3).minimize(loss, global_step=tf.train.get_or_create_global_step())
        test_images, test_labels = digits.test_set()
        fed = tf.placeholder(tf.float32, [None, 784])
        guesses = tf.argmax(network(fed), 1)

    with tf.train.MonitoredTrainingSession(FLAGS.target) as session:
        for i in range(FLAGS.train_steps):
            _, value = session.run([train, loss])
            print(f"step {i + 1} loss {value:.9g}", flush=True)
        score = (session.run(guesses, {fed: test_images}) == test_labels).mean()
        print(f"accuracy {score:.4f}", flush=True)


if __name__ == "__main__":
    tf.app.run()
