"""Topics of generated texts: tables of embeddings in pieces over the parameter servers, and optimizers that touch only the rows in use."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

flags = tf.app.flags
flags.DEFINE_string("target", "", "A server to run on, as grpc://host:port; otherwise this process")
flags.DEFINE_integer("ps_tasks", 0, "Parameter servers in the server's cluster, whose worker 0 computes; 0: the server does it all")
flags.DEFINE_integer("partitions", 3, "Pieces of each table")
flags.DEFINE_enum("optimizer", "adagrad", ["sgd", "momentum", "adagrad", "adam", "ftrl", "rmsprop"], "Who updates the rows")
flags.DEFINE_integer("train_steps", 200, "Steps to train")
flags.DEFINE_integer("batch_size", 64, "Texts per step")
flags.DEFINE_integer("seed", 1, "Seed of texts and weights")
FLAGS = flags.FLAGS

VOCABULARY, TOPICS, WIDTH, LENGTH = 400, 8, 16, 12
OPTIMIZERS = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(5.0),
    "momentum": lambda: tf.train.MomentumOptimizer(1.0, 0.9),
    "adagrad": lambda: tf.train.AdagradOptimizer(1.0),
    "adam": lambda: tf.train.AdamOptimizer(0.03),
    "ftrl": lambda: tf.train.FtrlOptimizer(1.0, l2_regularization_strength=1e-4),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.02),
}


def texts(count, rng):
    """Words are of a topic, mostly: text t has its topic's words twice as often as others. Lengths differ, so rows are sparse."""
    topics = rng.randint(0, TOPICS, count)
    of_topic = rng.uniform(size=[count, LENGTH]) < 0.5
    words = rng.randint(0, VOCABULARY, [count, LENGTH])
    words = np.where(of_topic, words // TOPICS * TOPICS + topics[:, None], words)
    kept = rng.uniform(size=[count, LENGTH]) < 0.8
    kept[:, 0] = True
    return np.argwhere(kept), words[kept], words[:, 0], topics


def main(_):
    tf.set_random_seed(FLAGS.seed)
    with tf.device(tf.train.replica_device_setter(ps_tasks=FLAGS.ps_tasks, worker_device="/job:worker/task:0" if FLAGS.ps_tasks else None)):
        places = tf.placeholder(tf.int64, [None, 2])
        words = tf.placeholder(tf.int64, [None])
        titles = tf.placeholder(tf.int64, [None])
        labels = tf.placeholder(tf.int64, [None])
        split = tf.fixed_size_partitioner(FLAGS.partitions)
        uniform = tf.random_uniform_initializer(-0.5, 0.5)
        table = tf.get_variable("table", [VOCABULARY, WIDTH], initializer=uniform, partitioner=split)
        title_table = tf.get_variable("title_table", [VOCABULARY, WIDTH], initializer=uniform, partitioner=split)
        size = tf.size(titles, out_type=tf.int64)
        bags = tf.nn.safe_embedding_lookup_sparse(list(table), tf.SparseTensor(places, words, tf.stack([size, LENGTH])), combiner="sqrtn")
        heads = tf.nn.embedding_lookup(title_table, titles, partition_strategy="div")
        logits = tf.layers.dense(tf.concat([bags, heads], 1), TOPICS, kernel_initializer=tf.truncated_normal_initializer(stddev=0.2))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        guesses = tf.argmax(logits, 1)
        train = OPTIMIZERS[FLAGS.optimizer]().minimize(loss, global_step=tf.train.get_or_create_global_step())

    def feed(count):
        values = texts(count, rng)
        return dict(zip([places, words, titles, labels], values)), values[-1]

    rng = np.random.RandomState(FLAGS.seed)
    with tf.train.MonitoredTrainingSession(FLAGS.target) as session:
        for i in range(FLAGS.train_steps):
            _, value = session.run([train, loss], feed(FLAGS.batch_size)[0])
            print(f"step {i + 1} loss {value:.9g}", flush=True)
        fed, topics = feed(2000)
        print(f"accuracy {(session.run(guesses, fed) == topics).mean():.4f}", flush=True)


if __name__ == "__main__":
    tf.app.run()
