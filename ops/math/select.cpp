// Select and SelectV2: elements, rows or the whole of one input or of the other.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/joint_broadcast.hpp>
#include <troupe/ops/parallel.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace troupe {
namespace {

using selectable = joined<numbers, types<bool, std::string, ResourceHandle, Variant>>;

Status differs_from_condition(const Call& call, const Shape& condition, int input, const Shape& shape) {
  return invalid("Inputs to operation {} of type {} must have the same size and shape.  Input 0: {} != input {}: {}", call.node().name,
                 call.node().op, condition, input, shape);
}

template <std::size_t Size>
using Unsigned = std::conditional_t<Size == 1, std::uint8_t,
                                    std::conditional_t<Size == 2, std::uint16_t, std::conditional_t<Size == 4, std::uint32_t, std::uint64_t>>>;

/// Without a branch, which data would often take unexpectedly.
template <class T>
void select_bits(const bool* which, const T* then, const T* otherwise, T* out, std::int64_t first, std::int64_t last) {
  using Bits = Unsigned<sizeof(T)>;
#pragma GCC ivdep
  for (std::int64_t i = first; i < last; ++i) {
    const Bits mask = static_cast<Bits>(Bits{0} - static_cast<Bits>(which[i]));
    const Bits a = std::bit_cast<Bits>(then[i]), b = std::bit_cast<Bits>(otherwise[i]);
    out[i] = std::bit_cast<T>(static_cast<Bits>((a & mask) | (b & static_cast<Bits>(~mask))));
  }
}

template <class T>
void select_elements(Call& call, const bool* which, const In<T>& t, const In<T>& e) {
  T* out = call.alloc<T>(0, t.shape());
  const T *then = t.data(), *otherwise = e.data();
  if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) <= 8)
    in_parallel(t.size(), 0.5, [=](std::int64_t first, std::int64_t last) { select_bits(which, then, otherwise, out, first, last); });
  else
    for (std::int64_t i = 0, n = t.size(); i < n; ++i) out[i] = which[i] ? then[i] : otherwise[i];
}

template <class T>
Status select_rows(Call& call, const In<bool>& condition, const In<T>& t, const In<T>& e) {
  if (t.dims() < 1) return invalid("'then' must be at least a vector, but saw shape: {}", t.shape());
  if (t.dim(0) != condition.size())
    return invalid("Number of batches of 'then' must match size of 'cond', but saw: {} vs. {}", t.dim(0), condition.size());
  if (t.shape() != e.shape()) return invalid("'then' and 'else' must have the same size.  but received: {} vs. {}", t.shape(), e.shape());
  T* out = call.alloc<T>(0, t.shape());
  const std::int64_t row = t.shape().elements(1, t.dims());
  for (std::int64_t i = 0; i < t.dim(0); ++i) {
    const T* from = (condition[i] ? t.data() : e.data()) + i * row;
    std::copy(from, from + row, out + i * row);
  }
  return absl::OkStatus();
}

template <class T>
Status select(Call& call, const In<bool>& condition, const In<T>& t, const In<T>& e) {
  if (condition.dims() == 0) {
    if (t.shape() != e.shape()) return invalid("'then' and 'else' must have the same size.  but received: {} vs. {}", t.shape(), e.shape());
    call.set(0, condition[0] ? t.tensor : e.tensor);
    return absl::OkStatus();
  }
  // A vector chooses rows of what is not a vector.
  if (condition.dims() == 1 && t.dims() != 1) return select_rows(call, condition, t, e);
  if (condition.shape() != t.shape()) return differs_from_condition(call, condition.shape(), 1, t.shape());
  if (condition.shape() != e.shape()) return differs_from_condition(call, condition.shape(), 2, e.shape());
  select_elements(call, condition.data(), t, e);
  return absl::OkStatus();
}

template <class T>
Status select_broadcast(Call& call, const In<bool>& condition, const In<T>& t, const In<T>& e) {
  if (t.shape() == e.shape()) {
    if (condition.shape() == t.shape()) {
      select_elements(call, condition.data(), t, e);
      return absl::OkStatus();
    }
    if (condition.dims() == 0) {
      call.set(0, condition[0] ? t.tensor : e.tensor);
      return absl::OkStatus();
    }
  }
  auto joint = JointBroadcast<3>::of({&condition.shape(), &t.shape(), &e.shape()});
  if (!joint) return invalid("condition {}, then {}, and else {} must be broadcastable", condition.shape(), t.shape(), e.shape());
  T* out = call.alloc<T>(0, joint->output);
  joint->for_each([&](std::int64_t o, const auto& at) { out[o] = condition[at[0]] ? t[at[1]] : e[at[2]]; });
  return absl::OkStatus();
}

}  // namespace

void add_select(Registry& ops) {
  ops.add({"Select"}, selectable{}, []<class T>(Call& call, In<bool> c, In<T> t, In<T> e) { return select(call, c, t, e); });
  ops.add({"SelectV2"}, selectable{}, []<class T>(Call& call, In<bool> c, In<T> t, In<T> e) { return select_broadcast(call, c, t, e); });
}

}  // namespace troupe
