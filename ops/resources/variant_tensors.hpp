// The wire form of variants that are made of tensors.
#pragma once

#include <troupe/messaging/tensor_codec.hpp>

#include <span>
#include <vector>

namespace troupe {

inline void put_tensors(std::span<const Tensor> tensors, wire::VariantTensorDataProto* proto) {
  for (const Tensor& t : tensors) to_proto(t, proto->add_tensors());
}

inline StatusOr<std::vector<Tensor>> get_tensors(const wire::VariantTensorDataProto& proto) {
  std::vector<Tensor> tensors;
  for (const wire::TensorProto& one : proto.tensors()) {
    TRY_ASSIGN(Tensor t, tensor_from_proto(one));
    tensors.push_back(std::move(t));
  }
  return tensors;
}

}  // namespace troupe
