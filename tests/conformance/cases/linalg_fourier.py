"""Fourier transforms of one to three dimensions, of lengths with small and large prime factors."""

from framework import *
from values import *

LENGTHS = {1: [(8,), (3, 15), (2, 17), (1,), (2, 94)], 2: [(4, 6), (2, 5, 34), (1, 1)], 3: [(2, 3, 4), (2, 2, 5, 7)]}
for rank, name in ((1, ""), (2, "2D"), (3, "3D")):
    for dtype in ("complex64", "complex128"):
        for shape in LENGTHS[rank]:
            case("FFT" + name, [values(dtype, *shape)], close=64)
            case("IFFT" + name, [values(dtype, *shape)], close=64)
        case("FFT" + name, [values(dtype, 0, *LENGTHS[rank][0])])
        case("IFFT" + name, [values(dtype, 0, *LENGTHS[rank][0])])
    for real, complex_ in (("float", "complex64"), ("double", "complex128")):
        for shape in LENGTHS[rank]:
            sizes = list(shape[-rank:])
            half = [*shape[:-1], shape[-1] // 2 + 1]
            case("RFFT" + name, [values(real, *shape), tensor(sizes, "int32")], Tcomplex=complex_, close=64)
            case("IRFFT" + name, [values(complex_, *half), tensor(sizes, "int32")], Treal=real, close=64)
        larger = [n + 2 for n in LENGTHS[rank][0]]
        case("RFFT" + name, [values(real, *larger), tensor([n - 1 for n in larger[-rank:]], "int32")], Tcomplex=complex_, close=64)
        case("IRFFT" + name, [values(complex_, *larger), tensor([n - 1 for n in larger[-rank:]], "int32")], Treal=real, close=64)
        case("RFFT" + name, [values(real, 0, *LENGTHS[rank][0]), tensor(list(LENGTHS[rank][0]), "int32")], Tcomplex=complex_)
        case("IRFFT" + name, [values(complex_, 0, *LENGTHS[rank][0]), tensor(list(LENGTHS[rank][0]), "int32")], Treal=real)
    too_flat = c64(*[2] * (rank - 1))
    refuse("FFT" + name, [too_flat])
    refuse("IFFT" + name, [too_flat])
    refuse("RFFT" + name, [f32(*[4] * rank), tensor([4] * (rank + 1), "int32")])
    refuse("RFFT" + name, [f32(*[4] * rank), tensor([6] * rank, "int32")])
    refuse("RFFT" + name, [f32(*[4] * rank), tensor([-1] * rank, "int32")])
    refuse("RFFT" + name, [f32(*[2] * (rank - 1)), tensor([2] * rank, "int32")])
    refuse("IRFFT" + name, [c64(*[4] * rank), tensor([9] * rank, "int32")])
    refuse("IRFFT" + name, [c64(*[4] * rank), tensor([[4] * rank], "int32")])
