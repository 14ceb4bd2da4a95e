// Lists of tensors as values of variants.
#pragma once

#include <troupe/messaging/handle.hpp>
#include <troupe/messaging/tensor.hpp>

#include <memory>
#include <vector>

namespace troupe {

/// Immutable once others see it. An element that is not valid was reserved but never set: it reads as zeros.
class TensorList final : public VariantValue {
 public:
  std::string type_name() const override { return "tensorflow::TensorList"; }

  DType dtype = DType::invalid;
  PartialShape element;
  std::int32_t most = -1;  // elements it may have; -1: any number
  std::vector<Tensor> tensors;
};

/// The list that a variant holds; null if it holds none.
inline const TensorList* list_in(const Variant& variant) { return dynamic_cast<const TensorList*>(variant.value.get()); }
inline Tensor to_tensor(TensorList list) { return Tensor::scalar<Variant>(Variant{std::make_shared<TensorList>(std::move(list))}); }

/// "TensorList", or what TensorFlow calls whatever else the variant holds.
std::string show_variant(const Variant& variant);

}  // namespace troupe
