// Names, scopes, devices, control edges and mistakes of graphs that are built.
#include <troupe/ops/builder/nn.hpp>
#include <troupe/ops/builder/optimizer.hpp>
#include <troupe/ops/builder/replicas.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace troupe::build {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names_of(const Builder& b) {
  std::vector<std::string> names;
  for (int i = 0; i < b.size(); ++i) names.push_back(b.made(i).def.name());
  return names;
}

const wire::NodeDef& node(Builder& b, const std::string& name) {
  auto found = b.find(name);
  EXPECT_TRUE(found.ok()) << name;
  return b.made(found.ok() ? found->node : 0).def;
}

std::vector<std::string> inputs_of(Builder& b, const std::string& name) {
  const auto& def = node(b, name);
  return {def.input().begin(), def.input().end()};
}

std::string place_of(Builder& b, const std::string& name) {
  const auto& def = node(b, name);
  auto found = def.attr().find("_class");
  return found == def.attr().end() ? "" : found->second.list().s(0);
}

TEST(BuilderNames, AreUniqueAsInPython) {
  Builder b;
  const Out x = b.constant(1.0f, "x");
  EXPECT_EQ(relu(x).name(), "Relu:0");
  EXPECT_EQ(relu(x).name(), "Relu_1:0");
  EXPECT_EQ(unary("Relu", x, "relu").name(), "relu_2:0");  // cases do not make a difference
  {
    auto a = b.scope("a");
    EXPECT_EQ(relu(x).name(), "a/Relu:0");
    auto in = b.scope("b");
    EXPECT_EQ(relu(x, "r").name(), "a/b/r:0");
  }
  {
    auto a = b.scope("a");
    EXPECT_EQ(relu(x).name(), "a_1/Relu:0");
  }
  {
    auto again = b.scope("a/");
    EXPECT_EQ(relu(x).name(), "a/Relu_1:0");
    auto root = b.scope("");
    EXPECT_EQ(relu(x).name(), "Relu_3:0");
  }
  EXPECT_TRUE(b.status().ok()) << b.status();
}

TEST(BuilderNames, NumbersStandBelowTheirOp) {
  Builder b;
  const Out x = b.placeholder(DType::f32, dims({2}), "x");
  const Out y = x * 2.0 + 1;
  EXPECT_EQ(y.name(), "add:0");
  EXPECT_THAT(names_of(b), ElementsAre("x", "mul/y", "mul", "add/y", "add"));
  EXPECT_EQ(b.made(1).value.item<float>(), 2.0f);
  EXPECT_EQ((3 - x).name(), "sub:0");
  EXPECT_THAT(inputs_of(b, "sub"), ElementsAre("sub/x", "x"));
}

TEST(BuilderNames, VariablesAreThoseOfPython) {
  Builder b;
  const Variable w = variable(b, "w", glorot_uniform({4, 3}));
  EXPECT_THAT(names_of(b),
              ElementsAre("w/Initializer/random_uniform/shape", "w/Initializer/random_uniform/min", "w/Initializer/random_uniform/max",
                          "w/Initializer/random_uniform/RandomUniform", "w/Initializer/random_uniform/sub", "w/Initializer/random_uniform/mul",
                          "w/Initializer/random_uniform", "w", "w/IsInitialized/VarIsInitializedOp", "w/Assign", "w/Read/ReadVariableOp"));
  EXPECT_EQ(place_of(b, "w/Initializer/random_uniform"), "loc:@w");
  EXPECT_EQ(node(b, "w").attr().at("shared_name").s(), "w");
  EXPECT_EQ(variable(b, "w", zeros({2})).name(), "w_1");
  EXPECT_EQ(w.shape, dims({4, 3}));
}

TEST(BuilderControls, AreNotRepeatedWhereAnInputHasThem) {
  Builder b;
  const Out x = b.constant(1.0f, "x");
  const Op first = b.op("NoOp", {}, {}, "first");
  {
    auto after = b.after({first});
    const Out y = relu(x, "y");
    relu(y, "z");
    auto free = b.after_nothing();
    relu(x, "free");
  }
  relu(x, "outside");
  EXPECT_THAT(inputs_of(b, "y"), ElementsAre("x", "^first"));
  EXPECT_THAT(inputs_of(b, "z"), ElementsAre("y"));
  EXPECT_THAT(inputs_of(b, "free"), ElementsAre("x"));
  EXPECT_THAT(inputs_of(b, "outside"), ElementsAre("x"));
}

TEST(BuilderDevices, InnerFieldsWin) {
  Builder b;
  auto worker = b.device("/job:worker/task:1");
  auto gpu = b.device("/gpu:0");
  b.constant(1.0f, "x");
  {
    auto ps = b.device("/job:ps/replica:0/task:0/cpu:0");
    b.constant(1.0f, "y");
  }
  EXPECT_EQ(node(b, "x").device(), "/job:worker/task:1/device:GPU:0");
  EXPECT_EQ(node(b, "y").device(), "/job:ps/replica:0/task:0/device:CPU:0");
}

TEST(BuilderDevices, BesideTakesTheDeviceToo) {
  Builder b;
  Out x;
  {
    auto ps = b.device("/job:ps/task:1");
    x = b.constant(1.0f, "x");
  }
  auto worker = b.device("/job:worker");
  auto beside = b.beside(op_of(x));
  relu(x, "y");
  EXPECT_EQ(node(b, "y").device(), "/job:ps/task:1");
  EXPECT_EQ(place_of(b, "y"), "loc:@x");
}

TEST(BuilderDevices, VariablesGoRoundRobin) {
  Builder b;
  auto replica = b.device(replica_device_setter({.ps_tasks = 2, .worker_device = "/job:worker/task:3"}));
  const Out x = b.placeholder(DType::f32, dims({-1, 4}), "x");
  const Variable w = variable(b, "w", zeros({4, 2})), c = variable(b, "c", zeros({2}));
  const Variable step = global_step(b);
  const Out loss = mean(matmul(x, w) + c);
  Momentum(0.1, 0.9).minimize(loss, step);
  ASSERT_TRUE(b.status().ok()) << b.status();
  EXPECT_EQ(node(b, "w").device(), "/job:ps/task:0");
  EXPECT_EQ(node(b, "c").device(), "/job:ps/task:1");
  EXPECT_EQ(node(b, "global_step").device(), "/job:ps/task:0");
  EXPECT_EQ(node(b, "w/Assign").device(), "/job:ps/task:0");
  EXPECT_EQ(node(b, "c/Momentum").device(), "/job:ps/task:1");
  EXPECT_EQ(place_of(b, "c/Momentum"), "loc:@c");
  EXPECT_EQ(node(b, "MatMul").device(), "/job:worker/task:3");
  EXPECT_EQ(node(b, "Momentum/update_c/ResourceApplyMomentum").device(), "/job:ps/task:1");
  EXPECT_EQ(node(b, "Momentum").op(), "AssignAddVariableOp");
}

TEST(BuilderMistakes, TheFirstIsKeptAndNamed) {
  Builder b;
  const Out a = b.placeholder(DType::f32, dims({2, 3}), "a"), c = b.placeholder(DType::f32, dims({4, 5}), "c");
  const Out bad = matmul(a, c, {}, "product");
  EXPECT_FALSE(bad.valid());
  EXPECT_FALSE(relu(bad + 1).valid());
  const auto graph = b.graph();
  EXPECT_TRUE(absl::IsInvalidArgument(graph.status()));
  EXPECT_EQ(text_of(graph.status()), "Dimensions must be equal, but are 3 and 4 for 'product' (op: 'MatMul') with input shapes: [2,3], [4,5].");
}

TEST(BuilderMistakes, TypesAreChecked) {
  Builder b;
  const Out a = b.constant(1.0f, "a"), i = b.constant(1, "i");
  EXPECT_FALSE(add(a, i).valid());
  EXPECT_THAT(text_of(b.status()), HasSubstr("Node 'add': Input 'y' of 'AddV2' Op has type int32 that does not match type float of argument 'x'."));
  Builder c;
  c.op("NoSuchOp", {}, {}, "odd");
  EXPECT_THAT(text_of(c.status()), HasSubstr("'odd': there is no op 'NoSuchOp'"));
  Builder d;
  d.op("MatMul", {d.constant(1.0f)});
  EXPECT_THAT(text_of(d.status()), HasSubstr("takes 2 inputs, got 1"));
  Builder e;
  e.op("Cast", {e.constant(1.0f)});
  EXPECT_FALSE(e.graph().ok());  // nothing says the type to cast to
  Builder f;
  relu(a);
  EXPECT_FALSE(f.op("Relu", {a}).valid());
  EXPECT_THAT(text_of(f.status()), HasSubstr("another builder"));
}

TEST(BuilderMistakes, AnOpWithoutAGradientIsNamed) {
  Builder b;
  const Out x = b.placeholder(DType::f32, dims({4}), "x");
  const Out y = b.op("Betainc", {x, x, x}, {}, "odd");
  gradients({y}, {x});
  EXPECT_TRUE(absl::IsUnimplemented(b.status()));
  EXPECT_THAT(text_of(b.status()), HasSubstr("'odd' (op type: Betainc)"));
}

TEST(BuilderShapes, AreInferred) {
  Builder b;
  const Out x = b.placeholder(DType::f32, dims({-1, 28, 28, 1}), "x");
  const Out filter = b.placeholder(DType::f32, dims({5, 5, 1, 32}));
  const Out c = conv2d(x, filter);
  EXPECT_EQ(c.shape(), dims({-1, 28, 28, 32}));
  EXPECT_EQ(conv2d(x, filter, {2, 2, "VALID"}).shape(), dims({-1, 12, 12, 32}));
  EXPECT_EQ(max_pool(c, 2, 2).shape(), dims({-1, 14, 14, 32}));
  EXPECT_EQ(avg_pool(c, 3, 3, {2, 2, "VALID"}).shape(), dims({-1, 13, 13, 32}));
  EXPECT_EQ(reshape(c, {-1, 28 * 28 * 32}).shape(), dims({-1, 25088}));
  EXPECT_EQ(mean(c, {{1, 2}}).shape(), dims({-1, 32}));
  EXPECT_EQ(mean(c, {{-1}, true}).shape(), dims({-1, 28, 28, 1}));
  EXPECT_EQ(mean(c).shape(), dims({}));
  EXPECT_EQ(transpose(c, {3, 0, 1, 2}).shape(), dims({32, -1, 28, 28}));
  EXPECT_EQ((c + b.placeholder(DType::f32, dims({32}))).shape(), dims({-1, 28, 28, 32}));
  EXPECT_EQ(concat({c, c}, 3).shape(), dims({-1, 28, 28, 64}));
  EXPECT_EQ(stack({c, c}, 1).shape(), dims({-1, 2, 28, 28, 32}));
  EXPECT_EQ(split(c, 2, -1)[1].shape(), dims({-1, 28, 28, 16}));
  EXPECT_EQ(slice(c, {0, 1, 2, 3}, {-1, 5, -1, 4}).shape(), dims({-1, 5, 26, 4}));
  EXPECT_EQ(strided_slice(c, {0, 1, 27}, {2, 20, 0}, {1, 2, -3}).shape(), dims({-1, 10, 9, 32}));
  EXPECT_EQ(element(shape_of(c), 0).shape(), dims({}));
  EXPECT_EQ(gather(b.placeholder(DType::f32, dims({10, 7})), b.placeholder(DType::i32, dims({-1, 3}))).shape(), dims({-1, 3, 7}));
  EXPECT_EQ(one_hot(b.placeholder(DType::i32, dims({-1})), 10).shape(), dims({-1, 10}));
  EXPECT_EQ(argmax(c, 3).shape(), dims({-1, 28, 28}));
  EXPECT_EQ(pad(c, {{0, 0}, {1, 1}, {2, 2}, {0, 0}}).shape(), dims({-1, 30, 32, 32}));
  EXPECT_EQ(tile(filter, {1, 2, 3, 1}).shape(), dims({5, 10, 3, 32}));
  EXPECT_EQ(matmul(b.placeholder(DType::f32, dims({-1, 1, 2, 3})), b.placeholder(DType::f32, dims({6, 3, 4}))).shape(), dims({-1, 6, 2, 4}));
  EXPECT_TRUE(relu(b.placeholder(DType::f32, PartialShape())).shape().unknown_rank());
  EXPECT_TRUE(b.status().ok()) << b.status();
}

TEST(BuilderShapes, ContradictionsAreRefused) {
  const auto refused = [](auto build) {
    Builder b;
    build(b);
    EXPECT_TRUE(absl::IsInvalidArgument(b.status())) << b.status();
    return text_of(b.status());
  };
  auto input = [](Builder& b, std::initializer_list<std::int64_t> sizes) { return b.placeholder(DType::f32, dims(sizes)); };
  EXPECT_THAT(refused([&](Builder& b) { add(input(b, {2, 3}), input(b, {4})); }), HasSubstr("Dimensions must be equal, but are 3 and 4 for 'add'"));
  EXPECT_THAT(refused([&](Builder& b) { reshape(input(b, {2, 3}), {4, 2}); }), HasSubstr("Cannot reshape a tensor with 6 elements"));
  EXPECT_THAT(refused([&](Builder& b) { reshape(input(b, {2, 3}), {-1, 4}); }), HasSubstr("evenly divisible by 4 but is 6"));
  EXPECT_THAT(refused([&](Builder& b) { concat({input(b, {2, 3}), input(b, {3, 3})}, 1); }), HasSubstr("for 'concat'"));
  EXPECT_THAT(refused([&](Builder& b) { conv2d(input(b, {1, 8, 8, 3}), input(b, {3, 3, 4, 8})); }), HasSubstr("Depth of input (3)"));
  EXPECT_THAT(refused([&](Builder& b) { max_pool(input(b, {1, 2, 2, 3}), 3, 3, {1, 1, "VALID"}); }), HasSubstr("Negative dimension size"));
  EXPECT_THAT(refused([&](Builder& b) { sum(input(b, {2}), {{1}}); }), HasSubstr("Axis 1 is out of range"));
  EXPECT_THAT(refused([&](Builder& b) { bias_add(input(b, {2, 3}), input(b, {2})); }), HasSubstr("for 'BiasAdd'"));
  EXPECT_THAT(refused([&](Builder& b) { variable(b, "w", zeros({2, 3})).assign(input(b, {3, 2})); }), HasSubstr("for 'AssignVariableOp'"));
  EXPECT_THAT(refused([&](Builder& b) { slice(input(b, {4}), {2}, {3}); }), HasSubstr("Expected begin[0]"));
}

TEST(BuilderGraphs, AreTakenInUnderAPrefix) {
  Builder a;
  const Variable w = variable(a, "w", zeros({3, 2}));
  matmul(a.placeholder(DType::f32, dims({-1, 3}), "x"), w, {}, "y");
  auto graph = a.graph();
  ASSERT_TRUE(graph.ok());
  // Nodes may stand in any order.
  std::reverse(graph->mutable_node()->begin(), graph->mutable_node()->end());
  Builder b;
  ASSERT_TRUE(b.add_graph(*graph, "in").ok());
  auto y = b.find_output("in/y:0");
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->shape(), dims({-1, 2}));
  EXPECT_EQ(place_of(b, "in/w/Initializer/zeros"), "loc:@in/w");
  const auto grads = gradients({*y}, {*b.find_output("in/x:0")});
  EXPECT_EQ(grads[0].dense().shape(), dims({-1, 3}));
  EXPECT_TRUE(absl::IsNotFound(b.find_output("in/y:1").status()));
  EXPECT_TRUE(absl::IsNotFound(b.find("y").status()));
  EXPECT_FALSE(b.add_graph(*graph, "in").ok());  // the names are taken
  EXPECT_TRUE(b.graph().ok());
}

}  // namespace
}  // namespace troupe::build
