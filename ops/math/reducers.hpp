// What is done with the elements that a reduction brings together.
#pragma once

#include <troupe/ops/math/extreme.hpp>
#include <troupe/ops/math/wrap.hpp>

#include <complex>
#include <cstdint>

namespace troupe {

// `lanes`: so many elements of a row are joined side by side. Sums depend on it in their last bits.

struct SumReducer {
  static constexpr std::int64_t lanes = 8;
  template <class A>
  static A start() {
    return A(0);
  }
  template <class A, class T>
  static A lift(const T& x) {
    return static_cast<A>(x);
  }
  template <class A>
  static A join(const A& a, const A& b) {
    return wrap_add(a, b);
  }
};

struct ProductReducer {
  static constexpr std::int64_t lanes = 8;
  template <class A>
  static A start() {
    return A(1);
  }
  template <class A, class T>
  static A lift(const T& x) {
    return static_cast<A>(x);
  }
  template <class A>
  static A join(const A& a, const A& b) {
    return wrap_mul(a, b);
  }
};

/// Sums x times its conjugate.
struct SquareReducer : SumReducer {
  template <class A, class T>
  static A lift(const T& x) {
    if constexpr (is_complex<T>) return A(std::norm(x));
    else return wrap_mul(static_cast<A>(x), static_cast<A>(x));
  }
};

struct MaxReducer {
  static constexpr std::int64_t lanes = 64;
  template <class A>
  static A start() {
    return lowest_of<A>();
  }
  template <class A, class T>
  static A lift(const T& x) {
    return x;
  }
  template <class A>
  static A join(const A& a, const A& b) {
    return greater_of(a, b);
  }
};

struct MinReducer {
  static constexpr std::int64_t lanes = 64;
  template <class A>
  static A start() {
    return highest_of<A>();
  }
  template <class A, class T>
  static A lift(const T& x) {
    return x;
  }
  template <class A>
  static A join(const A& a, const A& b) {
    return lesser_of(a, b);
  }
};

}  // namespace troupe
