"""MNIST with replicas: one hidden layer, Adam, any number of parameter servers and workers, asynchronous or synchronous.

One process per task, or one per worker with --existing_servers (their addresses from --worker_hosts) or --worker_grpc_url
(the address of this worker's server).
"""

import time

import tensorflow.compat.v1 as tf

import digits

tf.disable_v2_behavior()

flags = tf.app.flags
flags.DEFINE_string("ps_hosts", "localhost:2222", "Parameter servers, separated by commas")
flags.DEFINE_string("worker_hosts", "localhost:2223,localhost:2224", "Workers, separated by commas")
flags.DEFINE_string("job_name", "worker", "ps or worker")
flags.DEFINE_integer("task_index", 0, "Which task of the job this is; worker 0 is the chief and initialises the variables")
flags.DEFINE_boolean("existing_servers", False, "Connect to servers that run already instead of starting one")
flags.DEFINE_string("worker_grpc_url", "", "Connect to this server, grpc://host:port, instead of starting one")
flags.DEFINE_boolean("sync_replicas", False, "Gather the gradients of several workers into one update")
flags.DEFINE_integer("replicas_to_aggregate", None, "Gradients per update when synchronous; as many as there are workers by default")
flags.DEFINE_integer("train_steps", 200, "The global step to stop at")
flags.DEFINE_integer("batch_size", 100, "Images per step")
flags.DEFINE_integer("hidden_units", 100, "Width of the hidden layer")
flags.DEFINE_float("learning_rate", 0.01, "Learning rate of Adam")
flags.DEFINE_integer("seed", 1, "Seed of the weights and of the order of images")
FLAGS = flags.FLAGS


def build(cluster, workers):
    """The replica's graph: placeholders, what a step fetches, and the optimizer."""
    device = tf.train.replica_device_setter(worker_device=f"/job:worker/task:{FLAGS.task_index}", ps_device="/job:ps/cpu:0", cluster=cluster)
    with tf.device(device):
        step = tf.Variable(0, name="global_step", trainable=False)
        images = tf.placeholder(tf.float32, [None, 784], name="images")
        labels = tf.placeholder(tf.int64, [None], name="labels")
        hidden_w = tf.Variable(tf.truncated_normal([784, FLAGS.hidden_units], stddev=1.0 / 28), name="hidden_w")
        hidden_b = tf.Variable(tf.zeros([FLAGS.hidden_units]), name="hidden_b")
        softmax_w = tf.Variable(tf.truncated_normal([FLAGS.hidden_units, 10], stddev=FLAGS.hidden_units**-0.5), name="softmax_w")
        softmax_b = tf.Variable(tf.zeros([10]), name="softmax_b")
        hidden = tf.nn.relu(tf.nn.xw_plus_b(images, hidden_w, hidden_b))
        logits = tf.nn.xw_plus_b(hidden, softmax_w, softmax_b)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
        optimizer = tf.train.AdamOptimizer(FLAGS.learning_rate)
        if FLAGS.sync_replicas:
            optimizer = tf.train.SyncReplicasOptimizer(
                optimizer, replicas_to_aggregate=FLAGS.replicas_to_aggregate or workers, total_num_replicas=workers)
        train = optimizer.minimize(loss, global_step=step)
    return images, labels, step, loss, accuracy, optimizer, train


def supervise(optimizer, step, chief):
    """Who initialises what: the chief everything, and a synchronous worker its own step as well."""
    more = {}
    if FLAGS.sync_replicas:
        more = {"local_init_op": optimizer.chief_init_op if chief else optimizer.local_step_init_op,
                "ready_for_local_init_op": optimizer.ready_for_local_init_op}
    return tf.train.Supervisor(is_chief=chief, init_op=tf.global_variables_initializer(), global_step=step, recovery_wait_secs=1,
                               logdir=None, save_model_secs=0, summary_op=None, **more)


def farewell(workers):
    """Ops for the end of synchronous training: a worker reports, and the chief, whose queue runner makes the updates, waits for all others."""
    with tf.device("/job:ps/task:0"):
        done = tf.FIFOQueue(workers, tf.int32, shapes=[[]], shared_name="done")
        return done.enqueue(FLAGS.task_index), done.dequeue_many(workers - 1)


def train(cluster, workers, target):
    tf.set_random_seed(FLAGS.seed)
    chief = FLAGS.task_index == 0
    images, labels, step, loss, accuracy, optimizer, train_op = build(cluster, workers)
    report, all_others = farewell(workers)
    if FLAGS.sync_replicas:
        tokens = optimizer.get_init_tokens_op()
        runner = optimizer.get_chief_queue_runner() if chief else None
    supervisor = supervise(optimizer, step, chief)

    print(f"worker {FLAGS.task_index}: {'initialising' if chief else 'waiting for the chief'}", flush=True)
    filters = ["/job:ps", f"/job:worker/task:{FLAGS.task_index}"]
    session = supervisor.prepare_or_wait_for_session(target, config=tf.ConfigProto(allow_soft_placement=True, device_filters=filters))
    if FLAGS.sync_replicas and chief:
        session.run(tokens)
        supervisor.start_queue_runners(session, [runner])

    batches = digits.Batches(*digits.train_set(), seed=FLAGS.seed + FLAGS.task_index)
    begin, now, local = time.time(), 0, 0
    while now < FLAGS.train_steps:
        some, their_labels = batches.next(FLAGS.batch_size)
        _, value, now = session.run([train_op, loss, step], {images: some, labels: their_labels})
        local += 1
        print(f"step {now} loss {value:.9g}", flush=True)
    print(f"worker {FLAGS.task_index}: {local} steps in {time.time() - begin:.1f} s", flush=True)
    test_images, test_labels = digits.test_set()
    value, score = session.run([loss, accuracy], {images: test_images, labels: test_labels})
    print(f"validation loss {value:.6f}\naccuracy {score:.4f}", flush=True)
    if FLAGS.sync_replicas:
        session.run(tokens)  # another may wait for an update that too few are left for
        session.run(all_others if chief else report)


def main(_):
    workers = FLAGS.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": workers})
    if FLAGS.worker_grpc_url:
        target = FLAGS.worker_grpc_url
    elif FLAGS.existing_servers:
        target = "grpc://" + workers[FLAGS.task_index]
    else:
        server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
        if FLAGS.job_name == "ps":
            return server.join()
        target = server.target
    train(cluster, len(workers), target)


if __name__ == "__main__":
    tf.app.run()
