"""A wide and deep classifier of incomes through tf.estimator.train_and_evaluate; TF_CONFIG says which task this process is.

The chief, each worker and each ps of the cluster run this program, and beside them an evaluator:

  TF_CONFIG='{"cluster": {"chief": [...], "worker": [...], "ps": [...]}, "task": {"type": "chief", "index": 0}}' python census_wide_deep.py
"""

import tensorflow.compat.v1 as tf

import census

flags = tf.app.flags
flags.DEFINE_string("data_dir", "census_data", "Where the generated people are")
flags.DEFINE_string("model_dir", "census_model", "Where checkpoints, summaries and results go; shared by all tasks")
flags.DEFINE_integer("train_steps", 600, "The global step to stop at")
flags.DEFINE_integer("checkpoint_steps", 200, "Steps from one checkpoint to the next")
flags.DEFINE_integer("batch_size", 50, "People per step")
flags.DEFINE_integer("seed", 1, "Seed of the weights and of the order of people")
FLAGS = flags.FLAGS

DEFAULTS = {"age": [0], "education_num": [0], "hours_per_week": [0]}


def feature_columns():
    column = tf.feature_column
    age, hours, years = (column.numeric_column(name) for name in ("age", "hours_per_week", "education_num"))
    ages = column.bucketized_column(age, [18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
    work = column.categorical_column_with_vocabulary_list("workclass", census.WORK)
    school = column.categorical_column_with_vocabulary_list("education", census.SCHOOLS)
    job = column.categorical_column_with_hash_bucket("occupation", 100)
    country = column.categorical_column_with_hash_bucket("native_country", 100)
    wide = [ages, work, school, job, country, column.crossed_column(["education", "occupation"], 1000),
            column.crossed_column([ages, "education", "occupation"], 1000)]
    deep = [age, hours, years, column.indicator_column(work), column.indicator_column(school), column.embedding_column(job, 8),
            column.embedding_column(country, 8)]
    return wide, deep


def people_of(path, training):
    def parse(line):
        values = tf.io.decode_csv(line, [DEFAULTS.get(name, [""]) for name in census.COLUMNS])
        features = dict(zip(census.COLUMNS, values))
        return features, tf.equal(features.pop("income"), ">50K")

    def input_fn():
        lines = tf.data.TextLineDataset(path)
        if training:
            lines = lines.shuffle(1000, seed=FLAGS.seed).repeat()
        return lines.map(parse, num_parallel_calls=2).batch(FLAGS.batch_size)

    return input_fn


def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    train, test = census.write(FLAGS.data_dir)
    wide, deep = feature_columns()
    config = tf.estimator.RunConfig(tf_random_seed=FLAGS.seed, save_checkpoints_steps=FLAGS.checkpoint_steps, log_step_count_steps=100,
                                    save_summary_steps=100)
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        model_dir=FLAGS.model_dir, linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[50, 25], config=config,
        linear_optimizer=tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01), dnn_optimizer=tf.train.AdagradOptimizer(0.05))
    result = tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(people_of(train, True), max_steps=FLAGS.train_steps),
        tf.estimator.EvalSpec(people_of(test, False), steps=None, start_delay_secs=0, throttle_secs=1))
    metrics = result[0] if isinstance(result, tuple) else None
    if metrics:
        print(f"step {metrics['global_step']} loss {metrics['average_loss']:.9g}\naccuracy {metrics['accuracy']:.4f}", flush=True)


if __name__ == "__main__":
    tf.app.run()
