// Gradients of convolutions whose channels are in groups: one convolution for each group.
#pragma once

#include <troupe/ops/nn/conv.hpp>

#include <vector>

namespace troupe {

namespace groups {

/// Columns [first, first + count) of a matrix with `width` columns.
template <class T>
std::vector<T> pick(const T* from, std::int64_t rows, std::int64_t width, std::int64_t first, std::int64_t count) {
  std::vector<T> part(static_cast<std::size_t>(rows * count));
  for (std::int64_t r = 0; r < rows; ++r) std::copy_n(from + r * width + first, count, part.data() + r * count);
  return part;
}
template <class T>
void put(const std::vector<T>& part, T* to, std::int64_t rows, std::int64_t width, std::int64_t first, std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r) std::copy_n(part.data() + r * count, count, to + r * width + first);
}
inline Convolution one(Convolution c) {
  c.in_channels = c.group_channels();
  c.out_channels /= c.groups;
  c.groups = 1;
  return c;
}

}  // namespace groups

/// As convolve_back, for any number of groups.
template <class T>
void convolve_back_groups(const Convolution& c, const T* filter, const T* gradient, T* input) {
  if (c.groups == 1) return convolve_back(c, filter, gradient, input);
  const Convolution part = groups::one(c);
  std::vector<T> in(static_cast<std::size_t>(c.batch * c.inputs() * part.in_channels));
  for (std::int64_t g = 0; g < c.groups; ++g) {
    const auto w = groups::pick(filter, c.taps() * part.in_channels, c.out_channels, g * part.out_channels, part.out_channels);
    const auto out = groups::pick(gradient, c.batch * c.positions(), c.out_channels, g * part.out_channels, part.out_channels);
    convolve_back(part, w.data(), out.data(), in.data());
    groups::put(in, input, c.batch * c.inputs(), c.in_channels, g * part.in_channels, part.in_channels);
  }
}

/// As correlate, for any number of groups.
template <class T>
void correlate_groups(const Convolution& c, const T* input, const T* gradient, T* filter) {
  if (c.groups == 1) return correlate(c, input, gradient, filter);
  const Convolution part = groups::one(c);
  std::vector<T> w(static_cast<std::size_t>(c.taps() * part.in_channels * part.out_channels));
  for (std::int64_t g = 0; g < c.groups; ++g) {
    const auto in = groups::pick(input, c.batch * c.inputs(), c.in_channels, g * part.in_channels, part.in_channels);
    const auto out = groups::pick(gradient, c.batch * c.positions(), c.out_channels, g * part.out_channels, part.out_channels);
    correlate(part, in.data(), out.data(), w.data());
    groups::put(w, filter, c.taps() * part.in_channels, c.out_channels, g * part.out_channels, part.out_channels);
  }
}

}  // namespace troupe
