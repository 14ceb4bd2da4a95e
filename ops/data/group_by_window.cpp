// Elements grouped by a key; full groups are reduced to datasets.
#include <troupe/ops/data/windows.hpp>

#include <map>

namespace troupe {
namespace {

struct Grouping {
  Captured key, reduce, size;
};

class Grouped final : public Source {
 public:
  Grouped(DatasetPtr input, std::shared_ptr<const Grouping> grouping)
      : facts_(input->element), input_(input->open()), grouping_(std::move(grouping)) {}
  Poll next(Reading& reading, Tuple& out) override {
    for (;;) {
      Poll poll = Poll::ready;
      switch (doing_) {
        case Doing::reading: poll = read(reading); break;
        case Doing::keying: poll = keyed(reading); break;
        case Doing::sizing: poll = sized(reading); break;
        case Doing::reducing: poll = reduced(reading); break;
        case Doing::giving:
          poll = group_->next(reading, out);
          if (poll != Poll::end) return poll;
          group_.reset();
          groups_.erase(reducing_);
          sizes_.erase(reducing_);
          doing_ = Doing::reading;
          continue;
      }
      if (poll == Poll::failed) doing_ = Doing::reading;
      if (poll != Poll::ready) return poll;
    }
  }

 private:
  enum class Doing { reading, keying, sizing, reducing, giving };

  Poll read(Reading& reading) {
    if (!input_) {
      if (groups_.empty()) return Poll::end;
      reduce(reading, groups_.begin()->first);
      return Poll::ready;
    }
    const Poll poll = input_->next(reading, element_);
    if (poll == Poll::end) {
      input_.reset();
      return Poll::ready;
    }
    if (poll != Poll::ready) return poll;
    call_.start(reading, grouping_->key, element_);
    doing_ = Doing::keying;
    return Poll::ready;
  }

  Poll keyed(Reading& reading) {
    Tuple results;
    if (const Poll poll = call_.take(reading, results); poll != Poll::ready) return poll;
    if (results.size() != 1 || results[0].dtype() != DType::i64 || results[0].size() != 1)
      return reading.fail(invalid("`key_func` must return a scalar int64."));
    key_ = results[0].item<std::int64_t>();
    if (sizes_.contains(key_)) return add(reading);
    size_call_.start(reading, grouping_->size, std::move(results));
    doing_ = Doing::sizing;
    return Poll::ready;
  }

  Poll sized(Reading& reading) {
    Tuple results;
    if (const Poll poll = size_call_.take(reading, results); poll != Poll::ready) return poll;
    if (results.size() != 1 || results[0].dtype() != DType::i64 || results[0].size() != 1)
      return reading.fail(invalid("`window_size_func` must return a scalar int64."));
    const std::int64_t size = results[0].item<std::int64_t>();
    if (size <= 0) return reading.fail(invalid("Window size must be greater than zero, but got {}.", size));
    sizes_[key_] = size;
    return add(reading);
  }

  Poll add(Reading& reading) {
    auto& group = groups_[key_];
    group.push_back(std::move(element_));
    if (std::ssize(group) == sizes_[key_]) reduce(reading, key_);
    else doing_ = Doing::reading;
    return Poll::ready;
  }

  /// The group stays until what it is reduced to has been given.
  void reduce(Reading& reading, std::int64_t key) {
    reducing_ = key;
    reduce_call_.start(reading, grouping_->reduce, {Tensor::scalar<std::int64_t>(key), to_tensor(window_of(groups_[key], facts_))});
    doing_ = Doing::reducing;
  }

  Poll reduced(Reading& reading) {
    Tuple results;
    if (const Poll poll = reduce_call_.take(reading, results); poll != Poll::ready) return poll;
    if (results.size() != 1) return reading.fail(invalid("`reduce_func` must return a single dataset."));
    auto dataset = dataset_in(results[0]);
    if (!dataset.ok()) return reading.fail(dataset.status());
    group_ = (*dataset)->open();
    doing_ = Doing::giving;
    return Poll::ready;
  }

  ElementFacts facts_;
  SourcePtr input_, group_;
  std::shared_ptr<const Grouping> grouping_;
  Doing doing_ = Doing::reading;
  Tuple element_;
  std::int64_t key_ = 0, reducing_ = 0;
  FunctionCall call_, size_call_, reduce_call_;
  std::map<std::int64_t, std::vector<Tuple>> groups_;
  std::map<std::int64_t, std::int64_t> sizes_;
};

}  // namespace

void add_grouped_datasets(Registry& ops) {
  ops.add({"GroupByWindowDataset", "ExperimentalGroupByWindowDataset"},
          [](Call& call, Step& step, DatasetIn input, List key_more, List reduce_more, List size_more, Attr<"key_func", wire::NameAttrList> key,
             Attr<"reduce_func", wire::NameAttrList> reduce, Attr<"window_size_func", wire::NameAttrList> size, Elements elements) -> Status {
            auto grouping = std::make_shared<Grouping>();
            TRY_ASSIGN(grouping->key, capture(step, *key, key_more));
            TRY_ASSIGN(grouping->reduce, capture(step, *reduce, reduce_more));
            TRY_ASSIGN(grouping->size, capture(step, *size, size_more));
            Dataset dataset = over(input, "GroupByWindow");
            dataset.element = elements;
            if (dataset.cardinality != infinite) dataset.cardinality = unknown_count;
            dataset.functions = {grouping->key.function, grouping->reduce.function, grouping->size.function};
            dataset.open = [input = input.dataset, grouping] { return std::make_unique<Grouped>(input, grouping); };
            return give(call, std::move(dataset));
          });
}

}  // namespace troupe
