// What is to be read of examples, and what was read.
#pragma once

#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/parsing/wire_reader.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace troupe {

/// As many values as the shape says, or if `variable` any multiple of `stride`, padded in a batch.
struct DenseFeature {
  std::string key;
  DType dtype = DType::invalid;
  PartialShape shape;
  Tensor otherwise;  // what stands for a missing feature, or pads
  bool variable = false;
  std::int64_t stride = 1;
};
struct SparseFeature {
  std::string key;
  DType dtype = DType::invalid;
};
struct RaggedFeature {
  std::string key;
  DType dtype = DType::invalid;
  DType splits = DType::i64;
};

struct FeaturePlan {
  std::vector<DenseFeature> dense;
  std::vector<SparseFeature> sparse;
  std::vector<RaggedFeature> ragged;
};

struct ParsedFeatures {
  std::vector<Tensor> dense, dense_lengths;
  std::vector<Tensor> sparse_indices, sparse_values, sparse_shapes;
  std::vector<Tensor> ragged_values, ragged_splits, ragged_outer_splits;
};

/// A batch: each output has one dimension more than its feature. Without names errors say "<unknown>".
StatusOr<ParsedFeatures> parse_examples(const FeaturePlan& plan, std::span<const std::string> serialized, std::span<const std::string> names);
StatusOr<ParsedFeatures> parse_example(const FeaturePlan& plan, const std::string& serialized);

/// Sequence examples: features of the whole (context) and of each step (lists). A dense list that is `variable` may be missing.
struct ParsedSequences {
  ParsedFeatures context, lists;
};
StatusOr<ParsedSequences> parse_sequences(const FeaturePlan& context, const FeaturePlan& lists, std::span<const std::string> serialized,
                                          std::span<const std::string> names, bool batch);

/// Which feature of a plan a key means.
enum class FeatureKind { dense, sparse, ragged };
using FeatureIndex = std::unordered_map<std::string_view, std::pair<FeatureKind, std::size_t>>;
/// The plan outlives the index.
StatusOr<FeatureIndex> index_of(const FeaturePlan& plan);

/// Keys and features of one example, in the order they stand in it. False when it is none.
using Entries = std::vector<std::pair<std::string_view, std::string_view>>;
bool read_example(std::string_view serialized, Entries& entries);
bool read_entries(WireReader features, Entries& entries);

/// Splits a feature into the type that its tag says (invalid: no values at all) and its list.
StatusOr<std::pair<DType, std::string_view>> split_feature(std::string_view feature);

/// Values of one type, read one list after another.
class Column {
 public:
  explicit Column(DType dtype);
  DType dtype() const { return dtype_; }
  std::int64_t size() const;
  /// False when it is no such list.
  bool append(std::string_view list);
  /// Copies values [first, last) to the elements of a tensor from `at` on.
  void copy(std::int64_t first, std::int64_t last, Tensor& to, std::int64_t at);
  /// All values under a shape of as many elements.
  Tensor take(Shape shape);

 private:
  DType dtype_;
  std::variant<std::vector<std::int64_t>, std::vector<float>, std::vector<std::string>> values_;
};

/// "[0,2,5]" of the given width out of the ends of rows.
Tensor splits_of(const std::vector<std::int64_t>& ends, DType dtype);
std::string name_at(std::span<const std::string> names, std::size_t i);

/// Calls f with the type of a feature's values; f returns the same type for each.
template <class F>
auto by_feature_type(DType dtype, F&& f) {
  if (dtype == DType::i64) return f.template operator()<std::int64_t>();
  if (dtype == DType::f32) return f.template operator()<float>();
  return f.template operator()<std::string>();
}

}  // namespace troupe
