// Handwritten digits in the idx format, plain or packed by gzip.
#pragma once

#include <troupe/messaging/tensor.hpp>

#include <string>
#include <vector>

namespace troupe::lab {

struct Digits {
  std::vector<float> images;  // 784 numbers between 0 and 1 for each
  std::vector<std::int64_t> labels;
  std::size_t size() const { return labels.size(); }
  Tensor images_of(const std::vector<std::size_t>& which) const;
  Tensor labels_of(const std::vector<std::size_t>& which) const;
};

/// `which` is "train" or "t10k".
StatusOr<Digits> read_digits(const std::string& directory, const std::string& which);

}  // namespace troupe::lab
