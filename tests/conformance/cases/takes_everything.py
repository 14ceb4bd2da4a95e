"""Ops that take every shape of what their definition lets in: there is nothing for a kernel to refuse."""

from framework import case, exempt
from values import dtype_of_array, f32, strings

UNARY = """
Abs Acos Acosh Angle Asin Asinh Atan Atanh BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1
Ceil ComplexAbs Conj Cos Cosh Dawsn Digamma Elu Erf Erfc Erfinv Exp Expint Expm1 Floor FresnelCos FresnelSin Imag Inv Invert IsFinite IsInf IsNan Lgamma Log
Log1p LogicalNot Ndtri Neg PopulationCount Real Reciprocal Relu Relu6 Rint Round Rsqrt Selu Sigmoid Sign Sin Sinh Softplus Softsign Spence Sqrt Square Tan Tanh
Const DeepCopy Identity IdentityN L2Loss OnesLike PlaceholderWithDefault PreventGradient Rank Shape ShapeN Size Snapshot StopGradient ToBool ZerosLike
"""
for op in UNARY.split():
    exempt(op, "refusal", why="takes every shape")
exempt("Placeholder", "values", "empty", why="is fed or refuses")
exempt("PyFunc", "values", "empty", why="is refused: its function is in another process")
# The text shows a stack of the interpreter that has no such function.
for inputs in ([f32(2)], [f32(2), strings(0)], []):
    case("PyFunc", [inputs], token="nobody", Tin=[dtype_of_array(i) for i in inputs], Tout=["float"], check="code", alone=True)
exempt("SobolSample", "empty", why="takes scalars and gives at least one number")
exempt("RandomIndexShuffle", "empty", why="refuses empty tensors")
exempt("VarHandleOp", "values", why="gives a handle")
