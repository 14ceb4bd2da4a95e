// Gradients of reductions and running sums.
#include <troupe/ops/builder/array.hpp>
#include <troupe/ops/builder/gradients.hpp>
#include <troupe/ops/builder/shapes.hpp>

#include <numeric>
#include <optional>

namespace troupe::build {
namespace {

/// The reduced axes, counted from the front, where they and the rank are known.
std::optional<std::vector<std::int32_t>> known_axes(Backward& g) {
  const Sizes axes = g.b.made(g.x(1).node).value.valid() ? shape_said_by(g.b, g.x(1)) : Sizes();
  const int rank = g.x().rank();
  if (!axes || rank < 0) return std::nullopt;
  std::vector<std::int32_t> out;
  for (std::int64_t axis : *axes) out.push_back(static_cast<std::int32_t>(axis < 0 ? axis + rank : axis));
  std::sort(out.begin(), out.end());
  return out;
}

/// The shape of x with 1 in the reduced places, computed as the step runs.
Out kept_shape(Backward& g) {
  const Out shape = shape_of(g.x()), rank = rank_of(g.x());
  const Out axes = mod(cast(g.x(1), DType::i32) + rank, rank);
  const Out all = range(g.b.constant(0), rank, g.b.constant(1));
  const Out units = fill(shape_of(axes), g.b.constant(1));
  return g.b.op("DynamicStitch", {std::vector<Out>{all, axes}, std::vector<Out>{shape, units}});
}

/// Something of the output's shape, with the reduced axes back as 1.
Out with_axes(Backward& g, const Out& value) {
  if (g.attr<bool>("keep_dims")) return value;
  const auto axes = known_axes(g);
  if (!axes) return reshape(value, kept_shape(g));
  if (axes->size() == 1) return expand_dims(value, (*axes)[0]);
  const auto rank = static_cast<std::size_t>(g.x().rank());
  std::vector<std::int32_t> sizes(rank, 1);
  int open = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (std::find(axes->begin(), axes->end(), static_cast<std::int32_t>(i)) != axes->end()) continue;
    sizes[i] = static_cast<std::int32_t>(g.x().shape().dim(static_cast<int>(i)));
    open += sizes[i] < 0;
  }
  return open > 1 ? reshape(value, kept_shape(g)) : reshape(value, sizes);
}

Out spread(Backward& g, const Out& value) { return g.b.op("BroadcastTo", {with_axes(g, value), shape_of(g.x())}); }

void average(Backward& g) {
  const Out whole = spread(g, g.dy());
  const auto in = g.x().shape().known(), out = g.y().shape().known();
  if (in && out) {
    g.give(0, whole / static_cast<double>(in->elements() / std::max<std::int64_t>(1, out->elements())));
    return;
  }
  const Out count = floor_div(size_of(g.x()), maximum(size_of(g.y()), 1));
  g.give(0, whole / cast(count, whole.dtype()));
}

/// Equal extremes share the gradient.
void extreme(Backward& g) {
  const Out chosen = cast(equal(with_axes(g, g.y()), g.x()), g.dy().dtype());
  const Out many = with_axes(g, Out(g.b.op("Sum", {chosen, g.x(1)}, g.attrs({"keep_dims"}))));
  g.give(0, chosen / many * with_axes(g, g.dy()));
}

/// Each element gets the product of all others, zeros included: that before it times that after it.
void product(Backward& g) {
  const auto axes = known_axes(g);
  if (!axes) return g.b.fail(unimplemented("The gradient of '{}' needs the rank of its input and constant axes", g.op.name()));
  const int rank = g.x().rank();
  std::vector<std::int32_t> order = *axes, back(static_cast<std::size_t>(rank));
  for (std::int32_t i = 0; i < rank; ++i)
    if (std::find(axes->begin(), axes->end(), i) == axes->end()) order.push_back(i);
  for (std::size_t i = 0; i < order.size(); ++i) back[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  const Out moved = transpose(g.x(), order), sizes = shape_of(moved);
  const auto reduced = static_cast<std::int32_t>(axes->size());
  const Out rows = prod(slice(sizes, {0}, {reduced}));
  const Out columns = prod(slice(sizes, {reduced}, {-1}));
  const Out flat = reshape(moved, stack({rows, columns}));
  const Out first = g.b.constant(0);
  const Out before = g.b.op("Cumprod", {flat, first}, {{"exclusive", true}});
  const Out behind = g.b.op("Cumprod", {flat, first}, {{"exclusive", true}, {"reverse", true}});
  const Out others = transpose(reshape(before * behind, sizes), back);
  g.give(0, spread(g, g.dy()) * others);
}

void running_sum(Backward& g) {
  g.give(0, g.b.op("Cumsum", {g.dy(), g.x(1)}, {{"exclusive", g.attr<bool>("exclusive")}, {"reverse", !g.attr<bool>("reverse")}}));
}

}  // namespace

void add_reduction_gradients(GradientTable& t) {
  t["Sum"] = [](Backward& g) { g.give(0, spread(g, g.dy())); };
  t["Mean"] = average;
  t["Max"] = t["Min"] = extreme;
  t["Prod"] = product;
  t["Cumsum"] = running_sum;
  t["All"] = t["Any"] = nullptr;
}

}  // namespace troupe::build
