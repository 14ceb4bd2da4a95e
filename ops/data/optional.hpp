// Values that may be missing, as variants.
#pragma once

#include <troupe/ops/data/dataset.hpp>

#include <memory>
#include <optional>

namespace troupe {

class OptionalValue final : public VariantValue {
 public:
  explicit OptionalValue(std::optional<Tuple> v) : value(std::move(v)) {}
  std::string type_name() const override { return "tensorflow::data::Optional"; }
  std::optional<Tuple> value;
};

inline Tensor to_tensor(OptionalValue value) { return Tensor::scalar<Variant>(Variant{std::make_shared<OptionalValue>(std::move(value))}); }

/// Whether components are what is wanted, as far as both go.
Status check_components(const ElementFacts& wanted, const Tuple& components);

}  // namespace troupe
