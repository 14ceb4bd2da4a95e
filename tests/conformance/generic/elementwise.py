"""Cases by signature: what is element-wise on one or two inputs, and reductions, for every type that TensorFlow has a kernel for."""

from definitions import definition, listed_ops, type_combinations
from framework import refuse
from recipes import Types, each
from values import FLOATS

# One input and one output, yet not a function of single elements.
SHAPED = {
    "BiasAddGrad", "Softmax", "LogSoftmax", "InvertPermutation", "DiagPart", "Diag", "L2Loss", "Cholesky", "MatrixDeterminant", "MatrixInverse",
    "MatrixLogarithm", "LRN", "RGBToHSV", "DataFormatVecPermute", "DataFormatDimMap", "Exit", "NextIteration", "XlaClusterOutput",
    "_EagerConst", "CheckNumerics", "Squeeze", "PreventGradient", "ToBool", "GuaranteeConst", "DeepCopy", "RandomShuffle",
    "Bitcast", "Eig", "EncodePng", "Rank", "Size", "Shape", "Where", "Qr", "Svd",
}  # fmt: skip

# Two inputs of one type, yet no broadcasting.
PAIRED = {
    "MatMul", "BatchMatMulV2", "BiasAdd", "BroadcastArgs", "MatrixSolve", "MatrixTriangularSolve", "BandedTriangularSolve", "Cross",
    "TridiagonalSolve",
}  # fmt: skip

# Gradients and their like take two inputs of one shape.
SAME_SHAPE = {
    "ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftsignGrad", "TanhGrad", "SigmoidGrad", "RsqrtGrad", "SqrtGrad",
    "ReciprocalGrad", "ApproximateEqual", "RandomGammaGrad",
}  # fmt: skip

# Integers must not be zero here, nor shifted further than they are wide.
DIVIDES = {"FloorMod", "FloorDiv", "TruncateDiv", "TruncateMod", "RealDiv", "DivNoNan", "Xdivy"}
SHIFTS = {"LeftShift", "RightShift"}

# Where both sides approximate, each in its own way: units in the last place.
ULP = {
    "Lgamma": 32, "IgammaGradA": 4096, "RandomGammaGrad": 4096, "Ndtri": 32, "Pow": 8, "Erfc": 16, "Erf": 8, "Tan": 8,
    "Sinh": 8, "Cosh": 8, "Asinh": 8, "Acosh": 8, "Atanh": 8, "Asin": 8, "Acos": 8, "Expm1": 8, "Log1p": 8, "Tanh": 8, "Sigmoid": 8,
    "Softplus": 8, "Elu": 8, "Selu": 8, "Dawsn": 16, "Expint": 32, "FresnelCos": 64, "FresnelSin": 64, "Spence": 32, "Xlogy": 8, "Xlog1py": 8,
    "BesselI0": 16, "BesselI0e": 16, "BesselI1": 16, "BesselI1e": 16, "BesselJ0": 256, "BesselJ1": 256, "BesselK0": 32, "BesselK0e": 32,
    "BesselK1": 32, "BesselK1e": 32, "BesselY0": 512, "BesselY1": 512,
}  # fmt: skip

# A sum of terms that cancel near its zeros.
CLOSE = {"Digamma": 128}

SUMS = {"Sum": 8, "Mean": 8, "Prod": 16, "Cumsum": 8, "Cumprod": 16, "EuclideanNorm": 8, "CumulativeLogsumexp": 16}


def _argument_types(op):
    inputs = definition(op).input_arg
    plain = not any(a.number_attr or a.type_list_attr or a.is_ref for a in inputs)
    return tuple(a.type_attr or a.type for a in inputs) if plain else ()


def _needs_attributes(op):
    typed = {a.type_attr for a in (*definition(op).input_arg, *definition(op).output_arg)}
    return any(not a.HasField("default_value") and a.name not in typed for a in definition(op).attr)


def _candidates():
    for op in listed_ops():
        if definition(op) and not definition(op).is_stateful and not _needs_attributes(op) and type_combinations(op):
            yield op


def _unary(op):
    rule = {"close": CLOSE[op]} if op in CLOSE else {"ulp": ULP.get(op, 4)}
    each(op, lambda t: [t("T", 3, 5)], **rule)
    each(op, lambda t: [t("T", kind="positive")], **rule)
    each(op, lambda t: [t("T", 0, 2)], **rule)
    each(op, lambda t: [t("T", 2, 3, 7, kind="unit" if t["T"] in FLOATS else "positive")], **rule)
    each(op, lambda t: [t("T", 20, kind="special")], **rule, keep=lambda t: t["T"] != "string")


def _binary(op):
    ulp = ULP.get(op, 4)
    second = {"kind": "positive"} if op in DIVIDES else {}
    if op in SHIFTS:
        second = {"low": 0, "high": 8}
    if op == "Pow":
        second = {"low": 0, "high": 4}
    each(op, lambda t: [t("T", 4, 5), t("T", 4, 5, **second)], ulp=ulp)
    each(op, lambda t: [t("T"), t("T", **second)], ulp=ulp)
    each(op, lambda t: [t("T", 0, 3), t("T", 0, 3, **second)], ulp=ulp)
    if op not in SAME_SHAPE:
        each(op, lambda t: [t("T", 3, 1, 5), t("T", 2, 1, **second)], ulp=ulp)
        each(op, lambda t: [t("T", 1), t("T", 7, **second)], ulp=ulp)
    if op not in SHIFTS:
        each(op, lambda t: [t("T", 24, kind="special"), t("T", 24, kind="extreme")], ulp=ulp, keep=lambda t: t["T"] in FLOATS)
    t = Types(op, type_combinations(op)[0])
    refuse(op, [t("T", 2, 3), t("T", 4, **second)])


def _reduction(op):
    rule = {"sums": SUMS[op]} if op in SUMS else {}
    scan = op in ("Cumsum", "Cumprod", "CumulativeLogsumexp")
    axes = [0, -1, 1] if scan else [[1], [-2], [0, 2]]
    if op in ("Prod", "Cumprod"):
        limits = {"low": 1, "high": 3}
    else:
        limits = {}
    for axis in axes:
        each(op, lambda t: [t("T", 3, 4, 2, **limits), t.at("Tidx", axis)], **rule)
    each(op, lambda t: [t("T", 2, 0, 3), t.at("Tidx", axes[0])], **rule)
    if scan:
        each(op, lambda t: [t("T", 5, **limits), t.at("Tidx", 0)], exclusive=True, reverse=True, **rule)
    else:
        each(op, lambda t: [t("T", 3, 5, **limits), t.at("Tidx", 0)], keep_dims=True, **rule)
        each(op, lambda t: [t("T", 3, 5, **limits), t.at("Tidx", [])], **rule)
    t = Types(op, type_combinations(op)[0])
    refuse(op, [t("T", 2, 3), t.at("Tidx", 5 if scan else [5])])


REDUCTIONS = ("Sum", "Prod", "Mean", "Max", "Min", "EuclideanNorm", "Cumsum", "Cumprod", "CumulativeLogsumexp")


def declare():
    for op in _candidates():
        types = _argument_types(op)
        if op in REDUCTIONS:
            _reduction(op)
        elif types == ("T",) and op not in SHAPED:
            _unary(op)
        elif types == ("T", "T") and op not in PAIRED and len(definition(op).output_arg) == 1:
            _binary(op)


declare()
