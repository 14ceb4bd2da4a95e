// One pass over a dataset whose elements go round among several askers.
#pragma once

#include <troupe/ops/data/iterator.hpp>

#include <deque>

namespace troupe {

/// Touched only on its device's actor.
class MultiDeviceIterator final : public Resource, public std::enable_shared_from_this<MultiDeviceIterator> {
 public:
  MultiDeviceIterator(ElementFacts facts, std::size_t shards) : facts_(std::move(facts)), shards_(shards) {}
  std::string describe() const override { return fmt::format("iterator for {} devices", shards_); }

  const ElementFacts& facts() const { return facts_; }
  std::size_t shards() const { return shards_; }
  /// Begins a pass and gives its number.
  StatusOr<std::int64_t> start(const DatasetPtr& dataset);
  /// The next element for a shard, of the pass with that number.
  void next(Step& step, std::size_t shard, std::int64_t incarnation, Pass::Taker take);

 private:
  /// One answer: an element, the end or a failure.
  struct Answer {
    Poll poll;
    Status status;
    Tuple element;
  };
  struct Run {
    std::shared_ptr<Pass> pass;
    std::vector<std::deque<Answer>> kept;  // by shard, read for others' sake
    std::size_t turn = 0;
    bool over = false;
  };
  void read(Step& step, std::size_t shard, std::shared_ptr<Run> run, Pass::Taker take);

  ElementFacts facts_;
  std::size_t shards_;
  std::int64_t incarnation_ = 0;
  std::shared_ptr<Run> run_;
};

template <>
struct resource_type<MultiDeviceIterator> {
  static constexpr const char* name = "N10tensorflow4data12_GLOBAL__N_119MultiDeviceIteratorE";
};

}  // namespace troupe
