// The convolution of images of quantised bytes.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/nn/window.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace troupe {

namespace {

struct QuantizedConvOptions {
  std::int64_t stride;
  Padding padding;

  static StatusOr<QuantizedConvOptions> make(Binding& binding) {
    TRY_ASSIGN(auto strides, binding.attr<std::vector<std::int64_t>>("strides"));
    TRY_ASSIGN(auto dilations, binding.attr<std::vector<std::int64_t>>("dilations"));
    TRY_ASSIGN(auto text, binding.attr<std::string>("padding"));
    TRY_ASSIGN(auto padding, padding_from(text));
    if (strides.size() != 4) return invalid("Sliding window strides field must specify 4 dimensions");
    if (strides[1] != strides[2]) return invalid("Current implementation only supports equal length strides in the row and column dimensions.");
    if (strides[0] != 1 || strides[3] != 1) return invalid("Current implementation does not yet support strides in the batch and depth dimensions.");
    if (dilations.size() != 4) return invalid("Dilation field must have 4 values");
    if (dilations[1] != 1 || dilations[2] != 1)
      return invalid("Current implementation only supports dilated rate as 1 in the row and column dimensions.");
    if (dilations[0] != 1 || dilations[3] != 1)
      return invalid("Current implementation does not yet support dilations in the batch and depth dimensions.");
    return QuantizedConvOptions{strides[1], padding};
  }
};

/// What the number zero is stored as in a range of bytes; may lie outside of them.
std::int64_t stored_zero(float low, float high) {
  if (low == high) return 0;
  const double scale = 256.0 / (static_cast<double>(high - low) * (256.0 / 255.0));
  const double zero = -std::round(static_cast<double>(low) * scale);
  return std::isfinite(zero) && std::abs(zero) < 1e15 ? static_cast<std::int64_t>(zero) : 0;
}

/// Bytes with their zero taken away, as numbers that wrap at 32 bits.
std::vector<std::uint32_t> centred(const In<quint8>& x, std::int64_t zero) {
  std::vector<std::uint32_t> out(static_cast<std::size_t>(x.size()));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint32_t>(x.data()[i].value) - static_cast<std::uint32_t>(zero);
  return out;
}

Status check_rank(const Tensor& t, const char* name, int rank) {
  return t.rank() == rank ? absl::OkStatus() : invalid("{} must be rank {} but is rank {}", name, rank, t.rank());
}

struct Ranges {
  float min_input, max_input, min_filter, max_filter;
};

Status convolve(Call& call, const In<quint8>& input, const In<quint8>& filter, const Ranges& ranges, const QuantizedConvOptions& o) {
  TRY(check_rank(input.tensor, "input", 4));
  TRY(check_rank(filter.tensor, "filter", 4));
  const std::int64_t depth = input.dim(3), out_depth = filter.dim(3);
  if (depth != filter.dim(2)) return invalid("input and filter must have the same depth: {} vs {}", depth, filter.dim(2));
  TRY_ASSIGN(const Window rows, make_window(input.dim(1), filter.dim(0), o.stride, 1, o.padding));
  TRY_ASSIGN(const Window columns, make_window(input.dim(2), filter.dim(1), o.stride, 1, o.padding));
  const std::int64_t dims[] = {input.dim(0), rows.output, columns.output, out_depth};
  TRY_ASSIGN(const Shape shape, Shape::checked(dims));
  const auto x = centred(input, stored_zero(ranges.min_input, ranges.max_input)),
             f = centred(filter, stored_zero(ranges.min_filter, ranges.max_filter));
  auto* out = reinterpret_cast<std::int32_t*>(call.alloc<qint32>(0, shape));
  std::vector<std::uint32_t> sums(static_cast<std::size_t>(out_depth));
  for (std::int64_t b = 0; b < shape[0]; ++b)
    for (std::int64_t row = 0; row < rows.output; ++row)
      for (std::int64_t column = 0; column < columns.output; ++column, out += out_depth) {
        std::fill(sums.begin(), sums.end(), 0u);
        for (std::int64_t i = 0; i < rows.filter; ++i)
          for (std::int64_t j = 0; j < columns.filter; ++j) {
            const std::int64_t r = rows.begin(row) + i, c = columns.begin(column) + j;
            if (r < 0 || r >= rows.input || c < 0 || c >= columns.input) continue;
            for (std::int64_t d = 0; d < depth; ++d) {
              const std::uint32_t v = x[static_cast<std::size_t>(((b * rows.input + r) * columns.input + c) * depth + d)];
              const std::uint32_t* weights = f.data() + ((i * columns.filter + j) * depth + d) * out_depth;
              for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += v * weights[k];
            }
          }
        std::copy(sums.begin(), sums.end(), out);
      }
  const float step = (ranges.max_input - ranges.min_input) / 255.0f * ((ranges.max_filter - ranges.min_filter) / 255.0f);
  call.set_scalar<float>(1, step * static_cast<float>(std::numeric_limits<std::int32_t>::lowest()));
  call.set_scalar<float>(2, step * static_cast<float>(std::numeric_limits<std::int32_t>::max()));
  return absl::OkStatus();
}

}  // namespace

void add_quantized_conv(Registry& ops) {
  ops.add("QuantizedConv2D", On<"Tinput", types<quint8>>{}, On<"Tfilter", types<quint8>>{},
          []<class T, class U>(Call& call, In<T> input, In<U> filter, Any min_input, Any max_input, Any min_filter, Any max_filter,
                               const QuantizedConvOptions& o) -> Status {
            const std::pair<const char*, const Tensor*> bounds[] = {{"min_input", &min_input.tensor},
                                                                    {"max_input", &max_input.tensor},
                                                                    {"min_filter", &min_filter.tensor},
                                                                    {"max_filter", &max_filter.tensor}};
            for (const auto& [name, bound] : bounds) TRY(check_rank(*bound, name, 0));
            return convolve(call, input, filter,
                            {min_input->item<float>(), max_input->item<float>(), min_filter->item<float>(), max_filter->item<float>()}, o);
          });
  // TensorFlow has this one for a library that it is not built with; then it makes nothing.
  ops.add("QuantizedConv2D", On<"Tinput", types<quint8>>{}, On<"Tfilter", types<qint8>>{}, []<class T, class U>(Call&, In<T>, In<U>) {});
  ops.cost({"QuantizedConv2D"}, 300);
}

}  // namespace troupe
