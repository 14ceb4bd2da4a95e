// Broadcasting as an op: BroadcastTo, BroadcastArgs and BroadcastGradientArgs.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/index_values.hpp>
#include <troupe/ops/math/joint_broadcast.hpp>

#include <algorithm>
#include <vector>

namespace troupe {
namespace {

using Sizes = std::vector<std::int64_t>;

std::string text_of(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ",")); }

/// Sizes from the last dimension on, 1 beyond the first.
std::int64_t size_at(const Sizes& s, std::size_t from_end) { return from_end < s.size() ? s[s.size() - 1 - from_end] : 1; }

StatusOr<Sizes> sizes_of(const Tensor& t, int input) {
  if (t.rank() != 1) return invalid("In[{}] must be a vector.{}", input, t.shape());
  return index_values(t);
}

StatusOr<std::pair<Sizes, Sizes>> compatible_sizes(const Tensor& left, const Tensor& right) {
  TRY_ASSIGN(Sizes a, sizes_of(left, 0));
  TRY_ASSIGN(Sizes b, sizes_of(right, 1));
  for (std::size_t d = 0; d < std::max(a.size(), b.size()); ++d) {
    const std::int64_t m = size_at(a, d), n = size_at(b, d);
    if (m != n && m != 1 && n != 1) return invalid("Incompatible shapes: {} vs. {}", text_of(a), text_of(b));
  }
  return std::pair{std::move(a), std::move(b)};
}

template <class T>
void set_vector(Call& call, int output, const Sizes& values) {
  std::transform(values.begin(), values.end(), call.alloc<T>(output, Shape{static_cast<std::int64_t>(values.size())}),
                 [](std::int64_t v) { return static_cast<T>(v); });
}

template <class T>
Status broadcast_args(Call& call, const In<T>& left, const In<T>& right) {
  TRY_ASSIGN(const auto sizes, compatible_sizes(left.tensor, right.tensor));
  const auto& [a, b] = sizes;
  Sizes joint(std::max(a.size(), b.size()));
  for (std::size_t d = 0; d < joint.size(); ++d) {
    const std::int64_t m = size_at(a, d), n = size_at(b, d);
    joint[joint.size() - 1 - d] = m == 1 ? n : m;
  }
  set_vector<T>(call, 0, joint);
  return absl::OkStatus();
}

/// The axes over which each gradient is summed. Where both are 1 it is both, unless the shapes are equal as a whole.
template <class T>
Status gradient_args(Call& call, const In<T>& left, const In<T>& right) {
  TRY_ASSIGN(const auto sizes, compatible_sizes(left.tensor, right.tensor));
  const auto& [a, b] = sizes;
  Sizes left_axes, right_axes;
  const std::size_t rank = a == b ? 0 : std::max(a.size(), b.size());
  for (std::size_t d = rank; d-- > 0;) {
    const auto axis = static_cast<std::int64_t>(rank - 1 - d);
    if (size_at(a, d) == 1) left_axes.push_back(axis);
    if (size_at(b, d) == 1) right_axes.push_back(axis);
  }
  set_vector<T>(call, 0, left_axes);
  set_vector<T>(call, 1, right_axes);
  return absl::OkStatus();
}

Status broadcast_to(Call& call, const Tensor& x, const Tensor& wanted) {
  if (wanted.rank() != 1) return invalid("shape must be a vector of {{int32,int64}}, got shape {}", wanted.shape());
  TRY_ASSIGN(const Shape shape, make_shape(index_values(wanted)));
  if (x.shape() == shape) {
    call.set(0, x);
    return absl::OkStatus();
  }
  if (x.rank() > shape.rank()) return invalid("Rank of input ({}) must be no greater than rank of output shape ({}).", x.rank(), shape.rank());
  auto joint = JointBroadcast<2>::of({&x.shape(), &shape});
  if (!joint) return invalid("Incompatible shapes: {} vs. {}", x.shape(), shape);
  if (joint->output != shape) return invalid("Unable to broadcast tensor of shape {} to tensor of shape {}", x.shape(), shape);
  const Dims to = steps_of(shape);
  Walk walk;
  for (std::size_t d = 0; d < to.size(); ++d) walk.add(shape.dim(static_cast<int>(d)), joint->steps[0][d], to[d]);
  copy_along(walk, x, call.alloc(0, x.dtype(), shape));
  return absl::OkStatus();
}

}  // namespace

void add_broadcasting(Registry& ops) {
  ops.add("BroadcastTo", [](Call& call, Any x, Any shape) { return broadcast_to(call, x.tensor, shape.tensor); });
  ops.add({"BroadcastArgs"}, indices{}, []<class T>(Call& call, In<T> a, In<T> b) { return broadcast_args(call, a, b); });
  ops.add({"BroadcastGradientArgs"}, indices{}, []<class T>(Call& call, In<T> a, In<T> b) { return gradient_args(call, a, b); });
}

}  // namespace troupe
