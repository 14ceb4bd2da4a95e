// Datasets of datasets, read one after another or in turns.
#include <troupe/ops/data/dataset.hpp>

#include <unistd.h>

namespace troupe {
namespace {

/// The dataset that a function made of an element.
class Inner {
 public:
  explicit Inner(Captured function) : function_(std::move(function)) {}
  /// Ready with a source, or at the end of the input.
  Poll open(Reading& reading, Source& input, SourcePtr& opened) {
    if (!call_.started()) {
      Tuple element;
      if (const Poll poll = input.next(reading, element); poll != Poll::ready) return poll;
      call_.start(reading, function_, std::move(element));
    }
    Tuple results;
    if (const Poll poll = call_.take(reading, results); poll != Poll::ready) return poll;
    if (results.size() != 1 || results[0].dtype() != DType::variant || results[0].rank() != 0)
      return reading.fail(invalid("Function must return a single scalar of dtype DT_VARIANT."));
    auto dataset = dataset_in(results[0]);
    if (!dataset.ok()) return reading.fail(dataset.status());
    opened = (*dataset)->open();
    return Poll::ready;
  }

 private:
  Captured function_;
  FunctionCall call_;
};

class FlatMapped final : public Source {
 public:
  FlatMapped(SourcePtr input, Captured function) : input_(std::move(input)), inner_(std::move(function)) {}
  Poll next(Reading& reading, Tuple& out) override {
    while (input_) {
      if (!current_) {
        const Poll poll = inner_.open(reading, *input_, current_);
        if (poll == Poll::end) input_.reset();
        if (poll != Poll::ready) return poll;
      }
      const Poll poll = current_->next(reading, out);
      if (poll != Poll::end) return poll;
      current_.reset();
    }
    return Poll::end;
  }

 private:
  SourcePtr input_, current_;
  Inner inner_;
};

class Interleaved final : public Source {
 public:
  /// Where the members of a cycle are read beside each other, a failure has its place among the elements.
  Interleaved(SourcePtr input, Captured function, std::int64_t cycle, std::int64_t block, bool parallel)
      : input_(std::move(input)),
        inner_(std::move(function)),
        open_(static_cast<std::size_t>(cycle)),
        failed_(open_.size()),
        block_(block),
        parallel_(parallel) {}
  Poll next(Reading& reading, Tuple& out) override {
    while (input_ || living_ > 0) {
      SourcePtr& current = open_[at_];
      if (current) {
        const Poll poll = current->next(reading, out);
        if ((poll == Poll::ready || (parallel_ && poll == Poll::failed)) && ++taken_ == block_) turn();
        if (poll != Poll::end) return poll;
        current.reset();
        --living_;
        turn();
      } else if (failed_[at_]) {
        failed_[at_] = false;
        turn();
      } else if (input_) {
        const Poll poll = inner_.open(reading, *input_, current);
        if (poll == Poll::ready) ++living_;
        else if (poll == Poll::end) input_.reset();
        else if (poll == Poll::failed && parallel_) fail();
        if (poll == Poll::waits || poll == Poll::failed) return poll;
      } else {
        turn();
      }
    }
    return Poll::end;
  }

 private:
  /// What could not be opened is like a dataset of nothing but its failure.
  void fail() {
    failed_[at_] = true;
    if (++taken_ == block_) turn();
  }
  void turn() {
    taken_ = 0;
    at_ = (at_ + 1) % open_.size();
  }

  SourcePtr input_;
  Inner inner_;
  std::vector<SourcePtr> open_;
  std::vector<bool> failed_;
  std::size_t at_ = 0;
  std::int64_t block_, taken_ = 0, living_ = 0;
  bool parallel_;
};

constexpr std::int64_t automatic = -1;

std::int64_t processors() { return std::max<std::int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN)); }

/// How many datasets take turns, and for how many elements each.
struct Turns {
  std::int64_t cycle, block;
  bool parallel = false;
};

Status give_interleaved(Call& call, Step& step, const char* kind, const DatasetPtr& input, const List& more, const wire::NameAttrList& f, Turns turns,
                        const ElementFacts& facts) {
  if (turns.block <= 0) return invalid("{} must be greater than zero.", turns.parallel ? "`block_length`" : "block_length");
  if (turns.cycle > (std::int64_t{1} << 24)) return resource_exhausted("A cycle of {} datasets is too long", turns.cycle);
  TRY_ASSIGN(Captured function, capture(step, f, more));
  Dataset dataset = over(input, kind);
  dataset.element = facts;
  dataset.cardinality = unknown_count;
  dataset.functions = {function.function};
  dataset.open = [input, function, turns] {
    return std::make_unique<Interleaved>(input->open(), function, turns.cycle, turns.block, turns.parallel);
  };
  return give(call, std::move(dataset));
}

/// A cycle and a number of calls may be given as "whatever is good": then they follow the number of processors.
StatusOr<std::int64_t> parallel_cycle(std::int64_t cycle, std::int64_t calls) {
  if (calls <= 0 && calls != automatic) return invalid("num_parallel_calls must be greater than zero.");
  if (cycle <= 0 && cycle != automatic) return invalid("`cycle_length` must be `tf.data.AUTOTUNE` or greater than 0 but is {}", cycle);
  if (cycle != automatic && calls > cycle)
    return invalid(
        "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either `tf.data.AUTOTUNE` or a value less than or equal to "
        "`cycle_length`. However, `num_parallel_calls` is {} and `cycle_length` is {}",
        calls, cycle);
  if (cycle != automatic) return cycle;
  // Three threads serve every member of a cycle, where their number is free.
  return calls == automatic ? (processors() + 2) / 3 : std::min(calls, processors());
}

Status check_legacy(std::int64_t cycle, std::int64_t block, std::int64_t buffer, std::int64_t prefetch) {
  if (cycle <= 0) return invalid("`cycle_length` must be > 0");
  if (block <= 0) return invalid("`block_length` must be > 0");
  if (buffer <= 0) return invalid("`buffer_output_elements` must be > 0");
  if (prefetch < 0) return invalid("`prefetch_input_elements` must be >= 0");
  return absl::OkStatus();
}

}  // namespace

void add_interleaved_datasets(Registry& ops) {
  using Function = Attr<"f", wire::NameAttrList>;
  using Count = Number<std::int64_t>;
  ops.add("FlatMapDataset", [](Call& call, Step& step, DatasetIn input, List more, Function f, Elements elements) -> Status {
    TRY_ASSIGN(Captured function, capture(step, *f, more));
    Dataset dataset = over(input, "FlatMap");
    dataset.element = elements;
    dataset.cardinality = unknown_count;
    dataset.functions = {function.function};
    dataset.open = [input = input.dataset, function] { return std::make_unique<FlatMapped>(input->open(), function); };
    return give(call, std::move(dataset));
  });
  ops.add("InterleaveDataset",
          [](Call& call, Step& step, DatasetIn input, List more, Count cycle, Count block, Function f, Elements elements) -> Status {
            if (*cycle <= 0 && *cycle != automatic) return invalid("cycle_length must be greater than zero.");
            const std::int64_t members = *cycle == automatic ? processors() : *cycle;
            return give_interleaved(call, step, "Interleave", input, more, *f, {members, *block}, elements);
          });
  ops.add({"ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3"},
          [](Call& call, Step& step, DatasetIn input, List more, Count cycle, Count block, Count parallel, Function f, Elements elements) -> Status {
            TRY_ASSIGN(const std::int64_t members, parallel_cycle(*cycle, *parallel));
            return give_interleaved(call, step, "ParallelInterleave", input, more, *f, {members, *block, true}, elements);
          });
  ops.add("ParallelInterleaveDatasetV4",
          [](Call& call, Step& step, DatasetIn input, List more, Count cycle, Count block, Count buffer, Count prefetch, Count parallel, Function f,
             Elements elements) -> Status {
            TRY_ASSIGN(const std::int64_t members, parallel_cycle(*cycle, *parallel));
            if (*buffer < -1) return invalid("`buffer_output_elements` must be -1 or at least 0 but is {}", *buffer);
            if (*prefetch < -1) return invalid("`prefetch_input_elements` must be -1 or at least 0 but is {}", *prefetch);
            return give_interleaved(call, step, "ParallelInterleave", input, more, *f, {members, *block, true}, elements);
          });
  ops.add("LegacyParallelInterleaveDatasetV2",
          [](Call& call, Step& step, DatasetIn input, List more, Count cycle, Count block, Count buffer, Count prefetch, Function f,
             Elements elements) -> Status {
            TRY(check_legacy(*cycle, *block, *buffer, *prefetch));
            return give_interleaved(call, step, "LegacyParallelInterleave", input, more, *f, {*cycle, *block}, elements);
          });
  ops.add({"ParallelInterleaveDataset", "ExperimentalParallelInterleaveDataset"},
          [](Call& call, Step& step, DatasetIn input, List more, Count cycle, Count block, Number<bool>, Count buffer, Count prefetch, Function f,
             Elements elements) -> Status {
            TRY(check_legacy(*cycle, *block, *buffer, *prefetch));
            return give_interleaved(call, step, "LegacyParallelInterleave", input, more, *f, {*cycle, *block}, elements);
          });
}

}  // namespace troupe
