// The greater and the lesser of two inputs, and values held between two bounds.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/extreme.hpp>
#include <troupe/ops/math/loops.hpp>

namespace troupe {
namespace {

template <class T>
T clip(const T& x, const T& low, const T& high) {
  if constexpr (is_complex<T>) return clip(x.real(), low.real(), high.real());
  else return greater_of(lesser_of(x, high), low);
}

template <class T>
Status clip_by_value(Call& call, const In<T>& x, const In<T>& low, const In<T>& high) {
  auto fits = [&](const In<T>& bound) { return bound.dims() == 0 || bound.shape() == x.shape(); };
  if (!fits(low) || !fits(high))
    return invalid(
        "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. input shape: {}"
        "clip_value_min shape: {}clip_value_max shape: {}",
        x.shape(), low.shape(), high.shape());
  const std::int64_t low_step = low.dims() == 0 ? 0 : 1, high_step = high.dims() == 0 ? 0 : 1;
  T* out = call.alloc_over<T>(0, x.index, x.shape());
  const T *from = x.data(), *least = low.data(), *most = high.data();
  if (low_step + high_step == 0 && x.size() > 0) {
    const T bottom = *least, top = *most;
    detail::in_ranges(x.size(), 1, [&](std::int64_t first, std::int64_t last) {
      detail::each_of_all([bottom, top](const T& v) { return clip(v, bottom, top); }, from + first, out + first, last - first);
    });
    return absl::OkStatus();
  }
  for (std::int64_t i = 0; i < x.size(); ++i) out[i] = clip(from[i], least[i * low_step], most[i * high_step]);
  return absl::OkStatus();
}

}  // namespace

void add_extremes(Registry& ops) {
  each2(ops, {"Maximum"}, reals{}, [](const auto& x, const auto& y) { return greater_of(x, y); });
  each2(ops, {"Minimum"}, reals{}, [](const auto& x, const auto& y) { return lesser_of(x, y); });
  using clipped = joined<joined<floats, signed_integers>, types<std::uint8_t, std::uint16_t, complex64, complex128>>;
  ops.add({"ClipByValue"}, clipped{}, []<class T>(Call& call, In<T> x, In<T> low, In<T> high) { return clip_by_value(call, x, low, high); });
}

}  // namespace troupe
