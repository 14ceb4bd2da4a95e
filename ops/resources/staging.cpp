// What staging areas do.
#include <troupe/ops/resources/staging.hpp>

namespace troupe {
namespace {

using Progress = WaitingLine::Progress;

std::int64_t bytes_of(const Tuple& tuple) {
  std::int64_t bytes = 0;
  // A string counts as much as TensorFlow's, whatever is in it.
  for (const Tensor& t : tuple) bytes += t.dtype() == DType::string ? 24 * t.size() : static_cast<std::int64_t>(t.bytes());
  return bytes;
}

Status check_order(const std::vector<std::int32_t>& indices) {
  for (std::size_t i = 1; i < indices.size(); ++i)
    if (indices[i] <= indices[i - 1]) return invalid("Indices are not strictly ordered");
  return absl::OkStatus();
}

Status too_large(std::int64_t bytes, std::int64_t limit) {
  return resource_exhausted("Attempted to insert tensors with combined size of '{}' bytes into Staging Area with a memory limit of '{}'.", bytes,
                            limit);
}

}  // namespace

void StagingArea::settle() {
  Endings endings;
  while (putting_.serve(endings) | taking_.serve_anybody(endings)) continue;
  endings.tell();
}

void StagingArea::put(Step& step, Tuple tuple, Done done) {
  const std::int64_t more = bytes_of(tuple);
  if (limits_.bytes > 0 && more > limits_.bytes) return done(too_large(more, limits_.bytes));
  auto attempt = [this, more, tuple = std::move(tuple)](Status&) mutable {
    if (limits_.bytes > 0 && bytes_ + more > limits_.bytes) return Progress::none;
    if (limits_.capacity > 0 && static_cast<std::int64_t>(tuples_.size()) >= limits_.capacity) return Progress::none;
    bytes_ += more;
    tuples_.push_back(std::move(tuple));
    return Progress::complete;
  };
  putting_.join(&step, "Stage operation was cancelled", std::move(attempt), std::move(done), [self = shared_from_this()] { self->settle(); });
  settle();
}

void StagingArea::take(Step& step, Taker take, Done done) {
  auto attempt = [this, take = std::move(take)](Status& status) {
    if (tuples_.empty()) return Progress::none;
    Tuple tuple = std::move(tuples_.front());
    tuples_.pop_front();
    bytes_ -= bytes_of(tuple);
    status = take(std::move(tuple));
    return Progress::complete;
  };
  taking_.join(&step, "Unstage operation was cancelled", std::move(attempt), std::move(done), [self = shared_from_this()] { self->settle(); });
  settle();
}

void StagingArea::look(Step& step, std::size_t index, Taker take, Done done) {
  auto attempt = [this, index, take = std::move(take)](Status& status) {
    if (index >= tuples_.size()) return Progress::none;
    status = take(tuples_[index]);
    return Progress::complete;
  };
  taking_.join(&step, "StagePeek operation was cancelled", std::move(attempt), std::move(done), [self = shared_from_this()] { self->settle(); });
  settle();
}

void StagingArea::clear() {
  tuples_.clear();
  bytes_ = 0;
  settle();
}

void StagingMap::settle() {
  Endings endings;
  while (putting_.serve(endings) | taking_.serve_anybody(endings)) continue;
  endings.tell();
}

bool StagingMap::fits(std::int64_t more, bool new_key) const {
  if (limits_.bytes > 0 && bytes_ + more > limits_.bytes) return false;
  return limits_.capacity <= 0 || !new_key || static_cast<std::int64_t>(complete_.size()) < limits_.capacity;
}

Status StagingMap::check_bounds(const Indices& indices, Key key) const {
  for (std::int32_t i : indices)
    if (i < 0 || static_cast<std::size_t>(i) >= components_) return invalid("Index '{}' for key '{}' was out of bounds '{}'.", i, key, components_);
  return absl::OkStatus();
}

void StagingMap::put(Step& step, Key key, const Indices& indices, Tuple values, Done done) {
  if (Status status = check_order(indices); !status.ok()) return done(status);
  if (Status status = check_bounds(indices, key); !status.ok()) return done(status);
  if (values.size() != indices.size()) return done(invalid("Insufficient indices and/or values: {} vs {}", indices.size(), values.size()));
  const std::int64_t more = bytes_of(values);
  if (limits_.bytes > 0 && more > limits_.bytes) return done(too_large(more, limits_.bytes));
  auto attempt = [this, key, indices, values = std::move(values), more](Status& status) {
    if (!fits(more, !complete_.contains(key))) return Progress::none;
    status = put_now(key, indices, values);
    if (status.ok()) bytes_ += more;
    return Progress::complete;
  };
  putting_.join(&step, "MapStage operation was cancelled", std::move(attempt), std::move(done), [self = shared_from_this()] { self->settle(); });
  settle();
}

Status StagingMap::put_now(Key key, const Indices& indices, const Tuple& values) {
  auto [entry, fresh] = incomplete_.try_emplace(key, Entry(components_));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    auto& slot = entry->second[static_cast<std::size_t>(indices[i])];
    if (slot) return invalid("The tensor for index '{}' for key '{}' was already initialized '{}'.", indices[i], key, components_);
    slot = values[i];
  }
  for (const auto& slot : entry->second)
    if (!slot) return absl::OkStatus();
  complete_[key] = std::move(entry->second);
  incomplete_.erase(entry);
  return absl::OkStatus();
}

void StagingMap::take(Step& step, std::optional<Key> key, const Indices& indices, bool only_look, Taker take, Done done) {
  if (Status status = check_order(indices); !status.ok()) return done(status);
  auto attempt = [this, key, indices, only_look, take = std::move(take)](Status& status) {
    auto entry = key ? complete_.find(*key) : complete_.begin();
    if (entry == complete_.end()) return Progress::none;
    const Key found = entry->first;
    auto tuple = take_now(entry, indices, only_look);
    status = tuple.ok() ? take(found, *std::move(tuple)) : tuple.status();
    return Progress::complete;
  };
  taking_.join(&step, "MapUnstage operation was cancelled", std::move(attempt), std::move(done), [self = shared_from_this()] { self->settle(); });
  settle();
}

StatusOr<Tuple> StagingMap::take_now(std::map<Key, Entry>::iterator entry, const Indices& indices, bool only_look) {
  TRY(check_bounds(indices, entry->first));
  Tuple tuple;
  for (std::int32_t i : indices) {
    auto& slot = entry->second[static_cast<std::size_t>(i)];
    if (!slot) return invalid("Tensor at index '{}' for key '{}' has already been removed.", i, entry->first);
    tuple.push_back(*slot);
  }
  if (only_look) return tuple;
  bytes_ -= bytes_of(tuple);
  bool empty = true;
  for (std::int32_t i : indices) entry->second[static_cast<std::size_t>(i)].reset();
  for (const auto& slot : entry->second) empty &= !slot;
  if (empty) complete_.erase(entry);
  return tuple;
}

void StagingMap::clear() {
  complete_.clear();
  incomplete_.clear();
  bytes_ = 0;
  settle();
}

}  // namespace troupe
