// Sorted segments: checks that all their ops share, and the walk over runs of equal ids.
#pragma once

#include <troupe/messaging/status.hpp>

#include <cstdint>
#include <span>

namespace troupe {

/// One past the last id; fails when that is negative.
StatusOr<std::int64_t> segment_count(std::span<const std::int64_t> ids);
/// Fails unless a run of `id` that ends where `next` begins may be written to one of `rows`.
Status check_run(std::int64_t id, std::int64_t next, bool last, std::int64_t rows);

/// Calls run(id, first, last) for each run of equal ids, and gap(first, last) for ids without elements, in order.
template <class Run, class Gap>
Status for_each_run(std::span<const std::int64_t> ids, std::int64_t rows, Run&& run, Gap&& gap) {
  const auto n = static_cast<std::int64_t>(ids.size());
  std::int64_t filled = 0;
  for (std::int64_t first = 0, last = 0; first < n; first = last) {
    const std::int64_t id = ids[static_cast<std::size_t>(first)];
    while (last < n && ids[static_cast<std::size_t>(last)] == id) ++last;
    TRY(check_run(id, last < n ? ids[static_cast<std::size_t>(last)] : id, last == n, rows));
    gap(filled, id);
    TRY(run(id, first, last));
    filled = id + 1;
  }
  gap(filled, rows);
  return Status();
}

}  // namespace troupe
