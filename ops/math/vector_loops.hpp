// Kernels from vector functions: whole arrays of float and double, blocks of them for narrower types.
#pragma once

#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/vector_functions.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>

namespace troupe {
namespace detail {

/// float for sixteen-bit floats, T itself otherwise.
template <class T>
using Vectored = std::conditional_t<sizeof(T) == 2, float, T>;

/// Calls part(x, fx, out, n) for blocks of an array, where fx is f of that block's values, and out may be x.
template <class T, class F, class Part>
void with_function(const T* x, T* out, std::int64_t n, const F& f, const Part& part) {
  constexpr std::int64_t block = 256;
  in_parallel(n, 1.5, [&](std::int64_t first, std::int64_t last) {
    alignas(64) Vectored<T> in[block];
    alignas(64) Vectored<T> fx[block];
    for (std::int64_t i = first; i < last; i += block) {
      const std::int64_t size = std::min(block, last - i);
      for (std::int64_t k = 0; k < size; ++k) in[k] = static_cast<Vectored<T>>(x[i + k]);
      f(in, fx, size);
      part(x + i, fx, out + i, size);
    }
  });
}

template <class T>
void apply(VectorFunction<Vectored<T>> f, const T* x, T* out, std::int64_t n) {
  if constexpr (sizeof(T) == 2)
    with_function(x, out, n, f, [](const T*, const float* fx, T* to, std::int64_t size) {
      for (std::int64_t k = 0; k < size; ++k) to[k] = static_cast<T>(fx[k]);
    });
  else in_parallel(n, 1.5, [&](std::int64_t first, std::int64_t last) { f(x + first, out + first, last - first); });
}

template <class T>
void vector_row(const void* f, const void* x, bool, const void*, bool, void* out, std::int64_t n) {
  reinterpret_cast<VectorFunction<T>>(const_cast<void*>(f))(static_cast<const T*>(x), static_cast<T*>(out), n);
}

}  // namespace detail

/// y = f(x) for types that compute as `Of`.
template <class Of, class... Ts>
void each_vector(Registry& ops, const char* name, types<Ts...>, VectorFunction<Of> f) {
  const auto add = [&]<class T>(std::type_identity<T>) {
    RowForm row;
    if constexpr (std::is_same_v<T, Of>) row = {&detail::vector_row<T>, reinterpret_cast<const void*>(f), 1, dtype_of<T>::value, dtype_of<T>::value};
    detail::add_with_row<T>(ops, {name}, row, [f](Call& call, In<T> x) {
      T* out = call.alloc_over<T>(0, x.index, x.shape());
      detail::apply<T>(f, x.data(), out, x.size());
    });
  };
  (add(std::type_identity<Ts>{}), ...);
}

}  // namespace troupe
