// Lists of types, and kernels that are chosen by them.
#include <troupe/ops/array/storage.hpp>

namespace troupe {

Dims as_dims(const Tensor& t) {
  Dims dims;
  by_index(t.dtype(), [&]<class I>() {
    for (I value : t.values<I>()) dims.push_back(static_cast<std::int64_t>(value));
  });
  return dims;
}

std::int64_t as_integer(const Tensor& t) {
  std::int64_t value = 0;
  if (t.size() > 0) by_index(t.dtype(), [&]<class I>() { value = static_cast<std::int64_t>(t.item<I>()); });
  return value;
}

DTypes operator+(DTypes a, const DTypes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

namespace dtypes {
DTypes numeric() { return list_of(numbers{}); }
DTypes real() { return list_of(reals{}); }
DTypes plain() { return numeric() + DTypes{DType::boolean}; }
DTypes plain_strings() { return plain() + DTypes{DType::string}; }
DTypes all() { return plain_strings() + DTypes{DType::resource, DType::variant}; }
DTypes quantized() { return {DType::qi8, DType::qu8, DType::qi32}; }
DTypes quantized16() { return {DType::qi16, DType::qu16}; }
DTypes float8() { return {DType::f8_e5m2, DType::f8_e4m3fn}; }
DTypes int4() { return {DType::i4, DType::u4}; }
}  // namespace dtypes

namespace detail {

Registry::Factory with_checked_types(Registry::Factory factory) {
  return [factory = std::move(factory)](Binding& binding) -> StatusOr<Kernel> {
    TRY_ASSIGN(Kernel kernel, factory(binding));
    kernel.run = [run = std::move(kernel.run), wanted = binding.signature().inputs](Call& call) mutable -> Status {
      for (int i = 0; i < call.inputs(); ++i) {
        const DType type = wanted[static_cast<std::size_t>(i)];
        if (!is_ref(type) && call.in(i).dtype() != type) return wrong_dtype(call, i, type);
      }
      return run(call);
    };
    return kernel;
  };
}

void add_checked(Registry& ops, Registry::Names names, const std::vector<ForTypes>& where, const Registry::Factory& factory) {
  std::vector<std::vector<Registry::Constraint>> rows{{}};
  for (const ForTypes& w : where) {
    std::vector<std::vector<Registry::Constraint>> longer;
    for (const auto& row : rows)
      for (DType type : w.allowed) {
        longer.push_back(row);
        longer.back().push_back({w.attr, type});
      }
    rows = std::move(longer);
  }
  for (const char* name : names)
    for (const auto& row : rows) ops.factory(name, row, with_checked_types(factory));
}

}  // namespace detail
}  // namespace troupe
