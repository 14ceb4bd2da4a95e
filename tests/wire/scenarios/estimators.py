"""The wide and deep classifier of the estimators: alone, evaluated, and as TF_CONFIG describes a chief, a ps and a worker."""

import json
import os

import numpy as np

from conftest import running

from .scene import scenario

COLUMNS = ["age", "hours", "workclass", "education", "occupation", "country", "label"]
DEFAULTS = [[0.0], [0.0], [""], [""], [""], [""], [""]]


def write_people(path, seed, count=48):
    rng = np.random.RandomState(seed)
    rows = []
    for _ in range(count):
        age, hours = rng.randint(18, 80), rng.randint(10, 70)
        job = rng.choice(["private", "state", "self", "none"])
        school = rng.choice(["school", "bachelor", "master", "doctor"])
        work = f"job{rng.randint(0, 30)}"
        land = f"land{rng.randint(0, 12)}"
        rows.append(f"{age},{hours},{job},{school},{work},{land},{'>50K' if age + hours > 85 else '<=50K'}\n")
    path.write_text("".join(rows))


def feature_columns(tf):
    column = tf.feature_column
    age, hours = column.numeric_column("age"), column.numeric_column("hours")
    ages = column.bucketized_column(age, [25, 35, 45, 55, 65])
    job = column.categorical_column_with_vocabulary_list("workclass", ["private", "state", "self"])
    school = column.categorical_column_with_vocabulary_list("education", ["school", "bachelor", "master", "doctor"])
    work = column.categorical_column_with_hash_bucket("occupation", 20)
    land = column.categorical_column_with_hash_bucket("country", 10)
    wide = [ages, job, school, work, land, column.crossed_column(["education", "occupation"], 30),
            column.crossed_column([ages, "education", "occupation"], 30)]
    deep = [age, hours, column.indicator_column(job), column.indicator_column(school), column.embedding_column(work, 4)]
    return wide, deep


def input_from(tf, path, shuffle, epochs):
    def parse(line):
        features = dict(zip(COLUMNS, tf.io.decode_csv(line, DEFAULTS)))
        return features, tf.equal(features.pop("label"), ">50K")

    def input_fn():
        lines = tf.compat.v1.data.Dataset.from_tensor_slices([str(path)]).flat_map(tf.compat.v1.data.TextLineDataset)
        if shuffle:
            lines = lines.shuffle(48, seed=1)
        return lines.map(parse, num_parallel_calls=2).repeat(epochs).batch(12)

    return input_fn


class Classifier:
    """A canned classifier with its input; the graphs it makes are looked at through a hook."""

    def __init__(self, scene, run_config):
        import tensorflow as tf

        self.scene = scene
        wide, deep = feature_columns(tf)
        self.estimator = tf.compat.v1.estimator.DNNLinearCombinedClassifier(
            model_dir=str(scene.folder / "model"), linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[12, 6],
            config=run_config, linear_optimizer=tf.compat.v1.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001),
            dnn_optimizer=tf.compat.v1.train.AdagradOptimizer(0.05))
        self.input = input_from(tf, scene.folder / "people.csv", True, None)
        self.once = input_from(tf, scene.folder / "people.csv", False, 1)
        scene_saw = scene.saw

        class Look(tf.compat.v1.train.SessionRunHook):
            def end(self, session):
                scene_saw(session.graph)

        self.look = Look

    def train(self, **steps):
        self.estimator.train(self.input, hooks=[self.look()], **steps)

    def keep_variables(self):
        names = sorted(self.estimator.get_variable_names())
        self.scene.keep(variables={name: self.estimator.get_variable_value(name) for name in names})


def run_config(scene, **more):
    import tensorflow as tf

    return tf.compat.v1.estimator.RunConfig(tf_random_seed=5, save_summary_steps=3, save_checkpoints_steps=4, log_step_count_steps=None, **more)


def with_tf_config(value, make):
    before = os.environ.pop("TF_CONFIG", None)
    os.environ["TF_CONFIG"] = json.dumps(value)
    try:
        return make()
    finally:
        os.environ.pop("TF_CONFIG")
        if before is not None:
            os.environ["TF_CONFIG"] = before


def alone(scene):
    """One client of one task: only its session is elsewhere."""
    config = with_tf_config({"session_master": scene.target(), "eval_session_master": scene.target()}, lambda: run_config(scene))
    assert config.master == scene.target()
    write_people(scene.folder / "people.csv", 1)
    return Classifier(scene, config)


@scenario("estimator_wide_deep_train", rtol=1e-3, atol=1e-4)
def train(scene):
    classifier = alone(scene)
    classifier.train(steps=6)
    classifier.train(steps=2)
    classifier.keep_variables()


@scenario("estimator_wide_deep_eval", rtol=1e-3, atol=1e-4)
def evaluate(scene):
    classifier = alone(scene)
    classifier.train(steps=4)
    scene.ops.clear()
    scene.keep(metrics=classifier.estimator.evaluate(classifier.once, hooks=[classifier.look()]))
    guesses = classifier.estimator.predict(classifier.once, predict_keys=["logits", "probabilities", "classes"])
    scene.keep(guesses=[{name: np.asarray(value) for name, value in guess.items()} for guess in guesses])


@scenario("estimator_wide_deep_train_TF_CONFIG_chief_ps", rtol=1e-3, atol=1e-4)
def train_by_tf_config(scene):
    """Servers run on their own; the chief trains first, then the worker goes on from where the ps is."""
    write_people(scene.folder / "people.csv", 1)
    with running(scene.backend, {"chief": 1, "ps": 1, "worker": 1}) as cluster:
        for role, last in ("chief", 4), ("worker", 7):
            task = {"cluster": cluster.spec, "task": {"type": role, "index": 0}}
            classifier = Classifier(scene, with_tf_config(task, lambda: run_config(scene)))
            assert classifier.estimator.config.master == cluster.target(f"{role}/0")
            classifier.train(max_steps=last)
        task = {"cluster": cluster.spec, "task": {"type": "chief", "index": 0}}
        classifier = Classifier(scene, with_tf_config(task, lambda: run_config(scene)))
        classifier.train(max_steps=8)
        classifier.keep_variables()
