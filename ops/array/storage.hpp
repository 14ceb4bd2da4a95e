// Moving elements without looking into them: dispatch by the size of an element instead of its type.
#pragma once

#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace troupe {

struct SixteenBytes {
  std::uint64_t low, high;
};
/// An element as bare bytes; may stand for any plain type of its size.
template <class Word>
struct __attribute__((may_alias)) Opaque {
  Word word;
};

/// Calls f.template operator()<S>() with the type that elements of this dtype are stored and moved as.
template <class F>
void by_storage(DType dtype, F&& f) {
  switch (dtype) {
    case DType::string: return f.template operator()<std::string>();
    case DType::resource: return f.template operator()<ResourceHandle>();
    case DType::variant: return f.template operator()<Variant>();
    default: break;
  }
  switch (size_of(dtype)) {
    case 1: return f.template operator()<Opaque<std::uint8_t>>();
    case 2: return f.template operator()<Opaque<std::uint16_t>>();
    case 4: return f.template operator()<Opaque<std::uint32_t>>();
    case 8: return f.template operator()<Opaque<std::uint64_t>>();
    case 16: return f.template operator()<Opaque<SixteenBytes>>();
    default: return;
  }
}

/// Calls f.template operator()<I>() for a dtype that indices may have.
template <class F>
void by_index(DType dtype, F&& f) {
  visit_dtype(types<std::int32_t, std::int64_t, std::int16_t, std::int8_t, std::uint8_t, std::uint16_t>{}, dtype, std::forward<F>(f));
}

/// The elements of an integer tensor, whatever its width. Empty for other types.
Dims as_dims(const Tensor& t);
/// The first element of an integer tensor; 0 when there is none.
std::int64_t as_integer(const Tensor& t);

/// A list of element types, put together with +.
using DTypes = std::vector<DType>;
DTypes operator+(DTypes a, const DTypes& b);

template <class... Ts>
DTypes list_of(types<Ts...>) {
  return {dtype_of<Ts>::value...};
}
namespace dtypes {
DTypes numeric();        // integers, floats, complex
DTypes real();           // integers, floats
DTypes plain();          // numeric and bool
DTypes plain_strings();  // plain and string
DTypes all();            // plain, string, resource, variant
DTypes quantized();      // qint8, quint8, qint32
DTypes quantized16();    // qint16, quint16
DTypes float8();
DTypes int4();
}  // namespace dtypes

/// The types that an attribute may name for a kernel to be chosen.
struct ForTypes {
  const char* attr;
  DTypes allowed;
};

namespace detail {
/// Checks that what arrives has the types that the node's attributes promise, before the kernel reads it.
Registry::Factory with_checked_types(Registry::Factory factory);
void add_checked(Registry& ops, Registry::Names names, const std::vector<ForTypes>& where, const Registry::Factory& factory);
}  // namespace detail

/// Adds one kernel for many types: it is compiled once and moves elements by their size.
template <class F>
void add_for(Registry& ops, Registry::Names names, const std::vector<ForTypes>& where, F f) {
  Registry one;
  one.add("kernel", std::move(f));
  detail::add_checked(ops, names, where, one.entries().at("kernel").front().factory);
}
template <class F>
void add_for(Registry& ops, const char* name, const std::vector<ForTypes>& where, F f) {
  add_for(ops, Registry::Names{name}, where, std::move(f));
}

}  // namespace troupe
