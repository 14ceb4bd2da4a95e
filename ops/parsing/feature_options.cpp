// Checks of the attributes that say which features to read.
#include <troupe/ops/parsing/feature_options.hpp>

namespace troupe {
namespace {

/// The elements of all dimensions from one on; nothing if one is unknown or there are too many.
StatusOr<std::int64_t> elements_from(const PartialShape& shape, int first) {
  Dims dims;
  for (int i = first; i < shape.rank(); ++i) dims.push_back(shape.dim(i));
  TRY_ASSIGN(const Shape known, Shape::checked({dims.data(), dims.size()}));
  return known.elements();
}

}  // namespace

Status check_feature_types(const std::vector<DType>& types) {
  for (DType t : types)
    if (t != DType::i64 && t != DType::f32 && t != DType::string) return invalid("Received input dtype: {}", name_of(t));
  return absl::OkStatus();
}

StatusOr<std::vector<DenseFeature>> dense_features(const std::vector<DType>& types, const std::vector<PartialShape>& shapes) {
  std::vector<DenseFeature> out;
  for (std::size_t i = 0; i < types.size(); ++i) {
    DenseFeature f;
    f.dtype = types[i];
    f.shape = shapes[i];
    f.variable = f.shape.rank() > 0 && f.shape.dim(0) == -1;
    const auto stride = elements_from(f.shape, f.variable ? 1 : 0);
    if (f.shape.unknown_rank() || !stride.ok()) return invalid("dense_shapes[{}] has unknown rank or unknown inner dimensions: {}", i, f.shape);
    f.stride = *stride;
    if (f.variable && f.stride == 0) return invalid("dense_shapes[{}] has rows without elements: {}", i, f.shape);
    out.push_back(std::move(f));
  }
  return out;
}

StatusOr<std::vector<RaggedFeature>> ragged_features(const std::vector<DType>& values, const std::vector<DType>& splits) {
  if (values.size() != splits.size()) return invalid("len(ragged_value_types) != len(ragged_split_types)");
  std::vector<RaggedFeature> out;
  for (std::size_t i = 0; i < values.size(); ++i) out.push_back({"", values[i], splits[i]});
  return out;
}

std::vector<SparseFeature> sparse_features(const std::vector<DType>& types) {
  std::vector<SparseFeature> out;
  for (DType t : types) out.push_back({"", t});
  return out;
}

}  // namespace troupe
