// Matrix products of integers with scales and zero points.
#include <troupe/ops/math/uniform_scales.hpp>
#include <troupe/ops/nn/options.hpp>

#include <vector>

namespace troupe {

namespace {

/// The attributes that say along which axes there are scales: none for the left, columns or none for the others. They are checked only: what
/// counts is whether the scales are vectors.
struct DotAxes {
  std::int64_t rhs = -1, output = -1;
  static StatusOr<DotAxes> make(Binding& binding) {
    DotAxes axes;
    if (binding.find("lhs_quantization_axis")) {
      TRY_ASSIGN(const auto lhs, binding.attr<std::int64_t>("lhs_quantization_axis"));
      if (lhs != -1) return invalid("lhs_quantization_axis Attr must be -1 (per-tensor).");
      TRY_ASSIGN(axes.output, binding.attr<std::int64_t>("output_quantization_axis"));
    }
    TRY_ASSIGN(axes.rhs, binding.attr<std::int64_t>("rhs_quantization_axis"));
    if (axes.rhs != -1 && axes.rhs != 1) return invalid("rhs_quantization_axis Attr must be 1 (per-channel) or -1 (per-tensor).");
    if (axes.output != -1 && axes.output != 1) return invalid("output_quantization_axis Attr must be 1 (per-channel) or -1 (per-tensor).");
    return axes;
  }
};

Status check_shapes(const Shape& lhs, const Shape& rhs) {
  if (lhs.rank() != 2) return invalid("lhs rank must be 2, but given lhs shape {}", lhs);
  if (rhs.rank() != 2) return invalid("rhs rank must be 2, but given rhs shape {}", rhs);
  if (lhs[1] != rhs[0]) return invalid("lhs.dim_size(1) and rhs.dim_size(0) must be equal, but given lhs shape {} and rhs shape {}", lhs, rhs);
  return absl::OkStatus();
}

/// The sum of products of a row, its zero point taken away, with a column.
template <class Row>
std::int32_t product(const Row& row, const In<qint8>& rhs, std::int64_t column, std::int32_t zero) {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < rhs.dim(0); ++k) sum += std::int64_t{row(k)} * wrapped(std::int64_t{rhs[k * rhs.dim(1) + column].value} - zero);
  return wrapped(sum);
}

Status dot(Call& call, const In<qint8>& lhs, const In<qint8>& rhs, const UniformScales& l, const UniformScales& r, const UniformScales& o,
           UniformBounds bounds) {
  const std::int64_t rows = lhs.dim(0), columns = rhs.dim(1), depth = lhs.dim(1);
  qint32* out = call.alloc<qint32>(0, Shape{rows, columns});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j, ++out) {
      const auto row = [&](std::int64_t k) { return wrapped(std::int64_t{lhs[i * depth + k].value} - l.zero(0)); };
      const double factor = static_cast<double>(l.scale(0)) * r.scale(j) / o.scale(j);
      out->value = restored(bounds.clip(rescaled(product(row, rhs, j, r.zero(j)), 0, factor, o.zero(j))));
    }
  return absl::OkStatus();
}

}  // namespace

void add_uniform_dot(Registry& ops) {
  ops.add("UniformQuantizedDot",
          [](Call& call, In<qint8> lhs, In<qint8> rhs, In<float> l_scales, In<std::int32_t> l_zeros, In<float> r_scales, In<std::int32_t> r_zeros,
             In<float> scales, In<std::int32_t> zeros, const DotAxes&, Attr<"output_quantization_min_val", std::int64_t> low,
             Attr<"output_quantization_max_val", std::int64_t> high) -> Status {
            TRY(check_shapes(lhs.shape(), rhs.shape()));
            TRY_ASSIGN(const auto l, UniformScales::of(l_scales, l_zeros, -1, lhs.shape()));
            TRY_ASSIGN(const auto r, UniformScales::of(r_scales, r_zeros, r_scales.dims() == 1 ? 1 : -1, rhs.shape()));
            if (r_scales.dims() == 0 && scales.dims() != 0)
              return invalid(
                  "If rhs is per-tensor quantized, output must be also per-tensor quantized. Given rhs scales and zero_points of shape {} but given "
                  "output scales and zero_points of shape {}",
                  r_scales.shape(), scales.shape());
            TRY_ASSIGN(const auto o, UniformScales::of(scales, zeros, scales.dims() == 1 ? 1 : -1, Shape{lhs.dim(0), rhs.dim(1)}));
            return dot(call, lhs, rhs, l, r, o, UniformBounds::of(*low, *high));
          });
  ops.add("UniformQuantizedDotHybrid",
          [](Call& call, In<float> lhs, In<qint8> rhs, In<float> scales, In<std::int32_t> zeros, const DotAxes&) -> Status {
            TRY(check_shapes(lhs.shape(), rhs.shape()));
            TRY_ASSIGN(const auto r, UniformScales::of(scales, zeros, scales.dims() == 1 ? 1 : -1, rhs.shape()));
            const std::int64_t rows = lhs.dim(0), columns = rhs.dim(1), depth = lhs.dim(1);
            float* out = call.alloc<float>(0, Shape{rows, columns});
            std::vector<std::int32_t> stored(static_cast<std::size_t>(depth));
            for (std::int64_t i = 0; i < rows && columns > 0; ++i) {
              const float* x = lhs.data() + i * depth;
              const auto [least, most] = std::minmax_element(x, x + depth);
              const auto range = depth > 0 ? DynamicRange::of(*least, *most) : DynamicRange{};
              std::transform(x, x + depth, stored.begin(), [&](float v) { return range.store(v) - range.zero; });
              const auto row = [&](std::int64_t k) { return stored[static_cast<std::size_t>(k)]; };
              for (std::int64_t j = 0; j < columns; ++j) *out++ = static_cast<float>(product(row, rhs, j, r.zero(j))) * (range.scale * r.scale(j));
            }
            return absl::OkStatus();
          });
}

}  // namespace troupe
