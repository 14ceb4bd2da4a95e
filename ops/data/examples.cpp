// Datasets of serialized examples, parsed batch by batch.
#include <troupe/ops/data/dataset.hpp>
#include <troupe/ops/parsing/feature_options.hpp>
#include <troupe/ops/ragged/ragged_value.hpp>
#include <troupe/ops/sparse/boxed_tensor.hpp>

#include <map>

namespace troupe {
namespace {

/// The features of a node; defaults come with each call.
struct ExamplePlan {
  FeaturePlan plan;
  std::map<std::string, std::size_t> places;  // outputs are in the order of keys

  static StatusOr<ExamplePlan> make(Binding& binding) {
    ExamplePlan made;
    TRY_ASSIGN(const auto sparse_keys, binding.attr<std::vector<std::string>>("sparse_keys"));
    TRY_ASSIGN(const auto dense_keys, binding.attr<std::vector<std::string>>("dense_keys"));
    TRY_ASSIGN(const auto sparse_types, binding.attr<std::vector<DType>>("sparse_types"));
    TRY_ASSIGN(const auto dense_types, binding.attr<std::vector<DType>>("Tdense"));
    TRY_ASSIGN(const auto dense_shapes, binding.attr<std::vector<PartialShape>>("dense_shapes"));
    if (sparse_keys.size() != sparse_types.size()) return invalid("len(sparse_keys) != len(sparse_types)");
    if (dense_keys.size() != dense_types.size()) return invalid("len(dense_keys) != len(dense_types)");
    if (dense_keys.size() != dense_shapes.size()) return invalid("len(dense_keys) != len(dense_shapes)");
    TRY(check_feature_types(dense_types));
    TRY(check_feature_types(sparse_types));
    TRY_ASSIGN(made.plan.dense, dense_features(dense_types, dense_shapes));
    made.plan.sparse = sparse_features(sparse_types);
    for (std::size_t i = 0; i < dense_keys.size(); ++i) made.plan.dense[i].key = dense_keys[i];
    for (std::size_t i = 0; i < sparse_keys.size(); ++i) made.plan.sparse[i].key = sparse_keys[i];
    if (binding.find("ragged_keys")) TRY(made.add_ragged(binding));
    made.number_outputs();
    return made;
  }

 private:
  Status add_ragged(Binding& binding) {
    TRY_ASSIGN(const auto keys, binding.attr<std::vector<std::string>>("ragged_keys"));
    TRY_ASSIGN(const auto values, binding.attr<std::vector<DType>>("ragged_value_types"));
    TRY_ASSIGN(const auto splits, binding.attr<std::vector<DType>>("ragged_split_types"));
    TRY_ASSIGN(plan.ragged, ragged_features(values, splits));
    if (keys.size() != plan.ragged.size()) return invalid("len(ragged_keys) != len(ragged_value_types)");
    for (std::size_t i = 0; i < keys.size(); ++i) plan.ragged[i].key = keys[i];
    return absl::OkStatus();
  }
  void number_outputs() {
    for (const auto& f : plan.dense) places[f.key] = 0;
    for (const auto& f : plan.sparse) places[f.key] = 0;
    for (const auto& f : plan.ragged) places[f.key] = 0;
    std::size_t next = 0;
    for (auto& [key, place] : places) place = next++;
  }
};

Tensor sparse_box(Tensor indices, Tensor values, Tensor shape) {
  Tensor box(DType::variant, Shape{3});
  Tensor* parts[] = {&indices, &values, &shape};
  for (int i = 0; i < 3; ++i) box.mutable_data<Variant>()[i] = boxed(std::move(*parts[i]));
  return box;
}

Tuple in_order(const ExamplePlan& options, ParsedFeatures parsed) {
  Tuple out(options.places.size());
  const auto& plan = options.plan;
  for (std::size_t i = 0; i < plan.dense.size(); ++i) out[options.places.at(plan.dense[i].key)] = std::move(parsed.dense[i]);
  for (std::size_t i = 0; i < plan.sparse.size(); ++i)
    out[options.places.at(plan.sparse[i].key)] =
        sparse_box(std::move(parsed.sparse_indices[i]), std::move(parsed.sparse_values[i]), std::move(parsed.sparse_shapes[i]));
  for (std::size_t i = 0; i < plan.ragged.size(); ++i)
    out[options.places.at(plan.ragged[i].key)] =
        Tensor::scalar<Variant>(as_variant(std::move(parsed.ragged_values[i]), {std::move(parsed.ragged_splits[i])}));
  return out;
}

/// Parsing is done where it may take its time.
class ParsedExamples final : public Source {
 public:
  ParsedExamples(SourcePtr input, std::shared_ptr<const ExamplePlan> options) : input_(std::move(input)), options_(std::move(options)) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (!work_.started()) {
      Tuple element;
      if (const Poll poll = input_->next(reading, element); poll != Poll::ready) return poll;
      parsed_ = std::make_shared<Tuple>();
      work_.start(reading, [options = options_, serialized = element[0], parsed = parsed_]() -> Status {
        TRY_ASSIGN(auto features, parse_examples(options->plan, serialized.values<std::string>(), {}));
        *parsed = in_order(*options, std::move(features));
        return absl::OkStatus();
      });
    }
    if (const Poll poll = work_.take(reading); poll != Poll::ready) return poll;
    out = std::move(*parsed_);
    return Poll::ready;
  }

 private:
  SourcePtr input_;
  std::shared_ptr<const ExamplePlan> options_;
  std::shared_ptr<Tuple> parsed_;
  BlockingWork work_;
};

Status take_defaults(const List& defaults, FeaturePlan& plan) {
  if (static_cast<std::size_t>(defaults.size()) != plan.dense.size())
    return invalid("Expected len(dense_defaults) == len(dense_keys) but got: {} vs. {}", defaults.size(), plan.dense.size());
  for (int i = 0; i < defaults.size(); ++i) {
    auto& feature = plan.dense[static_cast<std::size_t>(i)];
    const Tensor& value = defaults[i];
    if (feature.variable && value.size() != 1)
      return invalid(
          "dense_shape[{}] is a variable length shape: {}, therefore def_value[{}] must contain a single element (the padding element).  "
          "But its shape is: {}",
          i, feature.shape, i, value.shape());
    if (!feature.variable && value.size() > 0 && !feature.shape.compatible_with(value.shape()))
      return invalid("def_value[{}].shape() == {} is not compatible with dense_shapes_[{}] == {}", i, value.shape(), i, feature.shape);
    if (value.dtype() != feature.dtype)
      return invalid("dense_defaults[{}].dtype() == {} != dense_types_[{}] == {}", i, name_of(value.dtype()), i, name_of(feature.dtype));
    feature.otherwise = value;
  }
  return absl::OkStatus();
}

}  // namespace

void add_example_datasets(Registry& ops) {
  ops.add({"ParseExampleDataset", "ParseExampleDatasetV2", "ExperimentalParseExampleDataset"},
          [](Call& call, DatasetIn input, Number<std::int64_t> parallel, List defaults, Elements elements, State<ExamplePlan> options) -> Status {
            if (*parallel <= 0 && *parallel != -1) return invalid("num_parallel_calls must be greater than zero.");
            if (input->element.types != std::vector<DType>{DType::string})
              return invalid("The input dataset must have elements of one component of strings");
            auto plan = std::make_shared<ExamplePlan>(*options);
            TRY(take_defaults(defaults, plan->plan));
            Dataset dataset = over(input, "ParseExample");
            dataset.element = elements;
            dataset.open = [input = input.dataset, plan] { return std::make_unique<ParsedExamples>(input->open(), plan); };
            return give(call, std::move(dataset));
          });
}

}  // namespace troupe
