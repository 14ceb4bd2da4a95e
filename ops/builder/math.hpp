// Element-wise math, products, reductions and comparisons for graphs that are built. Names at the end are optional.
#pragma once

#include <troupe/ops/builder/builder.hpp>

namespace troupe::build {

using Name = std::string;

/// One operand of a binary op: an output, or a number that takes the other's type.
struct Operand {
  Out out;
  double number = 0;
  template <class T>
  requires std::is_convertible_v<const T&, Out> Operand(const T& o) : out(static_cast<Out>(o)), is_number(false) {}
  template <class T>
  requires std::is_arithmetic_v<T> Operand(T n) : number(static_cast<double>(n)), is_number(true) {}
  bool is_number;
};

/// `x` and `y` under the scope of the op's name, numbers as "name/x" and "name/y".
Out binary(const char* kind, const char* name, const Operand& x, const Operand& y, const Name& given);
Out unary(const char* kind, const Out& x, const Name& name);

inline Out add(const Operand& x, const Operand& y, const Name& n = {}) { return binary("AddV2", "add", x, y, n); }
inline Out sub(const Operand& x, const Operand& y, const Name& n = {}) { return binary("Sub", "sub", x, y, n); }
inline Out mul(const Operand& x, const Operand& y, const Name& n = {}) { return binary("Mul", "mul", x, y, n); }
inline Out div(const Operand& x, const Operand& y, const Name& n = {}) { return binary("RealDiv", "truediv", x, y, n); }
inline Out floor_div(const Operand& x, const Operand& y, const Name& n = {}) { return binary("FloorDiv", "floordiv", x, y, n); }
inline Out mod(const Operand& x, const Operand& y, const Name& n = {}) { return binary("FloorMod", "mod", x, y, n); }
inline Out pow(const Operand& x, const Operand& y, const Name& n = {}) { return binary("Pow", "Pow", x, y, n); }
inline Out maximum(const Operand& x, const Operand& y, const Name& n = {}) { return binary("Maximum", "Maximum", x, y, n); }
inline Out minimum(const Operand& x, const Operand& y, const Name& n = {}) { return binary("Minimum", "Minimum", x, y, n); }
inline Out squared_difference(const Operand& x, const Operand& y, const Name& n = {}) {
  return binary("SquaredDifference", "SquaredDifference", x, y, n);
}
inline Out equal(const Operand& x, const Operand& y, const Name& n = {}) { return binary("Equal", "Equal", x, y, n); }
inline Out not_equal(const Operand& x, const Operand& y, const Name& n = {}) { return binary("NotEqual", "NotEqual", x, y, n); }
inline Out less(const Operand& x, const Operand& y, const Name& n = {}) { return binary("Less", "Less", x, y, n); }
inline Out less_equal(const Operand& x, const Operand& y, const Name& n = {}) { return binary("LessEqual", "LessEqual", x, y, n); }
inline Out greater(const Operand& x, const Operand& y, const Name& n = {}) { return binary("Greater", "Greater", x, y, n); }
inline Out greater_equal(const Operand& x, const Operand& y, const Name& n = {}) { return binary("GreaterEqual", "GreaterEqual", x, y, n); }

inline Out operator+(const Out& x, const Operand& y) { return add(x, y); }
inline Out operator-(const Out& x, const Operand& y) { return sub(x, y); }
inline Out operator*(const Out& x, const Operand& y) { return mul(x, y); }
inline Out operator/(const Out& x, const Operand& y) { return div(x, y); }
template <class T>
requires std::is_arithmetic_v<T> Out operator+(T x, const Out& y) { return add(x, y); }
template <class T>
requires std::is_arithmetic_v<T> Out operator-(T x, const Out& y) { return sub(x, y); }
template <class T>
requires std::is_arithmetic_v<T> Out operator*(T x, const Out& y) { return mul(x, y); }
template <class T>
requires std::is_arithmetic_v<T> Out operator/(T x, const Out& y) { return div(x, y); }

inline Out neg(const Out& x, const Name& n = {}) { return unary("Neg", x, n); }
inline Out operator-(const Out& x) { return neg(x); }
inline Out abs(const Out& x, const Name& n = {}) { return unary("Abs", x, n); }
inline Out sign(const Out& x, const Name& n = {}) { return unary("Sign", x, n); }
inline Out exp(const Out& x, const Name& n = {}) { return unary("Exp", x, n); }
inline Out expm1(const Out& x, const Name& n = {}) { return unary("Expm1", x, n); }
inline Out log(const Out& x, const Name& n = {}) { return unary("Log", x, n); }
inline Out log1p(const Out& x, const Name& n = {}) { return unary("Log1p", x, n); }
inline Out sqrt(const Out& x, const Name& n = {}) { return unary("Sqrt", x, n); }
inline Out rsqrt(const Out& x, const Name& n = {}) { return unary("Rsqrt", x, n); }
inline Out square(const Out& x, const Name& n = {}) { return unary("Square", x, n); }
inline Out reciprocal(const Out& x, const Name& n = {}) { return unary("Reciprocal", x, n); }
inline Out sin(const Out& x, const Name& n = {}) { return unary("Sin", x, n); }
inline Out cos(const Out& x, const Name& n = {}) { return unary("Cos", x, n); }
inline Out tan(const Out& x, const Name& n = {}) { return unary("Tan", x, n); }
inline Out tanh(const Out& x, const Name& n = {}) { return unary("Tanh", x, n); }
inline Out erf(const Out& x, const Name& n = {}) { return unary("Erf", x, n); }
inline Out floor(const Out& x, const Name& n = {}) { return unary("Floor", x, n); }
inline Out logical_not(const Out& x, const Name& n = {}) { return unary("LogicalNot", x, n); }

/// The same output where it has the type already.
Out cast(const Out& x, DType to, const Name& name = {});
Out add_n(const std::vector<Out>& xs, const Name& name = {});
/// Where the condition holds the first, elsewhere the second; all broadcast.
Out where(const Out& condition, const Out& yes, const Out& no, const Name& name = {});

struct Transposed {
  bool a = false, b = false;
};
/// Of matrices, or of batches of them.
Out matmul(const Out& a, const Out& b, Transposed transposed = {}, const Name& name = {});

/// The axes of a reduction; all of them where none is said.
struct Axes {
  std::vector<std::int32_t> axes = {};
  bool keep_dims = false;
};
Out reduce(const char* kind, const Out& x, const Axes& axes, const Name& name);
inline Out sum(const Out& x, const Axes& axes = {}, const Name& n = {}) { return reduce("Sum", x, axes, n); }
inline Out mean(const Out& x, const Axes& axes = {}, const Name& n = {}) { return reduce("Mean", x, axes, n); }
inline Out max(const Out& x, const Axes& axes = {}, const Name& n = {}) { return reduce("Max", x, axes, n); }
inline Out min(const Out& x, const Axes& axes = {}, const Name& n = {}) { return reduce("Min", x, axes, n); }
inline Out prod(const Out& x, const Axes& axes = {}, const Name& n = {}) { return reduce("Prod", x, axes, n); }
/// An int64 index along the axis.
Out argmax(const Out& x, int axis, const Name& name = {});

}  // namespace troupe::build
