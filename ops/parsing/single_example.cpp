// One example to tensors: no batch dimension, no padding.
#include <troupe/ops/parsing/features.hpp>

#include <numeric>

namespace troupe {
namespace {

class Single {
 public:
  explicit Single(const FeaturePlan& plan) : plan_(plan) {
    out_.dense.resize(plan.dense.size());
    out_.sparse_indices.resize(plan.sparse.size());
    out_.sparse_values.resize(plan.sparse.size());
    out_.sparse_shapes.resize(plan.sparse.size());
    out_.ragged_values.resize(plan.ragged.size());
    for (const auto& f : plan.ragged) out_.ragged_splits.emplace_back(f.splits, Shape{0});
  }

  Status add(FeatureKind kind, std::size_t d, std::string_view key, DType found, std::string_view list) {
    if (kind == FeatureKind::dense) return add_dense(plan_.dense[d], out_.dense[d], key, found, list);
    const bool sparse = kind == FeatureKind::sparse;
    if ((sparse ? out_.sparse_values[d] : out_.ragged_values[d]).valid()) return absl::OkStatus();
    const DType wanted = sparse ? plan_.sparse[d].dtype : plan_.ragged[d].dtype;
    if (found != wanted) return invalid("Key: {}.  Data types don't match. Expected type: {}, Actual type: {}", key, name_of(wanted), name_of(found));
    Column values(wanted);
    if (!values.append(list)) return unreadable(key);
    if (sparse) set_sparse(d, values);
    else out_.ragged_values[d] = values.take(Shape{values.size()});
    return absl::OkStatus();
  }

  StatusOr<ParsedFeatures> finish() {
    for (std::size_t d = 0; d < plan_.dense.size(); ++d) {
      const auto& f = plan_.dense[d];
      if (out_.dense[d].valid()) continue;
      if (!f.variable) {
        if (f.otherwise.size() == 0) return invalid("Feature: {} (data type: {}) is required but could not be found.", f.key, name_of(f.dtype));
        out_.dense[d] = f.otherwise;
      } else {
        TRY_ASSIGN(Shape shape, rows_of(f, 0));
        out_.dense[d] = Tensor(f.dtype, std::move(shape));
      }
    }
    for (std::size_t d = 0; d < plan_.sparse.size(); ++d) {
      Column none(plan_.sparse[d].dtype);
      if (!out_.sparse_values[d].valid()) set_sparse(d, none);
    }
    for (std::size_t d = 0; d < plan_.ragged.size(); ++d)
      if (!out_.ragged_values[d].valid()) out_.ragged_values[d] = Tensor(plan_.ragged[d].dtype, Shape{0});
    return std::move(out_);
  }

 private:
  static Status unreadable(std::string_view key) { return invalid("Key: {}.  Can't parse serialized Example.", key); }

  static StatusOr<Shape> rows_of(const DenseFeature& f, std::int64_t rows) {
    Dims dims{rows};
    for (int i = 1; i < f.shape.rank(); ++i) dims.push_back(f.shape.dim(i));
    return Shape::checked({dims.data(), dims.size()});
  }

  static Status add_dense(const DenseFeature& f, Tensor& out, std::string_view key, DType found, std::string_view list) {
    if (out.valid()) return absl::OkStatus();
    if (found != f.dtype)
      return invalid("Key: {}.  Data types don't match. Data type: {} but expected type: {}", key, name_of(found), name_of(f.dtype));
    if (f.variable) {
      Column values(f.dtype);
      if (!values.append(list) || values.size() % f.stride != 0) return unreadable(key);
      TRY_ASSIGN(Shape shape, rows_of(f, values.size() / f.stride));
      out = values.take(std::move(shape));
      return absl::OkStatus();
    }
    const auto shape = f.shape.known();
    if (!shape) return internal("Fixed-length shape was not a statically defined shape.");
    out = Tensor(f.dtype, *shape);
    return by_feature_type(f.dtype, [&]<class T>() -> Status {
      IntoArray<T> sink{out.mutable_data<T>(), f.stride};
      if (!read_list(WireReader(list), sink) || sink.count != f.stride) return unreadable(key);
      return absl::OkStatus();
    });
  }

  void set_sparse(std::size_t d, Column& values) {
    const std::int64_t n = values.size();
    Tensor indices(DType::i64, Shape{n, 1});
    const auto all = indices.mutable_values<std::int64_t>();
    std::iota(all.begin(), all.end(), std::int64_t{0});
    out_.sparse_indices[d] = std::move(indices);
    out_.sparse_shapes[d] = Tensor::vector<std::int64_t>(std::vector<std::int64_t>{n});
    out_.sparse_values[d] = values.take(Shape{n});
  }

  const FeaturePlan& plan_;
  ParsedFeatures out_;
};

}  // namespace

StatusOr<ParsedFeatures> parse_example(const FeaturePlan& plan, const std::string& serialized) {
  TRY_ASSIGN(const auto index, index_of(plan));
  Entries entries;
  if (!read_example(serialized, entries)) return invalid("Could not parse example input, value: '{}'", serialized);
  Single single(plan);
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const auto found = index.find(entry->first);
    if (found == index.end()) continue;
    TRY_ASSIGN(const auto feature, split_feature(entry->second));
    if (feature.first == DType::invalid) continue;
    TRY(single.add(found->second.first, found->second.second, entry->first, feature.first, feature.second));
  }
  return single.finish();
}

}  // namespace troupe
