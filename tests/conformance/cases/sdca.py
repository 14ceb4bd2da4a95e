"""Stochastic dual coordinate ascent. TensorFlow takes the examples of a batch in any order, so those of a case do not share features."""

from framework import *
from values import *


def floats(*numbers):
    return tensor(list(numbers), "float")


def ints(*numbers):
    return tensor(np.array(numbers, np.int64), "int64")


def state(*duals):
    return tensor([[d, 0, 0, 0] for d in duals] if duals else np.zeros((0, 4), np.float32), "float")


LABELS = {"squared_loss": (3.0, -1.5), "logistic_loss": (0.0, 1.0), "hinge_loss": (0.0, 1.0), "smooth_hinge_loss": (0.0, 1.0), "poisson_loss": (3.0, 0.5)}
for op in ("SdcaOptimizer", "SdcaOptimizerV2"):
    PLAIN = dict(l1=0.0, l2=1.0, num_loss_partitions=1, num_inner_iterations=1, num_sparse_features_with_values=0)
    for loss, labels in LABELS.items():
        for label in labels:
            for weight, dual, l1, l2, parts in [(1.0, 0.0, 0.0, 1.0, 1), (0.5, 0.3, 0.1, 3.0, 2), (2.0, 0.1, 0.0, 0.25, 1)]:
                options = {**PLAIN, "l1": l1, "l2": l2, "num_loss_partitions": parts, "loss_type": loss}
                case(op, [[], [], [], [tensor([[2.0, -1.0]], "float")], floats(weight), floats(label), [], [], [floats(0.3, 0.2)], state(dual)], close=256, **options)
        sparse = [[ints(0, 0, 1), ints(0, 1)], [ints(3, 7, 5), ints(9, 4)], [floats(1.0, 2.0, -3.0)]]
        weights = [[ints(3, 5, 7), ints(4, 9)], [floats(0.1, 0.2, 0.3), floats(0.2, -0.1)]]
        two = [*sparse, [tensor([[2.0, 0.0], [0.0, 1.5]], "float")], floats(1.0, 0.5), floats(*labels), *weights, [floats(0.5, 0.4)], state(0.0, 0.0)]
        case(op, two, close=256, **{**PLAIN, "num_sparse_features_with_values": 1, "loss_type": loss})
    SQUARED = dict(PLAIN, loss_type="squared_loss")
    case(op, [[ints()], [ints()], [], [], floats(), floats(), [ints(3)], [floats(0.5)], [], state()], **SQUARED)
    rows, keys, known, now, ones, labels, duals = ints(0, 0, 1), ints(3, 7, 3), ints(3, 5, 7), floats(0.1, 0.2, 0.3), floats(1, 1), floats(1, 2), state(0.0, 0.0)
    refuse(op, [[rows], [ints(3, 7, 4)], [], [], ones, labels, [known], [now], [], duals], **SQUARED)
    refuse(op, [[rows], [ints(3, 7)], [], [], ones, labels, [known], [now], [], duals], **SQUARED)
    refuse(op, [[ints(0, 0)], [ints(3, 3)], [], [], floats(1), floats(1), [known], [now], [], state(0.0)], **SQUARED)
    refuse(op, [[rows], [keys], [], [], floats(1), labels, [known], [now], [], duals], **SQUARED)
    refuse(op, [[rows], [keys], [], [], ones, labels, [known], [now], [], state(0.0)], **SQUARED)
    refuse(op, [[rows], [keys], [], [], ones, labels, [known], [now], [], floats(0, 0)], **SQUARED)
    refuse(op, [[], [], [], [f32(2, 2)], ones, labels, [], [], [floats(1)], duals], **SQUARED)
    refuse(op, [[], [], [], [f32(2)], ones, labels, [], [], [floats(1)], duals], **SQUARED)
    for loss, label in (("logistic_loss", 0.5), ("hinge_loss", 2.0), ("smooth_hinge_loss", -1.0), ("poisson_loss", -1.0)):
        refuse(op, [[], [], [], [f32(1, 2)], floats(1), floats(label), [], [], [floats(1, 1)], state(0.0)], **{**PLAIN, "loss_type": loss})

for l1, l2 in ((0.5, 2.0), (0.0, 1.0), (1.0, 0.0)):
    case("SdcaShrinkL1", [[ref(floats(1.0, -0.1, -3.0, 0.25)), ref(tensor([[2.0]], "float"))]], l1=l1, l2=l2)
case("SdcaShrinkL1", [[ref(f32(0, 3))]], l1=0.5, l2=1.0)
refuse("SdcaShrinkL1", [[ref(dtype="float", shape=(2,))]], l1=0.5, l2=1.0)

case("SdcaFprint", [strings(7)])
case("SdcaFprint", [tensor(["", "a", "hello world", "x" * 100, "y" * 300], "string")])
case("SdcaFprint", [tensor(["one"], "string")])
case("SdcaFprint", [strings(0)])
refuse("SdcaFprint", [strings()])
refuse("SdcaFprint", [strings(2, 2)])
