// Numbers as integers with a scale and a zero point: stored, restored, rescaled, added and clipped.
#include <troupe/ops/broadcast.hpp>
#include <troupe/ops/math/uniform_scales.hpp>
#include <troupe/ops/nn/options.hpp>

namespace troupe {

namespace {

/// An axis attribute, checked when the node is bound.
template <Name N>
struct Axis {
  std::int64_t value;
  static StatusOr<Axis> make(Binding& binding) {
    TRY_ASSIGN(const auto axis, binding.attr<std::int64_t>(N.text));
    if (axis < -1) return invalid("{} must be >= -1, given: {}", N.text, axis);
    return Axis{axis};
  }
};

template <class Q>
Status store(Call& call, const In<float>& x, const UniformScales& s, UniformBounds bounds) {
  Q* out = call.alloc<Q>(0, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int32_t at = wrapped(std::int64_t{nearest(x[i] * (1.0f / s.scale(i)))} + s.zero(i));
    out[i].value = static_cast<decltype(out->value)>(bounds.clip(at));
  }
  return absl::OkStatus();
}

template <class Q>
Status add(Call& call, const In<Q>& lhs, const In<Q>& rhs, const UniformScales& l, const UniformScales& r, const In<float>& scales,
           const In<std::int32_t>& zeros, std::array<std::int64_t, 3> axes, UniformBounds bounds) {
  const auto b = Broadcast::of(lhs.shape(), rhs.shape());
  if (!b) return invalid("Cannot Add tensors of shapes: {}{}", lhs.shape(), rhs.shape());
  TRY_ASSIGN(const auto o, UniformScales::of(scales, zeros, axes[2], b->output));
  const auto matches = [&](const Shape& shape, std::int64_t axis) {
    return axis < 0 || axes[2] < 0 || axis - shape.rank() == axes[2] - b->output.rank();
  };
  if (!matches(lhs.shape(), axes[0])) return invalid("If lhs and output is both per-axis quantized, the quantization axis must match.");
  if (!matches(rhs.shape(), axes[1])) return invalid("If rhs and output is both per-axis quantized, the quantization axis must match.");
  Q* out = call.alloc<Q>(0, b->output);
  const std::int64_t inner = b->size.back(), left = b->left_step.back(), right = b->right_step.back();
  b->for_each_row([&](std::int64_t to, std::int64_t at_l, std::int64_t at_r) {
    for (std::int64_t i = 0; i < inner; ++i, ++to, at_l += left, at_r += right) {
      const double scale = o.scale(to);
      const std::int32_t zero = o.zero(to);
      const std::int32_t x = restored(rescaled(unstored(lhs[at_l].value), l.zero(at_l), l.scale(at_l) / scale, zero));
      const std::int32_t y = restored(rescaled(unstored(rhs[at_r].value), r.zero(at_r), r.scale(at_r) / scale, zero));
      out[to].value = restored(bounds.clip(wrapped(std::int64_t{x} + y - zero)));
    }
  });
  return absl::OkStatus();
}

}  // namespace

DynamicRange DynamicRange::of(float low, float high) {
  const double least = std::min(0.0, static_cast<double>(low)), most = std::max(0.0, static_cast<double>(high));
  if (!(least < most)) return {};
  const double scale = (most - least) / 255.0;
  const double from_low = -128 - least / scale, from_high = 127 - most / scale;
  const double zero = 128 + std::abs(least / scale) < 127 + std::abs(most / scale) ? from_low : from_high;
  return {static_cast<float>(scale), zero <= -128 ? -128 : zero >= 127 ? 127 : static_cast<std::int32_t>(std::round(zero))};
}

void add_uniform_quantize(Registry& ops) {
  using Min = Attr<"quantization_min_val", std::int64_t>;
  using Max = Attr<"quantization_max_val", std::int64_t>;
  using Along = Axis<"quantization_axis">;
  ops.add("UniformQuantize", On<"Tout", types<qint8, qint32>>{},
          []<class Q>(Call& call, In<float> x, In<float> scales, In<std::int32_t> zeros, Gives<Q>, const Along& axis, Min low, Max high) -> Status {
            TRY_ASSIGN(const auto s, UniformScales::of(scales, zeros, axis.value, x.shape()));
            return store<Q>(call, x, s, UniformBounds::of(*low, *high));
          });
  ops.add("UniformDequantize", On<"Tin", types<qint8, qint32>>{},
          []<class Q>(Call& call, In<Q> x, In<float> scales, In<std::int32_t> zeros, const Along& axis) -> Status {
            TRY_ASSIGN(const auto s, UniformScales::of(scales, zeros, axis.value, x.shape()));
            float* out = call.alloc<float>(0, x.shape());
            for (std::int64_t i = 0; i < x.size(); ++i)
              out[i] = static_cast<float>(wrapped(std::int64_t{unstored(x[i].value)} - s.zero(i))) * s.scale(i);
            return absl::OkStatus();
          });
  ops.add("UniformRequantize", On<"Tin", types<qint8, qint32>>{},
          []<class Q>(Call& call, In<Q> x, In<float> scales, In<std::int32_t> zeros, In<float> new_scales, In<std::int32_t> new_zeros,
                      const Axis<"input_quantization_axis">& from, const Axis<"output_quantization_axis">& to,
                      Attr<"output_quantization_min_val", std::int64_t> low, Attr<"output_quantization_max_val", std::int64_t> high) -> Status {
            if (from.value >= 0 && to.value >= 0 && from.value != to.value)
              return invalid("If input and output is both per-axis quantized, the quantization axis must be same.");
            TRY_ASSIGN(const auto s, UniformScales::of(scales, zeros, from.value, x.shape()));
            TRY_ASSIGN(const auto t, UniformScales::of(new_scales, new_zeros, to.value, x.shape()));
            const auto bounds = UniformBounds::of(*low, *high);
            qint8* out = call.alloc<qint8>(0, x.shape());
            for (std::int64_t i = 0; i < x.size(); ++i)
              out[i].value = static_cast<std::int8_t>(
                  bounds.clip(rescaled(unstored(x[i].value), s.zero(i), static_cast<double>(s.scale(i)) / t.scale(i), t.zero(i))));
            return absl::OkStatus();
          });
  ops.add("UniformQuantizedAdd", types<qint32>{},
          []<class Q>(Call& call, In<Q> lhs, In<Q> rhs, In<float> l_scales, In<std::int32_t> l_zeros, In<float> r_scales, In<std::int32_t> r_zeros,
                      In<float> scales, In<std::int32_t> zeros, const Axis<"lhs_quantization_axis">& l_axis,
                      const Axis<"rhs_quantization_axis">& r_axis, const Axis<"output_quantization_axis">& axis,
                      Attr<"output_quantization_min_val", std::int64_t> low, Attr<"output_quantization_max_val", std::int64_t> high) -> Status {
            TRY_ASSIGN(const auto l, UniformScales::of(l_scales, l_zeros, l_axis.value, lhs.shape()));
            TRY_ASSIGN(const auto r, UniformScales::of(r_scales, r_zeros, r_axis.value, rhs.shape()));
            return add(call, lhs, rhs, l, r, scales, zeros, {l_axis.value, r_axis.value, axis.value}, UniformBounds::of(*low, *high));
          });
  ops.add("UniformQuantizedClipByValue", types<qint32>{},
          []<class Q>(Call& call, In<Q> x, In<Q> low, In<Q> high, In<float> scales, In<std::int32_t> zeros, const Along& axis) -> Status {
            TRY_ASSIGN(const auto s, UniformScales::of(scales, zeros, axis.value, x.shape()));
            for (const auto& [name, bound] : {std::pair{"min", &low}, std::pair{"max", &high}})
              if (bound->shape() != scales.shape())
                return invalid("Input {} shape must be same as scales/zero_points. Given {} of shape {} and scales/zero_points of shape {}", name,
                               name, bound->shape(), scales.shape());
            Q* out = call.alloc<Q>(0, x.shape());
            for (std::int64_t i = 0; i < x.size(); ++i) out[i].value = std::min(std::max(x[i].value, low[s.at(i)].value), high[s.at(i)].value);
            return absl::OkStatus();
          });
}

}  // namespace troupe
