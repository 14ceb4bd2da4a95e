// What queues do: who waits for room, who for elements, and what closing means to them.
#include <troupe/ops/resources/queue.hpp>

#include <algorithm>
#include <limits>
#include <random>

namespace troupe {
namespace {

std::uint64_t random_number() {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  return random();
}

std::unique_ptr<Shelf> shelf_for(QueueFacts& facts) {
  if (facts.kind == "PriorityQueue") return by_priority();
  if (facts.kind != "RandomShuffleQueue") return first_in_first_out();
  if (facts.seed != 0 || facts.seed2 != 0) return shuffled(static_cast<std::uint64_t>(facts.seed), static_cast<std::uint64_t>(facts.seed2));
  return shuffled(random_number(), random_number());
}

std::size_t capacity_of(std::int32_t capacity) {
  return capacity < 0 ? static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) : static_cast<std::size_t>(capacity);
}

}  // namespace

Queue::Queue(QueueFacts facts) : facts_(std::move(facts)), capacity_(capacity_of(facts_.capacity)), shelf_(shelf_for(facts_)) {}

std::string Queue::describe() const {
  return fmt::format("{} with {} elements{}, {} callers wait to put, {} to take", facts_.kind, size(), closed_ ? ", closed" : "", putting_.size(),
                     taking_.size());
}

void Queue::settle() {
  Endings endings;
  bool moved = true;
  while (moved) {
    moved = putting_.serve(endings);
    moved |= taking_.serve(endings);
  }
  endings.tell();
}

void Queue::wait_to_put(Step& step, WaitingLine::Attempt attempt, Done done) {
  putting_.join(&step, "Enqueue operation was cancelled", std::move(attempt), std::move(done), [self = shared_from_this()] { self->settle(); });
  settle();
}

void Queue::wait_to_take(Step& step, WaitingLine::Attempt attempt, Done done) {
  taking_.join(&step, "Dequeue operation was cancelled", std::move(attempt), std::move(done), [self = shared_from_this()] { self->settle(); });
  settle();
}

const std::string& Queue::plain_kind() const {
  static const std::string plain = "FIFOQueue";
  return facts_.pads() ? plain : facts_.kind;
}

Status Queue::refuse_closed() const { return cancelled("{} '{}' is closed.", plain_kind(), facts_.name); }

Status Queue::too_few(const std::string& kind, std::int64_t requested, std::size_t current) const {
  return out_of_range("{} '{}' is closed and has insufficient elements (requested {}, current size {})", kind, facts_.name, requested, current);
}

std::size_t Queue::available() const {
  const std::size_t all = shelf_->size();
  const auto kept = closed_ ? 0 : static_cast<std::size_t>(std::max(0, facts_.min_after_dequeue));
  return all > kept ? all - kept : 0;
}

void Queue::enqueue(Step& step, Tuple tuple, Done done) {
  auto attempt = [this, tuple = std::move(tuple)](Status& status) mutable {
    if (closed_) {
      status = refuse_closed();
      return Progress::complete;
    }
    if (full()) return Progress::none;
    shelf_->put(std::move(tuple));
    return Progress::complete;
  };
  wait_to_put(step, std::move(attempt), std::move(done));
}

void Queue::enqueue_many(Step& step, Tuple batch, Done done) {
  const std::int64_t count = batch[0].dim(0);
  if (count == 0) return done(absl::OkStatus());
  auto attempt = [this, batch = std::move(batch), count, at = std::int64_t{0}](Status& status) mutable {
    if (closed_) {
      status = refuse_closed();
      return Progress::complete;
    }
    if (full()) return Progress::none;
    for (; at < count && !full(); ++at) {
      Tuple element;
      for (const Tensor& component : batch) element.push_back(row_of(component, at));
      shelf_->put(std::move(element));
    }
    return at == count ? Progress::complete : Progress::some;
  };
  wait_to_put(step, std::move(attempt), std::move(done));
}

void Queue::dequeue(Step& step, Taker take, Done done) {
  auto attempt = [this, take = std::move(take)](Status& status) {
    if (closed_ && shelf_->size() == 0) {
      status = too_few(plain_kind(), 1, 0);
      return Progress::complete;
    }
    if (available() == 0) return Progress::none;
    take(shelf_->take());
    return Progress::complete;
  };
  wait_to_take(step, std::move(attempt), std::move(done));
}

void Queue::dequeue_many(Step& step, std::int64_t count, bool fewer_at_end, Taker take, Done done) {
  if (count == 0) {
    take(batch_of({}));
    return done(absl::OkStatus());
  }
  auto attempt = [this, take = std::move(take), fewer_at_end, batching = Batching{count, {}}](Status& status) mutable {
    return go_on(batching, fewer_at_end, take, status);
  };
  wait_to_take(step, std::move(attempt), std::move(done));
}

Queue::Progress Queue::go_on(Batching& batching, bool fewer_at_end, const Taker& take, Status& status) {
  if (closed_ && static_cast<std::int64_t>(shelf_->size()) < batching.left) {
    if (facts_.kind == "PriorityQueue" && fewer_at_end && shelf_->size() > 0) {
      // As in TensorFlow, where the rest of such a queue is lost.
      for (; shelf_->size() > 0; --batching.left) shelf_->take();
    }
    const Status refusal = too_few(facts_.kind, batching.left, shelf_->size());
    give_back(batching);
    if (!fewer_at_end || shelf_->size() == 0) {
      // Somebody who still waits to put may have elements.
      if (fewer_at_end && !putting_.empty()) return Progress::some;
      status = refusal;
      return Progress::complete;
    }
    batching.left = static_cast<std::int64_t>(shelf_->size());
  }
  const bool any = available() > 0;
  for (; batching.left > 0 && available() > 0; --batching.left) batching.taken.push_back(shelf_->take());
  if (batching.left > 0) return any ? Progress::some : Progress::none;
  take(batch_of(batching.taken));
  return Progress::complete;
}

void Queue::give_back(Batching& batching) {
  batching.left += static_cast<std::int64_t>(batching.taken.size());
  for (; !batching.taken.empty(); batching.taken.pop_back()) shelf_->put_back(std::move(batching.taken.back()));
}

void Queue::close(bool cancel_pending, Done done) {
  if (cancel_pending) {
    closed_ = true;
    Endings endings;
    putting_.end_all(cancelled("Enqueue operation was cancelled"), endings);
    endings.tell();
    settle();
    return done(absl::OkStatus());
  }
  // Those who came before may still put what they have.
  auto attempt = [this](Status& status) {
    if (closed_) status = cancelled("Queue '{}' is already closed.", facts_.name);
    closed_ = true;
    return Progress::complete;
  };
  putting_.join(nullptr, "", std::move(attempt), std::move(done), nullptr);
  settle();
}

Tuple Queue::batch_of(const std::vector<Tuple>& elements) const {
  Tuple batch;
  for (std::size_t c = 0; c < facts_.types.size(); ++c) {
    std::vector<Tensor> rows;
    for (const Tuple& element : elements) rows.push_back(element[c]);
    if (!facts_.pads()) {
      batch.push_back(stack_rows(facts_.types[c], facts_.shapes[c].known().value_or(Shape{}), rows));
      continue;
    }
    Shape largest;
    for (int d = 0; d < facts_.shapes[c].rank(); ++d) {
      std::int64_t size = std::max<std::int64_t>(0, facts_.shapes[c].dim(d));
      for (const Tensor& row : rows) size = std::max(size, row.dim(d));
      largest.add_dim(size);
    }
    batch.push_back(stack_padded(facts_.types[c], largest, rows));
  }
  return batch;
}

}  // namespace troupe
