// Nodes whose inputs are there, in the order in which they became ready.
#pragma once

#include <cstddef>
#include <vector>

namespace troupe {

/// A ring that grows and never shrinks, so that a run in its stride allocates nothing.
template <class T>
class ReadyQueue {
 public:
  bool empty() const { return first_ == last_; }
  void clear() { first_ = last_ = 0; }
  void push(const T& item) {
    if (last_ - first_ == ring_.size()) grow();
    ring_[last_++ & (ring_.size() - 1)] = item;
  }
  T pop() { return ring_[first_++ & (ring_.size() - 1)]; }

 private:
  void grow() {
    std::vector<T> larger(ring_.empty() ? 16 : 2 * ring_.size());
    std::size_t count = 0;
    while (!empty()) larger[count++] = pop();
    ring_ = std::move(larger);
    first_ = 0;
    last_ = count;
  }

  std::vector<T> ring_;  // a power of two in size
  std::size_t first_ = 0, last_ = 0;
};

}  // namespace troupe
