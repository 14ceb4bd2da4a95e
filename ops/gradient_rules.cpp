// The gradients of single ops, as formulas.
#include <troupe/ops/gradients.hpp>
#include <troupe/ops/lowering_graph.hpp>

#include <unordered_map>

namespace troupe::gradients {
namespace {

using lowering::bool_attr;
using lowering::int_attr;
using lowering::type_attr;
using Edges = std::vector<Edge>;
using Rules = std::unordered_map<std::string, Rule>;

/// A rule for y = f(x) from what dy is multiplied with.
Rule slope(Edge (*of)(Turn&)) {
  return [of](Turn& t) -> Edges { return {t.b.on("Mul", {t.dy[0], of(t)})}; };
}
/// A rule whose formula is an op of its own, of y and dy.
Rule by_op(const char* op) {
  return [op](Turn& t) -> Edges { return {t.b.on(op, {t.y(), t.dy[0]})}; };
}
/// The same of dy and x.
Rule by_op_of_input(const char* op) {
  return [op](Turn& t) -> Edges { return {t.b.on(op, {t.dy[0], t.x(0)})}; };
}
/// A rule for two inputs that broadcast, from the gradient that each would have without.
Rule pair(std::pair<Edge, Edge> (*of)(Turn&)) {
  return [of](Turn& t) -> Edges {
    const auto [gx, gy] = of(t);
    return {t.b.unbroadcast(gx, t.x(0), t.x(1)), t.b.unbroadcast(gy, t.x(1), t.x(0))};
  };
}

Edge one(Turn& t) { return t.b.constant(1, t.b.type_of(t.x(0))); }
Edge squared(Turn& t) { return t.b.on("Square", {t.x(0)}); }
Edge inverse(Turn& t, const Edge& x) { return t.b.on("Reciprocal", {x}); }

void add_functions(Rules& rules) {
  // The gradient of a variable is that of its value.
  rules["ReadVariableOp"] = rules["Identity"] = [](Turn& t) -> Edges { return {t.dy[0]}; };
  rules["Neg"] = [](Turn& t) -> Edges { return {t.b.on("Neg", {t.dy[0]})}; };
  rules["Abs"] = slope([](Turn& t) { return t.b.on("Sign", {t.x(0)}); });
  rules["Inv"] = rules["Reciprocal"] = by_op("ReciprocalGrad");
  rules["Sqrt"] = by_op("SqrtGrad");
  rules["Rsqrt"] = by_op("RsqrtGrad");
  rules["Tanh"] = by_op("TanhGrad");
  rules["Sigmoid"] = by_op("SigmoidGrad");
  rules["Square"] = slope([](Turn& t) { return t.b.on("Mul", {t.b.constant(2, t.b.type_of(t.x(0))), t.x(0)}); });
  rules["Exp"] = slope([](Turn& t) { return t.y(); });
  rules["Expm1"] = slope([](Turn& t) { return t.b.on("Exp", {t.x(0)}); });
  rules["Log"] = slope([](Turn& t) { return inverse(t, t.x(0)); });
  rules["Log1p"] = slope([](Turn& t) { return inverse(t, t.b.on("Add", {one(t), t.x(0)})); });
  rules["Sinh"] = slope([](Turn& t) { return t.b.on("Cosh", {t.x(0)}); });
  rules["Cosh"] = slope([](Turn& t) { return t.b.on("Sinh", {t.x(0)}); });
  rules["Sin"] = slope([](Turn& t) { return t.b.on("Cos", {t.x(0)}); });
  rules["Cos"] = slope([](Turn& t) { return t.b.on("Neg", {t.b.on("Sin", {t.x(0)})}); });
  rules["Tan"] = slope([](Turn& t) { return inverse(t, t.b.on("Square", {t.b.on("Cos", {t.x(0)})})); });
  rules["Asin"] = slope([](Turn& t) { return t.b.on("Rsqrt", {t.b.on("Sub", {one(t), squared(t)})}); });
  rules["Acos"] = slope([](Turn& t) { return t.b.on("Neg", {t.b.on("Rsqrt", {t.b.on("Sub", {one(t), squared(t)})})}); });
  rules["Atan"] = slope([](Turn& t) { return inverse(t, t.b.on("Add", {one(t), squared(t)})); });
  rules["Sign"] = [](Turn& t) -> Edges { return {t.b.zeros_like(t.x(0))}; };
  rules["Cast"] = [](Turn& t) -> Edges { return {t.b.add("Cast", {t.dy[0]}, {{"SrcT", t.attr("DstT")}, {"DstT", t.attr("SrcT")}})}; };
  rules["Relu"] = by_op_of_input("ReluGrad");
  rules["Relu6"] = by_op_of_input("Relu6Grad");
  rules["Elu"] = [](Turn& t) -> Edges { return {t.b.on("EluGrad", {t.dy[0], t.y()})}; };
  rules["Softplus"] = by_op_of_input("SoftplusGrad");
  rules["L2Loss"] = slope([](Turn& t) { return t.x(0); });
}

void add_pairs(Rules& rules) {
  rules["Add"] = rules["AddV2"] = pair([](Turn& t) { return std::pair{t.dy[0], t.dy[0]}; });
  rules["Sub"] = pair([](Turn& t) { return std::pair{t.dy[0], t.b.on("Neg", {t.dy[0]})}; });
  rules["Mul"] = pair([](Turn& t) { return std::pair{t.b.on("Mul", {t.dy[0], t.x(1)}), t.b.on("Mul", {t.x(0), t.dy[0]})}; });
  for (const char* op : {"Div", "RealDiv", "DivNoNan"})
    rules[op] = [op](Turn& t) -> Edges {
      const Edge gx = t.b.on(op, {t.dy[0], t.x(1)});
      const Edge gy = t.b.on("Mul", {t.dy[0], t.b.on(op, {t.b.on("Neg", {t.x(0)}), t.b.on("Square", {t.x(1)})})});
      return {t.b.unbroadcast(gx, t.x(0), t.x(1)), t.b.unbroadcast(gy, t.x(1), t.x(0))};
    };
  rules["Pow"] = pair([](Turn& t) {
    const Edge lower = t.b.on("Pow", {t.x(0), t.b.on("Sub", {t.x(1), one(t)})});
    // Where x is not positive its logarithm says nothing.
    const Edge zero = t.b.zeros_like(t.x(0));
    const Edge log = t.b.on("SelectV2", {t.b.on("Greater", {t.x(0), zero}), t.b.on("Log", {t.x(0)}), zero}, {});
    return std::pair{t.b.on("Mul", {t.dy[0], t.b.on("Mul", {t.x(1), lower})}), t.b.on("Mul", {t.dy[0], t.b.on("Mul", {t.y(), log})})};
  });
  const auto chosen = [](const char* comparison) -> Rule {
    return [comparison](Turn& t) -> Edges {
      const Edge first = t.b.on(comparison, {t.x(0), t.x(1)}), zero = t.b.zeros_like(t.dy[0]);
      const Builder::Attrs type{{"T", type_attr(t.b.type_of(zero))}};
      const Edge gx = t.b.add("Select", {first, t.dy[0], zero}, type), gy = t.b.add("Select", {first, zero, t.dy[0]}, type);
      return {t.b.unbroadcast(gx, t.x(0), t.x(1)), t.b.unbroadcast(gy, t.x(1), t.x(0))};
    };
  };
  rules["Maximum"] = chosen("GreaterEqual");
  rules["Minimum"] = chosen("LessEqual");
  rules["Select"] = [](Turn& t) -> Edges {
    const Edge zero = t.b.zeros_like(t.dy[0]);
    const Builder::Attrs type{{"T", type_attr(t.b.type_of(zero))}};
    return {nothing, t.b.add("Select", {t.x(0), t.dy[0], zero}, type), t.b.add("Select", {t.x(0), zero, t.dy[0]}, type)};
  };
  rules["AddN"] = [](Turn& t) -> Edges { return Edges(t.node.inputs.size(), t.dy[0]); };
  rules["BiasAdd"] = [](Turn& t) -> Edges { return {t.dy[0], t.b.on("BiasAddGrad", {t.dy[0]}, {{"data_format", t.attr("data_format")}})}; };
}

/// dy as wide as x again.
Edge spread(Turn& t, const Edge& dy) {
  const Edge kept = t.b.on("Sum", {t.x(0), t.x(1)}, {{"keep_dims", bool_attr(true)}, {"Tidx", t.attr("Tidx")}});
  return t.b.on("BroadcastTo", {t.b.reshape_like(dy, kept), t.b.shape(t.x(0))});
}

void add_reductions(Rules& rules) {
  rules["Sum"] = [](Turn& t) -> Edges { return {spread(t, t.dy[0]), nothing}; };
  rules["Mean"] = [](Turn& t) -> Edges {
    const DType type = t.b.type_of(t.x(0));
    const auto size = [&](const Edge& e) {
      return t.b.add("Cast", {t.b.on("Size", {e})}, {{"SrcT", type_attr(DType::i32)}, {"DstT", type_attr(type)}});
    };
    return {t.b.on("Div", {spread(t, t.dy[0]), t.b.on("Div", {size(t.x(0)), size(t.y())})}), nothing};
  };
  rules["Max"] = rules["Min"] = [](Turn& t) -> Edges {
    const DType type = t.b.type_of(t.x(0));
    const Edge reached =
        t.b.add("Cast", {t.b.on("Equal", {spread(t, t.y()), t.x(0)})}, {{"SrcT", type_attr(DType::boolean)}, {"DstT", type_attr(type)}});
    const Edge count = t.b.on("Sum", {reached, t.x(1)}, {{"keep_dims", bool_attr(true)}, {"Tidx", t.attr("Tidx")}});
    return {t.b.on("Mul", {t.b.on("Div", {reached, count}), spread(t, t.dy[0])}), nothing};
  };
  rules["Softmax"] = [](Turn& t) -> Edges {
    const Edge sum = t.b.on("Sum", {t.b.on("Mul", {t.dy[0], t.y()}), t.b.integers({-1})}, {{"keep_dims", bool_attr(true)}});
    return {t.b.on("Mul", {t.b.on("Sub", {t.dy[0], sum}), t.y()})};
  };
  rules["LogSoftmax"] = [](Turn& t) -> Edges {
    const Edge sum = t.b.on("Sum", {t.dy[0], t.b.integers({-1})}, {{"keep_dims", bool_attr(true)}});
    return {t.b.on("Sub", {t.dy[0], t.b.on("Mul", {t.b.on("Exp", {t.y()}), sum})})};
  };
}

/// The gradients of a product of matrices, whichever of them is read the other way round.
Edges of_product(Turn& t, const char* op, const char* first, const char* second, bool batches) {
  const bool a = t.attr(first).b(), b = t.attr(second).b();
  const auto product = [&](const Edge& x, const Edge& y, bool tx, bool ty) {
    return t.b.on(op, {x, y}, {{first, bool_attr(tx)}, {second, bool_attr(ty)}});
  };
  const Edge dx = a ? product(t.x(1), t.dy[0], b, true) : product(t.dy[0], t.x(1), false, !b);
  const Edge dy = b ? product(t.dy[0], t.x(0), true, a) : product(t.x(0), t.dy[0], !a, false);
  if (!batches) return {dx, dy};
  const auto leading = [&](const Edge& x) {
    const Edge shape = t.b.shape(x);
    return t.b.on("StridedSlice", {shape, t.b.integers({0}), t.b.integers({-2}), t.b.integers({1})}, {{"Index", type_attr(DType::i32)}});
  };
  const auto reduced = [&](const Edge& gradient, const Edge& x, const Edge& other) {
    const Edge axes = t.b.on("BroadcastGradientArgs", {leading(x), leading(other)});
    return t.b.on("Reshape", {t.b.on("Sum", {gradient, axes}), t.b.shape(x)});
  };
  return {reduced(dx, t.x(0), t.x(1)), reduced(dy, t.x(1), t.x(0))};
}

void add_products(Rules& rules) {
  rules["MatMul"] = [](Turn& t) { return of_product(t, "MatMul", "transpose_a", "transpose_b", false); };
  rules["BatchMatMul"] = [](Turn& t) { return of_product(t, "BatchMatMul", "adj_x", "adj_y", false); };
  rules["BatchMatMulV2"] = [](Turn& t) { return of_product(t, "BatchMatMulV2", "adj_x", "adj_y", true); };
  rules["Conv2D"] = [](Turn& t) -> Edges {
    Builder::Attrs attrs;
    for (const char* name : {"strides", "use_cudnn_on_gpu", "padding", "explicit_paddings", "data_format", "dilations"})
      attrs.emplace_back(name, t.attr(name));
    attrs.emplace_back("T", t.attr("T"));
    return {t.b.add("Conv2DBackpropInput", {t.b.shape(t.x(0)), t.x(1), t.dy[0]}, attrs),
            t.b.add("Conv2DBackpropFilter", {t.x(0), t.b.shape(t.x(1)), t.dy[0]}, attrs)};
  };
  for (const char* op : {"MaxPool", "AvgPool"})
    rules[op] = [max = op[0] == 'M'](Turn& t) -> Edges {
      Builder::Attrs attrs;
      for (const char* name : {"ksize", "strides", "padding", "data_format", "T"}) attrs.emplace_back(name, t.attr(name));
      if (max) return {t.b.add("MaxPoolGrad", {t.x(0), t.y(), t.dy[0]}, attrs)};
      return {t.b.add("AvgPoolGrad", {t.b.shape(t.x(0)), t.dy[0]}, attrs)};
    };
  rules["SoftmaxCrossEntropyWithLogits"] = [](Turn& t) -> Edges {
    return {t.b.on("Mul", {t.b.on("ExpandDims", {t.dy[0], t.b.integers({-1})}), t.y(1)}), nothing};
  };
}

void add_moves(Rules& rules) {
  rules["Reshape"] = rules["ExpandDims"] = rules["Squeeze"] = [](Turn& t) -> Edges { return {t.b.reshape_like(t.dy[0], t.x(0)), nothing}; };
  rules["Transpose"] = [](Turn& t) -> Edges {
    const Edge back = t.b.on("InvertPermutation", {t.x(1)});
    return {t.b.on("Transpose", {t.dy[0], back}, {{"Tperm", t.attr("Tperm")}}), nothing};
  };
  rules["Fill"] = [](Turn& t) -> Edges {
    const Edge axes = t.b.add("Range",
                              {t.b.on("Reshape", {t.b.integers({0}), t.b.integers({})}), t.b.on("Rank", {t.dy[0]}),
                               t.b.on("Reshape", {t.b.integers({1}), t.b.integers({})})},
                              {});
    return {nothing, t.b.on("Sum", {t.dy[0], axes})};
  };
  rules["Pack"] = [](Turn& t) -> Edges {
    const Edge parts = t.b.on("Unpack", {t.dy[0]}, {{"num", t.attr("N")}, {"axis", t.attr("axis")}});
    Edges each;
    for (int i = 0; i < static_cast<int>(t.node.inputs.size()); ++i) each.push_back({parts.node, i});
    return each;
  };
  rules["Unpack"] = [](Turn& t) -> Edges { return {t.b.on("Pack", t.dy, {{"N", t.attr("num")}, {"axis", t.attr("axis")}})}; };
  rules["Split"] = [](Turn& t) -> Edges {
    Edges inputs = t.dy;
    inputs.push_back(t.x(0));
    return {nothing, t.b.on("ConcatV2", std::move(inputs), {{"N", t.attr("num_split")}})};
  };
  rules["ConcatV2"] = [](Turn& t) -> Edges {
    const std::size_t n = t.node.inputs.size() - 1;
    // Offsets take an int32 axis.
    const Edge axis = t.b.add("Cast", {t.x(n)}, {{"SrcT", t.attr("Tidx")}, {"DstT", type_attr(DType::i32)}});
    const Edge rank = t.b.on("Rank", {t.x(0)});
    Edges inputs{t.b.on("FloorMod", {axis, rank})};
    for (std::size_t i = 0; i < n; ++i) inputs.push_back(t.b.shape(t.x(i)));
    const Edge offsets = t.b.add("ConcatOffset", std::move(inputs), {{"N", int_attr(static_cast<std::int64_t>(n))}});
    Edges each;
    for (std::size_t i = 0; i < n; ++i) {
      const Edge at = offsets.node < 0 ? nothing : Edge{offsets.node, static_cast<int>(i)};
      each.push_back(t.b.on("Slice", {t.dy[0], at, t.b.shape(t.x(i))}, {{"Index", type_attr(DType::i32)}}));
    }
    return each;
  };
  rules["Slice"] = [](Turn& t) -> Edges {
    const auto as_int = [&](const Edge& e) { return t.b.add("Cast", {e}, {{"SrcT", t.attr("Index")}, {"DstT", type_attr(DType::i32)}}); };
    const Edge before = as_int(t.x(1));
    const Edge after = t.b.on("Sub", {t.b.on("Sub", {t.b.shape(t.x(0)), before}), t.b.shape(t.y())});
    const Edge pads = t.b.on("Pack", {before, after}, {{"N", int_attr(2)}, {"axis", int_attr(1)}});
    return {t.b.on("Pad", {t.dy[0], pads}), nothing, nothing};
  };
  rules["StridedSlice"] = [](Turn& t) -> Edges {
    Builder::Attrs attrs;
    for (const char* name : {"T", "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask", "Index"})
      attrs.emplace_back(name, t.attr(name));
    const Edge shape = t.b.on("Shape", {t.x(0)}, {{"out_type", t.attr("Index")}});
    return {t.b.add("StridedSliceGrad", {shape, t.x(1), t.x(2), t.x(3), t.dy[0]}, attrs), nothing, nothing, nothing};
  };
}

Rules all_rules() {
  Rules rules;
  add_functions(rules);
  add_pairs(rules);
  add_reductions(rules);
  add_products(rules);
  add_moves(rules);
  for (const char* op : {"Shape",      "Rank",         "Size",          "ZerosLike",
                         "OnesLike",   "StopGradient", "Equal",         "NotEqual",
                         "Less",       "LessEqual",    "Greater",       "GreaterEqual",
                         "LogicalAnd", "LogicalOr",    "LogicalNot",    "Range",
                         "LinSpace",   "ArgMax",       "ArgMin",        "InvertPermutation",
                         "Floor",      "FloorDiv",     "TruncateDiv",   "Ceil",
                         "Round",      "Rint",         "IsNan",         "IsInf",
                         "IsFinite",   "EditDistance", "RandomUniform", "RandomStandardNormal"})
    rules[op] = nullptr;
  return rules;
}

}  // namespace

const Rule* find_rule(const std::string& op) {
  static const Rules rules = all_rules();
  const auto found = rules.find(op);
  return found == rules.end() ? nullptr : &found->second;
}

}  // namespace troupe::gradients
