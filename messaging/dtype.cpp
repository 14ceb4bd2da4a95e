// Names and sizes of element types.
#include <troupe/messaging/dtype.hpp>

#include <array>

namespace troupe {
namespace {

struct Row {
  DType type;
  const char* name;
  std::size_t size;
};

constexpr std::array rows{
    Row{DType::invalid, "INVALID", 0},
    Row{DType::f32, "float", 4},
    Row{DType::f64, "double", 8},
    Row{DType::i32, "int32", 4},
    Row{DType::u8, "uint8", 1},
    Row{DType::i16, "int16", 2},
    Row{DType::i8, "int8", 1},
    Row{DType::string, "string", 0},
    Row{DType::c64, "complex64", 8},
    Row{DType::i64, "int64", 8},
    Row{DType::boolean, "bool", 1},
    Row{DType::qi8, "qint8", 1},
    Row{DType::qu8, "quint8", 1},
    Row{DType::qi32, "qint32", 4},
    Row{DType::bf16, "bfloat16", 2},
    Row{DType::qi16, "qint16", 2},
    Row{DType::qu16, "quint16", 2},
    Row{DType::u16, "uint16", 2},
    Row{DType::c128, "complex128", 16},
    Row{DType::f16, "half", 2},
    Row{DType::resource, "resource", 0},
    Row{DType::variant, "variant", 0},
    Row{DType::u32, "uint32", 4},
    Row{DType::u64, "uint64", 8},
    Row{DType::f8_e5m2, "float8_e5m2", 1},
    Row{DType::f8_e4m3fn, "float8_e4m3fn", 1},
    Row{DType::i4, "int4", 1},
    Row{DType::u4, "uint4", 1},
};

const Row* find(DType t) {
  for (const Row& row : rows)
    if (row.type == t) return &row;
  return nullptr;
}

}  // namespace

std::string name_of(DType t) {
  const Row* row = find(without_ref(t));
  std::string name = row ? row->name : "unknown dtype enum (" + std::to_string(static_cast<int>(t)) + ")";
  return row && is_ref(t) ? name + "_ref" : name;
}

DType dtype_from_name(std::string_view name) {
  for (const Row& row : rows)
    if (name == row.name) return row.type;
  return DType::invalid;
}

std::size_t size_of(DType t) {
  const Row* row = find(without_ref(t));
  return row ? row->size : 0;
}

}  // namespace troupe
