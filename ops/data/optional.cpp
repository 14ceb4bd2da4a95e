// Making of optional values and asking them.
#include <troupe/ops/data/optional.hpp>

#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/containers/variant_arithmetic.hpp>
#include <troupe/ops/data/dataset.hpp>

namespace troupe {
namespace {

StatusOr<const OptionalValue*> optional_in(const Call& call, const Tensor& tensor) {
  if (tensor.rank() != 0) return invalid("Input to {} must be a scalar tensor containing an OptionalVariant object.", call.node().op);
  const auto* optional = tensor.dtype() == DType::variant ? dynamic_cast<const OptionalValue*>(tensor.item<Variant>().value.get()) : nullptr;
  if (!optional) return invalid("Input to {} must be an OptionalVariant object.", call.node().op);
  return optional;
}

void encode(const VariantValue& value, wire::VariantTensorDataProto* proto) {
  const auto& optional = static_cast<const OptionalValue&>(value);
  proto->set_metadata(std::string(1, optional.value ? '\1' : '\0'));
  if (optional.value)
    for (const Tensor& t : *optional.value) to_proto(t, proto->add_tensors());
}

StatusOr<std::shared_ptr<const VariantValue>> decode(const wire::VariantTensorDataProto& proto) {
  if (proto.metadata() != std::string(1, '\1')) return std::make_shared<OptionalValue>(std::nullopt);
  Tuple components;
  for (const auto& t : proto.tensors()) {
    TRY_ASSIGN(Tensor tensor, tensor_from_proto(t));
    components.push_back(std::move(tensor));
  }
  return std::make_shared<OptionalValue>(std::move(components));
}

using Made = std::shared_ptr<const VariantValue>;

VariantResult zeros_of_optional(const VariantValue& value) {
  const auto& optional = static_cast<const OptionalValue&>(value);
  if (!optional.value) return Made(std::make_shared<OptionalValue>(std::nullopt));
  Tuple zeros;
  for (const Tensor& t : *optional.value) {
    if (t.dtype() == DType::string) return invalid("Trying to compute zeros_like for unsupported dtype string");
    TRY_ASSIGN(Tensor zero, zeros_like(t));
    zeros.push_back(std::move(zero));
  }
  return Made(std::make_shared<OptionalValue>(std::move(zeros)));
}

VariantResult sum_of_optionals(const VariantValue& a, const VariantValue& b) {
  const auto &left = static_cast<const OptionalValue&>(a), &right = static_cast<const OptionalValue&>(b);
  if (left.value.has_value() != right.value.has_value()) return invalid("Cannot add optionals because one has a value and the other doesn't.");
  if (!left.value) return Made(std::make_shared<OptionalValue>(std::nullopt));
  if (left.value->size() != right.value->size())
    return invalid("Cannot add optionals because they have different numbers of components ({} vs. {}).", left.value->size(), right.value->size());
  Tuple sums;
  for (std::size_t i = 0; i < left.value->size(); ++i) {
    TRY_ASSIGN(Tensor sum, add_tensors((*left.value)[i], (*right.value)[i]));
    sums.push_back(std::move(sum));
  }
  return Made(std::make_shared<OptionalValue>(std::move(sums)));
}

}  // namespace

Status check_components(const ElementFacts& wanted, const Tuple& components) {
  for (std::size_t i = 0; i < components.size() && i < wanted.types.size() && i < wanted.shapes.size(); ++i) {
    if (components[i].dtype() != wanted.types[i])
      return invalid("The given optional does not match the expected type for component {}. Expected: {}. Actual: {}.", i, name_of(wanted.types[i]),
                     name_of(components[i].dtype()));
    if (!wanted.shapes[i].compatible_with(components[i].shape()))
      return invalid("The given optional does not match the expected shape for component {}. Expected: {}. Actual: {}.", i, wanted.shapes[i],
                     components[i].shape());
  }
  return absl::OkStatus();
}

void add_optionals(Registry& ops) {
  register_variant_codec("tensorflow::data::Optional", encode, decode);
  let_compute("tensorflow::data::Optional", {.zeros = zeros_of_optional, .add = sum_of_optionals});
  ops.add("OptionalNone", [](Call& call) { call.set(0, to_tensor(OptionalValue(std::nullopt))); });
  ops.add("OptionalFromValue", [](Call& call, List components) { call.set(0, to_tensor(OptionalValue(tensors_in(components)))); });
  ops.add("OptionalHasValue", [](Call& call, Any optional) -> Status {
    TRY_ASSIGN(const OptionalValue* value, optional_in(call, optional.tensor));
    call.set_scalar<bool>(0, value->value.has_value());
    return absl::OkStatus();
  });
  ops.add("OptionalGetValue", [](Call& call, Any optional, Elements elements) -> Status {
    TRY_ASSIGN(const OptionalValue* value, optional_in(call, optional.tensor));
    if (!value->value) return invalid("The given optional does not have a value.");
    const Tuple& components = *value->value;
    if (components.size() != elements->types.size())
      return invalid("The given optional has {} components, expected {}", components.size(), elements->types.size());
    TRY(check_components(elements, components));
    for (std::size_t i = 0; i < components.size(); ++i) call.set(static_cast<int>(i), components[i]);
    return absl::OkStatus();
  });
}

}  // namespace troupe
