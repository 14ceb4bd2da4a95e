"""Checkpoint files that are hurt, half written or large: previous ones stay readable, damage is named, memory does not double."""

import glob
import os
import random
import shutil
import threading

import numpy as np
import pytest

from conftest import FULL, running

KILLS = 200 if FULL else 5
PARTS, PART = 12, 1_000_000  # variables of the model that is saved, and their size


def model(tf1, resource=True, parts=PARTS, size=PART):
    import tensorflow as tf

    return [tf1.get_variable(f"part_{i}", initializer=tf.fill([size], np.float32(i)), use_resource=resource) for i in range(parts)]


def content(tf, prefix):
    """What every part holds, after a look at each number of it."""
    reader = tf.train.load_checkpoint(prefix)
    values = [reader.get_tensor(f"part_{i}") for i in range(PARTS)]
    assert all(np.all(v == v[0]) for v in values)
    return [float(v[0]) - i for i, v in enumerate(values)]


class SaveUnderFire:
    """A node that takes one more step than the last checkpoint has, saves, and is killed at some moment of that."""

    def __init__(self, tf, tf1, directory, sharded):
        self.tf, self.tf1, self.directory, self.sharded = tf, tf1, str(directory), sharded

    def save(self, step, kill_after=None):
        """Seconds that saving took, or None when the node was killed before it was through."""
        import time

        tf1 = self.tf1
        with running("troupe", {"ps": 1, "worker": 1}) as cluster, tf1.Graph().as_default(), tf1.device("/job:ps/task:0"):
            variables = model(tf1)
            advance = [tf1.assign(v, self.tf.fill([PART], np.float32(step + i))).op for i, v in enumerate(variables)]
            saver = tf1.train.Saver(sharded=self.sharded, max_to_keep=2)
            with tf1.Session(cluster.target("worker/0")) as session:
                if step > 0:
                    saver.restore(session, tf1.train.latest_checkpoint(self.directory))
                session.run(advance)
                kill = threading.Timer(kill_after or 0, cluster.nodes["ps/0"].process.kill)
                if kill_after is not None:
                    kill.start()
                began = time.monotonic()
                try:
                    saver.save(session, os.path.join(self.directory, "model"), global_step=step, write_meta_graph=False)
                except self.tf.errors.OpError:
                    return None
                finally:
                    kill.cancel()
                return time.monotonic() - began


def unfinished(directory):
    return glob.glob(os.path.join(directory, "**", "*.tempstate*"), recursive=True) + glob.glob(os.path.join(directory, "*_temp*"))


@pytest.mark.parametrize("sharded", [False, True])
def test_a_node_killed_while_it_saves_leaves_the_last_checkpoint(tf1, tmp_path, sharded):
    import tensorflow as tf

    fire = SaveUnderFire(tf, tf1, tmp_path, sharded)
    duration = fire.save(0)
    step, hits, chance = 1, 0, random.Random(7)
    for _ in range(KILLS * 20):
        before = tf.train.latest_checkpoint(tmp_path)
        took = fire.save(step, kill_after=chance.uniform(0, duration))
        latest = tf.train.latest_checkpoint(tmp_path)
        if took is None:
            hits += bool(unfinished(tmp_path))
            assert latest == before
        assert content(tf, latest) == [float(latest.rsplit("-", 1)[1])] * PARTS
        # Whatever has an index is complete, also what the client never heard of.
        for index in glob.glob(str(tmp_path / "*.index")):
            assert len(set(content(tf, index[: -len(".index")]))) == 1
        for file in unfinished(tmp_path):
            shutil.rmtree(file) if os.path.isdir(file) else os.unlink(file)
        if hits >= KILLS:
            break
        step += 1
    assert hits >= KILLS, f"only {hits} of {step} kills met the saving, which takes {duration:.3f} s"


def saved(tf1, target, prefix, build):
    tf1.Session.reset(target)
    with tf1.Graph().as_default():
        build()
        saver = tf1.train.Saver()
        with tf1.Session(target) as session:
            session.run(tf1.global_variables_initializer())
            return saver.save(session, prefix, write_meta_graph=False)


def restored(tf1, target, path, build):
    tf1.Session.reset(target)
    with tf1.Graph().as_default():
        variables = build()
        with tf1.Session(target) as session:
            tf1.train.Saver().restore(session, path)
            return session.run(variables)


def hurt(file, how):
    data = bytearray(open(file, "rb").read())
    if how == "flipped":
        data[len(data) // 2] ^= 0x10
    elif how == "cut":
        del data[len(data) * 2 // 3 :]
    else:
        data.clear()
    open(file, "wb").write(data)


@pytest.mark.parametrize("how", ["flipped", "cut", "emptied"])
@pytest.mark.parametrize("kind", ["numbers", "strings", "pieces"])
def test_damaged_data_is_named(troupe, tf1, tmp_path, kind, how):
    import tensorflow as tf

    def build(partitions=3):
        if kind == "strings":
            return [tf1.get_variable("hurt", initializer=tf.constant(["word"] * 100), use_resource=True)]
        if kind == "numbers":
            return [tf1.get_variable("hurt", initializer=tf.range(100.0))]
        return list(tf1.get_variable("hurt", [12, 5], initializer=tf1.ones_initializer(), partitioner=tf1.fixed_size_partitioner(partitions)))

    target = troupe.target("worker/0")
    path = saved(tf1, target, str(tmp_path / "model"), build)
    hurt(path + ".data-00000-of-00001", how)
    # Pieces are read as they were written, and put together anew.
    for again in (build, lambda: build(2)) if kind == "pieces" else (build,):
        with pytest.raises(tf.errors.DataLossError, match=r"tensor hurt in .*/model\.data-00000-of-00001"):
            restored(tf1, target, path, again)


@pytest.mark.parametrize("how", ["flipped", "cut", "emptied"])
def test_a_damaged_index_is_named(troupe, tf1, tmp_path, how):
    import tensorflow as tf

    def build():
        return [tf1.get_variable(f"a_rather_long_name_{i}", initializer=tf.range(3)) for i in range(50)]

    target = troupe.target("worker/0")
    path = saved(tf1, target, str(tmp_path / "model"), build)
    hurt(path + ".index", how)
    with pytest.raises(tf.errors.DataLossError, match=r"/model\.index"):
        restored(tf1, target, path, build)


class Memory:
    """What a process holds, and the most that it held since it was last asked."""

    def __init__(self, node):
        self.pid = node.process.pid

    def read(self, key):
        for line in open(f"/proc/{self.pid}/status"):
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024

    def now(self):
        with open(f"/proc/{self.pid}/clear_refs", "w") as f:
            f.write("5")
        return self.read("VmRSS")

    def most(self):
        return self.read("VmHWM")


@pytest.mark.parametrize("resource", [False, True])
def test_saving_and_restoring_need_no_second_copy(tf1, tmp_path, resource):
    """Whole variables, and one kept whole that is restored in pieces."""
    import tensorflow as tf

    size, parts = 24_000_000, 3
    bytes_of_model = 4 * size * parts

    def whole():
        return model(tf1, resource, parts, size)

    def in_pieces():
        return list(tf1.get_variable("part_0", [size], initializer=tf1.zeros_initializer(), partitioner=tf1.fixed_size_partitioner(4), use_resource=resource))

    path = str(tmp_path / "model")
    with running("troupe", {"ps": 1}) as cluster:
        target, memory = cluster.target("ps/0"), Memory(cluster.nodes["ps/0"])
        with tf1.Graph().as_default(), tf1.Session(target) as session:
            whole()
            saver = tf1.train.Saver()
            session.run(tf1.global_variables_initializer())
            before = memory.now()
            assert before > bytes_of_model
            saver.save(session, path, write_meta_graph=False)
            assert memory.most() - before < bytes_of_model / 8
    for build, expected in ((whole, bytes_of_model), (in_pieces, 4 * size)):
        with running("troupe", {"ps": 1}) as cluster:
            target, memory = cluster.target("ps/0"), Memory(cluster.nodes["ps/0"])
            before = memory.now()
            with tf1.Graph().as_default(), tf1.Session(target) as session:
                build()
                tf1.train.Saver().restore(session, path)
            assert expected < memory.most() - before < expected * 1.5
