// Ragged tensors as values of variants.
#pragma once

#include <troupe/messaging/handle.hpp>
#include <troupe/messaging/tensor.hpp>

#include <memory>
#include <vector>

namespace troupe {

class RaggedValue final : public VariantValue {
 public:
  RaggedValue(Tensor v, std::vector<Tensor> s) : values(std::move(v)), splits(std::move(s)) {}
  std::string type_name() const override { return "RaggedTensorVariant"; }

  const Tensor values;
  const std::vector<Tensor> splits;  // the outermost first
};

/// The ragged tensor in a variant; null if it holds none.
inline const RaggedValue* ragged_in(const Variant& variant) { return dynamic_cast<const RaggedValue*>(variant.value.get()); }
inline Variant as_variant(Tensor values, std::vector<Tensor> splits) {
  return Variant{std::make_shared<RaggedValue>(std::move(values), std::move(splits))};
}
/// Tells how they are written to and read from the wire, and how they are added.
void introduce_ragged_values();

}  // namespace troupe
