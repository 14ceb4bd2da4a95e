// Questions to whole datasets, answered within one step.
#include <troupe/ops/data/dataset.hpp>

namespace troupe {
namespace {

/// What a reading within one call works on.
struct Work {
  explicit Work(const DatasetPtr& dataset) : source(dataset->open()) {}
  SourcePtr source;
  Tuple element, found;
  std::int64_t count = 0;
  FunctionCall call;
};

Status set_outputs(Call& call, const ElementFacts& facts, Tuple element) {
  TRY(check_element(facts, element));
  for (std::size_t i = 0; i < element.size(); ++i) call.set(static_cast<int>(i), std::move(element[i]));
  return absl::OkStatus();
}

Poll reduce(Reading& reading, Work& work, const Captured& f) {
  for (;;) {
    if (!work.call.started()) {
      const Poll poll = work.source->next(reading, work.element);
      if (poll != Poll::ready) return poll;
      Tuple arguments = work.found;
      for (Tensor& t : work.element) arguments.push_back(std::move(t));
      work.call.start(reading, f, std::move(arguments));
    }
    Tuple results;
    if (const Poll poll = work.call.take(reading, results); poll != Poll::ready) {
      if (poll == Poll::failed && reading.status().code() == Code::kOutOfRange)
        return reading.fail(invalid("Function invocation produced OutOfRangeError: {}", text_of(reading.status())));
      return poll;
    }
    work.found = std::move(results);
  }
}

/// A dataset in a box that datasets are not looked for in.
struct Wrapped final : VariantValue {
  explicit Wrapped(DatasetPtr d) : dataset(std::move(d)) {}
  std::string type_name() const override { return "tensorflow::WrappedDatasetVariantWrapper"; }
  DatasetPtr dataset;
};

}  // namespace

void add_dataset_queries(Registry& ops) {
  ops.add({"DatasetCardinality", "ExperimentalDatasetCardinality"},
          [](Call& call, DatasetIn input) { call.set_scalar<std::int64_t>(0, input->cardinality); });
  ops.add("DatasetToSingleElement", [](Call& call, Step& step, DatasetIn input, Elements elements, Done done) {
    auto work = std::make_shared<Work>(input);
    auto attempt = [work](Reading& reading) {
      for (;;) {
        const Poll poll = work->source->next(reading, work->element);
        if (poll == Poll::end && work->count == 0) return reading.fail(invalid("Dataset was empty."));
        if (poll == Poll::end) return Poll::ready;
        if (poll != Poll::ready) return poll;
        if (++work->count > 1) return reading.fail(invalid("Dataset had more than one element."));
        work->found = std::move(work->element);
      }
    };
    Reading::start(step, std::make_shared<Instances>(), attempt, [work, &call, &facts = elements.facts, done = std::move(done)](Poll, Status status) {
      done(status.ok() ? set_outputs(call, facts, std::move(work->found)) : status);
    });
  });
  ops.add("ReduceDataset", [](Call& call, Step& step, DatasetIn input, List state, List more, Attr<"f", wire::NameAttrList> f, Elements elements,
                              Done done) {
    auto function = capture(step, *f, more);
    if (!function.ok()) return done(function.status());
    auto work = std::make_shared<Work>(input);
    work->found = tensors_in(state);
    auto attempt = [work, function = *function](Reading& reading) { return reduce(reading, *work, function); };
    Reading::start(step, std::make_shared<Instances>(), attempt, [work, &call, &facts = elements.facts, done = std::move(done)](Poll, Status status) {
      done(status.ok() ? set_outputs(call, facts, std::move(work->found)) : status);
    });
  });
  ops.add("GetElementAtIndex", [](Call& call, Step& step, DatasetIn input, Number<std::int64_t> index, Elements elements, Done done) {
    const std::int64_t at = *index;
    // TensorFlow makes parallel maps of all others.
    const bool mapped = input->kind == "Map" || input->kind == "ParallelMap";
    const std::string op = mapped ? "ParallelMapDatasetV2Op" : input->kind + "DatasetOp";
    if (input->cardinality == infinite)
      return done(failed_precondition("Dataset of type {}::Dataset has infinite cardinality, which does not support random access.", op));
    if (input->cardinality == unknown_count && mapped)
      return done(failed_precondition("Dataset of type {}::Dataset has unknown cardinality, which does not support random access.", op));
    if (input->cardinality == unknown_count) return done(unimplemented("Random access is not implemented for this dataset."));
    if (at < 0 || (input->cardinality >= 0 && at >= input->cardinality))
      return done(out_of_range("Index out of range [0, {}):{}", input->cardinality, at));
    auto work = std::make_shared<Work>(input);
    auto attempt = [work, at](Reading& reading) {
      for (;;) {
        const Poll poll = work->source->next(reading, work->found);
        if (poll == Poll::end) return reading.fail(out_of_range("Index out of range [0, {}):{}", work->count, at));
        if (poll != Poll::ready || work->count++ == at) return poll;
      }
    };
    Reading::start(step, std::make_shared<Instances>(), attempt, [work, &call, &facts = elements.facts, done = std::move(done)](Poll, Status status) {
      done(status.ok() ? set_outputs(call, facts, std::move(work->found)) : status);
    });
  });
  ops.add("WrapDatasetVariant",
          [](Call& call, DatasetIn input) { call.set(0, Tensor::scalar<Variant>(Variant{std::make_shared<Wrapped>(input.dataset)})); });
  ops.add("UnwrapDatasetVariant", [](Call& call, Any input) -> Status {
    const auto* wrapped =
        input->dtype() == DType::variant && input->rank() == 0 ? dynamic_cast<const Wrapped*>(input->item<Variant>().value.get()) : nullptr;
    if (!wrapped) return invalid("Tensor must be a WrappedDataset variant object.");
    call.set(0, to_tensor(wrapped->dataset));
    return absl::OkStatus();
  });
}

}  // namespace troupe
