"""Tensors large enough for what kernels do with many elements: whole vectors with a rest, squares, blocks, several threads."""

from math import inf, nan

from framework import *
from values import *

# Odd sizes leave a rest; the larger ones are shared by threads.
LONG, MANY = (3, 341), (311, 1009)
FUNCTIONS = "Exp Expm1 Sin Cos Tanh Sigmoid Erf Neg Sign Abs Floor Ceil Rint Square".split()
for dtype in ("float", "half", "bfloat16"):
    for op in FUNCTIONS:
        if op != "Rint" or dtype == "float":
            case(op, [values(dtype, *LONG)], ulp=8)
    for op in ("Log", "Log1p", "Sqrt", "Rsqrt"):
        case(op, [values(dtype, *LONG, kind="positive")], ulp=8)
    for op in ("Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu"):
        case(op, [values(dtype, *LONG)], ulp=8)
    for op in ("ReluGrad", "Relu6Grad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad", "LeakyReluGrad"):
        case(op, [values(dtype, *LONG), values(dtype, *LONG)], ulp=8)
    for op in ("TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad"):
        case(op, [values(dtype, *LONG, kind="positive"), values(dtype, *LONG)], ulp=8)
    for op in ("Softmax", "LogSoftmax"):
        case(op, [values(dtype, 7, 77)], close=16)
    case("SoftmaxCrossEntropyWithLogits", [values(dtype, 33, 70), values(dtype, 33, 70)], close=64)
for op in ("Exp", "Tanh", "Relu", "Elu", "Softplus", "Softmax", "Square"):
    case(op, [f32(*MANY)], **(dict(close=16) if op in ("Elu", "Softmax") else dict(ulp=8)))
for op in ("Exp", "Log", "Sigmoid", "Softmax"):
    case(op, [f64(5, 83, kind="positive")], ulp=16)
special = np.resize(np.array([0, -0.0, 1, -1, 0.3, -3, 9, -9, 30, -30, 88, -88, 90, -104, nan, inf, -inf], "float32"), 67)
for op in ("Exp", "Expm1", "Tanh", "Sigmoid", "Erf", "Sin", "Cos", "Elu", "Selu", "Softplus", "Sign", "Relu6", "LeakyRelu", "Floor", "Square"):
    case(op, [special], ulp=8)
for op in ("EluGrad", "SeluGrad", "LeakyReluGrad", "SoftplusGrad", "ReluGrad"):
    case(op, [special, special[::-1].copy()], ulp=8)
case("ClipByValue", [special, tensor(-2.5, "float"), tensor(3.5, "float")])

for op in ("Add", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "SquaredDifference", "Less"):
    case(op, [f32(*MANY), f32(*MANY)])
    case(op, [f32(*MANY), f32(1009)])
    case(op, [f32(311, 1), f32(*MANY)])
case("Mul", [f32(40, 1, 90, 1), f32(1, 30, 1, 7)])
case("Pow", [i32(*MANY, low=0, high=9), i32(*MANY, low=0, high=5)])
refuse("Pow", [i32(*MANY, low=0, high=9), i32(*MANY, low=-2, high=5)])
case("AddN", [[f32(*LONG)] * 3])
for dtype in ("half", "bfloat16", "double", "int32", "uint8", "bool", "int64", "int16"):
    case("Cast", [f32(*LONG, low=0, high=200)], DstT=dtype)
    case("Cast", [values(dtype, *LONG)], DstT="float")
case("Select", [boolean(*MANY), f32(*MANY), f32(*MANY)])
case("SelectV2", [boolean(*LONG), i32(*LONG), i32(*LONG)])

for op in ("Sum", "Mean", "Max", "Min", "Prod"):
    rule = {} if op in ("Max", "Min") else {"sums": 64}
    for axes in ([0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2]):
        case(op, [f32(61, 50, 70, kind="unit" if op == "Prod" else "normal"), tensor(axes, "int32")], **rule)
case("Max", [np.resize(special, (9, 40)), tensor([1], "int32")])
case("Min", [np.resize(special, (9, 40)), tensor([0], "int32")])
for dtype in ("uint8", "half", "float", "double", "complex128", "string"):
    for shape, order in (((37, 53), (1, 0)), ((64, 48), (1, 0)), ((3, 40, 33), (2, 0, 1)), ((20, 18, 17), (2, 1, 0)), ((2, 19, 5, 32), (0, 3, 1, 2))):
        case("Transpose", [values(dtype, *shape), tensor(list(order), "int32")])
case("Transpose", [f32(600, 500), tensor([1, 0], "int32")])
case("BroadcastTo", [f32(40, 1), tensor([3, 40, 50], "int32")])

for shape in ((3, 64), (2, 256), (2, 96), (2, 60), (2, 1001), (600, 128)):
    for dtype in ("complex64", "complex128"):
        case("FFT", [values(dtype, *shape)], close=64)
        case("IFFT", [values(dtype, *shape)], close=64)
case("RFFT", [f32(3, 128), tensor([128], "int32")], Tcomplex="complex64", close=64)
case("IRFFT", [c64(3, 65), tensor([128], "int32")], Treal="float", close=64)
case("FFT2D", [c64(2, 32, 48)], close=64)
case("RFFT2D", [f32(2, 20, 32), tensor([16, 32], "int32")], Tcomplex="complex64", close=64)

POOL = dict(ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME")
for dtype in ("float", "half"):
    case("AvgPool", [values(dtype, 2, 13, 11, 21)], close=16, **POOL)
    case("AvgPoolGrad", [tensor([2, 13, 11, 21], "int32"), values(dtype, 2, 7, 6, 21)], close=16, **POOL)
    for beta in (0.5, 0.75, 1.0, 2.0):
        case("LRN", [values(dtype, 2, 5, 6, 37)], beta=beta, alpha=0.5, close=32)
    case("LRNGrad", [values(dtype, 2, 5, 6, 37)] * 3, beta=0.75, close=128)
case("AvgPool", [f32(9, 32, 32, 33)], close=16, **POOL)
for op in ("ResizeBilinear", "ResizeBicubic"):
    for mode in (dict(), dict(align_corners=True), dict(half_pixel_centers=True)):
        case(op, [f32(3, 40, 33, 3), tensor([90, 70], "int32")], close=16, **mode)
        case(op, [u8(2, 40, 33, 17), tensor([21, 15], "int32")], close=16, **mode)
ids = np.sort(np.arange(400) * 7919 % 50).astype("int32")
for op in ("SegmentSum", "SegmentMean", "SegmentMax", "SegmentProd"):
    case(op, [f32(400, 33, kind="unit"), ids], **({} if op == "SegmentMax" else {"sums": 64}))
for dtype in ("int32", "int64", "int16"):
    if dtype != "int16":
        case("MatMul", [values(dtype, 70, 90), values(dtype, 90, 33)])
        case("MatMul", [values(dtype, 90, 70), values(dtype, 33, 90)], transpose_a=True, transpose_b=True)
case("FakeQuantWithMinMaxArgs", [f32(*LONG)])
case("AssignAddVariableOp", [var(f32(*LONG)), f32(*LONG)])
for dtype in ("float", "double"):
    slots = [var(values(dtype, *LONG, kind="positive")) for _ in range(3)]
    numbers = [tensor(v, dtype) for v in (0.9, 0.99, 0.1, 0.9, 0.99, 1e-3)]
    case("ResourceApplyAdam", [*slots, *numbers, values(dtype, *LONG)], close=16)
