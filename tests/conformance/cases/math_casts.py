"""Cast between all pairs of types, what does not fit, truncation; Bitcast; complex numbers and their parts."""

from framework import *
from values import *

nan, inf = float("nan"), float("inf")
TYPES = (*NUMBERS, "bool")

for source in TYPES:
    for target in TYPES:
        high = 100 if target not in COMPLEXES and source not in ("bool", *COMPLEXES) else 10
        low = 0 if target in UNSIGNED or source in UNSIGNED else -high
        case("Cast", [values(source, 3, 4, low=low, high=high) if source != "bool" else boolean(3, 4)], DstT=target)
for target in ("uint8", "int8", "int16", "uint16", "int32", "int64", "uint32", "uint64"):
    for source in ("float", "double"):
        case("Cast", [tensor([1e5, -5.7, 300.2, 0.2, 7e4, 65535.9, -0.9], source)], DstT=target)
for target in ("int32", "int64"):
    case("Cast", [tensor([nan, inf, -inf, 1e30, -1e30])], DstT=target)
for source in INTEGERS:
    case("Cast", [values(source, 8, kind="extreme")], DstT="int8")
    case("Cast", [values(source, 8, kind="extreme")], DstT="uint64")
    case("Cast", [values(source, 8, kind="extreme")], DstT="float")
    case("Cast", [values(source, 8, kind="extreme")], DstT="bool")
for target in FLOATS:
    case("Cast", [f64(20, kind="special")], DstT=target)
    case("Cast", [tensor([1.0009765, 65519.0, 1e-7, 3.3, -2.7, nan, inf, 1e-45])], DstT=target, Truncate=True)
    case("Cast", [tensor([1.0009765, 65519.0, 1e-7, 3.3, -2.7, nan, inf, 1e300], "double")], DstT=target, Truncate=True)
case("Cast", [tensor([3.7, -3.7], "double")], DstT="int32", Truncate=True)
case("Cast", [tensor([1j, 2 + 0j, 0], "complex64")], DstT="bool")
case("Cast", [f32(0, 3)], DstT="int32")
case("Cast", [f32()], DstT="double")
case("Cast", [strings(2)], DstT="string")
case("Cast", [tensor([1, -2, 3], "qint8")], DstT="float")
refuse("Cast", [strings(2)], DstT="float")
refuse("Cast", [f32(2)], DstT="string")

for source, target in (("float", "int32"), ("double", "complex64"), ("int8", "uint8"), ("bfloat16", "half"), ("int64", "double")):
    case("Bitcast", [values(source, 2, 3)], type=target)
case("Bitcast", [f32(2, 3)], type="uint8")
case("Bitcast", [i8(2, 4)], type="float")
case("Bitcast", [i8(0, 4)], type="int32")
case("Bitcast", [c128(2)], type="int16")
refuse("Bitcast", [i8(3)], type="int32")
refuse("Bitcast", [i8()], type="int32")

case("Complex", [f32(2, 3), f32(3)])
case("Complex", [f64(0), f64(1)], Tout="complex128")
refuse("Complex", [f32(2), f32(3)])
for op in ("Real", "Imag", "Angle", "ComplexAbs"):
    case(op, [c64(2, 3)])
    case(op, [c64(0)])
    case(op, [c128(5)], Tout="double")
case("Conj", [c64(2, 3)])
case("Conj", [c128(0)])
