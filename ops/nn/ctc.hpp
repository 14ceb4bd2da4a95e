// What the ops of connectionist temporal classification share.
#pragma once

#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace troupe {

inline constexpr double log_zero = -std::numeric_limits<double>::infinity();

/// log(exp(a) + exp(b)), with the rounding of TensorFlow, which computes what the smaller one adds in float.
inline double log_sum(double a, double b) {
  if (a == log_zero) return b;
  if (b == log_zero) return a;
  const float difference = static_cast<float>(a > b ? b - a : a - b);
  return std::max(a, b) + static_cast<double>(std::log1p(std::exp(difference)));
}

/// Sizes of a batch of sequences of class scores [time, batch, classes].
struct CtcSizes {
  std::int64_t time, batch, classes;

  static StatusOr<CtcSizes> of(const Shape& inputs, const In<std::int32_t>& lengths) {
    if (inputs.rank() != 3) return invalid("inputs is not a 3-Tensor");
    if (lengths.dims() != 1) return invalid("sequence_length is not a vector");
    const CtcSizes s{inputs[0], inputs[1], inputs[2]};
    if (s.time == 0) return invalid("max_time is 0");
    if (s.batch == 0) return invalid("batch_size is 0");
    if (lengths.size() != s.batch)
      return failed_precondition("len(sequence_length) != batch_size.  len(sequence_length):  {} batch_size: {}", lengths.size(), s.batch);
    return s;
  }
};

/// Labels of each sequence as the three tensors of a sparse one.
inline void put_sparse(Call& call, int indices_at, int values_at, int shape_at, const std::vector<std::vector<std::int64_t>>& labels) {
  std::int64_t count = 0, longest = 0, next = 0;
  for (const auto& l : labels) {
    count += static_cast<std::int64_t>(l.size());
    longest = std::max(longest, static_cast<std::int64_t>(l.size()));
  }
  std::int64_t* indices = call.alloc<std::int64_t>(indices_at, Shape{count, 2});
  std::int64_t* values = call.alloc<std::int64_t>(values_at, Shape{count});
  for (std::size_t b = 0; b < labels.size(); ++b)
    for (std::size_t i = 0; i < labels[b].size(); ++i, ++next) {
      indices[2 * next] = static_cast<std::int64_t>(b);
      indices[2 * next + 1] = static_cast<std::int64_t>(i);
      values[next] = labels[b][i];
    }
  const std::int64_t shape[] = {static_cast<std::int64_t>(labels.size()), longest};
  call.set(shape_at, Tensor::vector<std::int64_t>(std::span<const std::int64_t>(shape)));
}

}  // namespace troupe
