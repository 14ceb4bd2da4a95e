// Images scaled and moved through a filter, and the gradient of that.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/image/resampling.hpp>
#include <troupe/ops/kernel.hpp>

#include <array>

namespace troupe {
namespace {

struct Sampling {
  Filter filter;
  bool antialias = true;

  static StatusOr<Sampling> make(Binding& binding) {
    Sampling made;
    TRY_ASSIGN(const std::string name, binding.attr<std::string>("kernel_type"));
    TRY_ASSIGN(made.filter, Filter::named(name));
    TRY_ASSIGN(made.antialias, binding.attr<bool>("antialias"));
    return made;
  }
};

StatusOr<std::array<float, 2>> pair_of(const In<float>& t) {
  if (t.dims() != 1) return invalid("t must be 1-dimensional{}", t.shape());
  if (t.size() != 2) return invalid("t must have two elements{}", t.shape());
  return std::array{t[0], t[1]};
}

/// Scales for rows and columns, then translations.
struct Move {
  std::array<float, 2> scale, translation;

  static StatusOr<Move> of(const In<float>& scale, const In<float>& translation) {
    Move move;
    TRY_ASSIGN(move.scale, pair_of(scale));
    if (!(move.scale[0] > 0 && move.scale[1] > 0)) return invalid("Scale must be greater than zero.");
    TRY_ASSIGN(move.translation, pair_of(translation));
    return move;
  }
  Axis axis(std::size_t which, std::int64_t output, std::int64_t input) const { return {output, input, scale[which], translation[which]}; }
};

Status scale_and_translate(Call& call, const Tensor& image, const In<std::int32_t>& size, const In<float>& scale, const In<float>& translation,
                           const Sampling& how) {
  if (image.rank() != 4) return invalid("input must be 4-dimensional{}", image.shape());
  if (size.dims() != 1) return invalid("output_shape_t must be 1-dimensional{}", size.shape());
  if (size.size() != 2) return invalid("output_shape_t must have two elements{}", size.shape());
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (image.dim(1) >= most || image.dim(2) >= most) return invalid("input sizes must be between 0 and max int32");
  if (size[0] <= 0 || size[1] <= 0) return invalid("output dimensions must be positive");
  if (image.dim(3) <= 0) return invalid("image must have at least one channel");
  if (image.dim(1) <= 0 || image.dim(2) <= 0) return invalid("input image must be of non-zero size");
  TRY_ASSIGN(const Move move, Move::of(scale, translation));
  const std::int64_t sizes[] = {image.dim(0), size[0], size[1], image.dim(3)};
  TRY_ASSIGN(const Shape shape, Shape::checked(sizes));
  float* out = call.alloc<float>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  const Spans rows = spans_of(how.filter, move.axis(0, size[0], image.dim(1)), how.antialias);
  const Spans columns = spans_of(how.filter, move.axis(1, size[1], image.dim(2)), how.antialias);
  const std::int64_t between_sizes[] = {size[0], image.dim(2), image.dim(3)};
  TRY_ASSIGN(const Shape between_shape, Shape::checked(between_sizes));
  Tensor between(DType::f32, between_shape);
  visit_dtype(reals{}, image.dtype(), [&]<class T>() {
    const std::int64_t from = image.shape().elements(1, 4), to = shape.elements(1, 4);
    for (std::int64_t b = 0; b < image.dim(0); ++b)
      resample(image.data<T>() + b * from, image.dim(1), image.dim(2), image.dim(3), rows, columns, between.mutable_data<float>(), out + b * to);
  });
  return absl::OkStatus();
}

Status gradient(Call& call, const In<float>& grads, const In<float>& image, const In<float>& scale, const In<float>& translation,
                const Sampling& how) {
  if (grads.dims() != 4) return invalid("input_grad must be 4-dimensional{}", grads.shape());
  if (image.dims() != 4) return invalid("original_image must be 4-dimensional{}", image.shape());
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (image.dim(1) >= most || image.dim(2) >= most) return invalid("original sizes must be between 0 and max int32");
  const std::int64_t height = image.dim(1), width = image.dim(2), channels = grads.dim(3);
  const std::int64_t sizes[] = {grads.dim(0), height, width, channels};
  TRY_ASSIGN(const Shape shape, Shape::checked(sizes));
  TRY_ASSIGN(const Move move, Move::of(scale, translation));
  float* out = call.alloc<float>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  const auto backwards = [&](std::size_t which, std::int64_t output, std::int64_t input) {
    return gradient_spans(spans_of(how.filter, move.axis(which, output, input), how.antialias), input);
  };
  const Spans rows = backwards(0, grads.dim(1), height), columns = backwards(1, grads.dim(2), width);
  const std::int64_t between_sizes[] = {height, grads.dim(2), channels};
  TRY_ASSIGN(const Shape between_shape, Shape::checked(between_sizes));
  Tensor between(DType::f32, between_shape);
  const std::int64_t from = grads.shape().elements(1, 4), to = shape.elements(1, 4);
  for (std::int64_t b = 0; b < grads.dim(0); ++b)
    resample(grads.data() + b * from, grads.dim(1), grads.dim(2), channels, rows, columns, between.mutable_data<float>(), out + b * to);
  return absl::OkStatus();
}

}  // namespace

void add_scale_and_translate(Registry& ops) {
  add_for(ops, "ScaleAndTranslate", {{"T", list_of(reals{})}},
          [](Call& call, Any image, In<std::int32_t> size, In<float> scale, In<float> translation, State<Sampling> how) {
            return scale_and_translate(call, image.tensor, size, scale, translation, *how);
          });
  ops.add("ScaleAndTranslateGrad", types<float>{},
          []<class T>(Call& call, In<T> grads, In<T> image, In<float> scale, In<float> translation, State<Sampling> how) {
            return gradient(call, grads, image, scale, translation, *how);
          });
  ops.cost({"ScaleAndTranslate", "ScaleAndTranslateGrad"}, 30);
}

}  // namespace troupe
