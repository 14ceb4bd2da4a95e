// Arithmetic that kinds of variants take part in: what gradients need of them.
#pragma once

#include <troupe/messaging/handle.hpp>
#include <troupe/messaging/status.hpp>
#include <troupe/messaging/tensor.hpp>

#include <memory>
#include <string>

namespace troupe {

using VariantResult = StatusOr<std::shared_ptr<const VariantValue>>;

/// Null where a kind has none. Both summands are of the same kind.
struct VariantArithmetic {
  VariantResult (*zeros)(const VariantValue&) = nullptr;
  VariantResult (*add)(const VariantValue&, const VariantValue&) = nullptr;
  VariantResult (*conjugate)(const VariantValue&) = nullptr;
};

/// Set once at start, by the family that owns the kind.
void let_compute(const std::string& type_name, VariantArithmetic arithmetic);

/// A tensor of zeros like this one; variants by their kind.
StatusOr<Tensor> zeros_like(const Tensor& t);
/// The sum of two tensors of one shape and type; variants by their kind.
StatusOr<Tensor> add_tensors(const Tensor& a, const Tensor& b);

}  // namespace troupe
