// Patches of images and volumes, laid out along the depth.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/nn/window.hpp>

#include <algorithm>
#include <vector>

namespace troupe {

namespace {

struct PatchOptions {
  std::vector<std::int64_t> sizes, strides, rates;
  Padding padding;
  int rank;  // of the input

  static StatusOr<PatchOptions> make(Binding& binding) {
    PatchOptions o;
    o.rank = binding.node().op() == "ExtractImagePatches" ? 4 : 5;
    const auto read = [&](const char* name, std::vector<std::int64_t>& to) -> Status {
      TRY_ASSIGN(to, binding.attr<std::vector<std::int64_t>>(name));
      if (static_cast<int>(to.size()) != o.rank) return invalid("{} should have {} elements, got {}", name, o.rank, to.size());
      if (to.front() != 1 || to.back() != 1) return unimplemented("Only support {} across space.", name);
      if (std::any_of(to.begin(), to.end(), [](std::int64_t n) { return n < 1; })) return out_of_range("{} is out of range.", name);
      return absl::OkStatus();
    };
    TRY(read("ksizes", o.sizes));
    TRY(read("strides", o.strides));
    o.rates.assign(o.sizes.size(), 1);
    if (o.rank == 4) TRY(read("rates", o.rates));
    TRY_ASSIGN(auto padding, binding.attr<std::string>("padding"));
    TRY_ASSIGN(o.padding, padding_from(padding));
    return o;
  }
};

template <class T>
Status extract(Call& call, const In<T>& images, const PatchOptions& o) {
  if (images.dims() != o.rank) return invalid("input must be {}-dimensional{}", o.rank, images.shape());
  std::array<Window, 3> w;
  Shape shape{images.dim(0)};
  const int spatial = o.rank - 2;
  std::int64_t depth = images.dim(o.rank - 1);
  for (int i = 0; i < spatial; ++i) {
    const auto at = static_cast<std::size_t>(i + 1);
    TRY_ASSIGN(Window one, make_window(images.dim(i + 1), o.sizes[at], o.strides[at], o.rates[at], o.padding));
    shape.add_dim(one.output);
    w[static_cast<std::size_t>(3 - spatial + i)] = one;
  }
  shape.add_dim(depth * w[0].filter * w[1].filter * w[2].filter);
  TRY(Shape::checked(shape.dims()).status());
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  const std::int64_t positions = w[0].output * w[1].output * w[2].output, taps = w[0].filter * w[1].filter * w[2].filter;
  for (std::int64_t b = 0; b < images.dim(0); ++b)
    for (std::int64_t p = 0; p < positions; ++p)
      for (std::int64_t t = 0; t < taps; ++t, out += depth) {
        const std::int64_t z = w[0].begin(p / (w[1].output * w[2].output)) + t / (w[1].filter * w[2].filter) * w[0].dilation;
        const std::int64_t y = w[1].begin(p / w[2].output % w[1].output) + t / w[2].filter % w[1].filter * w[1].dilation;
        const std::int64_t x = w[2].begin(p % w[2].output) + t % w[2].filter * w[2].dilation;
        const bool inside = z >= 0 && z < w[0].input && y >= 0 && y < w[1].input && x >= 0 && x < w[2].input;
        if (inside)
          std::copy_n(images.data() + (((b * w[0].input + z) * w[1].input + y) * w[2].input + x) * depth, depth, out);
        else
          std::fill_n(out, depth, T(0));
      }
  return absl::OkStatus();
}

}  // namespace

void add_patches(Registry& ops) {
  ops.add("ExtractImagePatches", joined<numbers, types<bool>>{}, []<class T>(Call& call, In<T> images, const PatchOptions& o) { return extract(call, images, o); });
  ops.add("ExtractVolumePatches", reals{}, []<class T>(Call& call, In<T> images, const PatchOptions& o) { return extract(call, images, o); });
}

}  // namespace troupe
