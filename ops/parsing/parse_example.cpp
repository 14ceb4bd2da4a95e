// The ops that parse examples.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/parsing/feature_options.hpp>

namespace troupe {
namespace {

/// The features of a node as far as its attributes say them.
struct ExampleOptions {
  FeaturePlan plan;

  static StatusOr<ExampleOptions> make(Binding& binding) {
    ExampleOptions o;
    const std::string& op = binding.node().op();
    TRY_ASSIGN(const auto sparse_types, binding.attr<std::vector<DType>>("sparse_types"));
    TRY_ASSIGN(const auto dense_types, binding.attr<std::vector<DType>>("Tdense"));
    TRY_ASSIGN(const auto dense_shapes, binding.attr<std::vector<PartialShape>>("dense_shapes"));
    TRY_ASSIGN(const auto sparse_count, binding.attr<std::int64_t>(op == "ParseExample" ? "Nsparse" : "num_sparse"));
    std::int64_t dense_count = static_cast<std::int64_t>(dense_types.size());
    if (op == "ParseExample") {
      TRY_ASSIGN(dense_count, binding.attr<std::int64_t>("Ndense"));
    }
    if (sparse_count != static_cast<std::int64_t>(sparse_types.size())) return invalid("len(sparse_keys) != len(sparse_types)");
    if (dense_count != static_cast<std::int64_t>(dense_types.size())) return invalid("len(dense_keys) != len(dense_types)");
    if (dense_types.size() != dense_shapes.size()) return invalid("len(dense_keys) != len(dense_shapes)");
    TRY(check_feature_types(dense_types));
    TRY(check_feature_types(sparse_types));
    TRY_ASSIGN(o.plan.dense, dense_features(dense_types, dense_shapes));
    o.plan.sparse = sparse_features(sparse_types);
    if (op == "ParseExampleV2") {
      TRY_ASSIGN(const auto values, binding.attr<std::vector<DType>>("ragged_value_types"));
      TRY_ASSIGN(const auto splits, binding.attr<std::vector<DType>>("ragged_split_types"));
      TRY_ASSIGN(o.plan.ragged, ragged_features(values, splits));
    }
    if (op == "ParseSingleExample") TRY(o.take_keys(binding));
    return o;
  }

  Status take_keys(Binding& binding) {
    TRY_ASSIGN(const auto sparse_keys, binding.attr<std::vector<std::string>>("sparse_keys"));
    TRY_ASSIGN(const auto dense_keys, binding.attr<std::vector<std::string>>("dense_keys"));
    if (sparse_keys.size() != plan.sparse.size()) return invalid("len(sparse_keys) != len(sparse_types)");
    if (dense_keys.size() != plan.dense.size()) return invalid("len(dense_keys) != len(dense_types)");
    for (std::size_t i = 0; i < sparse_keys.size(); ++i) plan.sparse[i].key = sparse_keys[i];
    for (std::size_t i = 0; i < dense_keys.size(); ++i) plan.dense[i].key = dense_keys[i];
    return absl::OkStatus();
  }
};

Status take_defaults(const List& defaults, FeaturePlan& plan) {
  if (static_cast<std::size_t>(defaults.size()) != plan.dense.size())
    return invalid("Expected len(dense_defaults) == len(dense_keys) but got: {} vs. {}", defaults.size(), plan.dense.size());
  for (int i = 0; i < defaults.size(); ++i) {
    auto& f = plan.dense[static_cast<std::size_t>(i)];
    const Tensor& value = defaults[i];
    if (f.variable) {
      if (value.size() != 1)
        return invalid(
            "dense_shape[{}] is a variable length shape: {}, therefore def_value[{}] must contain a single element (the padding element).  "
            "But its shape is: {}",
            i, f.shape, i, value.shape());
    } else if (value.size() > 0 && !f.shape.compatible_with(value.shape())) {
      return invalid("def_value[{}].shape() == {} is not compatible with dense_shapes_[{}] == {}", i, value.shape(), i, f.shape);
    }
    if (value.dtype() != f.dtype)
      return invalid("dense_defaults[{}].dtype() == {} != dense_types_[{}] == {}", i, name_of(value.dtype()), i, name_of(f.dtype));
    f.otherwise = value;
  }
  return absl::OkStatus();
}

template <class Feature>
void set_keys(std::vector<Feature>& features, const In<std::string>& keys) {
  for (std::size_t i = 0; i < features.size(); ++i) features[i].key = keys[static_cast<std::int64_t>(i)];
}

template <class Feature>
Status set_keys(std::vector<Feature>& features, const List& keys) {
  for (std::size_t i = 0; i < features.size(); ++i) {
    const Tensor& key = keys[static_cast<int>(i)];
    if (key.size() < 1 || key.dtype() != DType::string) return invalid("Expected a key to be a string scalar, got shape: {}", key.shape());
    features[i].key = key.item<std::string>();
  }
  return absl::OkStatus();
}

Status check_names(const In<std::string>& serialized, const In<std::string>& names) {
  if (names.size() > 0 && names.shape() != serialized.shape())
    return invalid("Expected names have the same shape as serialized: name.shape={}, serialized.shape={}", names.shape(), serialized.shape());
  return absl::OkStatus();
}

Status give(Call& call, StatusOr<ParsedFeatures> parsed) {
  TRY(parsed.status());
  Outputs(call)
      .add(parsed->sparse_indices)
      .add(parsed->sparse_values)
      .add(parsed->sparse_shapes)
      .add(parsed->dense)
      .add(parsed->ragged_values)
      .add(parsed->ragged_splits);
  return absl::OkStatus();
}

}  // namespace

void add_parse_example(Registry& ops) {
  ops.add("ParseExample",
          [](Call& call, In<std::string> serialized, In<std::string> names, List sparse_keys, List dense_keys, List defaults,
             const ExampleOptions& o) -> Status {
            if (serialized.dims() != 1) return invalid("Expected serialized to be a vector, got shape: {}", serialized.shape());
            TRY(check_names(serialized, names));
            FeaturePlan plan = o.plan;
            TRY(set_keys(plan.sparse, sparse_keys));
            TRY(set_keys(plan.dense, dense_keys));
            TRY(take_defaults(defaults, plan));
            return give(call, parse_examples(plan, serialized.values(), names.values()));
          });
  ops.add("ParseExampleV2",
          [](Call& call, In<std::string> serialized, In<std::string> names, In<std::string> sparse_keys, In<std::string> dense_keys,
             In<std::string> ragged_keys, List defaults, const ExampleOptions& o) -> Status {
            if (serialized.dims() > 1) return invalid("Expected serialized to be a scalar or vector, got shape: {}", serialized.shape());
            TRY(check_names(serialized, names));
            FeaturePlan plan = o.plan;
            const auto as_many = [](std::int64_t n, const auto& features) { return n == static_cast<std::int64_t>(features.size()); };
            if (!as_many(dense_keys.size(), plan.dense))
              return invalid("Expected len(dense_keys) == len(dense_types) but got: {} vs. {}", dense_keys.size(), plan.dense.size());
            if (!as_many(sparse_keys.size(), plan.sparse))
              return invalid("Expected len(sparse_keys) == num_sparse but got: {} vs. {}", sparse_keys.size(), plan.sparse.size());
            if (!as_many(ragged_keys.size(), plan.ragged))
              return invalid("Expected len(ragged_keys) == len(ragged_value_types) but got: {} vs. {}", ragged_keys.size(), plan.ragged.size());
            set_keys(plan.sparse, sparse_keys);
            set_keys(plan.dense, dense_keys);
            set_keys(plan.ragged, ragged_keys);
            TRY(take_defaults(defaults, plan));
            if (serialized.dims() == 0) return give(call, parse_example(plan, serialized[0]));
            return give(call, parse_examples(plan, serialized.values(), names.values()));
          });
  ops.add("ParseSingleExample", [](Call& call, In<std::string> serialized, List defaults, const ExampleOptions& o) -> Status {
    if (serialized.dims() != 0) return invalid("Expected serialized to be a scalar, got shape: {}", serialized.shape());
    FeaturePlan plan = o.plan;
    TRY(take_defaults(defaults, plan));
    return give(call, parse_example(plan, serialized[0]));
  });
  ops.cost({"ParseExample", "ParseExampleV2", "ParseSingleExample"}, 2000);
}

}  // namespace troupe
