// The buckets of histograms.
#include <troupe/ops/summary/histogram.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace troupe {
namespace {

constexpr double largest = std::numeric_limits<double>::max();

/// Upper ends: from 1e-12 to 1e20 by a factor of 1.1, the same below zero, zero itself, and the largest number.
std::vector<double> make_limits() {
  std::vector<double> positive;
  for (double end = 1.0e-12; end < 1.0e20; end *= 1.1) positive.push_back(end);
  positive.push_back(largest);
  std::vector<double> all;
  for (auto end = positive.rbegin(); end != positive.rend(); ++end) all.push_back(-*end);
  all.push_back(0.0);
  all.insert(all.end(), positive.begin(), positive.end());
  return all;
}

const std::vector<double>& limits() {
  static const std::vector<double> all = make_limits();
  return all;
}

}  // namespace

Histogram::Histogram() : min_(largest), max_(-largest), buckets_(limits().size(), 0.0) {}

void Histogram::add(double value) {
  const auto end = std::upper_bound(limits().begin(), limits().end(), value);
  const auto bucket = std::min<std::size_t>(static_cast<std::size_t>(end - limits().begin()), buckets_.size() - 1);
  buckets_[bucket] += 1;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  count_ += 1;
  sum_ += value;
  squares_ += value * value;
}

void Histogram::to_proto(wire::HistogramProto* proto) const {
  proto->set_min(min_);
  proto->set_max(max_);
  proto->set_num(count_);
  proto->set_sum(sum_);
  proto->set_sum_squares(squares_);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i] == 0)
      while (i + 1 < buckets_.size() && buckets_[i + 1] == 0) ++i;
    proto->add_bucket_limit(limits()[i]);
    proto->add_bucket(buckets_[i]);
  }
}

}  // namespace troupe
