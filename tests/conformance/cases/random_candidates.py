"""Candidate samplers: classes drawn for sampled losses."""

import atexit
import os
import tempfile

import tensorflow as tf
from framework import *
from values import *

raw = tf.raw_ops

TRUE = tensor([[1, 2], [3, 0], [4, 4]], "int64")
SAMPLERS = ("UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler")


def options(sampled=4, unique=True, seed=3, seed2=8, true=2, **more):
    return dict(num_true=true, num_sampled=sampled, unique=unique, seed=seed, seed2=seed2, **more)


for op in SAMPLERS:
    for range_max in (5, 8, 1000, 100003):
        for unique in (True, False):
            case(op, [TRUE], **options(unique=unique, range_max=range_max))
    case(op, [TRUE], **options(sampled=5, range_max=5))
    case(op, [TRUE], **options(sampled=50, unique=False, range_max=5))
    case(op, [TRUE], **options(sampled=300, range_max=1000, seed=0, seed2=7))
    case(op, [i64(0, 2)], **options(range_max=9))
    case(op, [tensor([[0]], "int64")], **options(true=1, sampled=1, range_max=1))
    refuse(op, [TRUE], **options(sampled=6, range_max=5))
    refuse(op, [TRUE], **options(true=3, range_max=5))
    refuse(op, [tensor([1, 2], "int64")], **options(range_max=5))
    refuse(op, [tensor([[1, 5]], "int64")], **options(range_max=5))
    refuse(op, [tensor([[-1, 3]], "int64")], **options(range_max=5))
for op in ("UniformCandidateSampler", "LogUniformCandidateSampler"):
    case(op, [TRUE], **options(sampled=40, range_max=2**40 + 1))
    case(op, [TRUE], **options(sampled=40, range_max=2**62))

case("AllCandidateSampler", [TRUE], **options(sampled=5))
case("AllCandidateSampler", [TRUE], **options(sampled=7, unique=False))
case("AllCandidateSampler", [i64(0, 2)], **options(sampled=3))
refuse("AllCandidateSampler", [tensor([1], "int64")], **options(sampled=5))
refuse("AllCandidateSampler", [TRUE], **options(sampled=5, true=1))
refuse("AllCandidateSampler", [TRUE], **options(sampled=4))

UNIGRAMS = [1.0, 2.0, 0.5, 4.0, 0.25]
for distortion in (1.0, 0.75, 0.0):
    for unique in (True, False):
        case("FixedUnigramCandidateSampler", [TRUE], **options(unique=unique, range_max=5, unigrams=UNIGRAMS, distortion=distortion))
case("FixedUnigramCandidateSampler", [TRUE], **options(sampled=60, unique=False, range_max=5, unigrams=UNIGRAMS))
case("FixedUnigramCandidateSampler", [i64(0, 2)], **options(range_max=5, unigrams=UNIGRAMS))
case("FixedUnigramCandidateSampler", [TRUE], **options(sampled=3, range_max=7, unigrams=UNIGRAMS, num_reserved_ids=2))
case("FixedUnigramCandidateSampler", [tensor([[0, 1]], "int64")], **options(sampled=2, range_max=3, unigrams=UNIGRAMS, num_shards=2))
case("FixedUnigramCandidateSampler", [tensor([[0, 1]], "int64")], **options(sampled=2, range_max=2, unigrams=UNIGRAMS, num_shards=2, shard=1))
case("FixedUnigramCandidateSampler", [tensor([[0, 1]], "int64")], **options(sampled=1, range_max=4, unigrams=UNIGRAMS, num_reserved_ids=3, num_shards=2, shard=0))
refuse("FixedUnigramCandidateSampler", [TRUE], **options(range_max=5))
refuse("FixedUnigramCandidateSampler", [TRUE], **options(range_max=5, unigrams=UNIGRAMS, vocab_file="x"))
refuse("FixedUnigramCandidateSampler", [TRUE], **options(range_max=6, unigrams=UNIGRAMS))
refuse("FixedUnigramCandidateSampler", [TRUE], **options(range_max=5, vocab_file="/nonexistent/vocabulary"))
refuse("FixedUnigramCandidateSampler", [tensor([[1, 5]], "int64")], **options(range_max=5, unigrams=UNIGRAMS))


def vocabulary(text):
    path = os.path.join(tempfile.gettempdir(), f"troupe_vocabulary_{abs(hash(text)) % 10**9}_{os.getpid()}.csv")
    with open(path, "w") as file:
        file.write(text)
    atexit.register(os.unlink, path)
    return path


case("FixedUnigramCandidateSampler", [TRUE], **options(range_max=5, vocab_file=vocabulary("a,1\nb,2\nc,x,0.5\nd,4\n0.25\n")))
case("FixedUnigramCandidateSampler", [TRUE], **options(range_max=5, vocab_file=vocabulary("a,1\n\nb,2\nc,0.5\n\n\nd,4\ne,0.25")))
refuse("FixedUnigramCandidateSampler", [TRUE], **options(range_max=5, vocab_file=vocabulary("a,1\nb,two\n")))


@graph("LearnedUnigramCandidateSampler")
def learns_from_step_to_step():
    classes = raw.LearnedUnigramCandidateSampler(true_classes=feed([[1, 1, 1, 6]], "int64"), num_true=4, num_sampled=12, unique=False, range_max=9, seed=4, seed2=2)
    return steps(*[list(classes)] * 5)


@graph("ThreadUnsafeUnigramCandidateSampler")
def learns_unique():
    classes = raw.ThreadUnsafeUnigramCandidateSampler(true_classes=feed([[1, 1, 1, 6]], "int64"), num_true=4, num_sampled=6, unique=True, range_max=9, seed=4, seed2=2)
    return steps(*[list(classes)] * 5)


@graph("UniformCandidateSampler", "LogUniformCandidateSampler")
def goes_on():
    true = feed([[1, 2]], "int64")
    a = raw.UniformCandidateSampler(true_classes=true, num_true=2, num_sampled=5, unique=True, range_max=9, seed=4, seed2=2)
    b = raw.LogUniformCandidateSampler(true_classes=true, num_true=2, num_sampled=5, unique=True, range_max=9, seed=4, seed2=2)
    return steps(*[[*a, *b]] * 4)


case("ComputeAccidentalHits", [TRUE, tensor([4, 7, 3, 1], "int64")], num_true=2)
case("ComputeAccidentalHits", [TRUE, tensor([4, 4, 0, 4], "int64")], num_true=2)
case("ComputeAccidentalHits", [tensor([[-5], [2**60]], "int64"), tensor([2**60, -5], "int64")], num_true=1)
case("ComputeAccidentalHits", [TRUE, tensor([9], "int64")], num_true=2, seed=3)
case("ComputeAccidentalHits", [TRUE, i64(0)], num_true=2)
case("ComputeAccidentalHits", [i64(0, 2), i64(3)], num_true=2)
refuse("ComputeAccidentalHits", [TRUE, i64(3)], num_true=3)
refuse("ComputeAccidentalHits", [i64(3), i64(3)], num_true=3)
refuse("ComputeAccidentalHits", [TRUE, i64(3, 1)], num_true=2)
