// QuantizeAndDequantize, V2, V3, V4: floats rounded to the steps of a quantised type, and the gradient.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/slices.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe {
namespace {

struct Options {
  bool is_signed, range_given, narrow, half_up;
  std::int64_t bits, axis;
};

template <class T>
struct Steps {
  T low, high, scale, inverse;
};

/// One factor for both sides of zero, from the side that needs the smaller; the other bound follows.
template <class T>
Steps<T> steps_of(T low, T high, const Options& o) {
  const std::int64_t half = std::int64_t{1} << (o.bits - 1);
  const T lowest = o.is_signed ? static_cast<T>(o.narrow ? 1 - half : -half) : T(0);
  const T highest = static_cast<T>(o.is_signed ? half - 1 : 2 * (half - 1) + 1);
  const T from_low = lowest * low > 0 ? lowest / low : std::numeric_limits<T>::max();
  const T from_high = highest * high > 0 ? highest / high : std::numeric_limits<T>::max();
  if (from_low < from_high) {
    const T inverse = low / lowest;
    return {low, highest * inverse, from_low, inverse};
  }
  const T inverse = high / highest;
  return {lowest * inverse, high, from_high, inverse};
}

template <class T>
T rounded(T x, const Steps<T>& s, const Options& o) {
  if (o.range_given) x = std::max(std::min(x, s.high), s.low);
  const T place = x * s.scale;
  return (o.half_up ? std::floor(place + T(0.5)) : std::nearbyint(place)) * s.inverse;
}

Status check_size(const char* name, const Tensor& t, const Shape& shape, std::int64_t axis) {
  if (axis < 0) return t.size() == 1 ? absl::OkStatus() : invalid("{} must be a scalar if axis is unspecified", name);
  const std::int64_t depth = shape.dim(static_cast<int>(axis));
  if (t.rank() == 1 && t.size() == depth) return absl::OkStatus();
  return invalid("{}_tensor has incorrect size, was {} expected {} to match dim {} of the input {}", name, t.size(), depth, axis, t.shape());
}

Status check_axis(const Shape& shape, std::int64_t axis) {
  if (axis < -1) return invalid("Axis must be at least -1. Found {}", axis);
  if (axis >= shape.rank()) return invalid("Shape must be at least rank {} but is rank {}", axis + 1, shape.rank());
  return absl::OkStatus();
}

template <class T>
Status quantize_dequantize(Call& call, const In<T>& x, const In<T>& low, const In<T>& high, const Options& o) {
  TRY(check_axis(x.shape(), o.axis));
  if (o.range_given) {
    TRY(check_size("input_min", low.tensor, x.shape(), o.axis));
    TRY(check_size("input_max", high.tensor, x.shape(), o.axis));
    for (std::int64_t k = 0; k < low.size(); ++k)
      if (!(low[k] <= high[k])) return invalid("Invalid range: input_min {} > input_max {}", low[k], high[k]);
  }
  const Slices slices = Slices::of(x.shape(), static_cast<int>(o.axis));
  T* out = call.alloc<T>(0, x.shape());
  if (x.size() == 0) return absl::OkStatus();
  for (std::int64_t k = 0; k < slices.count; ++k) {
    T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::lowest();
    if (o.range_given) {
      least = low[k];
      most = high[k];
    } else {
      slices.for_each_run(k, [&](std::int64_t at, std::int64_t n) {
        least = std::min(least, *std::min_element(x.data() + at, x.data() + at + n));
        most = std::max(most, *std::max_element(x.data() + at, x.data() + at + n));
      });
    }
    const Steps<T> steps = steps_of(least, most, o);
    slices.for_each_run(k, [&](std::int64_t at, std::int64_t n) {
      for (std::int64_t i = at; i < at + n; ++i) out[i] = rounded(x[i], steps, o);
    });
  }
  return absl::OkStatus();
}

template <class T>
Status gradient(Call& call, const In<T>& dy, const In<T>& x, const In<T>& low, const In<T>& high, std::int64_t axis) {
  if (axis < -1) return invalid("Axis must be at least -1. Found {}", axis);
  if (dy.shape() != x.shape()) return invalid("gradient and input must be the same size");
  if (axis >= x.dims()) return invalid("Axis should be -1 or 0 or a positive value less than {}but given axis value was {}", x.dims(), axis);
  const Slices slices = Slices::of(x.shape(), static_cast<int>(axis));
  const std::pair<const char*, const In<T>*> bounds[] = {{"min", &low}, {"max", &high}};
  for (const auto& [name, bound] : bounds) {
    if (axis == -1 && bound->dims() != 0) return invalid("input_{} must be a scalar if axis is unspecified", name);
    if (bound->size() != slices.count) return invalid("{} has incorrect size, expected {} was {}", name, slices.count, bound->size());
  }
  T* dx = call.alloc<T>(0, x.shape());
  std::fill_n(call.alloc<T>(1, low.shape()), low.size(), T(0));
  std::fill_n(call.alloc<T>(2, high.shape()), high.size(), T(0));
  for (std::int64_t k = 0; k < slices.count; ++k)
    slices.for_each_run(k, [&](std::int64_t at, std::int64_t n) {
      for (std::int64_t i = at; i < at + n; ++i) dx[i] = x[i] >= low[k] && x[i] <= high[k] ? dy[i] : T(0);
    });
  return absl::OkStatus();
}

Status check_bits(std::int64_t bits, bool is_signed, const char* quote) {
  if (bits > 0 && bits < (is_signed ? 62 : 63)) return absl::OkStatus();
  return invalid("num_bits is out of range: {} with {}signed_input_{} {}", bits, quote, quote, is_signed ? 1 : 0);
}

}  // namespace

void add_quantize_dequantize(Registry& ops) {
  ops.add({"QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"}, full_floats{},
          []<class T>(Call& call, In<T> x, In<T> low, In<T> high, Attr<"signed_input", bool> is_signed, Attr<"num_bits", std::int64_t> bits,
                      Attr<"range_given", bool> given, Attr<"round_mode", std::string> mode, Attr<"narrow_range", bool> narrow,
                      Attr<"axis", std::int64_t> axis) -> Status {
            TRY(check_bits(bits, is_signed, ""));
            return quantize_dequantize(call, x, low, high, {is_signed, given, narrow, *mode == "HALF_UP", bits, axis});
          });
  ops.add({"QuantizeAndDequantize"}, full_floats{},
          []<class T>(Call& call, In<T> x, Attr<"signed_input", bool> is_signed, Attr<"num_bits", std::int64_t> bits, Attr<"range_given", bool> given,
                      Attr<"input_min", float> low, Attr<"input_max", float> high) -> Status {
            TRY(check_bits(bits, is_signed, ""));
            if (*given && !(*low <= *high)) return invalid("Invalid range: input_min {} > input_max {}", *low, *high);
            Options options{is_signed, given, false, false, bits, -1};
            if (x.size() == 0) return call.set(0, x.tensor), absl::OkStatus();
            T least = static_cast<T>(*low), most = static_cast<T>(*high);
            if (!*given) {
              least = *std::min_element(x.data(), x.data() + x.size());
              most = *std::max_element(x.data(), x.data() + x.size());
            }
            // Without a range of its own nothing lies outside of it.
            const Steps<T> steps = steps_of(least, most, options);
            T* out = call.alloc<T>(0, x.shape());
            for (std::int64_t i = 0; i < x.size(); ++i) out[i] = rounded(x[i], steps, options);
            return absl::OkStatus();
          });
  ops.add({"QuantizeAndDequantizeV3"}, full_floats{},
          []<class T>(Call& call, In<T> x, In<T> low, In<T> high, In<std::int32_t> bits, Attr<"signed_input", bool> is_signed,
                      Attr<"range_given", bool> given, Attr<"narrow_range", bool> narrow, Attr<"axis", std::int64_t> axis) -> Status {
            if (bits.dims() != 0) return invalid("Invalid shape. The `num_bits` tensor should be a scalar. Got dimensions: {}", bits.dims());
            TRY(check_bits(bits[0], is_signed, "`"));
            return quantize_dequantize(call, x, low, high, {is_signed, given, narrow, false, bits[0], axis});
          });
  ops.add({"QuantizeAndDequantizeV4Grad"}, full_floats{},
          []<class T>(Call& call, In<T> dy, In<T> x, In<T> low, In<T> high, Attr<"axis", std::int64_t> axis) -> Status {
            return gradient(call, dy, x, low, high, axis);
          });
}

}  // namespace troupe
