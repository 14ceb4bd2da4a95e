// ZerosLike, AddN and Conj of variants.
#include <troupe/ops/containers/variant_arithmetic.hpp>

#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/wrap.hpp>

#include <map>

namespace troupe {
namespace {

std::map<std::string, VariantArithmetic>& arithmetics() {
  static std::map<std::string, VariantArithmetic> all;
  return all;
}

VariantArithmetic arithmetic_of(const VariantValue* value) {
  const auto found = value ? arithmetics().find(value->type_name()) : arithmetics().end();
  return found == arithmetics().end() ? VariantArithmetic{} : found->second;
}

Status no_function(const char* op, const VariantValue* value) {
  return internal("No unary variant unary_op function found for op {} Variant type_name: {} for device type: CPU", op,
                  value ? value->type_name() : "");
}

StatusOr<Variant> zeros_of(const Variant& x) {
  const auto zeros = arithmetic_of(x.value.get()).zeros;
  if (!zeros) return no_function("ZEROS_LIKE", x.value.get());
  TRY_ASSIGN(auto value, zeros(*x.value));
  return Variant{std::move(value)};
}

StatusOr<Variant> sum_of(const Variant& a, const Variant& b) {
  const std::string left = a.value ? a.value->type_name() : "", right = b.value ? b.value->type_name() : "";
  if (left != right) return internal("BinaryOpVariants: Variants a and b have different type ids.  Type names: '{}' vs. '{}'", left, right);
  const auto add = arithmetic_of(a.value.get()).add;
  if (!add) return internal("No unary variant binary_op function found for op ADD Variant type_name: '{}' for device type: CPU", left);
  TRY_ASSIGN(auto value, add(*a.value, *b.value));
  return Variant{std::move(value)};
}

Status add_n(Call& call, const List& inputs) {
  for (int i = 0; i < inputs.size(); ++i)
    if (inputs[i].rank() != 0)
      return invalid("AddN of non-scalar Tensor with dtype=DT_VARIANT is not supported; inputs[{} has shape: {}.", i, inputs[i].shape());
  Tensor sum = inputs[0];
  for (int i = 1; i < inputs.size(); ++i) {
    TRY_ASSIGN(sum, add_tensors(sum, inputs[i]));
  }
  call.set(0, std::move(sum));
  return absl::OkStatus();
}

Status conjugate(Call& call, const Tensor& x) {
  if (x.rank() != 0) return invalid("Non-scalar variants are not supported.");
  Tensor out(DType::variant, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Variant& one = x.data<Variant>()[i];
    const auto conj = arithmetic_of(one.value.get()).conjugate;
    if (!conj) return no_function("CONJ", one.value.get());
    TRY_ASSIGN(out.mutable_data<Variant>()[i].value, conj(*one.value));
  }
  call.set(0, std::move(out));
  return absl::OkStatus();
}

}  // namespace

void let_compute(const std::string& type_name, VariantArithmetic arithmetic) { arithmetics()[type_name] = arithmetic; }

StatusOr<Tensor> zeros_like(const Tensor& t) {
  if (t.dtype() != DType::variant) return Tensor::zeros(t.dtype(), t.shape());
  Tensor zeros(DType::variant, t.shape());
  for (std::int64_t i = 0; i < t.size(); ++i) {
    TRY_ASSIGN(zeros.mutable_data<Variant>()[i], zeros_of(t.data<Variant>()[i]));
  }
  return zeros;
}

StatusOr<Tensor> add_tensors(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape())
    return invalid("Cannot add tensors of {}{} and {}{}", name_of(a.dtype()), a.shape(), name_of(b.dtype()), b.shape());
  Tensor sum(a.dtype(), a.shape());
  if (a.dtype() == DType::variant) {
    for (std::int64_t i = 0; i < a.size(); ++i) {
      TRY_ASSIGN(sum.mutable_data<Variant>()[i], sum_of(a.data<Variant>()[i], b.data<Variant>()[i]));
    }
    return sum;
  }
  const bool known = visit_dtype(numbers{}, a.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < a.size(); ++i) sum.mutable_data<T>()[i] = wrap_add(a.data<T>()[i], b.data<T>()[i]);
  });
  if (!known) return invalid("Trying to add unsupported dtype {}", static_cast<int>(a.dtype()));
  return sum;
}

void add_variant_arithmetic(Registry& ops) {
  add_for(ops, "AddN", {{"T", {DType::variant}}}, [](Call& call, List inputs) { return add_n(call, inputs); });
  add_for(ops, "ZerosLike", {{"T", {DType::variant}}}, [](Call& call, Any x) -> Status {
    if (x->rank() != 0) return invalid("ZerosLike non-scalar Tensor with dtype=DT_VARIANT is not supported.");
    TRY_ASSIGN(Tensor zeros, zeros_like(x.tensor));
    call.set(0, std::move(zeros));
    return absl::OkStatus();
  });
  add_for(ops, "Conj", {{"T", {DType::variant}}}, [](Call& call, Any x) { return conjugate(call, x.tensor); });
}

}  // namespace troupe
