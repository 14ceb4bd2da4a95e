// The dataset that one of several functions makes of another.
#include <troupe/ops/data/dataset.hpp>

namespace troupe {
namespace {

/// Opens what a function makes of the input when it is first asked.
class Branch final : public Source {
 public:
  Branch(DatasetPtr input, Captured function) : input_(std::move(input)), function_(std::move(function)) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (!made_) {
      if (!call_.started()) call_.start(reading, function_, {to_tensor(input_)});
      Tuple results;
      if (const Poll poll = call_.take(reading, results); poll != Poll::ready) return poll;
      if (results.size() != 1) return reading.fail(invalid("`branches` must return a single dataset"));
      auto dataset = dataset_in(results[0]);
      if (!dataset.ok()) return reading.fail(dataset.status());
      made_ = (*dataset)->open();
    }
    return made_->next(reading, out);
  }

 private:
  DatasetPtr input_;
  Captured function_;
  FunctionCall call_;
  SourcePtr made_;
};

}  // namespace

void add_branch_datasets(Registry& ops) {
  // All branches give the same elements; nobody races here, so the first one is as good as any.
  ops.add("ChooseFastestBranchDataset",
          [](Call& call, Step& step, DatasetIn input, Number<std::int64_t> numerator, Number<std::int64_t> denominator, List others,
             Attr<"branches", std::vector<wire::NameAttrList>> branches, Attr<"other_arguments_lengths", std::vector<std::int64_t>> lengths,
             Elements elements) -> Status {
            if (*numerator <= 0) return invalid("`ratio_numerator` must be greater than zero.");
            if (*denominator <= 0) return invalid("`ratio_denominator` must be greater than zero.");
            if (branches->empty() || lengths->size() != branches->size())
              return invalid("branches and other_arguments_lengths must have the same length");
            std::int64_t total = 0;
            for (std::int64_t n : *lengths) {
              if (n < 0) return invalid("The length of other_arguments is negative: {}", n);
              total += n;
            }
            if (total != others.size()) return invalid("other_arguments has {} tensors where {} are wanted", others.size(), total);
            TRY_ASSIGN(Captured function, capture(step, (*branches)[0], List{&call, others.first, others.first + static_cast<int>((*lengths)[0])}));
            Dataset dataset = over(input, "ChooseFastestBranch");
            dataset.element = elements;
            dataset.functions = {function.function};
            const std::int64_t n = input->cardinality;
            if (n > 0) dataset.cardinality = n * *denominator / *numerator;
            dataset.open = [input = input.dataset, function] { return std::make_unique<Branch>(input, function); };
            return give(call, std::move(dataset));
          });
}

}  // namespace troupe
