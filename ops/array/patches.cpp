// Windows of images and volumes as rows.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/window.hpp>

namespace troupe {
namespace {

using Lengths = std::vector<std::int64_t>;

/// Lengths for [batch, space…, depth]: windows go through space only.
Status check_sizes(const Lengths& sizes, std::size_t space, const char* name) {
  if (sizes.size() < space + 2) return invalid("{} requires {} dimensions", name, space + 2);
  if (sizes[0] != 1 || sizes[space + 1] != 1) return unimplemented("Only support {} across space.", name);
  for (std::size_t d = 1; d <= space; ++d)
    if (sizes[d] < 1) return out_of_range("{} is out of range.", name);
  return absl::OkStatus();
}

/// Copies the window at each position; what lies outside of the input is zero.
void copy_windows(const Tensor& x, Tensor& out, const std::vector<Window>& windows) {
  const std::size_t space = windows.size();
  const std::int64_t depth = x.dim(static_cast<int>(space) + 1);
  const Dims steps = steps_of(x.shape()), out_steps = steps_of(out.shape());
  Walk positions;
  positions.add(x.dim(0), 0, 0);
  for (const Window& w : windows) positions.add(w.output, 0, 0);
  Dims at(space + 1, 0);
  std::int64_t row = 0;
  // What a patch covers is clipped to the input, dimension by dimension.
  for (std::int64_t left = positions.elements(); left > 0; --left, row += out_steps[space]) {
    Walk walk;
    walk.from = at[0] * steps[0];
    walk.to = row;
    std::int64_t inner = depth;
    Dims patch_steps(space, 0);
    for (std::size_t d = space; d-- > 0; inner *= windows[d].filter) patch_steps[d] = inner;
    for (std::size_t d = 0; d < space; ++d) {
      const Window& w = windows[d];
      const std::int64_t begin = w.begin(at[d + 1]), rate = w.dilation;
      const std::int64_t first = begin < 0 ? (-begin + rate - 1) / rate : 0;
      const std::int64_t end = std::min(w.filter, begin < w.input ? (w.input - 1 - begin) / rate + 1 : 0);
      walk.from += (begin + first * rate) * steps[d + 1];
      walk.to += first * patch_steps[d];
      walk.add(std::max<std::int64_t>(0, end - first), rate * steps[d + 1], patch_steps[d]);
    }
    walk.add(depth, 1, 1);
    copy_along(walk, x, out);
    for (std::size_t d = space + 1; d-- > 0;) {
      if (++at[d] < positions.size[d]) break;
      at[d] = 0;
    }
  }
}

Status extract(Call& call, const Tensor& x, const Lengths& ksizes, const Lengths& strides, const Lengths& rates, const std::string& padding,
               std::size_t space) {
  TRY(check_sizes(ksizes, space, "ksizes"));
  TRY(check_sizes(strides, space, "strides"));
  TRY(check_sizes(rates, space, "rates"));
  if (x.rank() != static_cast<int>(space) + 2) return invalid("input must be {}-dimensional{}", space + 2, x.shape());
  TRY_ASSIGN(const Padding kind, padding_from(padding));
  std::vector<Window> windows;
  Shape shape{x.dim(0)};
  std::int64_t patch = x.dim(static_cast<int>(space) + 1);
  for (std::size_t d = 1; d <= space; ++d) {
    TRY_ASSIGN(Window w, make_window(x.dim(static_cast<int>(d)), ksizes[d], strides[d], rates[d], kind));
    windows.push_back(w);
    shape.add_dim(w.output);
    if (__builtin_mul_overflow(patch, w.filter, &patch)) return invalid("ksizes are too large");
  }
  shape.add_dim(patch);
  TRY_ASSIGN(shape, Shape::checked(shape.dims()));
  call.set(0, Tensor::zeros(x.dtype(), shape));
  if (shape.elements() > 0) copy_windows(x, call.out(0), windows);
  return absl::OkStatus();
}

}  // namespace

void add_patches(Registry& ops) {
  using Ksizes = Attr<"ksizes", Lengths>;
  using Strides = Attr<"strides", Lengths>;
  using PaddingText = Attr<"padding", std::string>;
  add_for(ops, "ExtractImagePatches", {{"T", dtypes::numeric()}},
          [](Call& call, Any x, Ksizes ksizes, Strides strides, Attr<"rates", Lengths> rates, PaddingText padding) {
            return extract(call, x.tensor, *ksizes, *strides, *rates, *padding, 2);
          });
  add_for(ops, "ExtractVolumePatches", {{"T", dtypes::real()}}, [](Call& call, Any x, Ksizes ksizes, Strides strides, PaddingText padding) {
    return extract(call, x.tensor, *ksizes, *strides, Lengths(5, 1), *padding, 3);
  });
}

}  // namespace troupe
