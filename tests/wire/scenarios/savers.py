"""Saving and restoring: a saver of everything and a sharded one over two tasks, for both kinds of variables."""

import numpy as np

from .scene import scenario


@scenario("saver_ref", "saver_resource")
def saver(scene):
    tf1 = scene.tf1
    with tf1.device("/job:ps/task:0"):
        v = scene.variable("v", [3, 4], initializer=tf1.random_uniform_initializer(-1, 1))
    with tf1.device("/job:worker/task:1"):
        w = scene.variable("w", initializer=tf1.constant([1, 2, 3], tf1.int64))
    grow = [tf1.assign_add(v, tf1.ones([3, 4])), tf1.assign_add(w, [1, 1, 1])]
    whole = tf1.train.Saver(name="whole", max_to_keep=2)
    sharded = tf1.train.Saver({"renamed": v, "w": w}, sharded=True, name="sharded")
    with scene.session() as session:
        session.run(tf1.global_variables_initializer())
        scene.keep(first=session.run([v, w]))
        one = whole.save(session, str(scene.folder / "whole"), global_step=1)
        session.run(grow)
        two = sharded.save(session, str(scene.folder / "sharded"))
        session.run(grow)
        whole.restore(session, one)
        scene.keep(restored=session.run([v, w]))
        sharded.restore(session, two)
        scene.keep(restored_from_shards=session.run([v, w]))
        with_missing = tf1.train.Saver({"not_there": v}, name="missing")
        try:
            with_missing.restore(session, one)
        except tf1.errors.NotFoundError as error:
            scene.keep(missing=error.message.split("\n")[0])
        for name, prefix in {"one": one, "two": two}.items():
            reader = tf1.train.load_checkpoint(prefix)
            shapes = reader.get_variable_to_shape_map()
            scene.keep(**{name: {key: np.asarray(reader.get_tensor(key)) for key in sorted(shapes)}})
        for i in range(3):
            session.run(grow)
            whole.save(session, str(scene.folder / "kept"), global_step=i)
    scene.keep(files=sorted(path.name for path in scene.folder.iterdir()))
