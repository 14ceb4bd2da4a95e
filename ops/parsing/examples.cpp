// A batch of examples to tensors, feature by feature.
#include <troupe/ops/parsing/features.hpp>

#include <algorithm>

namespace troupe {
namespace {

/// Values of a feature whose number differs between examples, and where each example's end.
struct Rows {
  explicit Rows(DType dtype) : values(dtype) {}
  Column values;
  std::vector<std::int64_t> ends;

  std::int64_t begin(std::size_t row) const { return row == 0 ? 0 : ends[row - 1]; }
  std::int64_t longest() const {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) most = std::max(most, ends[i] - begin(i));
    return most;
  }
};

const char* list_name(DType dtype) { return dtype == DType::i64 ? "int64" : dtype == DType::f32 ? "float" : "bytes"; }

class Batch {
 public:
  Batch(const FeaturePlan& plan, const FeatureIndex& index, std::size_t size) : plan_(plan), index_(index), size_(size) {
    for (const auto& f : plan.dense) {
      fixed_.emplace_back();
      varying_.emplace_back(f.dtype);
    }
    for (const auto& f : plan.sparse) sparse_.emplace_back(f.dtype);
    for (const auto& f : plan.ragged) ragged_.emplace_back(f.dtype);
  }

  Status allocate() {
    for (std::size_t d = 0; d < plan_.dense.size(); ++d) {
      const auto& f = plan_.dense[d];
      if (f.variable) continue;
      Dims dims{static_cast<std::int64_t>(size_)};
      for (std::int64_t n : f.shape.dims()) dims.push_back(n);
      TRY_ASSIGN(Shape shape, Shape::checked({dims.data(), dims.size()}));
      fixed_[d] = Tensor(f.dtype, std::move(shape));
    }
    return absl::OkStatus();
  }

  Status add(std::size_t at, const std::string& serialized, std::string_view name) {
    if (!read_example(serialized, entries_)) return invalid("Could not parse example input, value: '{}'", serialized);
    // The last entry of a key wins, as in a map.
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
      const auto found = index_.find(entry->first);
      if (found == index_.end()) continue;
      TRY_ASSIGN(const auto feature, split_feature(entry->second));
      const auto [kind, d] = found->second;
      const Site site{at, name, entry->first};
      if (kind == FeatureKind::dense) {
        TRY(add_dense(site, d, feature.first, feature.second));
      } else {
        const DType wanted = kind == FeatureKind::sparse ? plan_.sparse[d].dtype : plan_.ragged[d].dtype;
        TRY(add_values(site, kind == FeatureKind::sparse ? sparse_[d] : ragged_[d], wanted, feature.first, feature.second));
      }
    }
    return finish_example(at, name);
  }

  StatusOr<ParsedFeatures> finish() {
    ParsedFeatures out;
    for (std::size_t d = 0; d < plan_.dense.size(); ++d) {
      TRY_ASSIGN(Tensor values, plan_.dense[d].variable ? padded(d) : std::move(fixed_[d]));
      out.dense.push_back(std::move(values));
    }
    for (Rows& rows : sparse_) {
      const std::int64_t n = rows.values.size();
      Tensor indices(DType::i64, Shape{n, 2});
      std::int64_t* at = indices.mutable_data<std::int64_t>();
      for (std::size_t i = 0; i < rows.ends.size(); ++i)
        for (std::int64_t k = rows.begin(i), column = 0; k < rows.ends[i]; ++k) {
          *at++ = static_cast<std::int64_t>(i);
          *at++ = column++;
        }
      out.sparse_indices.push_back(std::move(indices));
      out.sparse_shapes.push_back(Tensor::vector<std::int64_t>(std::vector<std::int64_t>{static_cast<std::int64_t>(size_), rows.longest()}));
      out.sparse_values.push_back(rows.values.take(Shape{n}));
    }
    for (std::size_t d = 0; d < ragged_.size(); ++d) {
      out.ragged_splits.push_back(splits_of(ragged_[d].ends, plan_.ragged[d].splits));
      out.ragged_values.push_back(ragged_[d].values.take(Shape{ragged_[d].values.size()}));
    }
    return out;
  }

 private:
  struct Site {
    std::size_t example;
    std::string_view name, key;
    template <class... A>
    Status refuse(fmt::format_string<A...> text, A&&... args) const {
      return invalid("Name: {}, Key: {}, Index: {}.  {}", name, key, example, fmt::format(text, std::forward<A>(args)...));
    }
  };

  Status add_dense(const Site& site, std::size_t d, DType found, std::string_view list) {
    const auto& f = plan_.dense[d];
    Rows& rows = varying_[d];
    if (found == DType::invalid || rows.ends.size() > site.example) return absl::OkStatus();
    if (found != f.dtype) return site.refuse("Data types don't match. Data type: {} but expected type: {}", name_of(found), name_of(f.dtype));
    if (f.variable) {
      const std::int64_t before = rows.values.size();
      if (!rows.values.append(list)) return site.refuse("Can't parse serialized Example.");
      const std::int64_t n = rows.values.size() - before;
      if (n % f.stride != 0)
        return site.refuse("Number of {} values is not a multiple of stride length. Saw {} values but output shape is: {}", list_name(f.dtype), n,
                           f.shape);
      rows.ends.push_back(rows.values.size());
      return absl::OkStatus();
    }
    rows.ends.push_back(0);
    return by_feature_type(f.dtype, [&]<class T>() -> Status {
      IntoArray<T> sink{fixed_[d].mutable_data<T>() + static_cast<std::int64_t>(site.example) * f.stride, f.stride};
      if (!read_list(WireReader(list), sink)) return site.refuse("Can't parse serialized Example.");
      if (sink.count != f.stride)
        return site.refuse("Number of {} values != expected.  Values size: {} but output shape: {}", list_name(f.dtype), sink.count, f.shape);
      return absl::OkStatus();
    });
  }

  Status add_values(const Site& site, Rows& rows, DType wanted, DType found, std::string_view list) {
    if (rows.ends.size() > site.example) return absl::OkStatus();
    if (found != DType::invalid && found != wanted)
      return site.refuse("Data types don't match. Expected type: {}, Actual type: {}", name_of(wanted), name_of(found));
    if (found != DType::invalid && !rows.values.append(list)) return site.refuse("Can't parse serialized Example.");
    rows.ends.push_back(rows.values.size());
    return absl::OkStatus();
  }

  /// Gives features that the example does not have what stands for them.
  Status finish_example(std::size_t at, std::string_view name) {
    for (std::size_t d = 0; d < plan_.dense.size(); ++d) {
      const auto& f = plan_.dense[d];
      if (f.variable || varying_[d].ends.size() > at) continue;
      varying_[d].ends.push_back(0);
      if (f.otherwise.size() == 0)
        return invalid("Name: {}, Feature: {} (data type: {}) is required but could not be found.", name, f.key, name_of(f.dtype));
      by_feature_type(f.dtype, [&]<class T>() {
        const auto values = f.otherwise.values<T>();
        std::copy(values.begin(), values.end(), fixed_[d].mutable_data<T>() + static_cast<std::int64_t>(at) * f.stride);
      });
    }
    for (auto* all : {&varying_, &sparse_, &ragged_})
      for (Rows& rows : *all)
        if (rows.ends.size() == at) rows.ends.push_back(rows.values.size());
    return absl::OkStatus();
  }

  StatusOr<Tensor> padded(std::size_t d) {
    const auto& f = plan_.dense[d];
    Rows& rows = varying_[d];
    Dims dims{static_cast<std::int64_t>(size_), rows.longest() / f.stride};
    for (int i = 1; i < f.shape.rank(); ++i) dims.push_back(f.shape.dim(i));
    TRY_ASSIGN(Shape shape, Shape::checked({dims.data(), dims.size()}));
    Tensor out(f.dtype, std::move(shape));
    if (out.size() == 0) return out;
    const std::int64_t width = out.size() / static_cast<std::int64_t>(size_);
    by_feature_type(f.dtype, [&]<class T>() { std::ranges::fill(out.mutable_values<T>(), f.otherwise.item<T>()); });
    for (std::size_t i = 0; i < size_; ++i) rows.values.copy(rows.begin(i), rows.ends[i], out, static_cast<std::int64_t>(i) * width);
    return out;
  }

  const FeaturePlan& plan_;
  const FeatureIndex& index_;
  std::size_t size_;
  Entries entries_;
  std::vector<Tensor> fixed_;
  std::vector<Rows> varying_, sparse_, ragged_;  // of a dense feature with a fixed number, `varying_` counts the examples that are done
};

}  // namespace

StatusOr<ParsedFeatures> parse_examples(const FeaturePlan& plan, std::span<const std::string> serialized, std::span<const std::string> names) {
  TRY_ASSIGN(const auto index, index_of(plan));
  Batch batch(plan, index, serialized.size());
  TRY(batch.allocate());
  for (std::size_t i = 0; i < serialized.size(); ++i) TRY(batch.add(i, serialized[i], name_at(names, i)));
  return batch.finish();
}

}  // namespace troupe
