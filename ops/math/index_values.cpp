// Widening of index tensors.
#include <troupe/ops/math/index_values.hpp>

namespace troupe {

using index_types = types<std::int16_t, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t>;

std::vector<std::int64_t> index_values(const Tensor& t) {
  std::vector<std::int64_t> all;
  visit_dtype(index_types{}, t.dtype(), [&]<class T>() {
    auto values = t.values<T>();
    all.assign(values.begin(), values.end());
  });
  return all;
}

std::int64_t index_value(const Tensor& t) {
  std::int64_t value = 0;
  visit_dtype(index_types{}, t.dtype(), [&]<class T>() { value = static_cast<std::int64_t>(t.item<T>()); });
  return value;
}

}  // namespace troupe
