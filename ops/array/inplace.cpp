// Rows of a tensor replaced or added to, by index modulo their number.
#include <troupe/ops/array/combine.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

bool combines(DType dtype, Combine how) {
  if (how == Combine::update && (dtype == DType::boolean || dtype == DType::string)) return true;
  return visit_dtype(numbers{}, dtype, []<class T>() {});
}

Status check_shapes(const Tensor& x, const Tensor& i, const Tensor& v) {
  if (i.rank() != 1) return invalid("i must be a vector. {}", i.shape());
  if (x.rank() != v.rank()) return invalid("x and v shape doesn't match (ranks differ): {} vs. {}", x.shape(), v.shape());
  for (int d = 1; d < x.rank(); ++d)
    if (x.dim(d) != v.dim(d)) return invalid("x and v shape doesn't match at index {} : {} vs. {}", d, x.shape(), v.shape());
  if (v.rank() < 1 || i.dim(0) != v.dim(0)) return invalid("i and x shape doesn't match at index 0: {} vs. {}", i.shape(), v.shape());
  return absl::OkStatus();
}

Status inplace(Call& call, const Tensor& x, const Tensor& i, const Tensor& v, Combine how) {
  TRY(check_shapes(x, i, v));
  if (!combines(x.dtype(), how)) return invalid("Unsupported data type: {}", name_of(x.dtype()));
  const std::int64_t rows = x.dim(0), size = x.shape().elements(1, x.rank());
  call.set(0, x.unique() ? x : x.copy());
  if (rows == 0) return absl::OkStatus();
  std::vector<std::int64_t> offsets;
  for (std::int64_t row : as_dims(i)) offsets.push_back((row % rows + rows) % rows * size);
  combine_slices(how, call.out(0), offsets, size, v, false);
  return absl::OkStatus();
}

}  // namespace

void add_inplace(Registry& ops) {
  for (auto [name, how] : {std::pair{"InplaceUpdate", Combine::update}, {"InplaceAdd", Combine::add}, {"InplaceSub", Combine::sub}})
    add_for(ops, name, {}, [how = how](Call& call, Any x, Any i, Any v) { return inplace(call, x.tensor, i.tensor, v.tensor, how); });
}

}  // namespace troupe
