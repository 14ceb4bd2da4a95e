// What queues refuse, in TensorFlow's words.
#include <troupe/ops/resources/queue.hpp>

#include <limits>

namespace troupe {
namespace {

std::string listed(const std::vector<PartialShape>& shapes) {
  std::vector<std::string> texts;
  for (const PartialShape& shape : shapes) texts.push_back(to_string(shape));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}
std::string listed(const std::vector<DType>& types) {
  std::vector<std::string> texts;
  for (DType type : types) texts.push_back(name_of(type));
  return fmt::format("{}", fmt::join(texts, ", "));
}

Status check_types(const Tuple& tuple, const std::vector<DType>& types) {
  if (tuple.size() != types.size()) return invalid("Wrong number of components in tuple. Expected {}, got {}", types.size(), tuple.size());
  for (std::size_t i = 0; i < types.size(); ++i)
    if (tuple[i].dtype() != types[i])
      return invalid("Type mismatch in tuple component {}. Expected {}, got {}", i, name_of(types[i]), name_of(tuple[i].dtype()));
  return absl::OkStatus();
}

}  // namespace

Status Queue::check_same(const QueueFacts& other, const std::string& op) const {
  if (facts_.kind != other.kind) return invalid("Expected {}, found {}", facts_.kind, op);
  const auto capacity = static_cast<std::size_t>(other.capacity < 0 ? std::numeric_limits<std::int32_t>::max() : other.capacity);
  if (capacity_ != capacity) return invalid("Shared queue '{}' has capacity {} but requested capacity was {}", facts_.name, capacity_, capacity);
  if (facts_.types != other.types)
    return invalid("Shared queue '{}' has component types {} but requested component types were {}", facts_.name, listed(facts_.types),
                   listed(other.types));
  if (facts_.shapes != other.shapes)
    return invalid("Shared queue '{}' has component shapes {} but requested component shapes were {}", facts_.name, listed(facts_.shapes),
                   listed(other.shapes));
  if (facts_.kind != "RandomShuffleQueue") return absl::OkStatus();
  if (facts_.min_after_dequeue != other.min_after_dequeue)
    return invalid("Shared queue '{}' has min_after_dequeue {} but requested min_after_dequeue was {}.", facts_.name, facts_.min_after_dequeue,
                   other.min_after_dequeue);
  if ((other.seed != 0 || other.seed2 != 0) && (facts_.seed != other.seed || facts_.seed2 != other.seed2))
    return invalid("Shared queue '{}' has random seeds ({}, {}) but requested seeds are ({}, {}).", facts_.name, facts_.seed, facts_.seed2,
                   other.seed, other.seed2);
  return absl::OkStatus();
}

Status Queue::check_tuple(const Tuple& tuple) const {
  TRY(check_types(tuple, facts_.types));
  for (std::size_t i = 0; i < facts_.shapes.size(); ++i)
    if (!facts_.shapes[i].compatible_with(tuple[i].shape()))
      return invalid("Shape mismatch in tuple component {}. Expected {}, got {}", i, facts_.shapes[i], tuple[i].shape());
  return absl::OkStatus();
}

Status Queue::check_batch(const Tuple& tuple) const {
  TRY(check_types(tuple, facts_.types));
  for (std::size_t i = 0; i < tuple.size(); ++i)
    if (tuple[i].rank() == 0) return invalid("Component {} of a batch must be at least a vector, got shape {}", i, tuple[i].shape());
  const std::int64_t rows = tuple[0].dim(0);
  for (std::size_t i = 0; i < facts_.shapes.size(); ++i) {
    Dims dims{rows};
    for (std::int64_t d : facts_.shapes[i].dims()) dims.push_back(d);
    const PartialShape wanted(std::span<const std::int64_t>(dims.data(), dims.size()));
    if (facts_.shapes[i].unknown_rank() || wanted.compatible_with(tuple[i].shape())) continue;
    return invalid("Shape mismatch in tuple component {}. Expected {}, got {}", i, wanted, tuple[i].shape());
  }
  for (std::size_t i = 1; i < tuple.size(); ++i)
    if (tuple[i].dim(0) != rows)
      return invalid("All input tensors must have the same size in the 0th dimension. Component {} has {}, and should have {}", i, tuple[i].dim(0),
                     rows);
  return absl::OkStatus();
}

Status Queue::check_batching() const {
  if (facts_.shapes.size() == facts_.types.size()) return absl::OkStatus();
  if (facts_.kind == "PriorityQueue") return invalid("PriorityQueue's DequeueMany requires the components to have specified shapes.");
  return invalid("{}'s DequeueMany and DequeueUpTo require the components to have specified shapes.", facts_.pads() ? "FIFOQueue" : facts_.kind);
}

}  // namespace troupe
