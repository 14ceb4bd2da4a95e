// Counts of values in buckets that grow exponentially, as TensorBoard expects them.
#pragma once

#include <troupe/wire/summary.pb.h>

#include <vector>

namespace troupe {

class Histogram {
 public:
  Histogram();
  /// The value is finite.
  void add(double value);
  /// Neighbouring buckets without values become one.
  void to_proto(wire::HistogramProto* proto) const;

 private:
  double min_, max_, count_ = 0, sum_ = 0, squares_ = 0;
  std::vector<double> buckets_;
};

}  // namespace troupe
