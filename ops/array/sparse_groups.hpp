// The rows of a sparse tensor's indices in groups: runs that agree in all dimensions but the last.
#pragma once

#include <troupe/messaging/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace troupe {

/// Goes through the groups in the order of the rows; indices is a matrix of int64 with at least two columns, or none.
class SparseGroups {
 public:
  SparseGroups(const Tensor& indices, std::size_t rank) : data_(indices.data<std::int64_t>()), rows_(indices.dim(0)), rank_(rank) { find_end(); }

  bool done() const { return first_ >= rows_; }
  /// The coordinates that the rows of this group share.
  std::span<const std::int64_t> key() const { return row(first_).first(rank_ - 1); }
  std::int64_t first() const { return first_; }
  std::int64_t last() const { return last_; }  // behind the group
  std::span<const std::int64_t> row(std::int64_t i) const { return {data_ + i * static_cast<std::int64_t>(rank_), rank_}; }
  void next() {
    first_ = last_;
    find_end();
  }

 private:
  void find_end() {
    last_ = first_ + 1;
    while (last_ < rows_ && std::ranges::equal(row(last_).first(rank_ - 1), key())) ++last_;
  }

  const std::int64_t* data_;
  std::int64_t rows_;
  std::size_t rank_;
  std::int64_t first_ = 0, last_ = 0;
};

/// -1, 0 or 1 as the first group comes before, with or after the second; one that is done comes last.
inline int compare_groups(const SparseGroups& a, const SparseGroups& b) {
  if (a.done() || b.done()) return a.done() ? 1 : -1;
  const auto order = std::lexicographical_compare_three_way(a.key().begin(), a.key().end(), b.key().begin(), b.key().end());
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

}  // namespace troupe
