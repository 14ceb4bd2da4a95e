// What barriers do; complete tuples wait in a queue by priority.
#include <troupe/ops/resources/barrier.hpp>

#include <algorithm>
#include <limits>

namespace troupe {
namespace {

QueueFacts facts_for(const std::string& name, const std::vector<DType>& types, const std::vector<PartialShape>& shapes) {
  QueueFacts facts;
  facts.kind = "PriorityQueue";
  facts.name = name + "_queue";
  facts.types = {DType::i64, DType::string};
  facts.types.insert(facts.types.end(), types.begin(), types.end());
  facts.shapes = {PartialShape(Shape{}), PartialShape(Shape{})};
  facts.shapes.insert(facts.shapes.end(), shapes.begin(), shapes.end());
  return facts;
}

}  // namespace

Barrier::Barrier(std::string name, std::vector<DType> types, std::vector<PartialShape> shapes)
    : name_(std::move(name)),
      types_(std::move(types)),
      shapes_(std::move(shapes)),
      ready_(std::make_shared<Queue>(facts_for(name_, types_, shapes_))),
      next_index_(std::numeric_limits<std::int64_t>::min()) {}

void Barrier::insert_many(Step& step, const Tensor& keys, std::size_t component, const Tensor& values, Done done) {
  const auto count = static_cast<std::size_t>(keys.size());
  if (count > 0 && values.size() == 0)
    return done(invalid("Tensors with no elements are not supported {}: received shape {}", name_, values.shape()));
  if (closed_ && (cancelled_ || (count > 0 && incomplete_.empty())))
    return done(cancelled("Barrier {} is closed.  Pending enqueues cancelled: {}.  Number of new insertions: {}.  Number of incomplete keys: {}.",
                          name_, cancelled_ ? 1 : 0, count, incomplete_.size()));
  std::vector<Tuple> ready;
  bool fresh = false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (Status status = insert_one(keys.data<std::string>()[i], at, component, row_of(values, at), ready, fresh); !status.ok()) return done(status);
  }
  if (fresh) ++next_index_;
  const auto ignore = [](Status) {};
  for (Tuple& tuple : ready) ready_->enqueue(step, std::move(tuple), ignore);
  done(absl::OkStatus());
}

Status Barrier::insert_one(const std::string& key, std::int64_t i, std::size_t component, Tensor value, std::vector<Tuple>& ready, bool& fresh) {
  auto found = incomplete_.find(key);
  if (found == incomplete_.end()) {
    if (closed_)
      return cancelled(
          "Barrier {} is closed, but attempted to insert a brand new key: {}.  Pending enqueues cancelled: {}.  Insertion index: {}.  Number of "
          "incomplete keys: "
          "{}.",
          name_, key, cancelled_ ? 1 : 0, i, incomplete_.size());
    fresh = true;
    Tuple element(1 + types_.size());
    element[0] = Tensor::scalar<std::int64_t>(next_index_);
    found = incomplete_.emplace(key, std::move(element)).first;
  }
  Tuple& element = found->second;
  if (element[1 + component].valid()) return invalid("Key {} already has a value for component {} in barrier {}", key, component, name_);
  element[1 + component] = std::move(value);
  if (!std::all_of(element.begin(), element.end(), [](const Tensor& t) { return t.valid(); })) return absl::OkStatus();
  Tuple complete{element[0], Tensor::scalar<std::string>(key)};
  complete.insert(complete.end(), element.begin() + 1, element.end());
  incomplete_.erase(found);
  TRY(ready_->check_tuple(complete));
  ready.push_back(std::move(complete));
  return absl::OkStatus();
}

void Barrier::take_many(Step& step, std::int32_t count, bool allow_small_batch, Queue::Taker take, Done done) {
  std::int64_t wanted = count;
  if (closed_) {
    auto available = static_cast<std::int64_t>(ready_->size());
    if (allow_small_batch) wanted = std::min<std::int64_t>(wanted, available);
    else available += static_cast<std::int64_t>(incomplete_.size());
    if (available < std::max<std::int64_t>(wanted, 1))
      return done(out_of_range("Barrier '{}' is closed and has insufficient elements (requested {}, total size {})", name_, wanted, available));
  }
  ready_->dequeue_many(step, wanted, allow_small_batch, std::move(take), std::move(done));
}

void Barrier::close(bool cancel_pending, Done done) {
  if (closed_ && (cancelled_ || !cancel_pending)) return done(cancelled("Barrier '{}' is already closed.", name_));
  cancelled_ = cancel_pending;
  closed_ = true;
  if (!cancel_pending && !incomplete_.empty()) return done(absl::OkStatus());
  incomplete_.clear();
  close_ready(cancel_pending, std::move(done));
}

void Barrier::close_ready(bool cancel_pending, Done done) {
  if (ready_closed_) return done(absl::OkStatus());
  ready_closed_ = true;
  ready_->close(cancel_pending, std::move(done));
}

}  // namespace troupe
