// Datasets that another one chooses from, element by element, and groups reduced to one element each.
#include <troupe/ops/data/seeds.hpp>

#include <map>

namespace troupe {
namespace {

class Chosen final : public Source {
 public:
  Chosen(SourcePtr selector, const std::vector<DatasetPtr>& inputs, bool stop_on_empty)
      : selector_(std::move(selector)), left_(inputs.size()), stop_on_empty_(stop_on_empty) {
    for (const auto& input : inputs) inputs_.push_back(input->open());
  }
  Poll next(Reading& reading, Tuple& out) override {
    while (selector_) {
      if (!selected_) {
        Tuple choice;
        const Poll poll = selector_->next(reading, choice);
        if (poll == Poll::end) selector_.reset();
        if (poll != Poll::ready) return poll;
        const std::int64_t at = choice[0].item<std::int64_t>();
        if (at < 0 || at >= std::ssize(inputs_)) return reading.fail(invalid("Selector index out of range: {} >= {}", at, inputs_.size()));
        selected_ = &inputs_[static_cast<std::size_t>(at)];
      }
      const Poll poll = *selected_ ? (*selected_)->next(reading, out) : Poll::end;
      if (poll == Poll::waits) return poll;
      if (poll == Poll::end && *selected_) {
        selected_->reset();
        if (--left_ == 0 || stop_on_empty_) selector_.reset();
      }
      selected_ = nullptr;
      if (poll != Poll::end) return poll;
    }
    return Poll::end;
  }

 private:
  SourcePtr selector_;
  std::vector<SourcePtr> inputs_;
  SourcePtr* selected_ = nullptr;
  std::size_t left_;
  bool stop_on_empty_;
};

struct Reducer {
  Captured key, init, reduce, finalize;
};

/// Reads everything first, then gives what became of each key, smallest first.
class ReducedGroups final : public Source {
 public:
  ReducedGroups(SourcePtr input, std::shared_ptr<const Reducer> reducer) : input_(std::move(input)), reducer_(std::move(reducer)) {}
  Poll next(Reading& reading, Tuple& out) override {
    while (input_)
      if (const Poll poll = collect(reading); poll != Poll::ready) return poll;
    if (!finalizing_.started()) {
      if (states_.empty()) return Poll::end;
      auto first = states_.extract(states_.begin());
      finalizing_.start(reading, reducer_->finalize, std::move(first.mapped()));
    }
    return finalizing_.take(reading, out);
  }

 private:
  Poll collect(Reading& reading) {
    if (!keying_.started() && !starting_.started() && !reducing_.started()) {
      const Poll poll = input_->next(reading, element_);
      if (poll == Poll::end) input_.reset();
      if (poll != Poll::ready) return poll == Poll::end ? Poll::ready : poll;
      keying_.start(reading, reducer_->key, element_);
    }
    Tuple results;
    if (keying_.started()) {
      if (const Poll poll = keying_.take(reading, results); poll != Poll::ready) return poll;
      if (results.size() != 1 || results[0].dtype() != DType::i64 || results[0].rank() != 0)
        return reading.fail(invalid("`key_func` must return a scalar int64."));
      key_ = results[0].item<std::int64_t>();
      if (!states_.contains(key_)) starting_.start(reading, reducer_->init, std::move(results));
      else reduce(reading);
    }
    if (starting_.started()) {
      if (const Poll poll = starting_.take(reading, results); poll != Poll::ready) return poll;
      states_[key_] = std::move(results);
      reduce(reading);
    }
    if (const Poll poll = reducing_.take(reading, results); poll != Poll::ready) return poll;
    states_[key_] = std::move(results);
    return Poll::ready;
  }
  void reduce(Reading& reading) {
    Tuple arguments = states_[key_];
    for (Tensor& t : element_) arguments.push_back(std::move(t));
    reducing_.start(reading, reducer_->reduce, std::move(arguments));
  }

  SourcePtr input_;
  std::shared_ptr<const Reducer> reducer_;
  FunctionCall keying_, starting_, reducing_, finalizing_;
  Tuple element_;
  std::int64_t key_ = 0;
  std::map<std::int64_t, Tuple> states_;
};

/// Every element by chance.
class Sampled final : public Source {
 public:
  Sampled(SourcePtr input, float rate, std::pair<std::int64_t, std::int64_t> seeds)
      : input_(std::move(input)),
        rate_(rate),
        words_(Philox::seeded(static_cast<std::uint64_t>(seeds.first), static_cast<std::uint64_t>(seeds.second))) {}
  Poll next(Reading& reading, Tuple& out) override {
    for (;;) {
      if (const Poll poll = input_->next(reading, out); poll != Poll::ready) return poll;
      // A float in [0, 1) out of the lower bits of a word.
      const float chance = static_cast<float>(words_() & 0x7fffffu) * 0x1p-23f;
      if (chance < rate_) return Poll::ready;
    }
  }

 private:
  SourcePtr input_;
  float rate_;
  PhiloxWords words_;
};

std::string listed(const std::vector<DType>& types) {
  std::vector<std::string> names;
  for (DType t : types) names.push_back(name_of(t));
  return fmt::format("{}", fmt::join(names, ", "));
}

Status give_chosen(Call& call, const DatasetPtr& selector, const List& inputs, const ElementFacts& facts, bool stop_on_empty) {
  if (selector->element.types != std::vector<DType>{DType::i64} || selector->element.shapes.size() != 1 ||
      !selector->element.shapes[0].compatible_with(Shape{}))
    return invalid("The selector input must be a dataset of scalar int64 elements.");
  Dataset dataset = over(selector, "DirectedInterleave");
  dataset.element = facts;
  dataset.cardinality = unknown_count;
  std::vector<DatasetPtr> all;
  for (int i = 0; i < inputs.size(); ++i) {
    TRY_ASSIGN(auto input, dataset_in(inputs[i]));
    if (i > 0 && input->element.types != all[0]->element.types)
      return invalid("All inputs must have the same output_dtypes. First input has types {}, and input {} has types {}",
                     listed(all[0]->element.types), i, listed(input->element.types));
    if (input->cardinality == infinite) dataset.cardinality = infinite;
    dataset.inputs.push_back(input);
    all.push_back(std::move(input));
  }
  dataset.open = [selector, all = std::move(all), stop_on_empty] { return std::make_unique<Chosen>(selector->open(), all, stop_on_empty); };
  return give(call, std::move(dataset));
}

}  // namespace

void add_choosing_datasets(Registry& ops) {
  ops.add("DirectedInterleaveDataset", [](Call& call, DatasetIn selector, List inputs, Elements elements, Attr<"stop_on_empty_dataset", bool> stop) {
    return give_chosen(call, selector, inputs, elements, *stop);
  });
  ops.add("ExperimentalDirectedInterleaveDataset",
          [](Call& call, DatasetIn selector, List inputs, Elements elements) { return give_chosen(call, selector, inputs, elements, false); });
  ops.add({"GroupByReducerDataset", "ExperimentalGroupByReducerDataset"},
          [](Call& call, Step& step, DatasetIn input, List key_more, List init_more, List reduce_more, List finalize_more,
             Attr<"key_func", wire::NameAttrList> key, Attr<"init_func", wire::NameAttrList> init, Attr<"reduce_func", wire::NameAttrList> reduce,
             Attr<"finalize_func", wire::NameAttrList> finalize, Elements elements) -> Status {
            auto reducer = std::make_shared<Reducer>();
            TRY_ASSIGN(reducer->key, capture(step, *key, key_more));
            TRY_ASSIGN(reducer->init, capture(step, *init, init_more));
            TRY_ASSIGN(reducer->reduce, capture(step, *reduce, reduce_more));
            TRY_ASSIGN(reducer->finalize, capture(step, *finalize, finalize_more));
            Dataset dataset = over(input, "GroupByReducer");
            dataset.element = elements;
            dataset.cardinality = unknown_count;
            dataset.functions = {reducer->key.function, reducer->init.function, reducer->reduce.function, reducer->finalize.function};
            dataset.open = [input = input.dataset, reducer] { return std::make_unique<ReducedGroups>(input->open(), reducer); };
            return give(call, std::move(dataset));
          });
  ops.add("SamplingDataset", [](Call& call, DatasetIn input, Number<float> rate, Number<std::int64_t> seed, Number<std::int64_t> seed2) {
    Dataset dataset = over(input, "Sampling");
    if (dataset.cardinality != infinite) dataset.cardinality = unknown_count;
    dataset.seeds = std::make_shared<SeedGenerator>(*seed, *seed2, false);
    dataset.open = [input = input.dataset, rate = *rate, seeds = dataset.seeds] {
      return std::make_unique<Sampled>(input->open(), rate, seeds->next());
    };
    return give(call, std::move(dataset));
  });
}

}  // namespace troupe
