"""Scatters into variables, tensors and zeros, and rows replaced in place."""

from framework import *
from definitions import for_dtypes
from values import *

NOT_HERE = ("resource", "variant")


def ints(values, dtype="int32"):
    return tensor(values, dtype)


def updates(op, dtype, *shape):
    return values(dtype, *shape, kind="positive") if "Div" in op and dtype != "string" else values(dtype, *shape)


for name in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max"):
    for op, make, attr in (("Scatter" + name, ref, "T"), ("ResourceScatter" + name, var, "dtype")):
        for dtype in for_dtypes(op, attr):
            if dtype in NOT_HERE:
                continue
            case(op, [make(values(dtype, 5, 2)), ints([3, 0]), updates(op, dtype, 2, 2)])
            case(op, [make(values(dtype, 5, 2)), ints([[3], [3]], "int64"), updates(op, dtype, 2, 1, 2)])
            case(op, [make(values(dtype, 5)), ints([2, 1]), updates(op, dtype)])
        case(op, [make(f32(5, 2)), ints([]), f32(0, 2)])
        refuse(op, [make(f32(4, 3)), ints([9, 0]), f32(2, 3, kind="positive")])
        refuse(op, [make(f32(4, 3)), ints([[-1]]), f32(1, 1, 3, kind="positive")])
        refuse(op, [make(f32(4, 3)), ints([0, 1]), f32(3, 3, kind="positive")])
        refuse(op, [make(dtype="float", shape=(4, 3)), ints([0, 1]), f32(2, 3, kind="positive")])
    refuse("Scatter" + name, [ref(f32(4, 3)), ints([0, 1]), f32(2, 2, kind="positive")])
    refuse("Scatter" + name, [ref(f32()), ints([0]), f32(1, kind="positive")])
refuse("ResourceScatterDiv", [var(i32(4)), ints([0, 1]), ints([1, 0])])
refuse("ResourceScatterDiv", [var(f32(4)), ints([0, 1]), f32(2, kind="zeros")])
case("ScatterDiv", [ref(f32(4)), ints([0, 1]), f32(2, kind="zeros")])
case("ScatterAdd", [ref(tensor([2**31 - 1, 7])), ints([0, 0]), ints([1, 1])])

for name in ("Update", "Add", "Sub", "Min", "Max"):
    for op, make in (("ScatterNd" + name, ref), ("ResourceScatterNd" + name, var)):
        for dtype in for_dtypes(op):
            if dtype in NOT_HERE:
                continue
            case(op, [make(values(dtype, 5, 2)), ints([[3], [0]]), values(dtype, 2, 2)])
            case(op, [make(values(dtype, 5, 2)), ints([[3, 1], [3, 1]], "int64"), values(dtype, 2)])
            case(op, [make(values(dtype, 5)), ints([2, 1]), values(dtype, 2)])
        case(op, [make(f32(5, 2)), np.zeros([0, 1], np.int32), f32(0, 2)])
        refuse(op, [make(f32(4, 3)), ints([[9], [0]]), f32(2, 3)])
        refuse(op, [make(f32(4, 3)), ints([[0], [1]]), f32(2)])
        refuse(op, [make(f32(4, 3)), ints([[0], [1]]), f32(3, 3)])
        refuse(op, [make(f32(4, 3)), ints([[0], [1]]), f32(2, 2)])
        refuse(op, [make(f32(4, 3)), ints([[0, 1, 2]]), f32(1)])
        refuse(op, [make(f32(0, 3)), ints([[0]]), f32(1, 3)])
        refuse(op, [make(dtype="float", shape=(4, 3)), ints([[0]]), f32(1, 3)])

for op in ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMin", "TensorScatterMax", "ScatterNdNonAliasingAdd"):
    for dtype in for_dtypes(op):
        case(op, [values(dtype, 5, 2), ints([[3], [0]]), values(dtype, 2, 2)])
        case(op, [values(dtype, 5, 2), ints([[3, 1], [3, 1]], "int64"), values(dtype, 2)])
        case(op, [values(dtype, 2, 3, 2), ints([[[0, 1]], [[1, 0]]]), values(dtype, 2, 1, 2)])
    case(op, [f32(5, 2), np.zeros([0, 1], np.int32), f32(0, 2)])
    refuse(op, [f32(4, 3), ints([[0], [9]]), f32(2, 3)])
    refuse(op, [f32(4, 3), ints([[-1]]), f32(1, 3)])
    refuse(op, [f32(4, 3), ints([[0], [1]]), f32(2)])
    refuse(op, [f32(4, 3), ints([[0], [1]]), f32(3, 3)])
    refuse(op, [f32(4, 3), ints([[0], [1]]), f32(2, 2)])
    refuse(op, [f32(4, 3), ints([[0, 0, 0]]), f32(1)])
    refuse(op, [f32(4, 3), ints([0]), f32(3)])
    refuse(op, [f32(0, 3), ints([[0], [1]]), f32(2, 3)])
    if op.startswith("Tensor"):
        refuse(op, [f32(4, 3), ints(0), f32(2)])
        refuse(op, [f32(), ints([[0], [1]]), f32(2)])
        refuse(op, [f32(4), ints([[0], [1]]), f32()])

for dtype in for_dtypes("ScatterNd"):
    case("ScatterNd", [ints([[3], [0], [3]]), values(dtype, 3, 2), ints([5, 2])])
    case("ScatterNd", [ints([[3, 1], [0, 0]], "int64"), values(dtype, 2), ints([5, 2], "int64")])
case("ScatterNd", [np.zeros([0, 1], np.int32), f32(0), ints([4])])
case("ScatterNd", [np.zeros([0, 1], np.int32), f32(0, 0), ints([0, 0])])
for indices, shape, sizes in (
    ([[0], [9]], (2,), [4]),
    ([[0], [1]], (3,), [4]),
    ([[0, 1]], (1,), [4]),
    ([[0], [1]], (2, 3), [4, 2]),
    ([[0], [1]], (2,), [-4]),
    ([[0], [1]], (2,), [[4]]),
    ([[0], [1]], (2,), 4),
    ([[0], [1]], (2, 0), [4, 0]),
    ([[0], [1]], (2, 3), [0, 3]),
    ([[0], [1]], (2,), []),
    (0, (2,), [4]),
    ([0], (), [4]),
    ([1], (3,), [4, 3]),
):
    refuse("ScatterNd", [ints(indices), f32(*shape), ints(sizes)])



def inplace(op, x, i, v):
    """On a copy: TensorFlow writes into the memory of what is fed, which would be fed again."""

    @graph(op)
    def on_copy():
        return getattr(tf.raw_ops, op)(x=tf.raw_ops.DeepCopy(x=feed(x)), i=feed(i), v=feed(v))


for op in ("InplaceUpdate", "InplaceAdd", "InplaceSub"):
    for dtype in ("bfloat16", "float", "int32", "uint16", "complex64", "string", "bool"):
        inplace(op, values(dtype, 4, 3), ints([9, -1]), values(dtype, 2, 3))
        inplace(op, values(dtype, 4), ints([2]), values(dtype, 1))
    case(op, [f32(4, 3), ints([]), f32(0, 3)])
    for i, shape in (([1], (1, 2)), (1, (1, 3)), ([1, 2], (1, 3)), ([[1, 2]], (1, 3)), ([1], (3,))):
        refuse(op, [f32(4, 3), ints(i), f32(*shape)])
