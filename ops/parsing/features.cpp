// Parts of examples that all kinds of parsing share.
#include <troupe/ops/parsing/features.hpp>

#include <algorithm>

namespace troupe {
namespace {

Status check_dtype(DType dtype) {
  if (dtype == DType::i64 || dtype == DType::f32 || dtype == DType::string) return absl::OkStatus();
  return invalid("Invalid config dtype: {}", name_of(dtype));
}

}  // namespace

StatusOr<FeatureIndex> index_of(const FeaturePlan& plan) {
  for (const auto& f : plan.sparse) TRY(check_dtype(f.dtype));
  for (const auto& f : plan.dense) TRY(check_dtype(f.dtype));
  for (const auto& f : plan.ragged) {
    TRY(check_dtype(f.dtype));
    if (f.splits != DType::i32 && f.splits != DType::i64) return invalid("Invalid ragged_split_type: {}", name_of(f.splits));
  }
  FeatureIndex index;
  // Of features with one key the last has it.
  for (std::size_t i = 0; i < plan.dense.size(); ++i) index.insert_or_assign(plan.dense[i].key, std::pair{FeatureKind::dense, i});
  for (std::size_t i = 0; i < plan.sparse.size(); ++i) index.insert_or_assign(plan.sparse[i].key, std::pair{FeatureKind::sparse, i});
  for (std::size_t i = 0; i < plan.ragged.size(); ++i) index.insert_or_assign(plan.ragged[i].key, std::pair{FeatureKind::ragged, i});
  return index;
}

bool read_entries(WireReader features, Entries& entries) {
  while (!features.at_end()) {
    WireReader entry;
    std::string_view key, feature;
    if (!features.expect(delimited_tag(1)) || !features.part(entry)) return false;
    if (!entry.expect(delimited_tag(1)) || !entry.bytes(key) || !entry.expect(delimited_tag(2)) || !entry.bytes(feature) || !entry.at_end())
      return false;
    entries.emplace_back(key, feature);
  }
  return true;
}

bool read_example(std::string_view serialized, Entries& entries) {
  entries.clear();
  for (WireReader example(serialized); !example.at_end();) {
    if (!example.expect(delimited_tag(1))) {
      if (!example.skip_field()) return false;
      continue;
    }
    WireReader features;
    if (!example.part(features) || !read_entries(features, entries)) return false;
  }
  return true;
}

StatusOr<std::pair<DType, std::string_view>> split_feature(std::string_view feature) {
  if (feature.empty()) return std::pair{DType::invalid, feature};
  const std::string_view list = feature.substr(1);
  switch (static_cast<std::uint8_t>(feature[0])) {
    case delimited_tag(1): return std::pair{DType::string, list};
    case delimited_tag(2): return std::pair{DType::f32, list};
    case delimited_tag(3): return std::pair{DType::i64, list};
    default: return invalid("Unsupported datatype.");
  }
}

Column::Column(DType dtype) : dtype_(dtype) {
  by_feature_type(dtype, [&]<class T>() { values_.emplace<std::vector<T>>(); });
}

std::int64_t Column::size() const {
  return std::visit([](const auto& v) { return static_cast<std::int64_t>(v.size()); }, values_);
}

bool Column::append(std::string_view list) {
  return by_feature_type(dtype_, [&]<class T>() {
    IntoVector<T> sink{std::get<std::vector<T>>(values_)};
    return read_list(WireReader(list), sink);
  });
}

void Column::copy(std::int64_t first, std::int64_t last, Tensor& to, std::int64_t at) {
  by_feature_type(dtype_, [&]<class T>() {
    auto& from = std::get<std::vector<T>>(values_);
    std::move(from.begin() + first, from.begin() + last, to.mutable_data<T>() + at);
  });
}

Tensor Column::take(Shape shape) {
  Tensor out(dtype_, std::move(shape));
  if (size() > 0) copy(0, size(), out, 0);
  return out;
}

Tensor splits_of(const std::vector<std::int64_t>& ends, DType dtype) {
  Tensor out(dtype, Shape{static_cast<std::int64_t>(ends.size()) + 1});
  const auto fill = [&]<class I>(I* to) {
    *to = 0;
    for (std::int64_t end : ends) *++to = static_cast<I>(end);
  };
  if (dtype == DType::i32) fill(out.mutable_data<std::int32_t>());
  else fill(out.mutable_data<std::int64_t>());
  return out;
}

std::string name_at(std::span<const std::string> names, std::size_t i) { return names.empty() ? "<unknown>" : names[i]; }

}  // namespace troupe
