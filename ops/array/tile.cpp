// A tensor repeated along its dimensions, and the sum of such repeats.
#include <troupe/ops/array/tables.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/wrap.hpp>

namespace troupe {
namespace {

bool tiles(DType dtype) {
  if (dtype == DType::u16) return false;
  return dtype == DType::boolean || dtype == DType::string || dtype == DType::variant || visit_dtype(numbers{}, dtype, []<class T>() {});
}

StatusOr<Dims> check_multiples(const Tensor& multiples, int rank) {
  if (multiples.rank() != 1) return invalid("Expected multiples to be 1-D, but got shape {}", multiples.shape());
  if (multiples.size() != rank) return invalid("Expected multiples argument to be a vector of length {} but got length {}", rank, multiples.size());
  Dims dims = as_dims(multiples);
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] < 0) return invalid("Expected multiples[{}] >= 0, but got {}", d, dims[d]);
  return dims;
}

Status tile(Call& call, const Tensor& x, const Tensor& multiples) {
  TRY_ASSIGN(const Dims times, check_multiples(multiples, x.rank()));
  if (x.rank() == 0) {
    call.set(0, x);
    return absl::OkStatus();
  }
  Shape shape;
  std::int64_t total = 1;
  for (std::size_t d = 0; d < times.size(); ++d) {
    std::int64_t n = 0, product = 0;
    if (__builtin_mul_overflow(x.dim(static_cast<int>(d)), times[d], &n) || __builtin_mul_overflow(total, n, &product))
      return invalid("Encountered overflow when multiplying {} with {}, result: -1", total, n);
    total = product;
    shape.add_dim(n);
  }
  if (!tiles(x.dtype()) && total > 0)
    return unimplemented("TileOp : The input data type is not supported, DataType : {}, Dimension : {}", name_of(x.dtype()), x.rank());
  const Dims from = steps_of(x.shape()), to = steps_of(shape);
  Walk walk;
  for (std::size_t d = 0; d < times.size(); ++d) {
    const std::int64_t n = x.dim(static_cast<int>(d));
    walk.add(times[d], 0, n * to[d]);
    walk.add(n, from[d], to[d]);
  }
  copy_along(walk, x, call.alloc(0, x.dtype(), shape));
  return absl::OkStatus();
}

/// Sums the tiles: TensorFlow's kernel for it can no longer be chosen, graphs that name it are old.
Status tile_gradient(Call& call, const Tensor& x, const Tensor& multiples) {
  TRY_ASSIGN(const Dims times, check_multiples(multiples, x.rank()));
  Shape shape;
  for (std::size_t d = 0; d < times.size(); ++d) {
    const std::int64_t n = x.dim(static_cast<int>(d));
    if (times[d] < 1 || n % times[d] != 0)
      return invalid("Expected input_dim[{}] to be divisible by multiples[{}], but {} % {} != 0", d, d, n, times[d]);
    shape.add_dim(n / times[d]);
  }
  const Dims steps = steps_of(shape);
  Tables places;
  for (std::size_t d = 0; d < times.size(); ++d) {
    auto& table = places.tables.emplace_back();
    for (std::int64_t i = 0; i < x.dim(static_cast<int>(d)); ++i) table.push_back(i % shape.dim(static_cast<int>(d)) * steps[d]);
  }
  call.set(0, Tensor::zeros(x.dtype(), shape));
  visit_dtype(numbers{}, x.dtype(), [&]<class T>() {
    const T* from = x.data<T>();
    T* to = call.out(0).mutable_data<T>();
    places.for_each([&](std::int64_t at) { to[at] = wrap_add(to[at], *from++); });
  });
  return absl::OkStatus();
}

}  // namespace

void add_tile(Registry& ops) {
  add_for(ops, "Tile", {}, [](Call& call, Any x, Any multiples) { return tile(call, x.tensor, multiples.tensor); });
  add_for(ops, "TileGrad", {{"T", dtypes::numeric()}},
          [](Call& call, Any x, Any multiples) { return tile_gradient(call, x.tensor, multiples.tensor); });
}

}  // namespace troupe
