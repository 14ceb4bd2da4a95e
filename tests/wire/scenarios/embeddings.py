"""Embeddings in pieces, looked up densely and sparsely, with a sampled loss and every optimizer that updates rows."""

import numpy as np

from .scene import scenario

OPTIMIZERS = {
    "gd": lambda train, rate: train.GradientDescentOptimizer(rate),
    "momentum": lambda train, rate: train.MomentumOptimizer(rate, 0.9),
    "adagrad": lambda train, rate: train.AdagradOptimizer(rate),
    "adam": lambda train, rate: train.AdamOptimizer(rate),
    "ftrl": lambda train, rate: train.FtrlOptimizer(rate, l1_regularization_strength=0.001),
}


@scenario("embeddings_sparse_optimizers_ref", rtol=1e-3, atol=1e-4)
def embeddings(scene):
    tf1 = scene.tf1
    vocabulary, width = 40, 6
    with tf1.device(scene.setter()):
        words = tf1.placeholder(tf1.int64, [None], name="words")
        labels = tf1.placeholder(tf1.int64, [None, 1], name="labels")
        indices = tf1.placeholder(tf1.int64, [None, 2], name="indices")
        ids = tf1.placeholder(tf1.int64, [None], name="ids")
        table = tf1.get_variable("table", [vocabulary, width], initializer=tf1.random_uniform_initializer(-1, 1),
                                 partitioner=tf1.fixed_size_partitioner(2))
        bag_table = tf1.get_variable("bag_table", [vocabulary, width], initializer=tf1.random_uniform_initializer(-1, 1))
        nce_w = tf1.get_variable("nce_w", [vocabulary, width], initializer=tf1.random_uniform_initializer(-0.5, 0.5))
        nce_b = tf1.get_variable("nce_b", [vocabulary], initializer=tf1.zeros_initializer())
        one = tf1.nn.embedding_lookup(table, words, partition_strategy="div")
        two = tf1.nn.embedding_lookup(table, words)
        bag = tf1.nn.embedding_lookup_sparse(bag_table, tf1.SparseTensor(indices, ids, [8, 4]), None, combiner="mean")
        joined = one + two * 0.5 + bag
        sampled = tf1.nn.sampled_softmax_loss(nce_w, nce_b, labels, joined, 5, vocabulary, seed=7)
        sampler = tf1.nn.log_uniform_candidate_sampler(labels, 1, 6, True, vocabulary, seed=8)
        loss = tf1.reduce_mean(tf1.nn.nce_loss(nce_w, nce_b, labels, joined, 6, vocabulary, sampled_values=sampler)) + tf1.reduce_mean(sampled)
        variables = [*table, bag_table, nce_w, nce_b]
        gradients, norm = tf1.clip_by_global_norm(tf1.gradients(loss, variables), 5.0)
        step = tf1.train.get_or_create_global_step()
        rate = tf1.train.exponential_decay(0.1, step, 2, 0.9, staircase=True)
        train = {name: make(tf1.train, rate).apply_gradients(list(zip(gradients, variables)), step) for name, make in OPTIMIZERS.items()}
        average = tf1.train.ExponentialMovingAverage(0.5)
        averaged = average.apply(variables)
    rng = np.random.RandomState(9)
    with scene.session() as session:
        session.run(tf1.global_variables_initializer())
        for name, op in train.items():
            for _ in range(2):
                rows = np.sort(np.concatenate([np.arange(8), rng.randint(0, 8, 12)]))
                feed = {words: rng.randint(0, vocabulary, 8), labels: rng.randint(0, vocabulary, [8, 1]),
                        indices: np.stack([rows, np.zeros(20, int)], 1), ids: rng.randint(0, vocabulary, 20)}
                scene.add("losses", session.run([loss, norm, op], feed)[:2])
            session.run(averaged)
            scene.keep(**{name: session.run(variables)})
        scene.keep(averages=session.run([average.average(v) for v in variables]))
