"""Hand-written digits: MNIST's four files in the folder TROUPE_MNIST_DIR, otherwise digits that this file draws."""

import gzip
import os
import pathlib

import numpy as np

# Each digit is a few strokes between points of a unit square, x to the right and y down.
STROKES = [
    [[(.3, .1), (.7, .1), (.9, .5), (.7, .9), (.3, .9), (.1, .5), (.3, .1)]],
    [[(.3, .3), (.55, .1), (.55, .9)]],
    [[(.15, .3), (.4, .1), (.8, .2), (.8, .4), (.15, .9), (.9, .9)]],
    [[(.2, .1), (.8, .1), (.45, .45), (.8, .6), (.75, .85), (.2, .9)]],
    [[(.65, .9), (.65, .1), (.1, .65), (.9, .65)]],
    [[(.8, .1), (.25, .1), (.2, .45), (.65, .45), (.8, .7), (.6, .9), (.15, .9)]],
    [[(.7, .1), (.3, .4), (.2, .7), (.4, .9), (.7, .85), (.75, .6), (.25, .6)]],
    [[(.15, .1), (.85, .1), (.4, .9)], [(.35, .5), (.75, .5)]],
    [[(.5, .5), (.2, .3), (.5, .1), (.8, .3), (.5, .5), (.2, .7), (.5, .9), (.8, .7), (.5, .5)]],
    [[(.75, .4), (.3, .45), (.25, .15), (.7, .1), (.75, .4), (.6, .9)]],
]


def _read_idx(path):
    packed = path.with_name(path.name + ".gz")
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    rank = data[3]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(np.frombuffer(data, ">i4", rank, 4))


def _draw_one_kind(digit, count, rng):
    """Images of one digit, each turned, slanted, stretched and moved a little, with a pen of its own width."""
    segments = np.array([(a, b) for stroke in STROKES[digit] for a, b in zip(stroke, stroke[1:])]) - 0.5
    angle, slant = rng.uniform(-0.25, 0.25, count), rng.uniform(-0.3, 0.3, count)
    width, height = rng.uniform(11, 19, count), rng.uniform(16, 22, count)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]).transpose(2, 0, 1)
    shape = np.zeros([count, 2, 2])
    shape[:, 0, 0], shape[:, 0, 1], shape[:, 1, 1] = width, slant * height, height
    points = np.einsum("nij,njk,spk->nspi", turn, shape, segments) + 13.5 + rng.uniform(-2, 2, [count, 1, 1, 2])
    ys, xs = np.mgrid[0:28, 0:28]
    pixels = np.stack([xs, ys], -1).reshape(1, 784, 2)
    nearest = np.full([count, 784], np.inf)
    for s in range(len(segments)):
        start, along = points[:, None, s, 0], points[:, None, s, 1] - points[:, None, s, 0]
        at = np.clip(((pixels - start) * along).sum(-1) / (along**2).sum(-1), 0, 1)
        nearest = np.minimum(nearest, np.sqrt(((pixels - start - at[..., None] * along)**2).sum(-1)))
    ink = np.clip(rng.uniform(1.3, 2.2, [count, 1]) - nearest, 0, 1)
    return np.clip(ink + rng.normal(0, 0.08, ink.shape), 0, 1)


def _draw(count, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 10, count)
    images = np.zeros([count, 784], np.float32)
    for digit in range(10):
        rows = np.flatnonzero(labels == digit)
        images[rows] = _draw_one_kind(digit, len(rows), rng)
    return images, labels


def _load(name, drawn, seed):
    folder = os.environ.get("TROUPE_MNIST_DIR")
    if not folder:
        images, labels = _draw(drawn, seed)
    else:
        images = _read_idx(pathlib.Path(folder) / f"{name}-images-idx3-ubyte")
        images, labels = images.reshape(len(images), 784) / np.float32(255), _read_idx(pathlib.Path(folder) / f"{name}-labels-idx1-ubyte")
    return images.astype(np.float32), labels.astype(np.int64)


def train_set():
    """Images as float32 [n, 784] in 0..1 and labels as int64 [n]."""
    return _load("train", 2000, 1)


def test_set():
    return _load("t10k", 1000, 2)


class Batches:
    """Endless batches of a set, reshuffled for every round; equal seeds give equal batches."""

    def __init__(self, images, labels, seed):
        self.images, self.labels = images, labels
        self._rng = np.random.RandomState(seed)
        self._order = np.array([], int)

    def next(self, size):
        while len(self._order) < size:
            self._order = np.concatenate([self._order, self._rng.permutation(len(self.labels))])
        rows, self._order = self._order[:size], self._order[size:]
        return self.images[rows], self.labels[rows]
