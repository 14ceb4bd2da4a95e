// Row splits of either type.
#include <troupe/ops/ragged/splits.hpp>

#include <troupe/ops/array/storage.hpp>

namespace troupe {

std::vector<std::int64_t> split_values(const Tensor& splits) {
  std::vector<std::int64_t> result;
  by_index(splits.dtype(), [&]<class I>() { result.assign(splits.values<I>().begin(), splits.values<I>().end()); });
  return result;
}

Tensor splits_tensor(DType dtype, const std::vector<std::int64_t>& splits) {
  Tensor t(dtype, Shape{static_cast<std::int64_t>(splits.size())});
  by_index(dtype, [&]<class I>() { std::copy(splits.begin(), splits.end(), t.mutable_data<I>()); });
  return t;
}

}  // namespace troupe
