// Datasets put together: one after another, or side by side.
#include <troupe/ops/data/dataset.hpp>

namespace troupe {
namespace {

class Concatenated final : public Source {
 public:
  explicit Concatenated(std::vector<DatasetPtr> parts) : parts_(std::move(parts)) {}
  Poll next(Reading& reading, Tuple& out) override {
    for (; at_ < parts_.size(); ++at_) {
      if (!open_) open_ = parts_[at_]->open();
      const Poll poll = open_->next(reading, out);
      if (poll != Poll::end) return poll;
      open_.reset();
    }
    return Poll::end;
  }

 private:
  std::vector<DatasetPtr> parts_;
  std::size_t at_ = 0;
  SourcePtr open_;
};

/// Elements of several sources side by side; a failure loses what the others gave for it.
class Zipped final : public Source {
 public:
  explicit Zipped(const std::vector<DatasetPtr>& inputs) {
    for (const auto& input : inputs) inputs_.push_back(input->open());
  }
  Poll next(Reading& reading, Tuple& out) override {
    if (over_) return Poll::end;
    for (; at_ < inputs_.size(); ++at_) {
      Tuple part;
      const Poll poll = inputs_[at_]->next(reading, part);
      if (poll == Poll::waits) return poll;
      if (poll == Poll::end) over_ = true;
      else if (poll == Poll::failed && failure_.ok()) failure_ = reading.status();
      for (Tensor& t : part) element_.push_back(std::move(t));
      if (over_) break;
    }
    at_ = 0;
    out = std::exchange(element_, {});
    const Status failure = std::exchange(failure_, absl::OkStatus());
    if (over_) return Poll::end;
    return failure.ok() ? Poll::ready : reading.fail(failure);
  }

 private:
  std::vector<SourcePtr> inputs_;
  std::size_t at_ = 0;
  Tuple element_;
  Status failure_;
  bool over_ = false;
};

PartialShape common_shape(const PartialShape& a, const PartialShape& b) {
  if (a.unknown_rank() || b.unknown_rank() || a.rank() != b.rank()) return PartialShape();
  Dims dims;
  for (int i = 0; i < a.rank(); ++i) dims.push_back(a.dim(i) == b.dim(i) ? a.dim(i) : -1);
  return PartialShape(std::span<const std::int64_t>(dims.data(), dims.size()));
}

std::string listed(const std::vector<DType>& types) {
  std::vector<std::string> names;
  for (DType t : types) names.push_back(name_of(t));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void add_combined_datasets(Registry& ops) {
  ops.add("ConcatenateDataset", [](Call& call, DatasetIn first, DatasetIn second) -> Status {
    if (first->element.types != second->element.types)
      return invalid("input dataset and dataset to concatenate have different output_types %s and %s{}",
                     listed(second->element.types));  // as TensorFlow says it
    Dataset dataset = over(first, "Concatenate");
    dataset.inputs.push_back(second);
    for (std::size_t i = 0; i < dataset.element.shapes.size() && i < second->element.shapes.size(); ++i)
      dataset.element.shapes[i] = common_shape(first->element.shapes[i], second->element.shapes[i]);
    const std::int64_t a = first->cardinality, b = second->cardinality;
    if (a == infinite || b == infinite) dataset.cardinality = infinite;
    else if (a == unknown_count || b == unknown_count || __builtin_add_overflow(a, b, &dataset.cardinality)) dataset.cardinality = unknown_count;
    dataset.open = [inputs = dataset.inputs] { return std::make_unique<Concatenated>(inputs); };
    return give(call, std::move(dataset));
  });
  ops.add("ZipDataset", [](Call& call, List inputs) -> Status {
    Dataset dataset;
    dataset.kind = "Zip";
    dataset.cardinality = infinite;
    bool unknown = false;
    for (int i = 0; i < inputs.size(); ++i) {
      TRY_ASSIGN(auto input, dataset_in(inputs[i]));
      dataset.element.types.insert(dataset.element.types.end(), input->element.types.begin(), input->element.types.end());
      dataset.element.shapes.insert(dataset.element.shapes.end(), input->element.shapes.begin(), input->element.shapes.end());
      if (input->cardinality == unknown_count) unknown = true;
      else if (input->cardinality != infinite && (dataset.cardinality == infinite || input->cardinality < dataset.cardinality))
        dataset.cardinality = input->cardinality;
      dataset.inputs.push_back(std::move(input));
    }
    if (unknown) dataset.cardinality = unknown_count;
    dataset.open = [all = dataset.inputs] { return std::make_unique<Zipped>(all); };
    return give(call, std::move(dataset));
  });
}

}  // namespace troupe
