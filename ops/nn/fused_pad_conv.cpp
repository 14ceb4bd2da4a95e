// Convolutions of images that are resized and mirrored at their edges first, in one op.
#include <troupe/ops/image/resize.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/nn/conv.hpp>
#include <troupe/ops/nn/options.hpp>

#include <array>
#include <vector>

namespace troupe {
namespace {

struct PadConvOptions {
  std::vector<std::int64_t> strides;
  Padding padding;
  std::int64_t offset;  // 1: the mirror stands on the last element

  static StatusOr<PadConvOptions> make(Binding& binding) {
    PadConvOptions o;
    TRY_ASSIGN(o.strides, binding.attr<std::vector<std::int64_t>>("strides"));
    TRY_ASSIGN(const auto padding, binding.attr<std::string>("padding"));
    TRY_ASSIGN(o.padding, padding_from(padding));
    TRY_ASSIGN(const auto mode, binding.attr<std::string>("mode"));
    o.offset = mode == "REFLECT" ? 1 : 0;
    if (o.strides.size() != 4) return invalid("Sliding window strides field must specify 4 dimensions");
    if (o.strides[0] != 1 || o.strides[3] != 1)
      return invalid("Current implementation does not yet support strides in the batch and depth dimensions.");
    return o;
  }
};

using Sides = std::array<std::int64_t, 8>;

StatusOr<Sides> check_paddings(const In<std::int32_t>& paddings, const Shape& image, std::int64_t offset) {
  if (paddings.dims() != 2 || paddings.dim(1) != 2) return invalid("paddings must be a matrix with 2 columns: {}", paddings.shape());
  if (paddings.dim(0) != 4) return invalid("The first dimension of paddings must be the rank of inputs: {} {}", paddings.shape(), image);
  Sides sides;
  for (int d = 0; d < 4; ++d) {
    const std::int64_t before = paddings[2 * d], after = paddings[2 * d + 1], n = image[d];
    if (before < 0 || after < 0) return invalid("paddings must be non-negative: {} {}", before, after);
    if (offset == 0 && (before > n || after > n))
      return invalid("paddings must be no greater than the dimension size: {}, {} greater than {}", before, after, n);
    if (offset == 1 && (before >= n || after >= n))
      return invalid("paddings must be less than the dimension size: {}, {} not less than {}", before, after, n);
    sides[static_cast<std::size_t>(2 * d)] = before;
    sides[static_cast<std::size_t>(2 * d + 1)] = after;
  }
  return sides;
}

/// For each place of the padded dimension, where in the plain one its element is.
std::vector<std::int64_t> mirrored(std::int64_t n, std::int64_t before, std::int64_t after, std::int64_t offset) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = -before; i < n + after; ++i) places.push_back(i < 0 ? -i - 1 + offset : i >= n ? 2 * n - 1 - offset - i : i);
  return places;
}

template <class T>
std::vector<T> resized(const Resize& r, const ResizeOptions& o, const T* in) {
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(r.batch * r.out_size()));
  const float down = o.scale(r.in_height, r.out_height), across = o.scale(r.in_width, r.out_width);
  using W = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for (std::int64_t b = 0; b < r.batch; ++b, in += r.in_size())
    for (std::int64_t y = 0; y < r.out_height; ++y) {
      const float row = o.source(y, down);
      const auto top = static_cast<std::int64_t>(std::floor(row)), bottom = std::min(top + 1, r.in_height - 1);
      const W y_share = row - static_cast<float>(top);
      for (std::int64_t x = 0; x < r.out_width; ++x) {
        const float column = o.source(x, across);
        const auto left = static_cast<std::int64_t>(std::floor(column)), right = std::min(left + 1, r.in_width - 1);
        const W x_share = column - static_cast<float>(left);
        for (std::int64_t c = 0; c < r.channels; ++c) {
          const auto at = [&](std::int64_t i, std::int64_t j) { return static_cast<W>(in[(i * r.in_width + j) * r.channels + c]); };
          const W upper = at(top, left) + (at(top, right) - at(top, left)) * x_share;
          const W lower = at(bottom, left) + (at(bottom, right) - at(bottom, left)) * x_share;
          out.push_back(static_cast<T>(upper + (lower - upper) * y_share));
        }
      }
    }
  return out;
}

template <class T>
Status pad_and_convolve(Call& call, const Shape& image, const T* in, const In<std::int32_t>& paddings, const In<T>& filter, const PadConvOptions& o) {
  TRY_ASSIGN(const Sides sides, check_paddings(paddings, image, o.offset));
  if (sides[0] != 0 || sides[1] != 0) return invalid("Fused mirror padding only support spatial padding, not batches: {}", describe(paddings.tensor));
  if (sides[6] != 0 || sides[7] != 0)
    return invalid("Fused mirror padding only support spatial padding, not channels: {}", describe(paddings.tensor));
  if (filter.dims() != 4) return invalid("filter must be 4-dimensional: {}", filter.shape());
  const Shape padded{image[0], image[1] + sides[2] + sides[3], image[2] + sides[4] + sides[5], image[3]};
  if (image[3] != filter.dim(2)) return invalid("input and filter must have the same depth: {} vs {}", image[3], filter.dim(2));
  Convolution c{image[0], image[3], filter.dim(3), 1, {}};
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<std::size_t>(i + 1);
    TRY_ASSIGN(c.window[at], make_window(padded[i + 1], filter.dim(i), o.strides[at], 1, o.padding));
  }
  const Shape shape{c.batch, c.window[1].output, c.window[2].output, c.out_channels};
  TRY(Shape::checked(padded.dims()).status());
  TRY(Shape::checked(shape.dims()).status());
  if (padded.elements() == 0) return invalid("Input tensor can't be empty");
  if (shape.elements() == 0) return invalid("Output tensor can't be empty");
  T* out = call.alloc<T>(0, shape);
  if (filter.size() == 0) {
    std::fill_n(out, shape.elements(), T(0));
    return absl::OkStatus();
  }
  const auto rows = mirrored(image[1], sides[2], sides[3], o.offset), columns = mirrored(image[2], sides[4], sides[5], o.offset);
  std::vector<T> whole;
  whole.reserve(static_cast<std::size_t>(padded.elements()));
  for (std::int64_t b = 0; b < image[0]; ++b)
    for (std::int64_t y : rows)
      for (std::int64_t x : columns) {
        // As in TensorFlow, whose kernels look at the first image only, whichever one of the batch they make.
        const T* pixel = in + (y * image[2] + x) * image[3];
        whole.insert(whole.end(), pixel, pixel + image[3]);
      }
  convolve(c, whole.data(), filter.data(), out);
  return absl::OkStatus();
}

}  // namespace

void add_fused_pad_conv(Registry& ops) {
  ops.add("FusedPadConv2D", floats{},
          []<class T>(Call& call, In<T> input, In<std::int32_t> paddings, In<T> filter, const PadConvOptions& o) -> Status {
            if (input.dims() != 4) return invalid("input must be 4-dimensional{}", input.shape());
            if (input.size() == 0) return invalid("Input tensor can't be empty");
            return pad_and_convolve(call, input.shape(), input.data(), paddings, filter, o);
          });
  ops.add("FusedResizeAndPadConv2D", types<half, float, double>{},
          []<class T>(Call& call, In<T> input, In<std::int32_t> size, In<std::int32_t> paddings, In<T> filter,
                      Attr<"resize_align_corners", bool> corners, const PadConvOptions& o) -> Status {
            if (input.dims() == 4 && input.size() == 0) return invalid("Input tensor can't be empty");
            TRY_ASSIGN(const auto r, resize_sizes(input.shape(), size));
            const auto image = resized(r, ResizeOptions{*corners, false}, input.data());
            return pad_and_convolve(call, r.output(), image.data(), paddings, filter, o);
          });
  ops.cost({"FusedPadConv2D", "FusedResizeAndPadConv2D"}, 200);
}

}  // namespace troupe
