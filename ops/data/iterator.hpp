// Iterators: where passes over datasets stand between steps.
#pragma once

#include <troupe/ops/data/dataset.hpp>
#include <troupe/ops/resources/store.hpp>

#include <list>
#include <memory>
#include <string>

namespace troupe {

/// One pass over a dataset, asked by many steps: they are served one after another in the order they came.
class Pass final : public std::enable_shared_from_this<Pass> {
 public:
  /// Ready with an element, at the end, or failed.
  using Taker = std::function<void(Poll, Status, Tuple)>;

  /// Answers that were given before, in another life of the pass, are left out.
  explicit Pass(DatasetPtr dataset, std::int64_t given = 0)
      : dataset_(std::move(dataset)), source_(dataset_->open()), given_(given), left_out_(given) {}
  void next(Step& step, Taker take);
  const DatasetPtr& dataset() const { return dataset_; }
  /// Elements given so far, and failures instead of them.
  std::int64_t given() const { return given_; }
  bool ended() const { return ended_; }

 private:
  struct Asked {
    Step* step;
    Taker take;
    Cancellation::Token token = 0;
  };
  void serve();
  void read(Asked asked);
  Poll attempt(Reading& reading, Tuple& element);

  DatasetPtr dataset_;
  SourcePtr source_;
  std::shared_ptr<Instances> instances_ = std::make_shared<Instances>();
  std::list<Asked> waiting_;
  std::int64_t given_, left_out_;
  bool reading_ = false, serving_ = false, ended_ = false;
};

/// Touched only on its device's actor.
class DataIterator final : public Resource {
 public:
  explicit DataIterator(ElementFacts facts) : facts_(std::move(facts)) {}
  std::string describe() const override {
    return fmt::format("iterator{}", pass_ ? fmt::format(", {} elements given", pass_->given()) : ", not initialized");
  }

  const ElementFacts& facts() const { return facts_; }
  /// Begins a pass; a pass under way goes on for those who have asked it.
  Status start(const DatasetPtr& dataset);
  /// Null before the first pass.
  const std::shared_ptr<Pass>& pass() const { return pass_; }
  void replace(std::shared_ptr<Pass> pass) { pass_ = std::move(pass); }
  void next(Step& step, Pass::Taker take);

 private:
  ElementFacts facts_;
  std::shared_ptr<Pass> pass_;
};

template <>
struct resource_type<DataIterator> {
  static constexpr const char* name = "N10tensorflow4data16IteratorResourceE";
};

}  // namespace troupe
