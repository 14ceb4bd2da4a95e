"""Combinations of types that TensorFlow has a kernel for and that no case can try: (ops, types, why)."""

UNTESTABLE = (
    ("RandomShuffle SparseReorder SparseConcat", {"T": "resource"}, "TensorFlow ends the process: it copies rows of handles as if they were variants"),
    ("StridedSliceAssign", {"T": "float8_e5m2"}, "no other op gives such a variable a value"),
    ("StridedSliceAssign", {"T": "float8_e4m3fn"}, "no other op gives such a variable a value"),
    ("UnicodeDecodeWithOffsets", {"Tsplits": "int32"}, "TensorFlow ends the process: it reads its int64 offsets as int32"),
)


def is_untestable(op, combination):
    """Whether the (attribute, type name) pairs contain those of an entry for the op."""
    return any(op in ops.split() and types.items() <= dict(combination).items() for ops, types, _ in UNTESTABLE)
