// Datasets that run a function on every element.
#include <troupe/ops/data/batch.hpp>

namespace troupe {
namespace {

class Mapped final : public Source {
 public:
  Mapped(SourcePtr input, Captured function) : input_(std::move(input)), function_(std::move(function)) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (!call_.started()) {
      Tuple element;
      if (const Poll poll = input_->next(reading, element); poll != Poll::ready) return poll;
      call_.start(reading, function_, std::move(element));
    }
    const Poll poll = call_.take(reading, out);
    // A function that runs out of something must not look like the end of the data.
    if (poll == Poll::failed && reading.status().code() == Code::kOutOfRange)
      return reading.fail(invalid("Function invocation produced OutOfRangeError: {}", text_of(reading.status())));
    return poll;
  }

 private:
  SourcePtr input_;
  Captured function_;
  FunctionCall call_;
};

/// Whether to keep an element, as a predicate answered.
Poll verdict(Reading& reading, const Tuple& results, const char* op, bool& keep) {
  if (results.size() != 1 || results[0].dtype() != DType::boolean || results[0].size() != 1)
    return reading.fail(invalid("{} must return a scalar bool.", op));
  keep = results[0].item<bool>();
  return Poll::ready;
}

class Filtered final : public Source {
 public:
  Filtered(SourcePtr input, Captured predicate) : input_(std::move(input)), predicate_(std::move(predicate)) {}
  Poll next(Reading& reading, Tuple& out) override {
    for (;;) {
      if (!call_.started()) {
        if (const Poll poll = input_->next(reading, element_); poll != Poll::ready) return poll;
        call_.start(reading, predicate_, element_);
      }
      Tuple results;
      bool keep = false;
      if (const Poll poll = call_.take(reading, results); poll != Poll::ready) return poll;
      if (const Poll poll = verdict(reading, results, "Filter predicate `predicate`", keep); poll != Poll::ready) return poll;
      if (!keep) continue;
      out = std::move(element_);
      return Poll::ready;
    }
  }

 private:
  SourcePtr input_;
  Captured predicate_;
  FunctionCall call_;
  Tuple element_;
};

class TakenWhile final : public Source {
 public:
  TakenWhile(SourcePtr input, Captured predicate) : input_(std::move(input)), predicate_(std::move(predicate)) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (!input_) return Poll::end;
    if (!call_.started()) {
      const Poll poll = input_->next(reading, element_);
      if (poll == Poll::end) input_.reset();
      if (poll != Poll::ready) return poll;
      call_.start(reading, predicate_, element_);
    }
    Tuple results;
    bool keep = false;
    if (const Poll poll = call_.take(reading, results); poll != Poll::ready) return poll;
    if (const Poll poll = verdict(reading, results, "`predicate`", keep); poll != Poll::ready) return poll;
    if (keep) {
      out = std::move(element_);
      return Poll::ready;
    }
    input_.reset();
    return Poll::end;
  }

 private:
  SourcePtr input_;
  Captured predicate_;
  FunctionCall call_;
  Tuple element_;
};

class Scanned final : public Source {
 public:
  Scanned(SourcePtr input, Captured function, Tuple state) : input_(std::move(input)), function_(std::move(function)), state_(std::move(state)) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (!call_.started()) {
      Tuple element;
      if (const Poll poll = input_->next(reading, element); poll != Poll::ready) return poll;
      Tuple arguments = state_;
      for (Tensor& t : element) arguments.push_back(std::move(t));
      call_.start(reading, function_, std::move(arguments));
    }
    Tuple results;
    const Poll poll = call_.take(reading, results);
    if (poll == Poll::failed && reading.status().code() == Code::kOutOfRange)
      return reading.fail(invalid("Function invocation produced OutOfRangeError: {}", text_of(reading.status())));
    if (poll != Poll::ready) return poll;
    if (results.size() < state_.size()) return reading.fail(invalid("A scan gave {} results for a state of {}", results.size(), state_.size()));
    for (std::size_t i = 0; i < state_.size(); ++i)
      if (results[i].dtype() != state_[i].dtype())
        return reading.fail(invalid("Got wrong type for scan_func return value {} (expected {}, got {}).", i, name_of(state_[i].dtype()),
                                    name_of(results[i].dtype())));
    const auto border = results.begin() + static_cast<std::ptrdiff_t>(state_.size());
    out.assign(std::make_move_iterator(border), std::make_move_iterator(results.end()));
    results.erase(border, results.end());
    state_ = std::move(results);
    return Poll::ready;
  }

 private:
  SourcePtr input_;
  Captured function_;
  Tuple state_;
  FunctionCall call_;
};

/// Drops what fails.
class Untroubled final : public Source {
 public:
  explicit Untroubled(SourcePtr input) : input_(std::move(input)) {}
  Poll next(Reading& reading, Tuple& out) override {
    for (;;)
      if (const Poll poll = input_->next(reading, out);
          poll != Poll::failed || (reading.step().cancellation && reading.step().cancellation->cancelled()))
        return poll;
  }

 private:
  SourcePtr input_;
};

template <class S, class... A>
Status give_mapped(Call& call, const DatasetPtr& input, const char* kind, const ElementFacts& facts, std::int64_t cardinality,
                   StatusOr<Captured> function, A... more) {
  TRY(function.status());
  Dataset dataset = over(input, kind);
  dataset.element = facts;
  dataset.cardinality = cardinality;
  dataset.functions = {function->function};
  dataset.open = [input, f = *std::move(function), more...] { return std::make_unique<S>(input->open(), f, more...); };
  return give(call, std::move(dataset));
}

Status check_parallel(std::int64_t calls) {
  if (calls > 0 || calls == -1) return absl::OkStatus();
  return invalid("num_parallel_calls must be greater than zero.");
}

}  // namespace

void add_mapped_datasets(Registry& ops) {
  using Function = Attr<"f", wire::NameAttrList>;
  // A function may end its dataset: then nobody knows how many elements it gives.
  using Preserves = Attr<"preserve_cardinality", bool>;
  constexpr auto count = [](const Dataset& input, bool preserves) { return preserves ? input.cardinality : unknown_count; };
  ops.add({"MapDataset", "ExperimentalMapDataset"},
          [count](Call& call, Step& step, DatasetIn input, List more, Function f, Preserves preserves, Elements elements) {
            return give_mapped<Mapped>(call, input, "Map", elements, count(*input.dataset, *preserves), capture(step, *f, more));
          });
  ops.add("ParallelMapDataset",
          [count](Call& call, Step& step, DatasetIn input, List more, Number<std::int32_t> parallel, Function f, Preserves preserves,
                  Elements elements) -> Status {
            TRY(check_parallel(*parallel));
            return give_mapped<Mapped>(call, input, "ParallelMap", elements, count(*input.dataset, *preserves), capture(step, *f, more));
          });
  ops.add("ParallelMapDatasetV2",
          [count](Call& call, Step& step, DatasetIn input, List more, Number<std::int64_t> parallel, Function f, Preserves preserves,
                  Elements elements) -> Status {
            TRY(check_parallel(*parallel));
            return give_mapped<Mapped>(call, input, "ParallelMap", elements, count(*input.dataset, *preserves), capture(step, *f, more));
          });
  ops.add("FilterDataset", [](Call& call, Step& step, DatasetIn input, List more, Attr<"predicate", wire::NameAttrList> f, Elements elements) {
    return give_mapped<Filtered>(call, input, "Filter", elements, input->cardinality == 0 ? 0 : unknown_count, capture(step, *f, more));
  });
  ops.add("ParallelFilterDataset",
          [](Call& call, Step& step, DatasetIn input, List more, Number<std::int64_t> parallel, Attr<"predicate", wire::NameAttrList> f,
             Elements elements) -> Status {
            TRY(check_parallel(*parallel));
            return give_mapped<Filtered>(call, input, "ParallelFilter", elements, input->cardinality == 0 ? 0 : unknown_count,
                                         capture(step, *f, more));
          });
  ops.add({"TakeWhileDataset", "ExperimentalTakeWhileDataset"},
          [](Call& call, Step& step, DatasetIn input, List more, Attr<"predicate", wire::NameAttrList> f, Elements elements) {
            return give_mapped<TakenWhile>(call, input, "TakeWhile", elements, unknown_count, capture(step, *f, more));
          });
  ops.add({"ScanDataset", "ExperimentalScanDataset"},
          [count](Call& call, Step& step, DatasetIn input, List state, List more, Function f, Preserves preserves, Elements elements) {
            return give_mapped<Scanned>(call, input, "Scan", elements, count(*input.dataset, *preserves), capture(step, *f, more), tensors_in(state));
          });
  ops.add({"IgnoreErrorsDataset", "ExperimentalIgnoreErrorsDataset"}, [](Call& call, DatasetIn input) {
    Dataset dataset = over(input, "IgnoreErrors");
    dataset.cardinality = unknown_count;
    dataset.open = [input = input.dataset] { return std::make_unique<Untroubled>(input->open()); };
    return give(call, std::move(dataset));
  });
  ops.add({"MapAndBatchDataset", "ExperimentalMapAndBatchDataset"},
          [count](Call& call, Step& step, DatasetIn input, List more, Number<std::int64_t> size, Number<std::int64_t> parallel,
                  Number<bool> drop_remainder, Function f, Preserves preserves, Elements elements) -> Status {
            if (*size <= 0) return invalid("batch_size must be greater than zero.");
            TRY(check_parallel(*parallel));
            TRY_ASSIGN(Captured function, capture(step, *f, more));
            Dataset dataset = over(input, "MapAndBatch");
            dataset.element = elements;
            dataset.cardinality = batch_count(count(*input.dataset, *preserves), *size, *drop_remainder);
            dataset.batch = *size;
            dataset.functions = {function.function};
            dataset.open = [input = input.dataset, function, n = *size, drop = *drop_remainder] {
              return batched(std::make_unique<Mapped>(input->open(), function), n, drop, true);
            };
            return give(call, std::move(dataset));
          });
}

}  // namespace troupe
