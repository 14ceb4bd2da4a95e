// Grayscale dilation of images by a structuring function, and its gradients.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/nn/window.hpp>

#include <algorithm>
#include <vector>

namespace troupe {

namespace {

struct DilationOptions {
  std::vector<std::int64_t> strides, rates;
  Padding padding;

  static StatusOr<DilationOptions> make(Binding& binding) {
    DilationOptions o;
    TRY_ASSIGN(o.strides, binding.attr<std::vector<std::int64_t>>("strides"));
    TRY_ASSIGN(o.rates, binding.attr<std::vector<std::int64_t>>("rates"));
    TRY_ASSIGN(auto padding, binding.attr<std::string>("padding"));
    TRY_ASSIGN(o.padding, padding_from(padding));
    if (o.strides.size() != 4) return invalid("Sliding window stride field must specify 4 dimensions");
    if (o.strides[0] != 1 || o.strides[3] != 1) return unimplemented("Stride is only supported across spatial dimensions.");
    if (o.rates.size() != 4) return invalid("Input stride (atrous rate) field must specify 4 dimensions");
    if (o.rates[0] != 1 || o.rates[3] != 1) return unimplemented("Rate is only supported across spatial dimensions.");
    return o;
  }
};

struct Sizes {
  std::int64_t batch, depth;
  Window rows, columns;
  Shape output() const { return {batch, rows.output, columns.output, depth}; }
};

StatusOr<Sizes> sizes_of(const DilationOptions& o, const Shape& input, const Shape& filter) {
  if (input.rank() != 4) return invalid("input must be 4-dimensional{}", input);
  if (filter.rank() != 3) return invalid("filter must be 3-dimensional: {}", filter);
  if (input[3] != filter[2]) return invalid("input and filter must have the same depth: {} vs {}", input[3], filter[2]);
  Sizes s{input[0], input[3], {}, {}};
  TRY_ASSIGN(s.rows, make_window(input[1], filter[0], o.strides[1], o.rates[1], o.padding));
  TRY_ASSIGN(s.columns, make_window(input[2], filter[1], o.strides[2], o.rates[2], o.padding));
  return s;
}

/// Where the largest sum of input and filter is found for an output: offsets in both, -1 if the window is empty.
template <class T>
struct Largest {
  T value = Eigen::NumTraits<T>::lowest();
  std::int64_t input = -1, filter = -1;
};

/// Calls found(offset of the output, Largest) for each output value.
template <class T, class Found>
void for_each_largest(const Sizes& s, const T* input, const T* filter, Found&& found) {
  const auto &h = s.rows, &w = s.columns;
  std::int64_t o = 0;
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t r = 0; r < h.output; ++r)
      for (std::int64_t c = 0; c < w.output; ++c)
        for (std::int64_t d = 0; d < s.depth; ++d, ++o) {
          Largest<T> best;
          for (std::int64_t i = 0; i < h.filter; ++i) {
            const std::int64_t y = h.begin(r) + i * h.dilation;
            if (y < 0 || y >= h.input) continue;
            for (std::int64_t j = 0; j < w.filter; ++j) {
              const std::int64_t x = w.begin(c) + j * w.dilation;
              if (x < 0 || x >= w.input) continue;
              const std::int64_t at = ((b * h.input + y) * w.input + x) * s.depth + d, tap = (i * w.filter + j) * s.depth + d;
              const T value = static_cast<T>(input[at] + filter[tap]);
              if (value > best.value || best.input < 0) best = {std::max(value, best.value), at, tap};
            }
          }
          found(o, best);
        }
}

template <class T>
Status gradient(Call& call, const In<T>& input, const In<T>& filter, const In<T>& from, const DilationOptions& o, bool of_input) {
  TRY_ASSIGN(Sizes s, sizes_of(o, input.shape(), filter.shape()));
  if (from.shape() != s.output()) return invalid("out_backprop has incompatible size.");
  const Shape& shape = of_input ? input.shape() : filter.shape();
  T* out = call.alloc<T>(0, shape);
  std::fill_n(out, shape.elements(), T(0));
  for_each_largest(s, input.data(), filter.data(), [&](std::int64_t at, const Largest<T>& best) {
    if (best.input < 0) return;
    T& to = out[of_input ? best.input : best.filter];
    to = static_cast<T>(to + from[at]);
  });
  return absl::OkStatus();
}

}  // namespace

void add_dilation(Registry& ops) {
  ops.add("Dilation2D", reals{}, []<class T>(Call& call, In<T> input, In<T> filter, const DilationOptions& o) -> Status {
    TRY_ASSIGN(Sizes s, sizes_of(o, input.shape(), filter.shape()));
    T* out = call.alloc<T>(0, s.output());
    for_each_largest(s, input.data(), filter.data(), [&](std::int64_t at, const Largest<T>& best) { out[at] = best.value; });
    return absl::OkStatus();
  });
  ops.add("Dilation2DBackpropInput", reals{}, []<class T>(Call& call, In<T> input, In<T> filter, In<T> from, const DilationOptions& o) {
    return gradient(call, input, filter, from, o, true);
  });
  ops.add("Dilation2DBackpropFilter", reals{}, []<class T>(Call& call, In<T> input, In<T> filter, In<T> from, const DilationOptions& o) {
    return gradient(call, input, filter, from, o, false);
  });
  ops.cost({"Dilation2D", "Dilation2DBackpropInput", "Dilation2DBackpropFilter"}, 20);
}

}  // namespace troupe
