// Attributes that say which features to read, checked once.
#pragma once

#include <troupe/ops/binding.hpp>
#include <troupe/ops/parsing/features.hpp>

namespace troupe {

/// Makes dense features of types and shapes; keys and defaults come with each call. Inner dimensions must be known.
StatusOr<std::vector<DenseFeature>> dense_features(const std::vector<DType>& types, const std::vector<PartialShape>& shapes);
Status check_feature_types(const std::vector<DType>& types);
/// Value types and split types, of the same number.
StatusOr<std::vector<RaggedFeature>> ragged_features(const std::vector<DType>& values, const std::vector<DType>& splits);
std::vector<SparseFeature> sparse_features(const std::vector<DType>& types);

/// Writes one tensor after another to the outputs of a call.
class Outputs {
 public:
  explicit Outputs(Call& call) : call_(call) {}
  Outputs& add(std::vector<Tensor>& tensors) {
    for (Tensor& t : tensors) call_.set(next_++, std::move(t));
    return *this;
  }

 private:
  Call& call_;
  int next_ = 0;
};

}  // namespace troupe
