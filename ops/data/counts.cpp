// Datasets that repeat, take, skip and shard.
#include <troupe/ops/data/dataset.hpp>

namespace troupe {
namespace {

class Nothing final : public Source {
 public:
  Poll next(Reading&, Tuple&) override { return Poll::end; }
};

/// Passes over a dataset again and again; a pass without elements ends an endless one.
class Repeated final : public Source {
 public:
  Repeated(DatasetPtr input, std::int64_t count) : input_(std::move(input)), left_(count) {}
  Poll next(Reading& reading, Tuple& out) override {
    while (left_ != 0) {
      if (!pass_) {
        pass_ = input_->open();
        any_ = false;
      }
      const Poll poll = pass_->next(reading, out);
      any_ |= poll == Poll::ready || poll == Poll::failed;
      if (poll != Poll::end) return poll;
      pass_.reset();
      if (left_ > 0) --left_;
      else if (!any_) left_ = 0;
    }
    return Poll::end;
  }

 private:
  DatasetPtr input_;
  std::int64_t left_;  // passes; negative: endless
  SourcePtr pass_;
  bool any_ = false;
};

class Taken final : public Source {
 public:
  Taken(SourcePtr input, std::int64_t count) : input_(std::move(input)), left_(count) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (left_ <= 0 || !input_) return Poll::end;
    const Poll poll = input_->next(reading, out);
    if (poll == Poll::ready) --left_;
    if (poll == Poll::end || left_ == 0) input_.reset();
    return poll;
  }

 private:
  SourcePtr input_;
  std::int64_t left_;
};

class Skipped final : public Source {
 public:
  Skipped(SourcePtr input, std::int64_t count) : input_(std::move(input)), count_(count), left_(count) {}
  Poll next(Reading& reading, Tuple& out) override {
    for (; left_ > 0; --left_) {
      const Poll poll = input_->next(reading, out);
      if (poll == Poll::end) left_ = 0;
      else if (poll == Poll::failed) left_ = count_;  // as much is skipped after a failure
      if (poll != Poll::ready) return poll;
    }
    return input_->next(reading, out);
  }

 private:
  SourcePtr input_;
  std::int64_t count_, left_;
};

/// Every n-th element. Where every shard has to have something, the first round must be complete.
class Shard final : public Source {
 public:
  Shard(SourcePtr input, std::int64_t shards, std::int64_t index, bool complete)
      : input_(std::move(input)), shards_(shards), index_(index), between_(index), left_(index), complete_(complete) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (!input_) return Poll::end;
    while (!checking_) {
      const Poll poll = input_->next(reading, out);
      if (poll == Poll::waits) return poll;
      if (poll == Poll::end) input_.reset();
      else ++at_;
      if (left_ > 0) {
        if (poll == Poll::failed) left_ = between_;  // as much is left out after a failure
        if (poll != Poll::ready) return poll;
        --left_;
        continue;
      }
      if (poll == Poll::ready) left_ = between_ = shards_ - 1;
      if (poll != Poll::ready || !complete_ || at_ >= shards_) return poll;
      checking_ = true;
      seen_ = at_;
      found_ = std::move(out);
    }
    for (; at_ < shards_; ++at_) {
      const Poll poll = input_->next(reading, out);
      if (poll == Poll::end) return reading.fail(too_few());
      if (poll != Poll::ready) return poll;
    }
    checking_ = false;
    left_ = between_ = index_;  // a round has been read
    out = std::move(found_);
    return Poll::ready;
  }

 private:
  Status too_few() {
    checking_ = false;
    input_.reset();
    return invalid(
        "Could not apply FILE based sharding: the dataset only has {} file(s), which is not enough for the required {} shards/workers."
        "If you are using datasets with distribution strategy, consider setting the auto sharding policy to either DATA or OFF using the "
        "`experimental_distribute.auto_shard_policy` optionof `tf.data.Options()`. Or, split your input files into a larger number of "
        "small "
        "files such that number of files is greater than number of shards/workers.",
        seen_, shards_);
  }

  SourcePtr input_;
  std::int64_t shards_, index_, between_, left_;  // between_: elements before the next of this shard
  std::int64_t at_ = 0, seen_ = 0;
  bool complete_, checking_ = false;
  Tuple found_;
};

std::int64_t repeated_count(std::int64_t n, std::int64_t count) {
  if (count < 0) return n == 0 ? 0 : infinite;
  if (count == 0) return 0;
  if (n < 0) return n;
  std::int64_t product = 0;
  return __builtin_mul_overflow(n, count, &product) ? unknown_count : product;
}

}  // namespace

void add_counted_datasets(Registry& ops) {
  ops.add("RepeatDataset", [](Call& call, DatasetIn input, Number<std::int64_t> count) {
    Dataset dataset = over(input, "Repeat");
    dataset.cardinality = repeated_count(input->cardinality, *count);
    dataset.open = [input = input.dataset, n = *count] { return std::make_unique<Repeated>(input, n); };
    return give(call, std::move(dataset));
  });
  ops.add("TakeDataset", [](Call& call, DatasetIn input, Number<std::int64_t> count) {
    Dataset dataset = over(input, "Take");
    const std::int64_t n = input->cardinality;
    if (n == infinite) dataset.cardinality = *count;
    else if (n != unknown_count && *count != infinite) dataset.cardinality = std::min(n, *count);
    if (*count < 0) dataset.open = input->open;
    else
      dataset.open = [input = input.dataset, n = *count]() -> SourcePtr {
        if (n == 0) return std::make_unique<Nothing>();
        return std::make_unique<Taken>(input->open(), n);
      };
    return give(call, std::move(dataset));
  });
  ops.add("SkipDataset", [](Call& call, DatasetIn input, Number<std::int64_t> count) {
    Dataset dataset = over(input, "Skip");
    if (*count < 0) dataset.cardinality = std::min<std::int64_t>(0, input->cardinality);
    else if (input->cardinality >= 0) dataset.cardinality = std::max<std::int64_t>(0, input->cardinality - *count);
    dataset.open = [input = input.dataset, n = *count]() -> SourcePtr {
      if (n < 0) return std::make_unique<Nothing>();
      return std::make_unique<Skipped>(input->open(), n);
    };
    return give(call, std::move(dataset));
  });
  // TensorFlow may hand whole files to workers instead; either way each element goes to one of them.
  ops.add({"AutoShardDataset", "ExperimentalAutoShardDataset"},
          [](Call& call, DatasetIn input, Number<std::int64_t> workers, Number<std::int64_t> index,
             Attr<"auto_shard_policy", std::int64_t> policy) -> Status {
            if (*workers < 1) return invalid("num_workers must be greater than zero.");
            if (*index < 0 || *index >= *workers) return invalid("index must be between 0 and {}", *workers - 1);
            constexpr std::int64_t off = -1, by_hint = 3;
            Dataset dataset = over(input, "AutoShard");
            if (*policy == off || *policy == by_hint || *workers == 1) {
              dataset.open = input->open;
              return give(call, std::move(dataset));
            }
            if (const std::int64_t n = input->cardinality; n >= 0) dataset.cardinality = n / *workers + (*index < n % *workers ? 1 : 0);
            dataset.open = [input = input.dataset, workers = *workers, index = *index] {
              return std::make_unique<Shard>(input->open(), workers, index, false);
            };
            return give(call, std::move(dataset));
          });
  ops.add(
      "ShardDataset",
      [](Call& call, DatasetIn input, Number<std::int64_t> shards, Number<std::int64_t> index, Attr<"require_non_empty", bool> complete) -> Status {
        if (*shards <= 0) return invalid("Number of shards must be greater than zero (currently num_shards = {}).", *shards);
        if (*index < 0 || *index >= *shards) return invalid("Index must be between 0 and {} (currently index = {}).", *shards - 1, *index);
        Dataset dataset = over(input, "Shard");
        const std::int64_t n = input->cardinality;
        if (n >= 0) dataset.cardinality = n / *shards + (*index < n % *shards ? 1 : 0);
        dataset.open = [input = input.dataset, shards = *shards, index = *index, complete = *complete] {
          return std::make_unique<Shard>(input->open(), shards, index, complete);
        };
        return give(call, std::move(dataset));
      });
}

}  // namespace troupe
