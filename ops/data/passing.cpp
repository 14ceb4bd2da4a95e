// Datasets that say how others are to be read, and change nothing of what they give.
#include <troupe/ops/data/dataset.hpp>

namespace troupe {
namespace {

Status pass(Call& call, const DatasetPtr& input, const char* kind) {
  Dataset dataset = over(input, kind);
  dataset.open = input->open;
  return give(call, std::move(dataset));
}

class Counted final : public Source {
 public:
  Counted(SourcePtr input, std::int64_t wanted) : input_(std::move(input)), wanted_(wanted) {}
  Poll next(Reading& reading, Tuple& out) override {
    const Poll poll = input_->next(reading, out);
    if (poll == Poll::ready) {
      ++count_;
      if (wanted_ >= 0 && count_ > wanted_)
        return reading.fail(
            failed_precondition("Input dataset was expected to contain {} but contained at least {}.", elements(wanted_), elements(count_)));
    }
    if (poll == Poll::end && count_ != wanted_)
      return reading.fail(failed_precondition("Input dataset was expected to contain {} but contained only {}.",
                                              wanted_ == infinite ? "an infinite number of elements" : elements(wanted_), elements(count_)));
    return poll;
  }

 private:
  static std::string elements(std::int64_t n) { return fmt::format("{} element{}", n, n == 1 ? "" : "s"); }
  SourcePtr input_;
  std::int64_t wanted_, count_ = 0;
};

}  // namespace

void add_passing_datasets(Registry& ops) {
  ops.add("PrefetchDataset", [](Call& call, DatasetIn input, Number<std::int64_t> buffer) -> Status {
    if (*buffer < -1) return invalid("buffer_size must be >= 0 or set buffer_size to be {} for auto-tuning", -1);
    return pass(call, input, "Prefetch");
  });
  ops.add("FinalizeDataset", [](Call& call, DatasetIn input) { return pass(call, input, "Finalize"); });
  ops.add("ModelDataset", [](Call& call, DatasetIn input) { return pass(call, input, "Model"); });
  // Which transformations stand where is a matter of TensorFlow's rewriting of graphs, which is not done here.
  ops.add({"RewriteDataset", "AssertNextDataset", "ExperimentalAssertNextDataset", "AssertPrevDataset", "BytesProducedStatsDataset",
           "ExperimentalBytesProducedStatsDataset", "LatencyStatsDataset", "ExperimentalLatencyStatsDataset"},
          [](Call& call, DatasetIn input, Any) { return pass(call, input, input->kind.c_str()); });
  ops.add({"ChooseFastestDataset", "ExperimentalChooseFastestDataset"}, [](Call& call, List inputs) -> Status {
    if (inputs.size() == 0) return invalid("There is no dataset to choose");
    TRY_ASSIGN(const DatasetPtr first, dataset_in(inputs[0]));
    return pass(call, first, "ChooseFastest");
  });
  ops.add("OptimizeDataset", [](Call& call, DatasetIn input, Any) { return pass(call, input, "Optimize"); });
  ops.add("OptimizeDatasetV2", [](Call& call, DatasetIn input, Any, Any, Any) { return pass(call, input, "Optimize"); });
  ops.add({"MaxIntraOpParallelismDataset", "ExperimentalMaxIntraOpParallelismDataset"},
          [](Call& call, DatasetIn input, Number<std::int64_t>) { return pass(call, input, "MaxIntraOpParallelism"); });
  ops.add({"PrivateThreadPoolDataset", "ExperimentalPrivateThreadPoolDataset"},
          [](Call& call, DatasetIn input, Number<std::int64_t>) { return pass(call, input, "PrivateThreadPool"); });
  ops.add({"NonSerializableDataset", "ExperimentalNonSerializableDataset"},
          [](Call& call, DatasetIn input) { return pass(call, input, "NonSerializable"); });
  ops.add({"SleepDataset", "ExperimentalSleepDataset"}, [](Call& call, DatasetIn input, Number<std::int64_t>) { return pass(call, input, "Sleep"); });
  ops.add("AssertCardinalityDataset", [](Call& call, DatasetIn input, Number<std::int64_t> count) {
    Dataset dataset = over(input, "AssertCardinality");
    dataset.cardinality = *count;
    dataset.open = [input = input.dataset, n = *count] { return std::make_unique<Counted>(input->open(), n); };
    return give(call, std::move(dataset));
  });
  ops.add({"LMDBDataset", "ExperimentalLMDBDataset"}, [](Call&, Any) {
    return unimplemented(
        "LMDB support is removed from TensorFlow. This API will be deleted in the next TensorFlow release. If you need LMDB support, please file a "
        "GitHub issue.");
  });
}

}  // namespace troupe
