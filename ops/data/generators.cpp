// Datasets of what functions give one after another: one begins, one is asked for every element, one ends.
#include <troupe/ops/data/dataset.hpp>

namespace troupe {
namespace {

struct Generator {
  Captured begin, next, end;
};

class Generated final : public Source {
 public:
  explicit Generated(std::shared_ptr<const Generator> generator) : generator_(std::move(generator)) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (over_) return Poll::end;
    if (!begun_) {
      if (!beginning_.started()) beginning_.start(reading, generator_->begin, {});
      if (const Poll poll = beginning_.take(reading, state_); poll != Poll::ready) return poll;
      begun_ = true;
    }
    if (!ending_.started()) {
      if (!giving_.started()) giving_.start(reading, generator_->next, state_);
      const Poll poll = giving_.take(reading, out);
      // A function that runs out of elements has come to the end.
      if (poll != Poll::failed || reading.status().code() != Code::kOutOfRange) return poll;
      ending_.start(reading, generator_->end, state_);
    }
    Tuple ignored;
    if (ending_.take(reading, ignored) == Poll::waits) return Poll::waits;
    over_ = true;
    return Poll::end;
  }

 private:
  std::shared_ptr<const Generator> generator_;
  FunctionCall beginning_, giving_, ending_;
  Tuple state_;
  bool begun_ = false, over_ = false;
};

}  // namespace

void add_generated_datasets(Registry& ops) {
  ops.add("GeneratorDataset",
          [](Call& call, Step& step, List begin_more, List next_more, List end_more, Attr<"init_func", wire::NameAttrList> begin,
             Attr<"next_func", wire::NameAttrList> next, Attr<"finalize_func", wire::NameAttrList> end, Elements elements) -> Status {
            auto generator = std::make_shared<Generator>();
            TRY_ASSIGN(generator->begin, capture(step, *begin, begin_more));
            TRY_ASSIGN(generator->next, capture(step, *next, next_more));
            TRY_ASSIGN(generator->end, capture(step, *end, end_more));
            Dataset dataset;
            dataset.kind = "Generator";
            dataset.element = elements;
            dataset.functions = {generator->begin.function, generator->next.function, generator->end.function};
            dataset.open = [generator] { return std::make_unique<Generated>(generator); };
            return give(call, std::move(dataset));
          });
}

}  // namespace troupe
