// A tensor as the value of a variant.
#pragma once

#include <troupe/messaging/handle.hpp>
#include <troupe/messaging/tensor.hpp>

#include <memory>

namespace troupe {

class BoxedTensor final : public VariantValue {
 public:
  explicit BoxedTensor(Tensor t) : tensor(std::move(t)) {}
  std::string type_name() const override { return "tensorflow::Tensor"; }

  const Tensor tensor;
};

inline Variant boxed(Tensor t) { return Variant{std::make_shared<BoxedTensor>(std::move(t))}; }
/// The tensor in a variant; null if it holds none.
inline const Tensor* unboxed(const Variant& variant) {
  const auto* box = dynamic_cast<const BoxedTensor*>(variant.value.get());
  return box ? &box->tensor : nullptr;
}

}  // namespace troupe
