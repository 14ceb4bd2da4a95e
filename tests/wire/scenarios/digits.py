"""Hand-written digits from TROUPE_MNIST_DIR (the four idx files, packed or not), otherwise digits drawn by code."""

import gzip
import os
import pathlib

import numpy as np

FONT = ["757557", "262227", "717447", "717117", "557111", "747117", "747757", "711111", "757757", "757117"]


def _idx(path):
    packed = path.with_name(path.name + ".gz")
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    rank = data[3]
    shape = np.frombuffer(data, ">i4", rank, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def _drawn(count):
    """Digits of three by six strokes, blown up, shifted and smeared a little differently each time."""
    rng = np.random.RandomState(5)
    labels = rng.randint(0, 10, count)
    images = np.zeros([count, 28, 28], np.float32)
    for image, label in zip(images, labels):
        strokes = np.array([[int(row) >> bit & 1 for bit in (2, 1, 0)] for row in FONT[label]], np.float32)
        large = np.kron(strokes, np.ones([3, 5], np.float32))
        top, left = rng.randint(1, 9), rng.randint(1, 12)
        image[top:top + large.shape[0], left:left + large.shape[1]] = large
        image += rng.uniform(0, 0.2, image.shape)
    return np.clip(images, 0, 1), labels


def source():
    return "MNIST" if os.environ.get("TROUPE_MNIST_DIR") else "digits drawn by code (TROUPE_MNIST_DIR is not set)"


def load(count=256):
    """The first images as [count, 784] in 0..1, and their labels as int64."""
    folder = os.environ.get("TROUPE_MNIST_DIR")
    if folder:
        images = _idx(pathlib.Path(folder) / "train-images-idx3-ubyte")[:count] / np.float32(255)
        labels = _idx(pathlib.Path(folder) / "train-labels-idx1-ubyte")[:count]
    else:
        images, labels = _drawn(count)
    return np.ascontiguousarray(images.reshape(count, 784), np.float32), labels.astype(np.int64)


def batches(size, count, start=0):
    """Batches in a fixed order, going round."""
    images, labels = load()
    for i in range(start, start + count):
        rows = np.arange(i * size, (i + 1) * size) % len(images)
        yield images[rows], labels[rows]


def one_hot(labels):
    return np.eye(10, dtype=np.float32)[labels]
