// Queues of tuples: bounded, closable, with callers that wait on either side.
#pragma once

#include <troupe/ops/resources/rows.hpp>
#include <troupe/ops/resources/store.hpp>
#include <troupe/ops/resources/waiting.hpp>

#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// Where a queue keeps its elements, and which of them comes next.
class Shelf {
 public:
  virtual ~Shelf() = default;
  virtual std::size_t size() const = 0;
  virtual void put(Tuple element) = 0;
  virtual Tuple take() = 0;
  /// Puts back what was taken last.
  virtual void put_back(Tuple element) = 0;
};
std::unique_ptr<Shelf> first_in_first_out();
/// Takes any element; with equal seeds in the same order as TensorFlow.
std::unique_ptr<Shelf> shuffled(std::uint64_t seed, std::uint64_t seed2);
/// Takes the element with the smallest number in its first component.
std::unique_ptr<Shelf> by_priority();

/// What a node declares of a queue.
struct QueueFacts {
  std::string kind;  // as the op is called: "FIFOQueue", …
  std::string name;
  std::int32_t capacity = -1;
  std::vector<DType> types;
  std::vector<PartialShape> shapes;  // none: components of any shape
  std::int32_t min_after_dequeue = 0;
  std::int64_t seed = 0, seed2 = 0;

  bool pads() const { return kind == "PaddingFIFOQueue"; }
};

/// Touched only on its device's actor. Continuations are called when the queue has settled, so they may use it again.
class Queue final : public Resource, public std::enable_shared_from_this<Queue> {
 public:
  explicit Queue(QueueFacts facts);
  std::string describe() const override;

  /// Refuses a node that declares another queue under the same name.
  Status check_same(const QueueFacts& other, const std::string& op) const;
  /// Refuses tuples whose components have wrong types or shapes.
  Status check_tuple(const Tuple& tuple) const;
  Status check_batch(const Tuple& tuple) const;
  /// Batches need components of known shape.
  Status check_batching() const;

  using Taker = std::function<void(Tuple)>;
  void enqueue(Step& step, Tuple tuple, Done done);
  void enqueue_many(Step& step, Tuple batch, Done done);
  /// `take` gets the element, then `done` is called.
  void dequeue(Step& step, Taker take, Done done);
  void dequeue_many(Step& step, std::int64_t count, bool fewer_at_end, Taker take, Done done);
  void close(bool cancel_pending, Done done);

  std::size_t size() const { return shelf_->size(); }
  bool closed() const { return closed_; }
  const QueueFacts& facts() const { return facts_; }

 private:
  using Progress = WaitingLine::Progress;
  struct Batching {
    std::int64_t left = 0;
    std::vector<Tuple> taken;
  };
  Progress go_on(Batching& batching, bool fewer_at_end, const Taker& take, Status& status);
  void give_back(Batching& batching);
  Tuple batch_of(const std::vector<Tuple>& elements) const;
  Status refuse_closed() const;
  Status too_few(const std::string& kind, std::int64_t requested, std::size_t current) const;
  /// A padding queue calls itself a plain one unless it pads.
  const std::string& plain_kind() const;
  bool full() const { return shelf_->size() >= capacity_; }
  std::size_t available() const;
  void settle();
  void wait_to_put(Step& step, WaitingLine::Attempt attempt, Done done);
  void wait_to_take(Step& step, WaitingLine::Attempt attempt, Done done);

  QueueFacts facts_;
  std::size_t capacity_;
  std::unique_ptr<Shelf> shelf_;
  bool closed_ = false;
  WaitingLine putting_, taking_;
};

template <>
struct resource_type<Queue> {
  static constexpr const char* name = "N10tensorflow14QueueInterfaceE";
};

}  // namespace troupe
