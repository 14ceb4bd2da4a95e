// Gradients of element-wise ops and products.
#include <troupe/ops/builder/array.hpp>
#include <troupe/ops/builder/gradients.hpp>
#include <troupe/ops/builder/nn.hpp>

#include <cmath>
#include <optional>

namespace troupe::build {
namespace {

/// The axes in which one side is stretched over the other, where that can be said before anything runs.
std::optional<std::vector<std::int32_t>> stretched(const PartialShape& side, const PartialShape& other) {
  if (side.unknown_rank() || other.unknown_rank()) return std::nullopt;
  const int rank = std::max(side.rank(), other.rank());
  std::vector<std::int32_t> axes;
  for (int i = 0; i < rank; ++i) {
    const int a = i - (rank - side.rank()), b = i - (rank - other.rank());
    const std::int64_t mine = a < 0 ? 1 : side.dim(a), theirs = b < 0 ? 1 : other.dim(b);
    if (a < 0 || (mine == 1 && theirs > 1) || (mine == 1 && theirs == 0)) {
      axes.push_back(i);
    } else if (theirs != 1 && mine != theirs) {
      if (mine == 1 || mine < 0) return std::nullopt;
    } else if (mine < 0 && theirs < 0) {
      return std::nullopt;
    }
  }
  return axes;
}

void both(Backward& g, const Out& left, const Out& right) {
  if (left.valid()) g.give(0, unbroadcast(left, g.x(0), g.x(1)));
  if (right.valid()) g.give(1, unbroadcast(right, g.x(1), g.x(0)));
}

Out zeros_for(const Out& like) { return zeros_like(like); }

void power(Backward& g) {
  const Out x = g.x(0), y = g.x(1), z = g.y(), dz = g.dy();
  const Out positive = greater(x, 0);
  const Out safe = log(where(positive, x, ones_like(x)));
  both(g, dz * y * pow(x, y - 1), dz * where(positive, z * safe, zeros_for(z)));
}

void larger(Backward& g, const Out& first_wins) {
  const Out dz = g.dy(), zero = zeros_for(dz);
  both(g, where(first_wins, dz, zero), where(first_wins, zero, dz));
}

void product(Backward& g) {
  const bool ta = g.attr<bool>("transpose_a"), tb = g.attr<bool>("transpose_b");
  const Out a = g.x(0), b = g.x(1), dy = g.dy();
  g.give(0, ta ? matmul(b, dy, {tb, true}) : matmul(dy, b, {false, !tb}));
  g.give(1, tb ? matmul(dy, a, {true, ta}) : matmul(a, dy, {!ta, false}));
}

/// Sums what batches of one side were stretched over.
Out unbroadcast_batches(Builder& b, const Out& grad, const Out& side, const Out& other) {
  if (side.shape().fully_known() && other.shape().fully_known() && side.rank() == other.rank() &&
      std::equal(side.shape().dims().begin(), side.shape().dims().end() - 2, other.shape().dims().begin()))
    return grad;
  auto batches = [&](const Out& x) { return strided_slice(shape_of(x), {0}, {-2}); };
  const Out axes = b.op("BroadcastGradientArgs", {batches(side), batches(other)});
  return reshape(Out(b.op("Sum", {grad, axes})), shape_of(side));
}

void batch_product(Backward& g) {
  const bool ta = g.attr<bool>("adj_x"), tb = g.attr<bool>("adj_y");
  const Out a = g.x(0), b = g.x(1), dy = g.dy();
  auto times = [&](const Out& p, const Out& q, bool tp, bool tq) -> Out { return g.b.op("BatchMatMulV2", {p, q}, {{"adj_x", tp}, {"adj_y", tq}}); };
  g.give(0, unbroadcast_batches(g.b, ta ? times(b, dy, tb, true) : times(dy, b, false, !tb), a, b));
  g.give(1, unbroadcast_batches(g.b, tb ? times(dy, a, true, ta) : times(a, dy, !ta, false), b, a));
}

void convert(Backward& g) {
  const DType type = g.x().dtype();
  if (g.raw_dy().is_sparse()) {
    const auto& s = g.raw_dy().sparse();
    g.give(0, IndexedSlices{cast(s.values, type), s.indices, s.dense_shape});
  } else {
    g.give(0, cast(g.dy(), type));
  }
}

void select(Backward& g) {
  const Out c = g.x(0), dy = g.dy(), zero = zeros_for(dy);
  if (g.op.kind() == "Select") {
    g.give(1, g.b.op("Select", {c, dy, zero}));
    g.give(2, g.b.op("Select", {c, zero, dy}));
    return;
  }
  g.give(1, unbroadcast(where(c, dy, zero), g.x(1), g.y()));
  g.give(2, unbroadcast(where(c, zero, dy), g.x(2), g.y()));
}

void clip(Backward& g) {
  const Out x = g.x(0), dy = g.dy(), zero = zeros_for(dy);
  const Out below = less(x, g.x(1)), above = greater(x, g.x(2));
  const Out outside = g.b.op("LogicalOr", {below, above});
  g.give(0, where(outside, zero, dy));
  g.give(1, unbroadcast(where(below, dy, zero), g.x(1), x));
  g.give(2, unbroadcast(where(above, dy, zero), g.x(2), x));
}

/// dy times a function of x, or of y where that is cheaper.
template <class F>
GradientFunction times(F slope) {
  return [slope](Backward& g) { g.give(0, g.dy() * slope(g)); };
}

/// An op of its own that takes the input or the output, and dy, in one order or the other.
GradientFunction by(const char* kind, bool output, bool dy_first) {
  return [=](Backward& g) {
    const Out from = output ? g.y() : g.x(), dy = g.dy();
    g.give(0, g.b.op(kind, dy_first ? std::vector<In>{dy, from} : std::vector<In>{from, dy}, g.attrs({"alpha"})));
  };
}

}  // namespace

Out unbroadcast(const Out& grad, const Out& side, const Out& other) {
  if (!grad.valid() || side == other) return grad;
  Builder& b = *grad.builder;
  const auto axes = stretched(side.shape(), other.shape());
  if (axes && axes->empty()) return grad;
  const Out along = axes ? b.constant(*axes, "Sum/reduction_indices") : Out(b.op("BroadcastGradientArgs", {shape_of(side), shape_of(other)}));
  return reshape(Out(b.op("Sum", {grad, along})), shape_of(side));
}

void add_math_gradients(GradientTable& t) {
  t["Neg"] = [](Backward& g) { g.give(0, neg(g.dy())); };
  t["Abs"] = times([](Backward& g) { return sign(g.x()); });
  t["Exp"] = times([](Backward& g) { return g.y(); });
  t["Expm1"] = times([](Backward& g) { return exp(g.x()); });
  t["Log"] = times([](Backward& g) { return reciprocal(g.x()); });
  t["Log1p"] = times([](Backward& g) { return reciprocal(1 + g.x()); });
  t["Square"] = times([](Backward& g) { return 2 * g.x(); });
  t["Sin"] = times([](Backward& g) { return cos(g.x()); });
  t["Cos"] = times([](Backward& g) { return neg(sin(g.x())); });
  t["Tan"] = times([](Backward& g) { return square(reciprocal(cos(g.x()))); });
  t["Sinh"] = times([](Backward& g) { return unary("Cosh", g.x(), ""); });
  t["Cosh"] = times([](Backward& g) { return unary("Sinh", g.x(), ""); });
  t["Asin"] = times([](Backward& g) { return reciprocal(sqrt(1 - square(g.x()))); });
  t["Acos"] = times([](Backward& g) { return neg(reciprocal(sqrt(1 - square(g.x())))); });
  t["Atan"] = times([](Backward& g) { return reciprocal(1 + square(g.x())); });
  t["Erf"] = times([](Backward& g) { return 2.0 / std::sqrt(M_PI) * exp(neg(square(g.x()))); });
  t["Sqrt"] = by("SqrtGrad", true, false);
  t["Rsqrt"] = by("RsqrtGrad", true, false);
  t["Reciprocal"] = by("ReciprocalGrad", true, false);
  t["Inv"] = by("InvGrad", true, false);
  t["Tanh"] = by("TanhGrad", true, false);
  t["Sigmoid"] = by("SigmoidGrad", true, false);
  t["Relu"] = by("ReluGrad", true, true);
  t["Relu6"] = by("Relu6Grad", true, true);
  t["Elu"] = by("EluGrad", true, true);
  t["Selu"] = by("SeluGrad", true, true);
  t["LeakyRelu"] = by("LeakyReluGrad", false, true);
  t["Softplus"] = by("SoftplusGrad", false, true);
  t["Softsign"] = by("SoftsignGrad", false, true);
  // The slopes of slopes, for those who differentiate twice.
  t["ReluGrad"] = [](Backward& g) { g.give(0, g.b.op("ReluGrad", {g.dy(), g.x(1)})); };
  t["TanhGrad"] = [](Backward& g) {
    g.give(0, -2 * g.dy() * g.x(1) * g.x(0));
    g.give(1, g.b.op("TanhGrad", {g.x(0), g.dy()}));
  };
  t["SigmoidGrad"] = [](Backward& g) {
    g.give(0, g.dy() * g.x(1) * (1 - 2 * g.x(0)));
    g.give(1, g.b.op("SigmoidGrad", {g.x(0), g.dy()}));
  };

  t["Add"] = t["AddV2"] = [](Backward& g) { both(g, g.dy(), g.dy()); };
  t["Sub"] = [](Backward& g) { both(g, g.dy(), neg(g.dy())); };
  t["Mul"] = [](Backward& g) { both(g, g.dy() * g.x(1), g.x(0) * g.dy()); };
  t["Div"] = t["RealDiv"] = [](Backward& g) { both(g, g.dy() / g.x(1), g.dy() * (neg(g.x(0)) / g.x(1) / g.x(1))); };
  t["DivNoNan"] = [](Backward& g) {
    auto quotient = [&](const Out& p, const Out& q) -> Out { return g.b.op("DivNoNan", {p, q}); };
    both(g, quotient(g.dy(), g.x(1)), g.dy() * quotient(quotient(neg(g.x(0)), g.x(1)), g.x(1)));
  };
  t["SquaredDifference"] = [](Backward& g) {
    const Out slope = 2 * g.dy() * (g.x(0) - g.x(1));
    both(g, slope, neg(slope));
  };
  t["FloorMod"] = [](Backward& g) { both(g, g.dy(), neg(g.dy() * unary("Floor", g.x(0) / g.x(1), ""))); };
  t["Pow"] = power;
  t["Maximum"] = [](Backward& g) { larger(g, greater_equal(g.x(0), g.x(1))); };
  t["Minimum"] = [](Backward& g) { larger(g, less_equal(g.x(0), g.x(1))); };
  t["AddN"] = [](Backward& g) {
    for (int i = 0; i < g.inputs(); ++i) g.give(i, g.dy());
  };
  t["MatMul"] = product;
  t["BatchMatMul"] = t["BatchMatMulV2"] = batch_product;
  t["Cast"] = convert;
  t["Select"] = t["SelectV2"] = select;
  t["ClipByValue"] = clip;
  for (const char* op : {"Sign", "Floor", "Ceil", "Round", "Rint", "FloorDiv", "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual",
                         "IsFinite", "IsInf", "IsNan", "ArgMax", "ArgMin", "Range", "BroadcastGradientArgs"})
    t[op] = nullptr;
}

}  // namespace troupe::build
