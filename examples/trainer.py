"""The trainer of the distributed TensorFlow guide: between-graph replication, variables on the parameter servers.

Start one process per task, each with the same hosts and its own job and index:

  python trainer.py --ps_hosts=host0:2222 --worker_hosts=host1:2222,host2:2222 --job_name=worker --task_index=0
"""

import tensorflow.compat.v1 as tf

import digits

tf.disable_v2_behavior()

flags = tf.app.flags
flags.DEFINE_string("ps_hosts", "", "Parameter servers, separated by commas")
flags.DEFINE_string("worker_hosts", "", "Workers, separated by commas")
flags.DEFINE_string("job_name", "worker", "ps or worker")
flags.DEFINE_integer("task_index", 0, "Which task of the job this is")
flags.DEFINE_string("target", "", "A server that runs already, as grpc://host:port; otherwise this process is one")
flags.DEFINE_string("checkpoint_dir", None, "Where checkpoints and summaries go, and training goes on from")
flags.DEFINE_integer("checkpoint_steps", 100, "Steps from one checkpoint to the next")
flags.DEFINE_integer("last_step", 400, "The global step to stop at")
flags.DEFINE_integer("batch_size", 100, "Images per step")
flags.DEFINE_integer("hidden_units", 100, "Width of the hidden layer")
flags.DEFINE_float("learning_rate", 0.1, "Learning rate of Adagrad")
flags.DEFINE_integer("seed", 1, "Seed of the weights and of the order of images")
FLAGS = flags.FLAGS


def dense(inputs, units, stddev, name):
    with tf.variable_scope(name):
        kernel = tf.get_variable("kernel", [inputs.shape[1], units], initializer=tf.truncated_normal_initializer(stddev=stddev))
        bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
    return tf.nn.xw_plus_b(inputs, kernel, bias)


def network(images):
    hidden = tf.nn.relu(dense(images, FLAGS.hidden_units, 1.0 / 28, "hidden"))
    return dense(hidden, 10, 0.1, "softmax")


def train(cluster, target):
    tf.set_random_seed(FLAGS.seed)
    worker = f"/job:worker/task:{FLAGS.task_index}"
    with tf.device(tf.train.replica_device_setter(worker_device=worker, cluster=cluster)):
        images = tf.placeholder(tf.float32, [None, 784])
        labels = tf.placeholder(tf.int64, [None])
        logits = network(images)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
        step = tf.train.get_or_create_global_step()
        train_op = tf.train.AdagradOptimizer(FLAGS.learning_rate).minimize(loss, global_step=step)
        tf.summary.scalar("loss", loss)
        tf.summary.scalar("accuracy", accuracy)

    batches = digits.Batches(*digits.train_set(), seed=FLAGS.seed + FLAGS.task_index)
    test_images, test_labels = digits.test_set()
    with tf.train.MonitoredTrainingSession(
            master=target, is_chief=FLAGS.task_index == 0, checkpoint_dir=FLAGS.checkpoint_dir,
            hooks=[tf.train.StopAtStepHook(last_step=FLAGS.last_step)], save_checkpoint_secs=None,
            save_checkpoint_steps=FLAGS.checkpoint_steps, save_summaries_steps=50, log_step_count_steps=100,
            config=tf.ConfigProto(device_filters=["/job:ps", worker])) as session:
        while not session.should_stop():
            some, their_labels = batches.next(FLAGS.batch_size)
            _, value, now = session.run([train_op, loss, step], {images: some, labels: their_labels})
            print(f"step {now} loss {value:.9g}", flush=True)
            if not session.should_stop() and now % 50 == 0:
                score = session.run(accuracy, {images: test_images, labels: test_labels})
                print(f"accuracy {score:.4f}", flush=True)


def main(_):
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    if FLAGS.target:
        return train(cluster, FLAGS.target)
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    else:
        train(cluster, server.target)


if __name__ == "__main__":
    tf.app.run()
