// From begin, end, strides and five masks to what a strided slice means.
#include <troupe/ops/array/strided.hpp>

namespace troupe {
namespace {

bool has(std::int64_t mask, std::size_t bit) { return bit < 32 && ((mask >> bit) & 1) != 0; }

/// One dimension of what is sliced, as the arguments state it.
struct Range {
  std::int64_t begin = 0, end = 0, stride = 1;
  bool from_start = true, to_end = true, single = false;
};

constexpr std::int64_t new_dimension = -1, no_dimension = -2;

/// The arguments spread over all dimensions: ellipsis and new axes resolved.
struct Spread {
  std::vector<Range> ranges;
  Dims kept;  // dimension of the result by dimension; new_dimension or no_dimension
};

StatusOr<Spread> spread(std::size_t rank, const Dims& begin, const Dims& end, const Dims& strides, const StridedMasks& masks) {
  std::size_t given = strides.size(), after_ellipsis = 0;
  bool seen = false;
  for (std::size_t i = 0; i < given; ++i) {
    if (seen && has(masks.new_axis, i)) ++after_ellipsis;
    seen = seen || has(masks.ellipsis, i);
  }
  Spread s;
  auto take_all = [&](std::size_t until) {
    while (s.ranges.size() < until) {
      s.kept.push_back(static_cast<std::int64_t>(s.ranges.size()));
      s.ranges.push_back(Range{});
    }
  };
  for (std::size_t i = 0; i < given; ++i) {
    if (has(masks.ellipsis, i)) {
      const std::size_t behind = given - i - 1 - std::min(after_ellipsis, given - i - 1);
      take_all(rank > behind ? rank - behind : 0);
    } else if (has(masks.new_axis, i)) {
      s.kept.push_back(new_dimension);
    } else if (s.ranges.size() == rank) {
      if (rank == 0) return invalid("Attempting to slice scalar input.");
      return invalid("Index out of range using input dim {}; input has only {} dims", rank, rank);
    } else {
      const bool single = has(masks.shrink_axis, i);
      s.kept.push_back(single ? no_dimension : static_cast<std::int64_t>(s.ranges.size()));
      s.ranges.push_back(Range{begin[i], end[i], strides[i], has(masks.begin, i), has(masks.end, i), single});
    }
  }
  take_all(rank);
  return s;
}

/// Brings a range into the bounds of a dimension of n.
Status settle(Range& r, std::int64_t n, int dimension) {
  if (r.stride == 0) return invalid("strides[{}] must be non-zero", dimension);
  if (r.single && r.stride < 0) return invalid("only stride 1 allowed on non-range indexing.");
  if (r.single) {
    r.begin = r.begin < 0 ? n + r.begin : r.begin;
    if (r.begin < 0 || r.begin >= n) return invalid("slice index {} of dimension {} out of bounds.", r.begin, dimension);
    r.end = r.begin + 1;
    return absl::OkStatus();
  }
  const std::int64_t lowest = r.stride > 0 ? 0 : -1, highest = r.stride > 0 ? n : n - 1;
  auto bounded = [&](std::int64_t x) { return std::clamp(x < 0 ? n + x : x, lowest, highest); };
  r.begin = r.from_start ? (r.stride > 0 ? lowest : highest) : bounded(r.begin);
  r.end = r.to_end ? (r.stride > 0 ? highest : lowest) : bounded(r.end);
  return absl::OkStatus();
}

std::int64_t count(const Range& r) {
  const std::int64_t length = r.end - r.begin;
  if (length == 0 || (length < 0) != (r.stride < 0)) return 0;
  return length / r.stride + (length % r.stride != 0 ? 1 : 0);
}

}  // namespace

StatusOr<Strided> Strided::of(const Shape& shape, const Tensor& begin, const Tensor& end, const Tensor& strides, const StridedMasks& masks) {
  if (begin.rank() != 1 || end.rank() != 1 || strides.rank() != 1 || begin.size() != strides.size() || end.size() != strides.size() ||
      begin.size() >= 32)
    return invalid("Expected begin, end, and strides to be 1D equal size tensors, but got shapes {}, {}, and {} instead.", begin.shape(), end.shape(),
                   strides.shape());
  if ((masks.ellipsis & (masks.ellipsis - 1)) != 0) return invalid("Multiple ellipses in slice spec not allowed");
  TRY_ASSIGN(Spread all, spread(static_cast<std::size_t>(shape.rank()), as_dims(begin), as_dims(end), as_dims(strides), masks));
  Strided s;
  for (int d = 0; d < shape.rank(); ++d) {
    Range& r = all.ranges[static_cast<std::size_t>(d)];
    TRY(settle(r, shape.dim(d), d));
    s.begin.push_back(r.begin);
    s.stride.push_back(r.stride);
    s.size.push_back(count(r));
  }
  for (std::int64_t d : all.kept) {
    if (d == no_dimension) continue;
    s.kept.push_back(d);
    s.result.add_dim(d == new_dimension ? 1 : s.size[static_cast<std::size_t>(d)]);
  }
  return s;
}

bool Strided::is_rows(const Shape& shape) const {
  for (std::size_t d = 0; d < size.size(); ++d)
    if (stride[d] != 1 || (d > 0 && (begin[d] != 0 || size[d] != shape.dim(static_cast<int>(d))))) return false;
  return true;
}

Walk Strided::reading(const Shape& shape) const {
  const Dims steps = steps_of(shape);
  Walk walk;
  std::int64_t contiguous = 1;
  for (std::int64_t n : size) contiguous *= n;
  for (std::size_t d = 0; d < size.size(); ++d) {
    contiguous = size[d] > 0 ? contiguous / size[d] : 0;
    walk.from += begin[d] * steps[d];
    // A stride beyond the end is never taken, and could overflow.
    walk.add(size[d], size[d] > 1 ? stride[d] * steps[d] : 0, contiguous);
  }
  return walk;
}

}  // namespace troupe
