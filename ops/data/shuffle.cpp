// Shuffled datasets, in the same order as TensorFlow's for equal seeds.
#include <troupe/ops/data/seeds.hpp>

#include <deque>
#include <limits>

namespace troupe {
namespace {

PhiloxWords words_of(std::pair<std::int64_t, std::int64_t> seeds) {
  return PhiloxWords(Philox::seeded(static_cast<std::uint64_t>(seeds.first), static_cast<std::uint64_t>(seeds.second)));
}

/// Takes from a buffer at random; elements of one pass over the input all come before those of the next.
class Shuffled final : public Source {
 public:
  Shuffled(DatasetPtr input, std::int64_t room, std::int64_t passes, std::shared_ptr<SeedGenerator> seeds)
      : input_(std::move(input)), room_(room), passes_(passes), seeds_(std::move(seeds)), words_(words_of(seeds_->next())) {
    slices_.emplace_back();
  }

  Poll next(Reading& reading, Tuple& out) override {
    if (const Poll poll = fill(reading); poll != Poll::ready) return poll;
    if (held_ == 0) return Poll::end;
    while (slices_.size() > 1 && slices_.front().empty()) {
      slices_.pop_front();
      words_ = words_of(seeds_->next());
    }
    auto& slice = slices_.front();
    const std::size_t chosen = static_cast<std::size_t>(words_() % slice.size());
    out = std::move(slice[chosen]);
    // The first of what is left takes the place that became free.
    if (chosen != 0) slice[chosen] = std::move(slice.front());
    slice.pop_front();
    --held_;
    return Poll::ready;
  }

 private:
  Poll fill(Reading& reading) {
    constexpr std::size_t most_passes = 3;
    if (!started_ && !over_) {
      pass_ = input_->open();
      started_ = true;
    }
    while (pass_ && held_ < room_) {
      Tuple element;
      const Poll poll = pass_->next(reading, element);
      if (poll == Poll::waits || poll == Poll::failed) return poll;
      if (poll == Poll::ready) {
        any_ = true;
        slices_.back().push_back(std::move(element));
        ++held_;
      } else if (!any_ && passes_ == -1) {
        pass_.reset();
        over_ = true;
        return Poll::ready;
      } else if (passes_ != -1 && ++pass_number_ >= passes_) {
        pass_.reset();
        slices_.emplace_back();
      } else {
        slices_.emplace_back();
        pass_ = input_->open();
      }
      if (slices_.size() > most_passes) break;
    }
    return Poll::ready;
  }

  DatasetPtr input_;
  std::int64_t room_, passes_;
  std::shared_ptr<SeedGenerator> seeds_;
  PhiloxWords words_;
  SourcePtr pass_;
  std::deque<std::deque<Tuple>> slices_;  // by pass
  std::int64_t held_ = 0, pass_number_ = 0;
  bool started_ = false, over_ = false, any_ = false;
};

StatusOr<std::int64_t> room_for(std::int64_t buffer, const Dataset& input) {
  if (buffer == unknown_count)
    return input.cardinality >= 0 ? std::max<std::int64_t>(1, input.cardinality) : std::numeric_limits<std::int64_t>::max();
  if (buffer <= 0) return invalid("buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  return buffer;
}

Status give_shuffled(Call& call, const DatasetPtr& input, const char* kind, std::int64_t buffer, std::int64_t passes,
                     std::shared_ptr<SeedGenerator> seeds) {
  TRY_ASSIGN(const std::int64_t room, room_for(buffer, *input));
  Dataset dataset = over(input, kind);
  if (passes == -1 && input->cardinality != 0) dataset.cardinality = infinite;
  else if (passes > 1 && input->cardinality > 0) dataset.cardinality = input->cardinality * passes;
  dataset.seeds = seeds;
  dataset.open = [input, room, passes, seeds = std::move(seeds)] { return std::make_unique<Shuffled>(input, room, passes, seeds); };
  return give(call, std::move(dataset));
}

class RandomNumbers final : public Source {
 public:
  explicit RandomNumbers(std::pair<std::int64_t, std::int64_t> seeds) : words_(words_of(seeds)) {}
  Poll next(Reading&, Tuple& out) override {
    out = {Tensor::scalar<std::int64_t>(words_())};
    return Poll::ready;
  }

 private:
  PhiloxWords words_;
};

Tensor seed_handle(Step& step, std::int64_t seed, std::int64_t seed2, bool reshuffle) {
  const std::string name = fmt::format("AnonymousSeedGenerator{}", step.resources->next_number());
  ResourceHandle handle = step.resources->handle_to<SeedGenerator>(step.device, step.resources->default_container(), name);
  handle.resource = std::make_shared<SeedGenerator>(seed, seed2, reshuffle);
  return Tensor::scalar<ResourceHandle>(std::move(handle));
}

/// The generator behind a handle, or one of these seeds where there is none.
std::shared_ptr<SeedGenerator> generator_at(Step& step, const ResourceHandle& handle, std::int64_t seed, std::int64_t seed2, bool reshuffle) {
  auto found = step.resources->find<SeedGenerator>(handle);
  return found.ok() ? *std::move(found) : std::make_shared<SeedGenerator>(seed, seed2, reshuffle);
}

}  // namespace

void add_shuffled_datasets(Registry& ops) {
  using Count = Number<std::int64_t>;
  ops.add("ShuffleDataset", [](Call& call, DatasetIn input, Count buffer, Count seed, Count seed2, Attr<"reshuffle_each_iteration", bool> reshuffle) {
    return give_shuffled(call, input, "Shuffle", *buffer, 1, std::make_shared<SeedGenerator>(*seed, *seed2, *reshuffle));
  });
  ops.add("ShuffleDatasetV2", [](Call& call, Step& step, DatasetIn input, Count buffer, Handle seeds) {
    return give_shuffled(call, input, "Shuffle", *buffer, 1, generator_at(step, seeds.handle, 0, 0, true));
  });
  ops.add("ShuffleDatasetV3", [](Call& call, Step& step, DatasetIn input, Count buffer, Count seed, Count seed2, Handle seeds,
                                 Attr<"reshuffle_each_iteration", bool> reshuffle) {
    return give_shuffled(call, input, "Shuffle", *buffer, 1, generator_at(step, seeds.handle, *seed, *seed2, *reshuffle));
  });
  ops.add("ShuffleAndRepeatDataset",
          [](Call& call, DatasetIn input, Count buffer, Count seed, Count seed2, Count count,
             Attr<"reshuffle_each_iteration", bool> reshuffle) -> Status {
            if (*count <= 0 && *count != -1) return invalid("count must be greater than zero or equal to -1.");
            return give_shuffled(call, input, "ShuffleAndRepeat", *buffer, *count, std::make_shared<SeedGenerator>(*seed, *seed2, *reshuffle));
          });
  ops.add("ShuffleAndRepeatDatasetV2",
          [](Call& call, Step& step, DatasetIn input, Count buffer, Count seed, Count seed2, Count count, Handle seeds,
             Attr<"reshuffle_each_iteration", bool> reshuffle) -> Status {
            if (*count <= 0 && *count != -1) return invalid("count must be greater than zero or equal to -1.");
            return give_shuffled(call, input, "ShuffleAndRepeat", *buffer, *count, generator_at(step, seeds.handle, *seed, *seed2, *reshuffle));
          });
  ops.add({"RandomDataset", "ExperimentalRandomDataset"}, [](Call& call, Count seed, Count seed2, Elements elements) {
    Dataset dataset;
    dataset.kind = "Random";
    dataset.element = elements;
    dataset.cardinality = infinite;
    dataset.open = [seeds = std::make_shared<SeedGenerator>(*seed, *seed2, false)] { return std::make_unique<RandomNumbers>(seeds->next()); };
    return give(call, std::move(dataset));
  });
  ops.add("RandomDatasetV2",
          [](Call& call, Step& step, Count seed, Count seed2, Handle seeds, Attr<"rerandomize_each_iteration", bool> again, Elements elements) {
            Dataset dataset;
            dataset.kind = "Random";
            dataset.element = elements;
            dataset.cardinality = infinite;
            dataset.seeds = generator_at(step, seeds.handle, *seed, *seed2, *again);
            dataset.open = [seeds = dataset.seeds] { return std::make_unique<RandomNumbers>(seeds->next()); };
            return give(call, std::move(dataset));
          });
  ops.add("AnonymousSeedGenerator", [](Call& call, Step& step, Count seed, Count seed2, Number<bool> reshuffle) {
    call.set(0, seed_handle(step, *seed, *seed2, *reshuffle));
    call.set(1, Tensor(DType::variant, Shape{}));
  });
  ops.add("AnonymousRandomSeedGenerator", [](Call& call, Step& step, Count seed, Count seed2) {
    call.set(0, seed_handle(step, *seed, *seed2, true));
    call.set(1, Tensor(DType::variant, Shape{}));
  });
  // Stands for no generator at all: who gets it takes the seeds that come with it.
  ops.add("DummySeedGenerator", [](Call& call, Step& step) {
    call.set(0, Tensor::scalar<ResourceHandle>(
                    step.resources->handle_to<SeedGenerator>(step.device, step.resources->default_container(), "DummySeedGenerator")));
  });
  ops.add({"DeleteSeedGenerator", "DeleteRandomSeedGenerator", "DeleteMemoryCache"}, [](Call&, Handle, Any) {});
}

}  // namespace troupe
