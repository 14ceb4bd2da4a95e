// Addition, subtraction and multiplication of two inputs with broadcasting.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>
#include <troupe/ops/math/wrap.hpp>

namespace troupe {

void add_arithmetic(Registry& ops) {
  constexpr auto add = [](const auto& x, const auto& y) { return wrap_add(x, y); };
  using narrow_numbers = joined<joined<floats, signed_integers>, types<std::uint8_t, complex64, complex128>>;
  each2(ops, {"Add", "AddV2"}, narrow_numbers{}, add);
  each2(ops, {"AddV2"}, types<std::uint16_t, std::uint32_t, std::uint64_t>{}, add);
  each2(ops, {"Add"}, types<std::string>{}, [](const std::string& x, const std::string& y) { return x + y; });
  each2(ops, {"Sub"}, numbers{}, [](const auto& x, const auto& y) { return wrap_sub(x, y); });
  each2(ops, {"Mul"}, numbers{}, [](const auto& x, const auto& y) { return wrap_mul(x, y); });
  using differences = joined<floats, types<std::int32_t, std::int64_t, complex64, complex128>>;
  each2(ops, {"SquaredDifference"}, differences{}, []<class T>(const T& x, const T& y) {
    const T d = wrap_sub(x, y);
    if constexpr (is_complex<T>) return T(std::norm(d));
    else return wrap_mul(d, d);
  });
}

}  // namespace troupe
