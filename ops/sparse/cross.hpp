// Crosses of features: all combinations of one feature of each column, row by row, joined to a text or to a fingerprint.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/messaging/tensor.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace troupe {

/// Features (int64 or string); those of row b are elements [splits[b], splits[b + 1]) of the values.
struct FeatureColumn {
  const Tensor* values;
  std::vector<std::int64_t> splits;
  bool dense = false;

  std::int64_t count(std::int64_t row) const { return splits[static_cast<std::size_t>(row) + 1] - splits[static_cast<std::size_t>(row)]; }
  bool is_text() const { return values->dtype() == DType::string; }
};
using FeatureColumns = std::vector<FeatureColumn>;

FeatureColumn dense_column(const Tensor& matrix);

/// Where the crosses of each row begin; the last entry is their number. Refuses more than can be counted.
StatusOr<std::vector<std::int64_t>> cross_splits(const FeatureColumns& columns, std::int64_t rows);

/// Joins the features at these places, one of each column.
template <class T>
using Joiner = std::function<T(std::span<const std::int64_t>)>;
/// The texts of features with a separator between them.
Joiner<std::string> join_texts(const FeatureColumns& columns, std::string separator);
/// Fingerprints joined one after the other from a start on, or from that of the first column where there is no start.
using Fingerprint = std::function<std::uint64_t(const FeatureColumn&, std::int64_t)>;
Joiner<std::int64_t> join_fingerprints(const FeatureColumns& columns, Fingerprint print, const std::uint64_t* start, std::int64_t buckets);
/// The fingerprint of a text; a number stands for itself.
std::uint64_t plain_fingerprint(const FeatureColumn& column, std::int64_t at);

/// Writes all crosses; the feature of the last column changes fastest.
template <class T>
void write_crosses(const FeatureColumns& columns, std::int64_t rows, const Joiner<T>& join, T* out) {
  std::vector<std::int64_t> at(columns.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    bool more = true;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      at[c] = columns[c].splits[static_cast<std::size_t>(row)];
      more = more && columns[c].count(row) > 0;
    }
    while (more) {
      *out++ = join(at);
      more = false;
      for (std::size_t c = columns.size(); c-- > 0 && !more;) {
        more = ++at[c] < columns[c].splits[static_cast<std::size_t>(row) + 1];
        if (!more) at[c] = columns[c].splits[static_cast<std::size_t>(row)];
      }
    }
  }
}

}  // namespace troupe
