"""Special functions, at ordinary arguments and at the edges of their domains."""

from framework import *
from values import *

nan, inf = float("nan"), float("inf")

EDGES = [0, -0.0, 1, -1, nan, 30, -30, 1e-5, -3, 0.5, 2.25, 17.5]
for op in ("BesselI0e", "BesselI1e", "BesselK0e", "BesselK1e", "BesselI0", "BesselI1", "BesselK0", "BesselK1", "BesselJ0", "BesselJ1", "BesselY0"):
    for dtype in ("float", "double"):
        case(op, [tensor([*EDGES, 0.25, 3.75, 9.5], dtype)], ulp=512)
for op in ("BesselY1", "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"):
    for dtype in ("float", "double"):
        case(op, [tensor([*EDGES, inf, -inf, 0.75, 1.5, 3.5, 45], dtype)], ulp=512)
for dtype in ("float", "double"):
    case("Lgamma", [tensor([0, -1, -1.5, inf, -inf, nan, 1.5, 1e-10, 100, 0.5], dtype)], ulp=64)
    case("Digamma", [tensor([0, -1, -1.5, inf, nan, 1.5, 1e-10, 100, 0.5, -7.3], dtype)], ulp=256)
    case("Erfinv", [tensor([0, 1, -1, 2, nan, -0.5, 0.3, 0.99, -0.875], dtype)], ulp=64)
    case("Ndtri", [tensor([0, 1, -1, nan, 0.5, 0.3, 0.999, 1e-5, 1e-12], dtype)], ulp=64)
    case("Erf", [tensor([0, -0.0, 1, -2, nan, inf, -inf, 0.3, 5], dtype)], ulp=16)
    case("Erfc", [tensor([0, -0.0, 1, -2, nan, inf, -inf, 0.3, 3], dtype)], ulp=64)
    case("Zeta", [tensor([1, 0.5, 2, 3, 2.5, 3, 2, nan, 2, 4.5, 7], dtype), tensor([1, 1, -1, -1, -1.5, 0, 0, 1, 1.5, 3, 0.25], dtype)], ulp=64)
    case("Polygamma", [tensor([0, 1, 2, -1, 0.5, 1, nan, 3], dtype), tensor([1.5, 1.5, 2.5, 1.5, 1.5, -1, 1, 0.3], dtype)], ulp=256)
    case("Zeta", [tensor([2, 1, inf, 1.5, 2, 2.5, inf, 0.5, 3, inf], dtype), tensor([inf, inf, inf, inf, -inf, -inf, 3, inf, -inf, -2.5], dtype)])
    case("Polygamma", [tensor([1, 2, 0, -1, 3, 1, 2, inf, inf], dtype), tensor([inf, inf, inf, inf, inf, -inf, -inf, 2, inf], dtype)])
    a = tensor([0.5, 1, 2, 5, 0.1, 10, 3, 20], dtype)
    x = tensor([0.25, 2, 1, 7, 3, 4, 3, 22], dtype)
    for op in ("Igamma", "Igammac", "IgammaGradA"):
        case(op, [a, x], close=4096 if op == "IgammaGradA" else 256)
        case(op, [tensor([0, -1, 1, 1, nan, 2], dtype), tensor([1, 1, 0, -1, 1, nan], dtype)])
        case(op, [tensor([1, 2], dtype), tensor([[0.5], [3]], dtype)], close=4096 if op == "IgammaGradA" else 256)
        refuse(op, [tensor([1, 2], dtype), tensor([1, 2, 3], dtype)])
    case("Betainc", [a, tensor([1, 0.5, 3, 2, 4, 1, 7, 2], dtype), tensor([0.25, 0.5, 0.9, 0.1, 0.3, 0.7, 0.5, 0.95], dtype)], close=1024)
    case("Betainc", [tensor(2, dtype), tensor(3, dtype), tensor([0, 1, 0.5, 2, -1, nan], dtype)], close=256)
    case("Betainc", [tensor([0, 1, -1, 2], dtype), tensor([1, 0, 1, 3], dtype), tensor(0.5, dtype)], close=256)
    case("Betainc", [tensor([], dtype), tensor([], dtype), tensor(0.5, dtype)])
refuse("Betainc", [f32(2), f32(3), f32(1)])
refuse("Betainc", [f32(2), f32(2), f32(1)])
refuse("Betainc", [f32(), f32(3), f32(2)])
