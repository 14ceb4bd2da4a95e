"""Random graphs from a seed: the same seed makes the same graph, and nothing in it depends on the order of independent nodes.

Numbers stay small and decisions depend on integers only, so that the last bit of a float never changes the course of things."""

import contextlib

import numpy as np

TASKS = ["/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1", None]


class RandomGraph:
    def __init__(self, tf1, seed):
        self.tf1, self.seed = tf1, seed
        self.rng = np.random.RandomState(seed)
        self.size = int(self.rng.randint(20, 201))
        self.new_loops = bool(self.rng.randint(2))
        self.depth = 0
        self.graph = tf1.Graph()
        (tf1.enable_control_flow_v2 if self.new_loops else tf1.disable_control_flow_v2)()
        with self.graph.as_default():
            self.build()

    def describe(self):
        kinds = sorted({node.type for node in self.graph.get_operations()})
        return f"seed {self.seed}: {len(self.graph.get_operations())} nodes, loops of version {2 if self.new_loops else 1}, ops {' '.join(kinds)}"

    def build(self):
        tf1, rng = self.tf1, self.rng
        self.x = tf1.placeholder(tf1.float32, [3, 4], name="x")
        self.n = tf1.placeholder(tf1.int32, [], name="n")
        self.floats = [self.x]
        self.ints = [self.n]
        self.variables, self.before = [], {}
        for kind in range(2):
            self.make_variable(kind == 1)
        actions = [self.unary, self.unary, self.binary, self.binary, self.reduction, self.shaping, self.shaping, self.integer,
                   self.update, self.conditional, self.loop, self.product]
        while len(self.graph.get_operations()) < self.size:
            with self.somewhere():
                actions[rng.randint(len(actions))]()
        if rng.randint(2):
            self.gradients()
        count = min(len(self.floats), 6)
        chosen = rng.choice(len(self.floats), count, replace=False)
        self.fetches = [self.floats[i] for i in chosen] + [self.ints[-1]]
        last = [op for ops in self.before.values() for op in ops]
        with tf1.control_dependencies(last):
            self.final = [tf1.identity(self.read(v)) for v, _ in self.variables]
        self.fetches += self.final
        self.initializer = tf1.global_variables_initializer()

    @contextlib.contextmanager
    def somewhere(self):
        with self.tf1.device(TASKS[self.rng.randint(len(TASKS))]):
            yield

    def pick(self, pool):
        # What is new is used more often, so that graphs are deep.
        return pool[max(self.rng.randint(len(pool)), self.rng.randint(len(pool)))]

    def add(self, value):
        if value.dtype == self.tf1.int32:
            self.ints.append(value)
        elif value.shape.num_elements() <= 64:
            self.floats.append(value)

    def unary(self):
        self.add(self.one_unary(self.pick(self.floats)))

    def one_unary(self, x):
        tf1 = self.tf1
        kinds = [tf1.tanh, tf1.sin, tf1.sigmoid, tf1.nn.relu, tf1.abs, tf1.negative, tf1.nn.softplus, tf1.atan,
                 lambda v: tf1.exp(-tf1.abs(v)), lambda v: tf1.sqrt(tf1.abs(v) + 1.0), lambda v: tf1.square(tf1.tanh(v)),
                 lambda v: tf1.log1p(tf1.abs(v)), lambda v: tf1.clip_by_value(v, -0.7, 0.9), lambda v: tf1.reciprocal(tf1.abs(v) + 1.0),
                 tf1.nn.elu, tf1.erf, tf1.identity, tf1.stop_gradient]
        return kinds[self.rng.randint(len(kinds))](x)

    def binary(self):
        self.add(self.one_binary(self.pick(self.floats), self.pick(self.floats)))

    def one_binary(self, x, y):
        tf1 = self.tf1
        if self.rng.randint(3) and x.shape != y.shape:
            y = tf1.reduce_mean(y)
        elif x.shape != y.shape:
            y = tf1.reshape(y, [-1])[:1]
        kinds = [tf1.add, tf1.subtract, tf1.maximum, tf1.minimum, lambda a, b: tf1.tanh(a) * tf1.tanh(b),
                 lambda a, b: tf1.squared_difference(tf1.sin(a), b * 0.1), lambda a, b: a / (tf1.abs(b) + 1.0),
                 lambda a, b: tf1.add_n([a - b, a + b * 0.5])]
        return tf1.clip_by_value(kinds[self.rng.randint(len(kinds))](x, y), -50.0, 50.0)

    def reduction(self):
        tf1, x = self.tf1, self.pick(self.floats)
        kinds = [tf1.reduce_sum, tf1.reduce_mean, tf1.reduce_max, tf1.reduce_min, tf1.reduce_logsumexp]
        axis = None if x.shape.rank == 0 or self.rng.randint(3) == 0 else int(self.rng.randint(x.shape.rank))
        value = kinds[self.rng.randint(len(kinds))](x, axis=axis, keepdims=bool(self.rng.randint(2)))
        self.add(tf1.tanh(value) if self.rng.randint(2) else tf1.clip_by_value(value, -50.0, 50.0))

    def shaping(self):
        tf1, rng, x = self.tf1, self.rng, self.pick(self.floats)
        flat = tf1.reshape(x, [-1])
        size = x.shape.num_elements()
        kinds = [
            lambda: flat,
            lambda: tf1.transpose(x),
            lambda: tf1.expand_dims(x, 0),
            lambda: tf1.squeeze(tf1.expand_dims(x, -1), [-1]),
            lambda: tf1.tile(flat, [2]),
            lambda: tf1.concat([flat, tf1.reshape(self.pick(self.floats), [-1])], 0),
            lambda: tf1.stack([flat, tf1.sin(flat)]),
            lambda: tf1.unstack(tf1.stack([flat, -flat]), axis=0)[rng.randint(2)],
            lambda: tf1.split(tf1.concat([flat, flat], 0), 2)[1],
            lambda: flat[int(rng.randint(size)):],
            lambda: flat[::-2],
            lambda: tf1.pad(flat, [[1, 2]], constant_values=0.5),
            lambda: tf1.reverse(flat, [0]),
            lambda: tf1.gather(flat, tf1.constant(rng.randint(0, size, 3), tf1.int32)),
            lambda: tf1.gather(flat, tf1.mod(tf1.abs(self.pick(self.ints)), size)),
            lambda: tf1.fill([2, 3], tf1.reduce_sum(flat) * 0.1),
            lambda: tf1.broadcast_to(flat[:1], [4]),
            lambda: tf1.one_hot(tf1.mod(tf1.abs(self.pick(self.ints)), 3), 3) + flat[0],
            lambda: tf1.where(tf1.equal(tf1.mod(self.pick(self.ints), 2), 0), flat, tf1.cos(flat)),
            lambda: tf1.cumsum(flat) * 0.2,
            lambda: tf1.unsorted_segment_sum(flat, tf1.constant(rng.randint(0, 3, size), tf1.int32), 3),
        ]
        self.add(kinds[rng.randint(len(kinds))]())

    def product(self):
        tf1 = self.tf1
        x, y = (tf1.reshape(self.pick(self.floats), [-1, 1]) for _ in range(2))
        self.add(tf1.tanh(tf1.matmul(x[:4], y[:4], transpose_b=True)))

    def integer(self):
        tf1, rng, x = self.tf1, self.rng, self.pick(self.ints)
        other = self.pick(self.ints) if rng.randint(2) else tf1.constant(int(rng.randint(1, 9)))
        kinds = [tf1.add, tf1.subtract, tf1.maximum, lambda a, b: tf1.mod(a * 3, tf1.abs(b) + 2), lambda a, b: tf1.floordiv(a, tf1.abs(b) + 1),
                 lambda a, b: tf1.size(self.pick(self.floats)) + a, lambda a, b: tf1.reduce_sum(tf1.shape(self.pick(self.floats))) - b,
                 lambda a, b: tf1.cast(tf1.less(a, b), tf1.int32), lambda a, b: tf1.bitwise.bitwise_xor(a, b)]
        self.add(tf1.mod(kinds[rng.randint(len(kinds))](x, other), 1000))

    def make_variable(self, resource):
        tf1 = self.tf1
        value = self.rng.uniform(-1, 1, [3, 4]).astype(np.float32)
        with tf1.device(TASKS[self.rng.randint(3)]):
            v = tf1.get_variable(f"g{self.seed}_v{len(self.variables)}", initializer=tf1.constant(value), use_resource=resource)
        self.variables.append((v, resource))
        self.before[v.name] = []

    def read(self, v):
        # A new buffer: what was read of a reference may show later updates.
        return (v.read_value() if hasattr(v, "read_value") else v) + 0.0

    def update(self):
        """Reads and updates of a variable come one after another; an update waits for the reads before it."""
        tf1, rng = self.tf1, self.rng
        v, _ = self.variables[rng.randint(len(self.variables))]
        past = self.before[v.name]
        if rng.randint(2):
            delta = tf1.zeros([3, 4]) + tf1.reduce_mean(tf1.tanh(self.pick(self.floats)))
            with tf1.control_dependencies(past):
                op = [tf1.assign_add, tf1.assign_sub, lambda a, b: tf1.assign(a, b * 0.5)][rng.randint(3)](v, delta)
            self.before[v.name] = [op.op if hasattr(op, "op") else op]
        else:
            with tf1.control_dependencies(past):
                value = self.read(v)
            self.before[v.name] = [*past, value.op]
            self.add(value)

    def conditional(self):
        tf1 = self.tf1
        if self.depth > 1:
            return
        self.depth += 1
        pred = tf1.equal(tf1.mod(self.pick(self.ints), 2), int(self.rng.randint(2)))
        x, y = self.pick(self.floats), self.pick(self.floats)

        def branch():
            with self.somewhere():
                value = self.one_unary(self.one_binary(x, y))
            return tf1.reduce_sum(value) * 0.1 if self.rng.randint(4) else tf1.reduce_max(value)

        self.add(tf1.cond(pred, branch, branch))
        self.depth -= 1

    def loop(self):
        tf1, rng = self.tf1, self.rng
        if self.depth > 1:
            return
        self.depth += 1
        start, outside = self.pick(self.floats), self.pick(self.floats)
        limit = tf1.mod(tf1.abs(self.pick(self.ints)), 5)
        decide = int(rng.randint(3))

        def body(i, value):
            with self.somewhere():
                new = self.one_unary(value)
            with self.somewhere():
                new = self.one_binary(new, outside)
            if decide == 1:
                new = tf1.cond(tf1.equal(tf1.mod(i, 2), 0), lambda: tf1.sin(new), lambda: new * 0.5)
            if decide == 2 and self.depth < 2:
                self.depth += 1
                with self.somewhere():
                    new = tf1.while_loop(lambda j, v: j < i, lambda j, v: [j + 1, tf1.tanh(v) + 0.1], [tf1.constant(0), new])[1]
                self.depth -= 1
            new = tf1.reshape(new, value.shape) if new.shape.num_elements() == value.shape.num_elements() else value + tf1.reduce_mean(new)
            return [i + 1, new]

        result = tf1.while_loop(lambda i, v: i < limit, body, [tf1.constant(0), start], parallel_iterations=int(rng.choice([1, 2, 10])))
        self.add(result[1])
        self.add(result[0])
        self.depth -= 1

    def gradients(self):
        tf1 = self.tf1
        total = tf1.add_n([tf1.reduce_sum(tf1.tanh(value)) for value in self.floats[-4:]])
        resources = [v for v, resource in self.variables if resource]
        for gradient in tf1.gradients(total, [self.x, *resources]):
            if gradient is not None:
                self.floats.append(tf1.convert_to_tensor(gradient))

    def feeds(self):
        for turn in range(2):
            yield {self.x: np.random.RandomState(self.seed + turn).uniform(-1, 1, [3, 4]), self.n: (self.seed * 7 + turn) % 11}

    def run(self, target):
        """What each step gives, or how it fails."""
        results = []
        # TensorFlow's rewriting of graphs has bugs of its own: it kills both branches of a conditional that sums a scalar.
        config = self.tf1.ConfigProto()
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        with self.tf1.Session(target, graph=self.graph, config=config) as session:
            session.run(self.initializer)
            for feed in self.feeds():
                try:
                    results.append(session.run(self.fetches, feed))
                except self.tf1.errors.OpError as error:
                    results.append(type(error).__name__)
        return results
