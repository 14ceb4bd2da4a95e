// Logic on booleans, on the bits of integers, and Bitcast.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/wrap.hpp>

#include <bit>

namespace troupe {
namespace {

/// Shifts by less than nothing are none; by too much, the most there is.
template <class T>
int shift_of(T y) {
  constexpr int most = static_cast<int>(sizeof(T) * 8 - 1);
  if constexpr (std::is_signed_v<T>)
    if (y < 0) return 0;
  return y > static_cast<T>(most) ? most : static_cast<int>(y);
}

Status bitcast(Call& call, const Tensor& x, DType from, DType to) {
  const auto before = static_cast<std::int64_t>(size_of(from)), after = static_cast<std::int64_t>(size_of(to));
  Shape shape = x.shape();
  if (before > after) {
    shape.add_dim(before / after);
  } else if (before < after) {
    if (shape.rank() == 0 || shape.dim(shape.rank() - 1) != after / before)
      return invalid("Cannot bitcast from {} to {}", static_cast<int>(from), static_cast<int>(to));
    shape.remove_dim(shape.rank() - 1);
  }
  call.set(0, x.viewed_as(to).reshaped(shape));
  return absl::OkStatus();
}

void add_logic(Registry& ops) {
  using detail::each_pair;
  ops.add("LogicalAnd", [](Call& call, In<bool> x, In<bool> y) { return each_pair<bool, bool>(call, x, y, [](bool a, bool b) { return a && b; }); });
  ops.add("LogicalOr", [](Call& call, In<bool> x, In<bool> y) { return each_pair<bool, bool>(call, x, y, [](bool a, bool b) { return a || b; }); });
  ops.add("LogicalNot", [](Call& call, In<bool> x) {
    bool* out = call.alloc_over<bool>(0, x.index, x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) out[i] = !x[i];
  });
}

}  // namespace

void add_bits(Registry& ops) {
  add_logic(ops);
  each2(ops, {"BitwiseAnd"}, integers{}, [](auto x, auto y) { return x & y; });
  each2(ops, {"BitwiseOr"}, integers{}, [](auto x, auto y) { return x | y; });
  each2(ops, {"BitwiseXor"}, integers{}, [](auto x, auto y) { return x ^ y; });
  each1(ops, {"Invert"}, integers{}, [](auto x) { return ~x; });
  each2(ops, {"LeftShift"}, integers{}, []<class T>(T x, T y) { return static_cast<Wrapping<T>>(x) << shift_of(y); });
  each2(ops, {"RightShift"}, integers{}, []<class T>(T x, T y) { return x >> shift_of(y); });
  each1<std::uint8_t>(ops, {"PopulationCount"}, integers{}, []<class T>(T x) { return std::popcount(static_cast<std::make_unsigned_t<T>>(x)); });
  ops.add("Bitcast", [](Call& call, Any x, Attr<"T", DType> from, Attr<"type", DType> to) { return bitcast(call, x.tensor, from, to); });
}

}  // namespace troupe
