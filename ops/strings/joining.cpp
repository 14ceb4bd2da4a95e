// Strings put together: element by element, along dimensions, and by segment.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>

namespace troupe {
namespace {

Status join_elements(Call& call, const List& inputs, const std::string& separator) {
  const Tensor* whole = nullptr;
  for (int i = 0; i < inputs.size(); ++i) {
    if (inputs[i].rank() == 0) continue;
    if (whole && whole->shape() != inputs[i].shape()) return invalid("Input shapes do not match: {} vs. {}", whole->shape(), inputs[i].shape());
    if (!whole) whole = &inputs[i];
  }
  Tensor& out = call.alloc(0, DType::string, whole ? whole->shape() : Shape{});
  for (std::int64_t at = 0; at < out.size(); ++at) {
    std::string& text = out.mutable_data<std::string>()[at];
    for (int i = 0; i < inputs.size(); ++i) {
      if (i > 0) text += separator;
      text += inputs[i].data<std::string>()[inputs[i].rank() == 0 ? 0 : at];
    }
  }
  return absl::OkStatus();
}

/// Dimensions to join along, in the order in which they were given; each in range and once.
StatusOr<Dims> reduction_dimensions(const Tensor& given, int rank) {
  Dims dims;
  for (std::int64_t d : as_dims(given)) {
    const std::int64_t at = d < 0 ? d + rank : d;
    if (at < 0 || at >= rank) return out_of_range("Invalid reduction dimension {} for input with {} dimension(s)", d, rank);
    if (std::find(dims.begin(), dims.end(), at) != dims.end()) return invalid("Duplicate reduction dimension {}", d);
    dims.push_back(at);
  }
  return dims;
}

/// Moves on to the next position of the dimensions in `order`, the last varying fastest; false after the last.
bool advance(Dims& at, const Dims& order, const Shape& shape) {
  for (std::size_t i = order.size(); i-- > 0;) {
    std::int64_t& x = at[static_cast<std::size_t>(order[i])];
    if (++x < shape.dim(static_cast<int>(order[i]))) return true;
    x = 0;
  }
  return false;
}

std::int64_t offset_of(const Dims& at, const Shape& shape) {
  std::int64_t offset = 0;
  for (int d = 0; d < shape.rank(); ++d) offset = offset * shape.dim(d) + at[static_cast<std::size_t>(d)];
  return offset;
}

Status reduce_join(Call& call, const Tensor& x, const Tensor& given, bool keep, const std::string& separator) {
  TRY_ASSIGN(Dims reduced, reduction_dimensions(given, x.rank()));
  // The dimension that was named first varies fastest.
  std::reverse(reduced.begin(), reduced.end());
  Dims kept;
  Shape shape;
  std::int64_t joined = 1;
  for (int d = 0; d < x.rank(); ++d) {
    const bool along = std::find(reduced.begin(), reduced.end(), d) != reduced.end();
    if (along) joined *= x.dim(d);
    else kept.push_back(d);
    if (!along) shape.add_dim(x.dim(d));
    else if (keep) shape.add_dim(1);
  }
  Tensor& out = call.alloc(0, DType::string, shape);
  if (out.size() == 0 || joined == 0) return absl::OkStatus();
  Dims at(static_cast<std::size_t>(x.rank()), 0);
  for (std::int64_t o = 0; o < out.size(); ++o) {
    std::string& text = out.mutable_data<std::string>()[o];
    for (std::int64_t i = 0; i < joined; ++i) {
      if (i > 0) text += separator;
      text += x.data<std::string>()[offset_of(at, x.shape())];
      advance(at, reduced, x.shape());
    }
    advance(at, kept, x.shape());
  }
  return absl::OkStatus();
}

Status join_segments(Call& call, const Tensor& x, const Tensor& ids, const Tensor& count, const std::string& separator) {
  if (count.rank() != 0) return invalid("Number of segments must be a scalar");
  const std::int64_t segments = as_integer(count);
  if (segments < 0) return invalid("Number of segments must be non-negative but got {}", segments);
  if (ids.rank() == 0) return invalid("Segment_id cannot have rank 0");
  if (ids.rank() > x.rank()) return out_of_range("Invalid segment_id rank {} for input with {} dimension(s)", ids.rank(), x.rank());
  for (int d = 0; d < ids.rank(); ++d)
    if (ids.dim(d) != x.dim(d)) return invalid("Segment dimension is {} while input dimension is {} in rank {}", ids.dim(d), x.rank(), d);
  Dims dims{segments};
  for (int d = ids.rank(); d < x.rank(); ++d) dims.push_back(x.dim(d));
  TRY_ASSIGN(Shape shape, Shape::checked(std::span<const std::int64_t>(dims.data(), dims.size())));
  const Dims to = as_dims(ids);
  for (std::int64_t id : to)
    if (id < 0 || id >= segments) return invalid("segment_ids are not allowed to exceed num_segments or to have negative values.");
  Tensor& out = call.alloc(0, DType::string, shape);
  const std::int64_t row = shape.elements(1, shape.rank());
  for (std::size_t i = 0; i < to.size(); ++i)
    for (std::int64_t k = 0; k < row; ++k) {
      std::string& text = out.mutable_data<std::string>()[to[i] * row + k];
      if (!text.empty()) text += separator;
      text += x.data<std::string>()[static_cast<std::int64_t>(i) * row + k];
    }
  return absl::OkStatus();
}

}  // namespace

void add_joining(Registry& ops) {
  ops.add("StringJoin", [](Call& call, List inputs, Attr<"separator", std::string> separator) { return join_elements(call, inputs, *separator); });
  ops.add("ReduceJoin", [](Call& call, In<std::string> x, In<std::int32_t> dimensions, Attr<"keep_dims", bool> keep,
                           Attr<"separator", std::string> separator) { return reduce_join(call, x.tensor, dimensions.tensor, *keep, *separator); });
  ops.add("UnsortedSegmentJoin", [](Call& call, In<std::string> x, Any ids, Any count, Attr<"separator", std::string> separator) {
    return join_segments(call, x.tensor, ids.tensor, count.tensor, *separator);
  });
}

}  // namespace troupe
