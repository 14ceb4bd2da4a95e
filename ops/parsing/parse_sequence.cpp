// The ops that parse batches of sequence examples.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/parsing/feature_options.hpp>

#include <algorithm>

namespace troupe {
namespace {

StatusOr<std::size_t> count(Binding& binding, const char* attr) {
  TRY_ASSIGN(const auto n, binding.attr<std::int64_t>(attr));
  return static_cast<std::size_t>(n);
}

Status same_size(const char* count, std::size_t n, const char* what, std::size_t size) {
  return n == size ? absl::OkStatus() : invalid("{} (={}) must match the size of {} ({})", count, n, what, size);
}

template <class Feature>
void set_keys(std::vector<Feature>& features, std::span<const std::string> keys) {
  for (std::size_t i = 0; i < features.size(); ++i) features[i].key = keys[i];
}

/// What stands for a missing value in a list that is padded.
Tensor zero_of(DType dtype) { return Tensor::zeros(dtype, Shape{}); }

/// The features of a node as far as its attributes say them.
struct SequenceOptions {
  FeaturePlan context, lists;

  static StatusOr<SequenceOptions> make(Binding& binding) {
    SequenceOptions o;
    const bool second = binding.node().op() == "ParseSequenceExampleV2";
    TRY_ASSIGN(const auto context_sparse, binding.attr<std::vector<DType>>("context_sparse_types"));
    TRY_ASSIGN(const auto context_dense, binding.attr<std::vector<DType>>("Tcontext_dense"));
    TRY_ASSIGN(const auto context_shapes, binding.attr<std::vector<PartialShape>>("context_dense_shapes"));
    TRY_ASSIGN(const auto list_sparse, binding.attr<std::vector<DType>>("feature_list_sparse_types"));
    TRY_ASSIGN(const auto list_dense, binding.attr<std::vector<DType>>("feature_list_dense_types"));
    TRY_ASSIGN(const auto list_shapes, binding.attr<std::vector<PartialShape>>("feature_list_dense_shapes"));
    TRY_ASSIGN(const auto context_sparse_count, count(binding, "Ncontext_sparse"));
    TRY_ASSIGN(const auto list_sparse_count, count(binding, "Nfeature_list_sparse"));
    TRY_ASSIGN(const auto list_dense_count, count(binding, "Nfeature_list_dense"));
    TRY(same_size("num_context_sparse", context_sparse_count, "context_sparse_types", context_sparse.size()));
    TRY(same_size("num_context_dense", context_dense.size(), "context_dense_shapes", context_shapes.size()));
    TRY(same_size("num_feature_list_sparse", list_sparse_count, "feature_list_sparse_types", list_sparse.size()));
    TRY(same_size("num_feature_list_dense", list_dense_count, "feature_list_dense_types", list_dense.size()));
    TRY(same_size("num_feature_list_dense", list_dense_count, "feature_list_dense_shapes", list_shapes.size()));
    for (const auto* types : {&context_dense, &context_sparse, &list_dense, &list_sparse}) TRY(check_feature_types(*types));
    o.context.sparse = sparse_features(context_sparse);
    o.lists.sparse = sparse_features(list_sparse);
    for (std::size_t i = 0; i < context_dense.size(); ++i) o.context.dense.push_back({"", context_dense[i], context_shapes[i], {}, false, 0});
    for (std::size_t i = 0; i < list_dense.size(); ++i)
      o.lists.dense.push_back({"", list_dense[i], list_shapes[i], zero_of(list_dense[i]), false, 0});
    TRY(second ? o.take_ragged(binding) : o.take_keys(binding));
    return o;
  }

  Status take_ragged(Binding& binding) {
    TRY_ASSIGN(const auto context_values, binding.attr<std::vector<DType>>("context_ragged_value_types"));
    TRY_ASSIGN(const auto context_splits, binding.attr<std::vector<DType>>("context_ragged_split_types"));
    TRY_ASSIGN(const auto list_values, binding.attr<std::vector<DType>>("feature_list_ragged_value_types"));
    TRY_ASSIGN(const auto list_splits, binding.attr<std::vector<DType>>("feature_list_ragged_split_types"));
    TRY_ASSIGN(context.ragged, ragged_features(context_values, context_splits));
    TRY_ASSIGN(lists.ragged, ragged_features(list_values, list_splits));
    return absl::OkStatus();
  }

  Status take_keys(Binding& binding) {
    TRY_ASSIGN(const auto context_sparse, binding.attr<std::vector<std::string>>("context_sparse_keys"));
    TRY_ASSIGN(const auto context_dense, binding.attr<std::vector<std::string>>("context_dense_keys"));
    TRY_ASSIGN(const auto list_sparse, binding.attr<std::vector<std::string>>("feature_list_sparse_keys"));
    TRY_ASSIGN(const auto list_dense, binding.attr<std::vector<std::string>>("feature_list_dense_keys"));
    TRY_ASSIGN(const auto may_miss, binding.attr<std::vector<std::string>>("feature_list_dense_missing_assumed_empty"));
    TRY(same_size("num_context_sparse", context.sparse.size(), "context_sparse_keys", context_sparse.size()));
    TRY(same_size("num_context_dense", context.dense.size(), "context_dense_keys", context_dense.size()));
    TRY(same_size("num_feature_list_sparse", lists.sparse.size(), "feature_list_sparse_keys", list_sparse.size()));
    TRY(same_size("num_feature_list_dense", lists.dense.size(), "feature_list_dense_keys", list_dense.size()));
    set_keys(context.sparse, context_sparse);
    set_keys(context.dense, context_dense);
    set_keys(lists.sparse, list_sparse);
    set_keys(lists.dense, list_dense);
    for (auto& f : lists.dense) f.variable = std::find(may_miss.begin(), may_miss.end(), f.key) != may_miss.end();
    return absl::OkStatus();
  }
};

Status take_defaults(const List& defaults, FeaturePlan& context) {
  if (static_cast<std::size_t>(defaults.size()) != context.dense.size())
    return invalid("Expected len(context_dense_defaults) == len(context_dense_keys) but got: {} vs. {}", defaults.size(), context.dense.size());
  for (int i = 0; i < defaults.size(); ++i) {
    auto& f = context.dense[static_cast<std::size_t>(i)];
    const Tensor& value = defaults[i];
    if (value.size() > 0 && PartialShape(value.shape()) != f.shape)
      return invalid("default_value[{}].shape() == {} != context_dense_shapes[{}] == {}", i, value.shape(), i, f.shape);
    if (value.size() > 0 && value.dtype() != f.dtype)
      return invalid("context_dense_defaults[{}].dtype() == {} != context_dense_types[{}] == {}", i, name_of(value.dtype()), i, name_of(f.dtype));
    f.otherwise = value;
  }
  return absl::OkStatus();
}

Status parse(Call& call, const In<std::string>& serialized, const In<std::string>& names, const FeaturePlan& context, const FeaturePlan& lists) {
  TRY_ASSIGN(auto parsed, parse_sequences(context, lists, serialized.values(), names.values(), serialized.dims() == 1));
  auto& c = parsed.context;
  auto& l = parsed.lists;
  Outputs(call)
      .add(c.sparse_indices)
      .add(c.sparse_values)
      .add(c.sparse_shapes)
      .add(c.dense)
      .add(c.ragged_values)
      .add(c.ragged_splits)
      .add(l.sparse_indices)
      .add(l.sparse_values)
      .add(l.sparse_shapes)
      .add(l.dense)
      .add(l.dense_lengths)
      .add(l.ragged_values)
      .add(l.ragged_outer_splits)
      .add(l.ragged_splits);
  return absl::OkStatus();
}

Status check_rank(const In<std::string>& serialized) {
  return serialized.dims() > 1 ? invalid("Expected serialized to be a scalar or vector, got shape: {}", serialized.shape()) : absl::OkStatus();
}

template <class Feature>
Status take_keys(std::vector<Feature>& features, const In<std::string>& keys, const char* what) {
  if (static_cast<std::size_t>(keys.size()) != features.size()) return invalid("Expected {}", what);
  set_keys(features, keys.values());
  return absl::OkStatus();
}

}  // namespace

void add_parse_sequence(Registry& ops) {
  ops.add("ParseSequenceExample",
          [](Call& call, In<std::string> serialized, In<std::string> names, List defaults, const SequenceOptions& o) -> Status {
            TRY(check_rank(serialized));
            FeaturePlan context = o.context;
            TRY(take_defaults(defaults, context));
            return parse(call, serialized, names, context, o.lists);
          });
  ops.add("ParseSequenceExampleV2",
          [](Call& call, In<std::string> serialized, In<std::string> names, In<std::string> context_sparse, In<std::string> context_dense,
             In<std::string> context_ragged, In<std::string> list_sparse, In<std::string> list_dense, In<std::string> list_ragged, In<bool> may_miss,
             List defaults, const SequenceOptions& o) -> Status {
            TRY(check_rank(serialized));
            FeaturePlan context = o.context, lists = o.lists;
            TRY(take_keys(context.dense, context_dense, "len(context_dense_keys) to match len(Tcontext_dense)"));
            TRY(take_keys(context.sparse, context_sparse, "len(context_sparse_keys) to match Ncontext_sparse"));
            TRY(take_keys(context.ragged, context_ragged, "len(context_ragged_keys) to match len(context_ragged_value_types)"));
            TRY(take_keys(lists.dense, list_dense, "len(feature_list_dense_keys) to match Nfeature_list_dense"));
            if (static_cast<std::size_t>(may_miss.size()) != lists.dense.size())
              return invalid("Expected len(feature_list_dense_missing_assumed_empty to match Nfeature_list_dense");
            TRY(take_keys(lists.sparse, list_sparse, "len(feature_list_sparse_keys) to match Nfeature_list_sparse"));
            TRY(take_keys(lists.ragged, list_ragged, "len(feature_list_ragged_keys) to match len(feature_list_ragged_value_types)"));
            for (std::size_t i = 0; i < lists.dense.size(); ++i) lists.dense[i].variable = may_miss[static_cast<std::int64_t>(i)];
            TRY(take_defaults(defaults, context));
            return parse(call, serialized, names, context, lists);
          });
  ops.cost({"ParseSequenceExample", "ParseSequenceExampleV2"}, 5000);
}

}  // namespace troupe
