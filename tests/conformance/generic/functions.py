"""Casts, logic, random numbers and what is left of plain functions, for every combination of types."""

from definitions import for_dtypes
from framework import case, refuse, ref
from recipes import each
from values import COMPLEXES, FLOATS, INTEGERS, UNSIGNED, boolean, f32, i32, i64, strings, tensor, values

# Casts: what a number outside of the target's range becomes is nobody's promise.
CASTABLE = FLOATS + INTEGERS + COMPLEXES + ("bool",)
for source in CASTABLE:
    for target in CASTABLE:
        case("Cast", [values(source, 3, 4, kind="positive")], DstT=target)
        if target in FLOATS + COMPLEXES + ("bool",) and source in FLOATS + COMPLEXES:
            case("Cast", [values(source, 20, kind="special")], DstT=target)
        if target not in UNSIGNED and source not in UNSIGNED:
            case("Cast", [values(source, 7)], DstT=target)
    case("Cast", [values(source, 0, 2)], DstT="float")
refuse("Cast", [strings(2)], DstT="float")
refuse("Cast", [f32(2)], DstT="string")

BYTES = {"bool": 1, "int8": 1, "uint8": 1, "half": 2, "bfloat16": 2, "int16": 2, "uint16": 2, "float": 4, "int32": 4, "uint32": 4}
for source, size in BYTES.items():
    for target, other in BYTES.items():
        if target != "bool" and source != "bool":
            case("Bitcast", [values(source, 3, other // size if other > size else 4)], type=target)
refuse("Bitcast", [f32(3)], type="double")

case("LogicalNot", [boolean(3, 4)])
case("LogicalNot", [boolean()])
case("LogicalNot", [boolean(0)])
for op in ("LogicalAnd", "LogicalOr"):
    case(op, [boolean(3, 4), boolean(3, 4)])
    case(op, [boolean(3, 1), boolean(4)])
    case(op, [boolean(0, 2), boolean(2)])
    refuse(op, [boolean(2), boolean(3)])
for array in (f32(), f32(2), f32(0, 3), i32(), boolean(), strings(), tensor("")):
    case("ToBool", [array])

# Random numbers: the same seeds give the same bits.
SEEDED = {"seed": 7, "seed2": 11}
for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
    each(op, lambda t: ([t.at("T", [3, 5])], {"dtype": t["dtype"]}), ulp=4, **SEEDED)
    each(op, lambda t: ([t.at("T", [0])], {"dtype": t["dtype"]}), **SEEDED)
each("RandomUniformInt", lambda t: [t.at("T", [9]), t.at("Tout", -3), t.at("Tout", 12)], **SEEDED)
each("RandomShuffle", lambda t: ([t("T", 9)], {}), **SEEDED)
each("Multinomial", lambda t: [t("T", 2, 4), tensor(5)], **SEEDED)
each("RandomGamma", lambda t: [t.at("S", [6]), t("T", 3, kind="positive")], ulp=64, **SEEDED)
each("RandomPoissonV2", lambda t: [t.at("S", [4]), t("R", 3, low=1, high=9)], **SEEDED)
each("ParameterizedTruncatedNormal", lambda t: [t.at("T", [2, 5]), *(t.at("dtype", v) for v in (0, 1, -2, 2))], ulp=16, **SEEDED)
each("StatelessRandomGetKeyCounter", lambda t: [t.at("Tseed", [3, 5])])
KEYED = (tensor([12345], "uint64"), tensor([67, 89], "uint64"), tensor(1))
STATELESS = "StatelessRandomUniformV2 StatelessRandomNormalV2 StatelessTruncatedNormalV2 StatelessRandomUniformFullIntV2"
each(STATELESS, lambda t: [t.at("Tshape", [3, 5]), *KEYED], ulp=4)
each("StatelessRandomUniformIntV2", lambda t: [t.at("Tshape", [9]), *KEYED, t.at("dtype", 2), t.at("dtype", 99)])
refuse("RandomUniform", [tensor([-1])], dtype="float")
refuse("RandomUniformInt", [tensor([2]), tensor(3), tensor(3)])
refuse("Multinomial", [f32(3), tensor(2)])

# The rest.
each("ApproxTopK", lambda t: [t("T", 2, 9, kind="distinct")], k=3, known_shapes=True)
each("SobolSample", lambda t: [tensor(3), tensor(5), tensor(2)])
each("DecodePaddedRaw", lambda t: [tensor([b"0123456789abcdef", b"01234567"]), tensor(16)])
each("RandomIndexShuffle", lambda t: [t.at("dtype", [0, 3, 5]), t.at("Tseed", [1, 2, 3]), t.at("dtype", 9)])
each("DrawBoundingBoxesV2", lambda t: [t("T", 1, 6, 6, 3), tensor([[[0.1, 0.2, 0.8, 0.9]]]), tensor([[1.0, 2.0, 3.0]])])
each("QuantizeAndDequantizeV2", lambda t: [t("T", 3, 4), t.at("T", -3), t.at("T", 4)], ulp=8, range_given=True)
each("QuantizeAndDequantizeV4", lambda t: [t("T", 3, 4), t.at("T", -3), t.at("T", 4)], ulp=8, range_given=True)
each("QuantizeAndDequantizeV4Grad", lambda t: [t("T", 4), t("T", 4), t.at("T", -1), t.at("T", 1)])
each("RefIdentity", lambda t: ([ref(f32(2))], {}))
each("ShardedFilename", lambda t: [tensor(b"dir/file"), tensor(3), tensor(12)])
each("ShardedFilespec", lambda t: [tensor(b"dir/file"), tensor(12)])
each("StringNGrams", lambda t: [tensor([b"a", b"b", b"c"]), t.at("Tsplits", [0, 3])],
     separator="|", ngram_widths=[2], left_pad="<", right_pad=">", pad_width=1, preserve_short_sequences=False)  # fmt: skip
each("UnicodeDecode", lambda t: [tensor([b"a\xc3\xa9", b""])], input_encoding="UTF-8")
# TensorFlow's kernel for the other type aborts the process.
each("UnicodeDecodeWithOffsets", lambda t: [tensor([b"a\xc3\xa9", b""])], input_encoding="UTF-8")
each("UnicodeEncode", lambda t: [tensor([97, 233, 0x4E00]), t.at("Tsplits", [0, 2, 3])], output_encoding="UTF-8")
each("UnicodeTranscode", lambda t: [tensor([b"a\xc3\xa9"])], input_encoding="UTF-8", output_encoding="UTF-16-BE")
each("ReduceJoin", lambda t: [tensor([[b"a", b"b"], [b"c", b"d"]]), tensor([1])], separator="-")
each("ScalarSummary", lambda t: [tensor(b"tag"), t("T")])
each("MergeSummary", lambda t: ([[tensor(b""), tensor(b"")]], {}))
each("ResizeBicubicGrad", lambda t: [f32(1, 5, 3, 2), t("T", 1, 3, 4, 2)], sums=32)
each("MatrixLogarithm", lambda t: [tensor([[4.0, 1.0], [0.5, 3.0]], t["T"])], close=64)
each("NonDeterministicInts", lambda t: [tensor([3], "int64")], check="shape", shape_dtype="int64")
