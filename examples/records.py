"""Digits as TFRecord files of tf.train.Example: an image of bytes, a label, and a name."""

import os
import pathlib

import numpy as np
import tensorflow as tf

import digits


def _example(image, label, i):
    feature = tf.train.Feature
    return tf.train.Example(features=tf.train.Features(feature={
        "image": feature(bytes_list=tf.train.BytesList(value=[(image * 255).astype(np.uint8).tobytes()])),
        "label": feature(int64_list=tf.train.Int64List(value=[label])),
        "name": feature(bytes_list=tf.train.BytesList(value=[b"digit %d" % i])),
    })).SerializeToString()


def write(folder, files=3, count=1500):
    """Makes the files, unless they are there, and names them."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"digits-{i}-of-{files}.tfrecord" for i in range(files)]
    if not all(path.exists() for path in paths):
        images, labels = digits.train_set()
        for f, path in enumerate(paths):
            own = path.with_name(f"{path.name}.{os.getpid()}")
            with tf.io.TFRecordWriter(str(own)) as writer:
                for i in range(f, min(count, len(labels)), files):
                    writer.write(_example(images[i], labels[i], i))
            own.replace(path)
    return [str(path) for path in paths]


FEATURES = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def decode(features):
    """Images in 0..1 and labels from parsed examples, one or a batch of them."""
    pixels = tf.cast(tf.io.decode_raw(features["image"], tf.uint8), tf.float32) / 255.0
    return tf.ensure_shape(pixels, [*features["image"].shape, 784]), features["label"]
