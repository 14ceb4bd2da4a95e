// Pooling over regions whose sizes vary at random, and its gradients.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/random/philox.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace troupe {

namespace {

using FractionalTypes = types<float, double, std::int32_t, std::int64_t>;
using Sequence = std::vector<std::int64_t>;

/// The random source of a node, which begins anew each time where it is to be deterministic.
struct Regions {
  Philox start = Philox::seeded(0, 0), stream = start;
  std::vector<float> ratio;
  bool pseudo_random, overlapping, deterministic;

  static StatusOr<Regions> make(Binding& binding) {
    Regions r;
    TRY_ASSIGN(auto seed, binding.attr<std::int64_t>("seed"));
    TRY_ASSIGN(auto seed2, binding.attr<std::int64_t>("seed2"));
    TRY_ASSIGN(r.ratio, binding.attr<std::vector<float>>("pooling_ratio"));
    TRY_ASSIGN(r.pseudo_random, binding.attr<bool>("pseudo_random"));
    TRY_ASSIGN(r.overlapping, binding.attr<bool>("overlapping"));
    TRY_ASSIGN(r.deterministic, binding.attr<bool>("deterministic"));
    if (r.ratio.size() != 4) return invalid("pooling_ratio field must specify 4 dimensions");
    for (float v : r.ratio)
      if (!(v >= 1)) return invalid("pooling_ratio cannot be smaller than 1, got: {}", v);
    if (r.ratio[0] != 1 || r.ratio[3] != 1)
      return unimplemented("Fractional {} pooling is not yet supported on the batch nor channel dimension.",
                           binding.node().op() == "FractionalMaxPool" ? "max" : "average");
    if (!r.deterministic && (seed != 0 || seed2 != 0)) return invalid("Both seed and seed2 should be 0 if deterministic is false.");
    if (seed == 0 && seed2 == 0) {
      std::random_device device;
      seed = static_cast<std::int64_t>(device());
      seed2 = static_cast<std::int64_t>(device());
    }
    r.start = r.stream = Philox::seeded(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(seed2));
    return r;
  }

  PhiloxWords reserve(std::uint64_t words) {
    PhiloxWords next(stream);
    stream.skip((words + 3) / 4);
    return next;
  }
  Sequence draw(std::int64_t input, std::int64_t output);
};

/// A number in [0, 1) of two words.
double unit(PhiloxWords& words) {
  const std::uint64_t high = words(), low = words();
  return std::bit_cast<double>(std::uint64_t{1023} << 52 | (high & 0xfffff) << 32 | low) - 1.0;
}

/// A number below n without bias.
std::uint32_t below(PhiloxWords& words, std::uint32_t n) {
  if ((n & (n - 1)) == 0) return words() & (n - 1);
  const std::uint32_t rest = std::numeric_limits<std::uint32_t>::max() % n + 1;
  std::uint32_t word = words();
  while (word < rest) word = words();
  return word % n;
}

/// Where the regions begin, and the end of the last.
Sequence Regions::draw(std::int64_t input, std::int64_t output) {
  Sequence sizes;
  if (input % output == 0) {
    sizes.assign(static_cast<std::size_t>(output), input / output);
  } else if (pseudo_random) {
    auto words = reserve(2);
    const double alpha = static_cast<double>(input) / static_cast<double>(output);
    const std::int64_t k = input / output;
    const double most =
        std::min(static_cast<double>(k + 2) / alpha - 1, static_cast<double>(input + 1 - k) / alpha - static_cast<double>(output - 1));
    const double u = unit(words) * most;
    std::int64_t before = 1;
    for (std::int64_t i = 1; i <= output; ++i) {
      const std::int64_t next = i == output ? input + 1 : static_cast<std::int64_t>(std::ceil(alpha * (static_cast<double>(i) + u)));
      sizes.push_back(next - before);
      before = next;
    }
  } else {
    const std::int64_t k = input / output;
    sizes.assign(static_cast<std::size_t>(output), k);
    std::fill_n(sizes.begin(), input % output, k + 1);
    auto words = reserve(static_cast<std::uint64_t>(output));
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) std::swap(sizes[i], sizes[i + below(words, static_cast<std::uint32_t>(sizes.size() - i))]);
  }
  Sequence begins{0};
  for (std::int64_t n : sizes) begins.push_back(begins.back() + n);
  return begins;
}

/// The regions of an image, as sequences of their borders.
struct Grid {
  std::int64_t batch, height, width, depth;
  std::span<const std::int64_t> rows, columns;
  bool overlapping;

  std::int64_t out_rows() const { return static_cast<std::int64_t>(rows.size()) - 1; }
  std::int64_t out_columns() const { return static_cast<std::int64_t>(columns.size()) - 1; }
  /// Calls region(offset of the output's pixel, pixels) where pixels(f) calls f(offset of each input pixel).
  template <class Region>
  void for_each_region(Region&& region) const {
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::size_t r = 0; r + 1 < rows.size(); ++r)
        for (std::size_t c = 0; c + 1 < columns.size(); ++c) {
          const std::int64_t y1 = std::min(overlapping ? rows[r + 1] : rows[r + 1] - 1, height - 1),
                             x1 = std::min(overlapping ? columns[c + 1] : columns[c + 1] - 1, width - 1);
          const std::int64_t out = ((b * out_rows() + static_cast<std::int64_t>(r)) * out_columns() + static_cast<std::int64_t>(c)) * depth;
          region(out, [&](auto&& f) {
            for (std::int64_t y = rows[r]; y <= y1; ++y)
              for (std::int64_t x = columns[c]; x <= x1; ++x) f(((b * height + y) * width + x) * depth);
          });
        }
  }
};

template <class T>
Status pool(Call& call, const In<T>& x, Regions& regions, bool average) {
  if (x.dims() != 4) return invalid("tensor_in must be 4-dimensional");
  for (int i = 0; i < 4; ++i) {
    const float ratio = regions.ratio[static_cast<std::size_t>(i)];
    if (static_cast<float>(x.dim(i)) < ratio)
      return invalid("Pooling ratio is higher than input dimension size for dimension {}. Input dim size: {} pooling ratio: {}", i, x.dim(i), ratio);
  }
  if (regions.deterministic) regions.stream = regions.start;
  std::vector<Sequence> drawn;
  for (int i = 1; i < 3; ++i) {
    const auto output = static_cast<std::int64_t>(std::floor(static_cast<float>(x.dim(i)) / regions.ratio[static_cast<std::size_t>(i)]));
    if (output <= 0) return invalid("Invalid field pooling_ratio: out_dim {} <= 0", output);
    drawn.push_back(regions.draw(x.dim(i), output));
  }
  const Sequence &rows = drawn[0], &columns = drawn[1];
  const Grid grid{x.dim(0), x.dim(1), x.dim(2), x.dim(3), rows, columns, regions.overlapping};
  T* out = call.alloc<T>(0, Shape{grid.batch, grid.out_rows(), grid.out_columns(), grid.depth});
  call.set(1, Tensor::vector<std::int64_t>(rows));
  call.set(2, Tensor::vector<std::int64_t>(columns));
  grid.for_each_region([&](std::int64_t to, auto&& pixels) {
    for (std::int64_t d = 0; d < grid.depth; ++d) {
      T value = average ? T(0) : std::numeric_limits<T>::lowest();
      std::int64_t count = 0;
      pixels([&](std::int64_t at) {
        value = average ? value + x[at + d] : std::max(value, x[at + d]);
        ++count;
      });
      out[to + d] = average ? static_cast<T>(value / static_cast<T>(count)) : value;
    }
  });
  return absl::OkStatus();
}

/// Borders that a gradient of so many regions needs; more are passed over, and those past the image stand for its end.
Status check_sequence(const In<std::int64_t>& sequence, const Shape& gradient, int dim, const char* name, const char* title) {
  if (sequence.size() <= gradient[dim])
    return invalid("Given out_backprop shape {}, {} must have at least {} elements, but got {}", gradient, name, gradient[dim] + 1, sequence.size());
  std::size_t width = 0;
  bool negative = false;
  for (std::int64_t v : sequence.values()) {
    width = std::max(width, std::to_string(v).size());
    negative |= v < 0;
  }
  if (!negative) return absl::OkStatus();
  std::string text;
  for (std::int64_t v : sequence.values()) text += fmt::format("{}{:>{}}", text.empty() ? "" : " ", v, width);
  return invalid("{} sequence tensor values must not be negative, got {}", title, text);
}

template <class T>
StatusOr<Grid> gradient_grid(const Shape& input, const In<T>& gradient, const In<std::int64_t>& rows, const In<std::int64_t>& columns,
                             bool overlapping) {
  const Shape& shape = gradient.shape();
  if (shape.rank() != 4) return invalid("out_backprop must be 4-dimensional");
  TRY(check_sequence(rows, shape, 1, "row_seq_tensor", "Row"));
  TRY(check_sequence(columns, shape, 2, "col_seq_tensor", "Column"));
  for (int i = 0; i < 4; ++i)
    if (shape[i] <= 0) return invalid("out_backprop must be positive for all dimension, got:{}", shape[i]);
  if (shape[0] != input[0] || shape[3] != input[3]) return invalid("out_backprop does not fit the input: {} vs. {}", shape, input);
  const auto first = [](const In<std::int64_t>& borders, std::int64_t regions) {
    return borders.values().first(static_cast<std::size_t>(regions) + 1);
  };
  return Grid{input[0], input[1], input[2], input[3], first(rows, shape[1]), first(columns, shape[2]), overlapping};
}

template <class T>
Status check_image(const In<T>& image, const char* name) {
  if (image.dims() != 4) return invalid("{} should be a tensor of rank 4, got {}", name, describe(image.tensor));
  if (image.size() == 0) return invalid("{} must not be empty, got {}", name, describe(image.tensor));
  return absl::OkStatus();
}

template <class T>
Status max_gradient(Call& call, const In<T>& input, const In<T>& output, const In<T>& gradient, const In<std::int64_t>& rows,
                    const In<std::int64_t>& columns, bool overlapping) {
  TRY(check_image(input, "orig_input"));
  TRY(check_image(output, "orig_output"));
  if (output.shape() != gradient.shape())
    return invalid("tensor_out and out_backprop must have the same shape: {} vs. {}", output.shape(), gradient.shape());
  const auto made = gradient_grid(input.shape(), gradient, rows, columns, overlapping);
  if (!made.ok()) return invalid("tensor_out_dup is not the same as tensor_out");
  const Grid& grid = *made;
  T* out = call.alloc<T>(0, input.shape());
  std::fill_n(out, input.size(), T(0));
  bool same = true;
  grid.for_each_region([&](std::int64_t from, auto&& pixels) {
    for (std::int64_t d = 0; d < grid.depth; ++d) {
      std::int64_t best = -1;
      pixels([&](std::int64_t at) {
        if (best < 0 || input[best] < input[at + d]) best = at + d;
      });
      same &= best >= 0 && input[best] == output[from + d];
      if (best >= 0) out[best] += gradient[from + d];
    }
  });
  if (!same) return invalid("tensor_out_dup is not the same as tensor_out");
  return absl::OkStatus();
}

template <class T>
Status average_gradient(Call& call, const In<std::int64_t>& sizes, const In<T>& gradient, const In<std::int64_t>& rows,
                        const In<std::int64_t>& columns, bool overlapping) {
  if (sizes.dims() != 1 || sizes.size() != 4) return invalid("original input tensor shape must be1-dimensional and 4 elements");
  if (gradient.dims() != 4) return invalid("out_backprop must be 4-dimensional");
  for (std::int64_t n : sizes.values())
    if (n < 0) return invalid("Expected a non-negative size, got {}", n);
  TRY_ASSIGN(Shape shape, Shape::checked(sizes.values()));
  TRY_ASSIGN(auto grid, gradient_grid(shape, gradient, rows, columns, overlapping));
  T* out = call.alloc<T>(0, shape);
  std::vector<double> sums(static_cast<std::size_t>(shape.elements()), 0.0);
  grid.for_each_region([&](std::int64_t from, auto&& pixels) {
    std::int64_t count = 0;
    pixels([&](std::int64_t) { ++count; });
    pixels([&](std::int64_t at) {
      for (std::int64_t d = 0; d < grid.depth; ++d)
        sums[static_cast<std::size_t>(at + d)] += static_cast<double>(gradient[from + d]) / static_cast<double>(count);
    });
  });
  std::transform(sums.begin(), sums.end(), out, [](double v) { return static_cast<T>(v); });
  return absl::OkStatus();
}

}  // namespace

void add_fractional_pool(Registry& ops) {
  ops.add("FractionalMaxPool", FractionalTypes{},
          []<class T>(Call& call, In<T> x, State<Regions> regions) { return pool(call, x, *regions, false); });
  ops.add("FractionalAvgPool", FractionalTypes{}, []<class T>(Call& call, In<T> x, State<Regions> regions) { return pool(call, x, *regions, true); });
  ops.add("FractionalMaxPoolGrad", FractionalTypes{},
          []<class T>(Call& call, In<T> input, In<T> output, In<T> gradient, In<std::int64_t> rows, In<std::int64_t> columns,
                      Attr<"overlapping", bool> overlapping) { return max_gradient(call, input, output, gradient, rows, columns, *overlapping); });
  ops.add("FractionalAvgPoolGrad", FractionalTypes{},
          []<class T>(Call& call, In<std::int64_t> sizes, In<T> gradient, In<std::int64_t> rows, In<std::int64_t> columns,
                      Attr<"overlapping", bool> overlapping) { return average_gradient(call, sizes, gradient, rows, columns, *overlapping); });
}

}  // namespace troupe
