// Gradients that are built, against differences of the functions themselves.
#include "evaluator.hpp"

#include <troupe/ops/builder/gradients.hpp>
#include <troupe/ops/builder/nn.hpp>

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace troupe::build {
namespace {

struct Case {
  std::string name;
  std::vector<Shape> inputs;
  std::function<Out(Builder&, const std::vector<Out>&)> f;
  double low = -1.5, high = 1.5;
  bool static_shapes = true;
  double h = 1e-5, tolerance = 1e-6;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

Tensor random_tensor(const Shape& shape, double low, double high, std::mt19937& random) {
  Tensor t(DType::f64, shape);
  std::uniform_real_distribution<double> numbers(low, high);
  for (double& v : t.mutable_values<double>()) v = numbers(random);
  return t;
}

/// Each input's gradient of a weighted sum of all outputs, against (f(x + h) - f(x - h)) / 2h.
void check(const Case& c, bool known) {
  Builder b;
  std::mt19937 random(7);
  std::vector<Out> xs;
  std::map<std::string, Tensor> feeds;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    std::vector<std::int64_t> sizes(c.inputs[i].begin(), c.inputs[i].end());
    if (!known) std::fill(sizes.begin(), sizes.end(), -1);
    xs.push_back(b.placeholder(DType::f64, PartialShape(std::span<const std::int64_t>(sizes)), fmt::format("x{}", i)));
    feeds[xs.back().name()] = random_tensor(c.inputs[i], c.low, c.high, random);
  }
  const Out y = c.f(b, xs);
  // Other weights for each element, so that a mix-up of elements shows.
  const Out weights = cos(cast(reshape(range(b.constant(0), Out(b.op("Size", {y})), b.constant(1)), Out(b.op("Shape", {y}))), DType::f64));
  const Out loss = sum(y * weights);
  const auto grads = gradients({loss}, xs);
  std::vector<std::string> fetches;
  for (const Grad& g : grads) {
    ASSERT_FALSE(g.none()) << c.name << b.status();
    fetches.push_back(g.dense().name());
  }
  const auto graph = b.graph();
  ASSERT_TRUE(graph.ok()) << graph.status();
  auto evaluator = Evaluator::of(*graph);
  ASSERT_TRUE(evaluator.ok()) << evaluator.status();
  auto built = (*evaluator)->run(feeds, fetches);
  ASSERT_TRUE(built.ok()) << built.status();
  const double h = c.h;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const Tensor whole = feeds[xs[i].name()];
    ASSERT_EQ((*built)[i].shape(), whole.shape()) << c.name;
    for (std::int64_t e = 0; e < whole.size(); ++e) {
      double at[2];
      for (int side = 0; side < 2; ++side) {
        Tensor moved = whole.copy();
        moved.mutable_data<double>()[e] += side ? h : -h;
        auto shifted = feeds;
        shifted[xs[i].name()] = moved;
        auto value = (*evaluator)->run(shifted, {loss.name()});
        ASSERT_TRUE(value.ok()) << value.status();
        at[side] = (*value)[0].item<double>();
      }
      const double expected = (at[1] - at[0]) / (2 * h), got = (*built)[i].data<double>()[e];
      ASSERT_NEAR(got, expected, c.tolerance * (1 + std::abs(expected))) << c.name << ", input " << i << ", element " << e;
    }
  }
}

class GradientsOf : public testing::TestWithParam<Case> {};

TEST_P(GradientsOf, AreTheDifferences) {
  check(GetParam(), true);
  if (!GetParam().static_shapes) check(GetParam(), false);
}

using Ins = std::vector<Out>;

Case one(const char* kind, double low = -1.5, double high = 1.5) {
  return {kind, {{2, 3}}, [kind](Builder& b, const Ins& x) -> Out { return b.op(kind, {x[0]}); }, low, high, false};
}

Case two(const char* kind, Shape a, Shape c, const char* label = "", double low = -1.5, double high = 1.5) {
  return {std::string(kind) + label, {a, c}, [kind](Builder& b, const Ins& x) -> Out { return b.op(kind, {x[0], x[1]}); }, low, high, false};
}

template <class F>
Case of(const char* name, std::vector<Shape> shapes, F f, bool also_unknown = false, double low = -1.5, double high = 1.5) {
  return {name, std::move(shapes), f, low, high, !also_unknown};
}

std::vector<Case> element_wise() {
  std::vector<Case> all;
  for (const char* op : {"Neg", "Abs",     "Exp",  "Expm1", "Square", "Sin",  "Cos",       "Tanh",     "Sinh",     "Cosh",    "Atan",
                         "Erf", "Sigmoid", "Relu", "Relu6", "Elu",    "Selu", "LeakyRelu", "Softplus", "Softsign", "Identity"})
    all.push_back(one(op));
  for (const char* op : {"Log", "Log1p", "Sqrt", "Rsqrt", "Reciprocal", "Inv"}) all.push_back(one(op, 0.5, 2));
  for (const char* op : {"Asin", "Acos", "Tan"}) all.push_back(one(op, -0.9, 0.9));
  for (const char* op : {"AddV2", "Sub", "Mul", "SquaredDifference", "Maximum", "Minimum"}) {
    all.push_back(two(op, {2, 3}, {2, 3}));
    all.push_back(two(op, {2, 3}, {3}, "Row"));
    all.push_back(two(op, {2, 1, 3}, {4, 1}, "Both"));
    all.push_back(two(op, {}, {2, 3}, "Scalar"));
  }
  for (const char* op : {"RealDiv", "Div", "DivNoNan", "Pow"}) {
    all.push_back(two(op, {2, 3}, {2, 3}, "", 0.5, 2));
    all.push_back(two(op, {2, 3}, {2, 1}, "Column", 0.5, 2));
  }
  return all;
}

std::vector<Case> products_and_reductions() {
  std::vector<Case> all;
  for (int t = 0; t < 4; ++t) {
    const bool ta = t & 1, tb = t & 2;
    all.push_back(of(
        ta ? (tb ? "MatMulTT" : "MatMulTN") : (tb ? "MatMulNT" : "MatMulNN"), {ta ? Shape{3, 2} : Shape{2, 3}, tb ? Shape{4, 3} : Shape{3, 4}},
        [=](Builder&, const Ins& x) {
          return matmul(x[0], x[1], {ta, tb});
        },
        true));
    all.push_back(of(
        ta ? (tb ? "BatchTT" : "BatchTN") : (tb ? "BatchNT" : "BatchNN"),
        {ta ? Shape{5, 1, 3, 2} : Shape{5, 1, 2, 3}, tb ? Shape{2, 4, 3} : Shape{2, 3, 4}},
        [=](Builder&, const Ins& x) {
          return matmul(x[0], x[1], {ta, tb});
        },
        true));
  }
  for (const char* kind : {"Sum", "Mean", "Max", "Min", "Prod"}) {
    const bool also_unknown = true;
    auto add = [&](const char* label, Axes axes) {
      all.push_back(
          {std::string(kind) + label, {{2, 3, 4}}, [=](Builder&, const Ins& x) { return reduce(kind, x[0], axes, ""); }, -1.5, 1.5, !also_unknown});
    };
    add("All", {});
    add("One", {{1}});
    add("Two", {{0, -1}});
    add("Kept", {{1, 2}, true});
  }
  all.push_back(of("Cumsum", {{3, 4}}, [](Builder& b, const Ins& x) -> Out { return b.op("Cumsum", {x[0], b.constant(1)}, {{"exclusive", true}}); }));
  all.push_back(of(
      "AddN", {{2, 2}, {2, 2}},
      [](Builder&, const Ins& x) {
        return add_n({x[0], x[1], x[0]});
      },
      true));
  all.push_back(of(
      "Where", {{2, 3}, {3}}, [](Builder&, const Ins& x) { return where(greater(x[0], 0), x[0], x[1]); }, true));
  all.push_back(of("Clip", {{3, 3}}, [](Builder& b, const Ins& x) -> Out { return b.op("ClipByValue", {x[0], b.constant(-0.5), b.constant(0.5)}); }));
  all.push_back(of("Twice", {{2, 3}}, [](Builder&, const Ins& x) { return gradients({sum(tanh(x[0]) * sigmoid(x[0]))}, {x[0]})[0].dense(); }));
  return all;
}

std::vector<Case> arrays() {
  std::vector<Case> all;
  all.push_back(of(
      "Reshape", {{2, 6}},
      [](Builder&, const Ins& x) {
        return reshape(x[0], {3, -1});
      },
      true));
  all.push_back(of(
      "ExpandSqueeze", {{2, 3}}, [](Builder&, const Ins& x) { return squeeze(expand_dims(square(expand_dims(x[0], 1)), -1), {1}); }, true));
  all.push_back(of(
      "Transpose", {{2, 3, 4}},
      [](Builder&, const Ins& x) {
        return transpose(x[0], {2, 0, 1});
      },
      true));
  all.push_back(of(
      "Concat", {{2, 3}, {2, 1}, {2, 2}},
      [](Builder&, const Ins& x) {
        return concat({x[0], x[1], x[2]}, -1);
      },
      true));
  all.push_back(of(
      "Stack", {{2, 3}, {2, 3}},
      [](Builder&, const Ins& x) {
        return stack({x[0], square(x[1])}, 1);
      },
      true));
  all.push_back(of("Unstack", {{3, 2}}, [](Builder&, const Ins& x) { return unstack(x[0], 2, 1)[1] * 3; }));
  all.push_back(of(
      "Split", {{4, 2}}, [](Builder&, const Ins& x) { return split(x[0], 2, 0)[0] * split(x[0], 2, 0)[1]; }, true));
  all.push_back(of(
      "Slice", {{4, 5}},
      [](Builder&, const Ins& x) {
        return slice(x[0], {1, 2}, {2, -1});
      },
      true));
  all.push_back(of(
      "StridedSlice", {{4, 5}},
      [](Builder&, const Ins& x) {
        return strided_slice(x[0], {3, 0}, {0, 5}, {-2, 2});
      },
      true));
  all.push_back(of(
      "Tile", {{2, 3}},
      [](Builder&, const Ins& x) {
        return tile(x[0], {2, 3});
      },
      true));
  all.push_back(of(
      "Pad", {{2, 3}},
      [](Builder&, const Ins& x) {
        return pad(x[0], {{1, 0}, {2, 1}});
      },
      true));
  all.push_back(of("MirrorPad", {{2, 3}}, [](Builder& b, const Ins& x) -> Out {
    return b.op("MirrorPad", {x[0], b.constant(Tensor::of<std::int32_t>({2, 2}, std::vector<std::int32_t>{1, 0, 1, 2}))}, {{"mode", "REFLECT"}});
  }));
  all.push_back(of(
      "BroadcastTo", {{2, 1}},
      [](Builder& b, const Ins& x) -> Out {
        return b.op("BroadcastTo", {x[0], b.constant(std::vector{3, 2, 4})});
      },
      true));
  all.push_back(of("Fill", {{}}, [](Builder& b, const Ins& x) { return fill(b.constant(std::vector{2, 3}), x[0]); }));
  all.push_back(of(
      "Gather", {{5, 2}},
      [](Builder& b, const Ins& x) {
        return gather(x[0], b.constant(std::vector{3, 1, 3}));
      },
      true));
  all.push_back(of(
      "GatherAxis", {{2, 5, 3}},
      [](Builder& b, const Ins& x) {
        return gather(x[0], b.constant(std::vector{3, 1, 3, 0}), 1);
      },
      true));
  all.push_back(of(
      "GatherTwice", {{5, 2}},
      [](Builder& b, const Ins& x) {
        return gather(x[0], b.constant(std::vector{3, 1})) * gather(x[0], b.constant(std::vector{0, 1}));
      },
      true));
  all.push_back(of("GatherAndWhole", {{2, 2}}, [](Builder& b, const Ins& x) { return gather(x[0], b.constant(std::vector{1, 1})) * x[0]; }));
  all.push_back(of("GatherNd", {{3, 4}}, [](Builder& b, const Ins& x) -> Out {
    return b.op("GatherNd", {x[0], b.constant(Tensor::of<std::int32_t>({3, 2}, std::vector<std::int32_t>{0, 1, 2, 3, 0, 1}))});
  }));
  all.push_back(of("SegmentSum", {{4, 2}}, [](Builder& b, const Ins& x) -> Out {
    return b.op("UnsortedSegmentSum", {x[0], b.constant(std::vector{1, -1, 0, 1}), b.constant(3)});
  }));
  all.push_back(of("PartitionStitch", {{5, 2}}, [](Builder& b, const Ins& x) -> Out {
    const Out to = b.constant(std::vector{1, 0, 1, 1, 0});
    const Op parts = b.op("DynamicPartition", {x[0], to}, {{"num_partitions", 2}});
    return b.op("DynamicStitch", {Ins{b.constant(std::vector{3, 0}), b.constant(std::vector{1, 2, 4})}, Ins{square(parts[0]), parts[1]}});
  }));
  return all;
}

std::vector<Case> networks() {
  std::vector<Case> all;
  for (const char* padding : {"SAME", "VALID"}) {
    const bool same = padding[0] == 'S';
    all.push_back(of(
        same ? "ConvSame" : "ConvValid", {{2, 5, 4, 2}, {3, 2, 2, 3}},
        [=](Builder&, const Ins& x) {
          return conv2d(x[0], x[1], {2, 1, padding});
        },
        true));
    all.push_back(of(same ? "DepthwiseSame" : "DepthwiseValid", {{2, 5, 5, 2}, {3, 2, 2, 2}}, [=](Builder&, const Ins& x) {
      return depthwise_conv2d(x[0], x[1], {1, 1, padding});
    }));
    all.push_back(of(
        same ? "MaxPoolSame" : "MaxPoolValid", {{2, 5, 4, 2}},
        [=](Builder&, const Ins& x) {
          return max_pool(x[0], 2, 2, {2, 1, padding});
        },
        true));
    all.push_back(of(
        same ? "AvgPoolSame" : "AvgPoolValid", {{2, 5, 4, 2}},
        [=](Builder&, const Ins& x) {
          return avg_pool(x[0], 3, 2, {2, 2, padding});
        },
        true));
  }
  all.push_back(of(
      "Bias", {{2, 3, 4}, {4}}, [](Builder&, const Ins& x) { return bias_add(x[0], x[1]); }, true));
  all.push_back(of(
      "Softmax", {{3, 4}}, [](Builder&, const Ins& x) { return softmax(x[0]); }, true));
  all.push_back(of(
      "LogSoftmax", {{3, 4}}, [](Builder&, const Ins& x) { return log_softmax(x[0]); }, true));
  // Labels are distributions: the op's gradient holds for those only.
  all.push_back(of(
      "SoftmaxLoss", {{3, 4}, {3, 4}}, [](Builder&, const Ins& x) { return softmax_cross_entropy(softmax(x[0]), x[1]); }, true, 0.1, 1));
  all.push_back(of(
      "SoftmaxLossOfBatches", {{2, 3, 4}, {2, 3, 4}}, [](Builder&, const Ins& x) { return softmax_cross_entropy(softmax(x[0]), x[1]); }, true, 0.1,
      1));
  all.push_back(of(
      "SparseSoftmaxLoss", {{3, 4}},
      [](Builder& b, const Ins& x) {
        return sparse_softmax_cross_entropy(b.constant(std::vector{1, 3, 0}), x[0]);
      },
      true));
  all.push_back(of(
      "SigmoidLoss", {{3, 4}, {3, 4}}, [](Builder&, const Ins& x) { return sigmoid_cross_entropy(x[0], x[1]); }, true));
  all.push_back(of(
      "L2Loss", {{3, 4}}, [](Builder&, const Ins& x) { return l2_loss(x[0]); }, true));
  all.push_back(of(
      "TwoLayers", {{3, 4}, {4, 5}, {5}, {5, 2}}, [](Builder&, const Ins& x) { return softmax(matmul(tanh(matmul(x[0], x[1]) + x[2]), x[3])); },
      true));
  return all;
}

std::string label(const testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(ElementWise, GradientsOf, testing::ValuesIn(element_wise()), label);
INSTANTIATE_TEST_SUITE_P(ProductsAndReductions, GradientsOf, testing::ValuesIn(products_and_reductions()), label);
INSTANTIATE_TEST_SUITE_P(Arrays, GradientsOf, testing::ValuesIn(arrays()), label);
INSTANTIATE_TEST_SUITE_P(Networks, GradientsOf, testing::ValuesIn(networks()), label);

}  // namespace
}  // namespace troupe::build
