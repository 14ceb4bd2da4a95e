// Request ids that were seen lately: a repeat is refused.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe {

class RecentIds {
 public:
  explicit RecentIds(std::size_t window) : window_(window) {}

  /// False when the id was among the last ones; 0 is no id and always new.
  bool remember(std::int64_t id) {
    if (id == 0) return true;
    if (!known_.insert(id).second) return false;
    if (order_.size() < window_) {
      order_.push_back(id);
      return true;
    }
    known_.erase(order_[next_]);
    order_[next_] = id;
    next_ = (next_ + 1) % window_;
    return true;
  }

  bool contains(std::int64_t id) const { return known_.contains(id); }
  void forget(std::int64_t id) { known_.erase(id); }

 private:
  std::size_t window_, next_ = 0;
  std::vector<std::int64_t> order_;
  boost::unordered_flat_set<std::int64_t> known_;
};

}  // namespace troupe
