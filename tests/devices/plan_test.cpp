// Plans: constants become values of their consumers, nothing that somebody else holds is overwritten, and a run leaves its memory as it found it.
#include "plans.hpp"

namespace troupe {
namespace {

TEST_F(Plans, ConstantIsNoNode) {
  argument("x");
  constant("one", {1});
  add("y", "AddV2", {"x", "one"});
  result("y");
  EXPECT_EQ(nodes(), (Names{"x", "y", "result/0"}));
  for (float x : {2.f, 5.f}) EXPECT_EQ(values({Tensor::scalar(x)}), Floats{x + 1});
}

TEST_F(Plans, WhatPureKernelsMakeOfConstantsIsAConstant) {
  constant("a", {2});
  constant("b", {3});
  add("sum", "AddV2", {"a", "b"});
  add("square", "Square", {"sum"});
  result("square");
  EXPECT_EQ(nodes(), (Names{"result/0"}));
  EXPECT_EQ(values(), Floats{25});
  EXPECT_EQ(values(), Floats{25});
}

TEST_F(Plans, WhatDrawsIsLeftToTheSteps) {
  auto& shape = add("shape", "Const");
  (*shape.mutable_attr())["dtype"].set_type(wire::DT_INT32);
  auto& tensor = *(*shape.mutable_attr())["value"].mutable_tensor();
  tensor.set_dtype(wire::DT_INT32);
  tensor.mutable_tensor_shape()->add_dim()->set_size(1);
  tensor.add_int_val(4);
  auto& random = add("random", "RandomUniform", {"shape"});
  (*random.mutable_attr())["T"].set_type(wire::DT_INT32);
  result("random");
  EXPECT_EQ(nodes(), (Names{"random", "result/0"}));
  EXPECT_NE(values(), values());
}

TEST_F(Plans, ErrorsOfConstantsComeFromTheStep) {
  constant("a", {1, 2});
  constant("b", {1, 2, 3});
  add("sum", "AddV2", {"a", "b"});
  result("sum");
  EXPECT_EQ(nodes(), (Names{"sum", "result/0"}));
  const Status status = run().status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(text_of(status), "Incompatible shapes: [2] vs. [3]\n\t [[{{node sum}}]]");
}

TEST_F(Plans, LargeResultsAreLeftToTheSteps) {
  auto ints = [&](const std::string& name, std::int32_t value) {
    auto& node = add(name, "Const");
    (*node.mutable_attr())["dtype"].set_type(wire::DT_INT32);
    auto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
    tensor.set_dtype(wire::DT_INT32);
    tensor.mutable_tensor_shape()->add_dim()->set_size(1);
    tensor.add_int_val(value);
  };
  ints("few", 3);
  ints("many", 1 << 20);
  constant("seven", {7});
  for (const char* size : {"few", "many"}) {
    auto& fill = add(std::string("fill/") + size, "Fill", {size, "seven"});
    (*fill.mutable_attr())["index_type"].set_type(wire::DT_INT32);
  }
  result("fill/few");
  result("fill/many");
  EXPECT_EQ(nodes(), (Names{"fill/many", "result/0", "result/1"}));
  EXPECT_EQ(values().size(), (1u << 20) + 3);
}

TEST_F(Plans, AConstantWaitsForItsControls) {
  argument("p");
  argument("x");
  (*def_.mutable_node(0)->mutable_attr())["T"].set_type(wire::DT_BOOL);
  add("s", "Switch", {"x", "p"});
  add("no", "Identity", {"s"});
  add("yes", "Identity", {"s:1"});
  constant("ten", {10}, {"^no"});
  constant("twenty", {20}, {"^yes"});
  add("a", "AddV2", {"ten", "ten"});
  add("b", "AddV2", {"twenty", "x"});
  merge("m", {"a", "b"});
  result("m");
  // The Merge takes a constant as a value that comes, so that it stays a node; `b` only waits for who `twenty` waited for.
  EXPECT_EQ(nodes(), (Names{"p", "x", "s", "no", "yes", "a", "b", "m", "result/0"}));
  EXPECT_EQ(values({Tensor::scalar(true), Tensor::scalar(1.f)}), Floats{21});
  EXPECT_EQ(values({Tensor::scalar(false), Tensor::scalar(1.f)}), Floats{20});
  EXPECT_EQ(values({Tensor::scalar(true), Tensor::scalar(2.f)}), Floats{22});
}

TEST_F(Plans, LoopsKeepTheirConstants) {
  argument("limit");
  constant("zero", {0});
  enter("i/enter", "zero", false);
  enter("top", "limit", true);
  merge("i", {"i/enter", "i/next"});
  add("less", "Less", {"i", "top"});
  add("cond", "LoopCond", {"less"});
  add("switch", "Switch", {"i", "cond"});
  add("value", "Identity", {"switch:1"});
  constant("one", {1}, {"^value"});
  add("next/value", "AddV2", {"value", "one"});
  add("i/next", "NextIteration", {"next/value"});
  add("exit", "Exit", {"switch"});
  result("exit");
  EXPECT_EQ(nodes(), (Names{"limit", "i/enter", "top", "i", "less", "switch", "next/value", "i/next", "exit", "result/0"}));
  for (float n : {0.f, 1.f, 3.f, 100.f, 7.f}) EXPECT_EQ(values({Tensor::scalar(n)}), Floats{n});
}

TEST_F(Plans, ConstantsThatSteerKeepTheirValues) {
  truth("p", true);
  constant("x", {4});
  add("s", "Switch", {"x", "p"});
  add("no", "Neg", {"s"});
  add("yes", "Square", {"s:1"});
  merge("m", {"no", "yes"});
  result("m");
  result("x");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(values(), (Floats{16, 4}));
}

TEST_F(Plans, ArgumentsAreNotOverwritten) {
  argument("x");
  add("a", "Neg", {"x"});
  add("b", "Square", {"a"});
  result("b");
  const Tensor x = Tensor::scalar(3.f);
  EXPECT_EQ(values({x}), Floats{9});
  EXPECT_EQ(x.item<float>(), 3);
}

TEST_F(Plans, FetchedAndSharedValuesAreNotOverwritten) {
  argument("x");
  add("a", "Neg", {"x"});
  add("b", "Neg", {"a"});
  add("c", "Square", {"a"});
  result("a");
  result("b");
  result("c");
  EXPECT_EQ(values({Tensor::scalar(3.f)}), (Floats{-3, 3, 9}));
}

TEST_F(Plans, ValuesNobodyElseHoldsAreReused) {
  argument("x");
  add("a", "Neg", {"x"});
  add("b", "Square", {"a"});
  add("c", "Neg", {"b"});
  result("c");
  std::vector<Tensor> arguments(1, Tensor::vector<float>({1, 2, 3}));
  const void* memory = arguments[0].raw();
  const auto results = run(std::move(arguments));
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->at(0).raw(), memory);
  EXPECT_EQ(results->at(0).item<float>(), -1);
}

TEST_F(Plans, SnapshotsOfVariablesAreNotOverwritten) {
  auto& handle = add("v", "VarHandleOp");
  (*handle.mutable_attr())["shape"].mutable_shape();
  (*handle.mutable_attr())["shared_name"].set_s("v");
  constant("start", {5});
  auto control = [&](const std::string& name, const std::string& op, std::vector<std::string> inputs) { add(name, op, std::move(inputs)); };
  control("assign", "AssignVariableOp", {"v", "start"});
  control("before", "ReadVariableOp", {"v", "^assign"});
  constant("two", {2});
  control("update", "AssignAddVariableOp", {"v", "two", "^before"});
  control("after", "ReadVariableOp", {"v", "^update"});
  add("negative", "Neg", {"after", "^update"});
  add("again", "ReadVariableOp", {"v", "^negative"});
  result("before");
  result("after");
  result("negative");
  result("again");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(values(), (Floats{5, 7, -7, 7}));
}

TEST_F(Plans, ARunThatFailsLeavesNothingToTheNext) {
  argument("x");
  argument("y");
  add("a", "Neg", {"x"});
  add("sum", "AddV2", {"a", "y"});
  add("b", "Square", {"sum"});
  result("b");
  EXPECT_EQ(values({Tensor::scalar(1.f), Tensor::scalar(4.f)}), Floats{9});
  EXPECT_FALSE(run({Tensor::vector<float>({1, 2}), Tensor::vector<float>({1, 2, 3})}).ok());
  EXPECT_EQ(values({Tensor::scalar(2.f), Tensor::scalar(4.f)}), Floats{4});
}

}  // namespace
}  // namespace troupe
