// Gradient accumulators: they add up what is fresh, drop what is stale, and hand out the mean when enough has come.
#pragma once

#include <troupe/ops/resources/rows.hpp>
#include <troupe/ops/resources/store.hpp>
#include <troupe/ops/resources/waiting.hpp>

#include <memory>
#include <string>

namespace troupe {

struct AccumulatorFacts {
  std::string name;
  DType dtype = DType::invalid;
  PartialShape shape;
  bool sparse = false;
  bool mean = true;  // otherwise the sum
};

/// What is added and taken: one tensor, or for sparse accumulators indices, values and a shape that may be missing.
using Gradient = Tuple;

/// The arithmetic of an accumulator.
class GradientSum {
 public:
  virtual ~GradientSum() = default;
  /// Refuses what does not fit the declared shape or, where `started`, the sum so far.
  virtual Status check(const Gradient& gradient, const PartialShape& shape, bool started) const = 0;
  virtual void start(const Gradient& gradient) = 0;
  virtual void add(const Gradient& gradient) = 0;
  virtual Gradient take(const PartialShape& shape, std::int64_t count, bool mean) = 0;
};
std::unique_ptr<GradientSum> dense_sum();
std::unique_ptr<GradientSum> sparse_sum();

/// Touched only on its device's actor.
class Accumulator final : public Resource, public std::enable_shared_from_this<Accumulator> {
 public:
  explicit Accumulator(AccumulatorFacts facts) : facts_(std::move(facts)), sum_(facts_.sparse ? sparse_sum() : dense_sum()) {}
  std::string describe() const override {
    return fmt::format("accumulator of {} with {} gradients at step {}, {} callers wait", name_of(facts_.dtype), count_, step_, taking_.size());
  }

  /// Gradients of an earlier step are dropped without a word.
  Status apply(std::int64_t local_step, const Gradient& gradient);
  /// Waits for so many gradients; the accumulator then begins anew, one step on.
  void take(Step& step, std::int32_t required, std::function<void(Gradient)> take, Done done);
  void set_step(std::int64_t step) { step_ = step; }
  std::int64_t count() const { return count_; }
  std::int64_t step() const { return step_; }
  const AccumulatorFacts& facts() const { return facts_; }

 private:
  void settle();

  AccumulatorFacts facts_;
  std::unique_ptr<GradientSum> sum_;
  std::int64_t step_ = 0, count_ = 0;
  WaitingLine taking_;
};

template <>
struct resource_type<Accumulator> {
  static constexpr const char* name = "N10tensorflow26ConditionalAccumulatorBaseE";
};

}  // namespace troupe
