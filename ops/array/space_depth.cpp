// Blocks of an image moved to its depth, and back.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

/// From [b, h, size, w, size, depth] (space) to [b, h, w, size, size, depth] (depth).
Walk blocks_to_depth(std::int64_t batch, std::int64_t h, std::int64_t w, std::int64_t size, std::int64_t depth) {
  const std::int64_t row = w * size * depth, pixel = size * size * depth;
  Walk walk;
  walk.add(batch * h, size * row, w * pixel);
  walk.add(size, row, size * depth);
  walk.add(w, size * depth, pixel);
  walk.add(size * depth, 1, 1);
  return walk;
}

Status check_attributes(std::int64_t size, const std::string& format) {
  // What is larger would overflow when squared, and blocks no image.
  constexpr std::int64_t largest = 32767;
  if (size < 2 || size > largest) return invalid("Block size should be > 1, but was: {}", size);
  if (format != "NHWC") return unimplemented("Only NHWC data_format supported on CPU. Got {}", format);
  return absl::OkStatus();
}

Status space_to_depth(Call& call, const Tensor& x, std::int64_t size) {
  if (x.rank() != 4) return invalid("Input rank should be 4 instead of {}", x.rank());
  const std::int64_t h = x.dim(1), w = x.dim(2);
  if (h % size != 0 || w % size != 0) return invalid("Image width {} and height {} should be divisible by block_size: {}", w, h, size);
  TRY_ASSIGN(const Shape shape, Shape::checked(Shape{x.dim(0), h / size, w / size, x.dim(3) * size * size}.dims()));
  copy_along(blocks_to_depth(x.dim(0), h / size, w / size, size, x.dim(3)), x, call.alloc(0, x.dtype(), shape));
  return absl::OkStatus();
}

Status depth_to_space(Call& call, const Tensor& x, std::int64_t size) {
  if (x.rank() != 4) return invalid("Input rank should be: 4 instead of: {}", x.rank());
  if (x.dim(3) % (size * size) != 0) return invalid("Input depth dimension {} should be divisible by: {}", x.dim(3), size * size);
  const std::int64_t depth = x.dim(3) / (size * size);
  TRY_ASSIGN(const Shape shape, Shape::checked(Shape{x.dim(0), x.dim(1) * size, x.dim(2) * size, depth}.dims()));
  Walk walk = blocks_to_depth(x.dim(0), x.dim(1), x.dim(2), size, depth);
  std::swap(walk.from_step, walk.to_step);
  copy_along(walk, x, call.alloc(0, x.dtype(), shape));
  return absl::OkStatus();
}

}  // namespace

void add_space_depth(Registry& ops) {
  using Size = Attr<"block_size", std::int64_t>;
  using Format = Attr<"data_format", std::string>;
  add_for(ops, "SpaceToDepth", {{"T", dtypes::all() + DTypes{DType::qi8}}}, [](Call& call, Any x, Size size, Format format) -> Status {
    TRY(check_attributes(size, *format));
    return space_to_depth(call, x.tensor, size);
  });
  add_for(ops, "DepthToSpace", {{"T", dtypes::all()}}, [](Call& call, Any x, Size size, Format format) -> Status {
    TRY(check_attributes(size, *format));
    return depth_to_space(call, x.tensor, size);
  });
}

}  // namespace troupe
