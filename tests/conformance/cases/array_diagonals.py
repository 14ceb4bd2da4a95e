"""Diagonals and bands of matrices."""

from framework import *
from definitions import for_dtypes
from values import *

ALIGN = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def ints(values, dtype="int32"):
    return tensor(values, dtype)


for dtype in for_dtypes("MatrixDiagV3"):
    for op in ("MatrixDiag", "BatchMatrixDiag"):
        case(op, [values(dtype, 3)])
        case(op, [values(dtype, 2, 3)])
    for op in ("MatrixDiagPart", "BatchMatrixDiagPart"):
        case(op, [values(dtype, 3, 4)])
        case(op, [values(dtype, 2, 4, 3)])
    for op in ("MatrixSetDiag", "BatchMatrixSetDiag"):
        case(op, [values(dtype, 3, 4), values(dtype, 3)])
        case(op, [values(dtype, 2, 4, 3), values(dtype, 2, 3)])
    case("MatrixDiagV2", [values(dtype, 2, 3), ints(1), ints(-1), ints(-1), values(dtype)])
    case("MatrixDiagV2", [values(dtype, 2, 3, 3), ints([-1, 1]), ints(-1), ints(4), values(dtype)])
    case("MatrixDiagPartV2", [values(dtype, 3, 4), ints([-2, 1]), values(dtype)])
    case("MatrixDiagPartV2", [values(dtype, 2, 4, 3), ints(-1), values(dtype)])
    case("MatrixSetDiagV2", [values(dtype, 3, 4), values(dtype, 3), ints(1)])
    case("MatrixSetDiagV2", [values(dtype, 2, 3, 4), values(dtype, 2, 3, 3), ints([-1, 1])])
    for align in ALIGN:
        case("MatrixDiagV3", [values(dtype, 2, 4, 3), ints([-2, 1]), ints(-1), ints(-1), values(dtype)], align=align)
        case("MatrixDiagV3", [values(dtype, 3), ints([2]), ints(-1), ints(6), values(dtype)], align=align)
        case("MatrixDiagPartV3", [values(dtype, 2, 3, 5), ints([-2, 3]), values(dtype)], align=align)
        case("MatrixDiagPartV3", [values(dtype, 5, 3), ints([-4, -1]), values(dtype)], align=align)
        case("MatrixSetDiagV3", [values(dtype, 2, 3, 4), values(dtype, 2, 4, 3), ints([-1, 2])], align=align)
        case("MatrixSetDiagV3", [values(dtype, 4, 3), values(dtype, 2, 3), ints([-2, -1])], align=align)
for op in ("MatrixDiag", "BatchMatrixDiag"):
    case(op, [f32(0)])
    case(op, [f32(0, 3)])
    refuse(op, [f32()])
for op in ("MatrixDiagPart", "BatchMatrixDiagPart"):
    case(op, [f32(3, 0)])
    case(op, [f32(0, 3, 3)])
    refuse(op, [f32(3)])
for op in ("MatrixSetDiag", "BatchMatrixSetDiag"):
    case(op, [f32(3, 0), f32(0)])
    refuse(op, [f32(3), f32(3)])
    refuse(op, [f32(3, 4), f32(4)])
    refuse(op, [f32(2, 3, 4), f32(3)])
    refuse(op, [f32(3, 4), f32()])
for op in ("MatrixDiagV2", "MatrixDiagV3"):
    case(op, [f32(0, 3), ints(0), ints(-1), ints(-1), f32()])
    case(op, [f32(3), ints(0), ints(7), ints(3), f32()])
    for diagonal, k, rows, columns, padding in (
        (f32(3), [1, 0], -1, -1, f32()),
        (f32(2, 3), [0, 1, 2], -1, -1, f32()),
        (f32(3, 3), [0, 1], -1, -1, f32()),
        (f32(3), 0, 2, 2, f32()),
        (f32(3), 5, 3, 3, f32()),
        (f32(3), 0, [2], 2, f32()),
        (f32(3), 0, 3, [2], f32()),
        (f32(3), 0, 5, 5, f32()),
        (f32(3), 0, -1, -1, f32(2)),
        (f32(3), [], -1, -1, f32()),
        (f32(3), [[0]], -1, -1, f32()),
        (f32(3), 0, 2, -1, f32()),
        (f32(3), 0, -1, 2, f32()),
        (f32(), 0, -1, -1, f32()),
    ):
        refuse(op, [diagonal, ints(k), ints(rows), ints(columns), padding])
for op in ("MatrixDiagPartV2", "MatrixDiagPartV3"):
    case(op, [f32(3, 0), ints(0), f32()])
    case(op, [f32(0, 3, 3), ints([-1, 1]), f32()])
    for x, k, padding in ((f32(3), 0, f32()), (f32(3, 4), [2, 0], f32()), (f32(3, 4), 4, f32()), (f32(3, 4), -3, f32()), (f32(3, 4), [0, 1, 2], f32()), (f32(3, 4), [], f32()), (f32(3, 4), 0, f32(2)), (f32(3, 4), [-4, 0], f32()), (f32(3, 4), [0, 9], f32()), (f32(3, 4), [[0]], f32())):
        refuse(op, [x, ints(k), padding])
for op in ("MatrixSetDiagV2", "MatrixSetDiagV3"):
    case(op, [f32(3, 0), f32(0), ints(0)])
    for x, diagonal, k in ((f32(3), f32(3), 0), (f32(3, 4), f32(4), 0), (f32(3, 4), f32(3), 7), (f32(3, 4), f32(3), [1, 0]), (f32(3, 4), f32(), 0), (f32(2, 3, 4), f32(3, 3), 0), (f32(3, 4), f32(3, 3), [0, 1]), (f32(3, 4), f32(3), [0, 1, 2]), (f32(3, 4), f32(3), []), (f32(3, 4), f32(3), [0, 5]), (f32(3, 4), f32(3), [[0]])):
        refuse(op, [x, diagonal, ints(k)])

for op, attr in (("MatrixBandPart", "Tindex"), ("BatchMatrixBandPart", None)):
    for dtype in for_dtypes(op):
        for lower, upper in ((0, 0), (1, -1), (-1, 2), (3, 0), (-1, -1)):
            case(op, [values(dtype, 3, 4), ints(lower, "int64"), ints(upper, "int64")])
        case(op, [values(dtype, 2, 4, 3), ints(1, "int64"), ints(1, "int64")])
    case(op, [f32(0, 3), ints(-1, "int64"), ints(0, "int64")])
    for x, lower, upper in ((f32(3), 0, 0), (f32(3, 3), [0], 0), (f32(3, 3), 0, [0]), (f32(3, 3), 4, 0), (f32(3, 3), 0, 4)):
        refuse(op, [x, ints(lower, "int64"), ints(upper, "int64")])
case("MatrixBandPart", [f32(3, 4), ints(1), ints(0)])
for dtype in for_dtypes("Diag"):
    case("Diag", [values(dtype, 3)])
    case("Diag", [values(dtype, 2, 3)])
    case("DiagPart", [values(dtype, 3, 3)])
    case("DiagPart", [values(dtype, 2, 3, 2, 3)])
case("Diag", [f32(0)])
case("DiagPart", [f32(0, 0)])
case("DiagPart", [f32()])
refuse("Diag", [f32()])
for shape in ((3,), (3, 4), (2, 3, 4, 3), (2, 3, 2)):
    refuse("DiagPart", [f32(*shape)])
