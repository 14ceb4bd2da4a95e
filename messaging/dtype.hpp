// Element types: TensorFlow's numbers, their C++ types and their names.
#pragma once

#include <Eigen/Core>

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace troupe {

/// TensorFlow's DataType numbers. A ref type is its value type plus 100.
enum class DType : int {
  invalid = 0,
  f32 = 1,
  f64 = 2,
  i32 = 3,
  u8 = 4,
  i16 = 5,
  i8 = 6,
  string = 7,
  c64 = 8,
  i64 = 9,
  boolean = 10,
  qi8 = 11,
  qu8 = 12,
  qi32 = 13,
  bf16 = 14,
  qi16 = 15,
  qu16 = 16,
  u16 = 17,
  c128 = 18,
  f16 = 19,
  resource = 20,
  variant = 21,
  u32 = 22,
  u64 = 23,
  f8_e5m2 = 24,
  f8_e4m3fn = 25,
  i4 = 29,
  u4 = 30,
};

constexpr bool is_ref(DType t) { return static_cast<int>(t) > 100; }
constexpr DType as_ref(DType t) { return is_ref(t) ? t : static_cast<DType>(static_cast<int>(t) + 100); }
constexpr DType without_ref(DType t) { return is_ref(t) ? static_cast<DType>(static_cast<int>(t) - 100) : t; }

/// "float", "int32_ref", …: what TensorFlow prints in messages.
std::string name_of(DType t);
/// The inverse of name_of for value types; invalid when unknown.
DType dtype_from_name(std::string_view name);
/// Bytes of one element; 0 for string, resource, variant and unknown types.
std::size_t size_of(DType t);
/// Elements that are C++ objects (string, resource, variant) rather than plain bytes.
constexpr bool is_object(DType t) {
  t = without_ref(t);
  return t == DType::string || t == DType::resource || t == DType::variant;
}

/// Quantised integers: plain storage under a type of their own.
template <class Int, int Tag>
struct Quantized {
  Int value;
  friend bool operator==(Quantized, Quantized) = default;
};
using qint8 = Quantized<std::int8_t, 11>;
using quint8 = Quantized<std::uint8_t, 12>;
using qint32 = Quantized<std::int32_t, 13>;
using qint16 = Quantized<std::int16_t, 15>;
using quint16 = Quantized<std::uint16_t, 16>;

using half = Eigen::half;
using bfloat16 = Eigen::bfloat16;
using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

struct ResourceHandle;
struct Variant;

template <class T>
struct dtype_of;
#define TROUPE_DTYPE(type, number)                \
  template <>                                     \
  struct dtype_of<type> {                         \
    static constexpr DType value = DType::number; \
  };
TROUPE_DTYPE(float, f32)
TROUPE_DTYPE(double, f64)
TROUPE_DTYPE(std::int32_t, i32)
TROUPE_DTYPE(std::uint8_t, u8)
TROUPE_DTYPE(std::int16_t, i16)
TROUPE_DTYPE(std::int8_t, i8)
TROUPE_DTYPE(std::string, string)
TROUPE_DTYPE(complex64, c64)
TROUPE_DTYPE(std::int64_t, i64)
TROUPE_DTYPE(bool, boolean)
TROUPE_DTYPE(qint8, qi8)
TROUPE_DTYPE(quint8, qu8)
TROUPE_DTYPE(qint32, qi32)
TROUPE_DTYPE(bfloat16, bf16)
TROUPE_DTYPE(qint16, qi16)
TROUPE_DTYPE(quint16, qu16)
TROUPE_DTYPE(std::uint16_t, u16)
TROUPE_DTYPE(complex128, c128)
TROUPE_DTYPE(half, f16)
TROUPE_DTYPE(ResourceHandle, resource)
TROUPE_DTYPE(Variant, variant)
TROUPE_DTYPE(std::uint32_t, u32)
TROUPE_DTYPE(std::uint64_t, u64)
#undef TROUPE_DTYPE

/// A list of element types that a kernel is made for.
template <class... Ts>
struct types {};

template <class A, class B>
struct join_types;
template <class... A, class... B>
struct join_types<types<A...>, types<B...>> {
  using type = types<A..., B...>;
};
template <class A, class B>
using joined = typename join_types<A, B>::type;

using floats = types<half, bfloat16, float, double>;
using full_floats = types<float, double>;
using signed_integers = types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using unsigned_integers = types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using integers = joined<signed_integers, unsigned_integers>;
using indices = types<std::int32_t, std::int64_t>;
using complexes = types<complex64, complex128>;
using reals = joined<floats, integers>;
using numbers = joined<reals, complexes>;
/// Everything that is plain old bytes, quantised types included.
using plain_types = joined<numbers, types<bool, qint8, quint8, qint32, qint16, quint16>>;
/// Everything, strings, resources and variants included.
using all_types = joined<plain_types, types<std::string, ResourceHandle, Variant>>;

template <class T>
inline constexpr bool is_complex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
template <class T>
inline constexpr bool is_floating = std::is_floating_point_v<T> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

/// Calls f.template operator()<T>() for the C++ type of t among Ts; false when it is none of them.
template <class... Ts, class F>
bool visit_dtype(types<Ts...>, DType t, F&& f) {
  return ((t == dtype_of<Ts>::value && (f.template operator()<Ts>(), true)) || ...);
}

}  // namespace troupe
