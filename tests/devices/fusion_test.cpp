// Element-wise nodes that are computed as one: what that changes is only the cost.
#include "plans.hpp"

#include <gmock/gmock.h>

namespace troupe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FusedPlans : public Plans {
 protected:
  Names recorded(std::vector<Tensor> arguments) {
    wire::DeviceStepStats stats;
    EXPECT_TRUE(run(std::move(arguments), &stats).ok());
    Names names;
    for (const auto& node : stats.node_stats()) names.push_back(node.node_name());
    return names;
  }
};

TEST_F(FusedPlans, AChainIsOneNode) {
  argument("x");
  constant("one", {1});
  add("a", "AddV2", {"x", "one"});
  add("b", "Square", {"a"});
  add("c", "Sub", {"one", "b"});
  result("c");
  EXPECT_EQ(nodes(), (Names{"x", "c", "result/0"}));
  EXPECT_EQ(values({Tensor::scalar(2.f)}), Floats{-8});
  EXPECT_EQ(values({Tensor::vector<float>({0, 1, 2})}), (Floats{0, -3, -8}));
}

TEST_F(FusedPlans, SeveralWaysWithinAGroup) {
  argument("x");
  argument("y");
  add("a", "Mul", {"x", "y"});
  add("b", "Square", {"a"});
  add("c", "Neg", {"a"});
  add("d", "AddV2", {"b", "c"});
  add("e", "Sub", {"d", "x"});
  result("e");
  EXPECT_EQ(nodes(), (Names{"x", "y", "e", "result/0"}));
  EXPECT_EQ(values({Tensor::vector<float>({1, 2}), Tensor::vector<float>({3, 5})}), (Floats{5, 88}));
}

TEST_F(FusedPlans, AValueThatGoesElsewhereIsMade) {
  argument("x");
  add("a", "Neg", {"x"});
  add("b", "Square", {"a"});
  result("a");
  result("b");
  EXPECT_EQ(nodes(), (Names{"x", "a", "b", "result/0", "result/1"}));
  EXPECT_EQ(values({Tensor::scalar(3.f)}), (Floats{-3, 9}));
}

TEST_F(FusedPlans, WhoIsWaitedForIsANode) {
  argument("x");
  add("a", "Neg", {"x"});
  add("b", "Square", {"a"});
  constant("five", {5}, {"^a"});
  result("b");
  add("f", "Neg", {"five"});
  result("f");
  EXPECT_THAT(nodes(), ::testing::Contains("a"));
  EXPECT_EQ(values({Tensor::scalar(3.f)}), (Floats{9, -5}));
}

TEST_F(FusedPlans, SingleElementsServeForAll) {
  argument("x");
  argument("scale");
  constant("shift", {1});
  add("a", "Mul", {"scale", "x"});
  add("b", "AddV2", {"a", "shift"});
  add("c", "Neg", {"b"});
  result("c");
  EXPECT_EQ(nodes(), (Names{"x", "scale", "c", "result/0"}));
  EXPECT_EQ(values({Tensor::vector<float>({1, 2, 3}), Tensor::scalar(2.f)}), (Floats{-3, -5, -7}));
  EXPECT_EQ(values({Tensor::scalar(2.f), Tensor::vector<float>({1, 2, 3})}), (Floats{-3, -5, -7}));
  EXPECT_EQ(values({Tensor::zeros(DType::f32, Shape{0}), Tensor::scalar(2.f)}), Floats{});
}

TEST_F(FusedPlans, ShapesThatCombineOtherwiseAreComputedOneByOne) {
  argument("x");
  argument("y");
  add("a", "Mul", {"x", "y"});
  add("b", "Neg", {"a"});
  result("b");
  Tensor column(DType::f32, Shape{2, 1});
  column.mutable_data<float>()[0] = 2;
  column.mutable_data<float>()[1] = 3;
  const auto results = run({column, Tensor::vector<float>({1, 10})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->at(0).shape(), (Shape{2, 2}));
  EXPECT_EQ(values({column, Tensor::vector<float>({1, 10})}), (Floats{-2, -20, -3, -30}));
  // One element, but of more dimensions than what it meets.
  Tensor corner(DType::f32, Shape{1, 1});
  corner.mutable_data<float>()[0] = 4;
  const auto wide = run({corner, Tensor::vector<float>({1, 10})});
  ASSERT_TRUE(wide.ok()) << wide.status();
  EXPECT_EQ(wide->at(0).shape(), (Shape{1, 2}));
}

TEST_F(FusedPlans, ShapesThatDoNotFitAreAnErrorOfTheirNode) {
  argument("x");
  argument("y");
  add("a", "Neg", {"x"});
  add("sum", "AddV2", {"a", "y"});
  add("b", "Square", {"sum"});
  result("b");
  EXPECT_EQ(nodes(), (Names{"x", "y", "b", "result/0"}));
  const Status status = run({Tensor::vector<float>({1, 2}), Tensor::vector<float>({1, 2, 3})}).status();
  EXPECT_EQ(text_of(status), "Incompatible shapes: [2] vs. [3]\n\t [[{{node sum}}]]");
}

TEST_F(FusedPlans, GradientsThatDoNotBroadcastKeepTheirErrors) {
  argument("y");
  argument("dy");
  add("a", "Neg", {"y"});
  add("gradient", "TanhGrad", {"a", "dy"});
  add("b", "Neg", {"gradient"});
  result("b");
  EXPECT_EQ(nodes(), (Names{"y", "dy", "b", "result/0"}));
  EXPECT_EQ(values({Tensor::vector<float>({2, 3}), Tensor::vector<float>({1, 1})}), (Floats{3, 8}));
  EXPECT_THAT(text_of(run({Tensor::vector<float>({2, 3}), Tensor::scalar(1.f)}).status()), HasSubstr("{{node gradient}}"));
}

TEST_F(FusedPlans, RecordsShowAllNodes) {
  argument("x");
  add("a", "Neg", {"x"});
  add("b", "Square", {"a"});
  result("b");
  EXPECT_EQ(nodes().size(), 3u);
  EXPECT_THAT(recorded({Tensor::scalar(3.f)}), ElementsAre("_SOURCE", "x", "a", "b", "result/0"));
}

TEST_F(FusedPlans, ManyElementsAreComputedInBlocks) {
  argument("x");
  argument("y");
  add("a", "Mul", {"x", "x"});
  add("b", "Mul", {"y", "y"});
  add("c", "Sub", {"a", "b"});
  add("d", "Mul", {"c", "x"});
  result("d");
  constexpr std::int64_t count = 100'003;
  Tensor x(DType::f32, Shape{count}), y(DType::f32, Shape{count});
  for (std::int64_t i = 0; i < count; ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i % 100);
    y.mutable_data<float>()[i] = static_cast<float>(i % 7);
  }
  const auto got = values({x, y});
  ASSERT_EQ(got.size(), static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto a = static_cast<float>(i % 100), b = static_cast<float>(i % 7);
    ASSERT_EQ(got[static_cast<std::size_t>(i)], (a * a - b * b) * a) << i;
  }
  EXPECT_EQ(x.data<float>()[99], 99);  // whose owner still has it
}

TEST_F(FusedPlans, TypesMayChangeOnTheWay) {
  argument("x");
  argument("y");
  add("less", "Less", {"x", "y"});
  add("not", "LogicalNot", {"less"});
  result("not", wire::DT_BOOL);
  const auto results = run({Tensor::vector<float>({1, 5, 3}), Tensor::vector<float>({2, 4, 3})});
  ASSERT_TRUE(results.ok()) << results.status();
  const bool* values = results->at(0).data<bool>();
  EXPECT_THAT(std::vector<bool>(values, values + 3), ElementsAre(false, true, true));
}

TEST_F(FusedPlans, GroupsOnABranchThatIsNotTakenAreDead) {
  argument("p");
  argument("x");
  (*def_.mutable_node(0)->mutable_attr())["T"].set_type(wire::DT_BOOL);
  add("s", "Switch", {"x", "p"});
  add("no/a", "Neg", {"s"});
  add("no/b", "Neg", {"no/a"});
  add("yes/a", "Square", {"s:1"});
  add("yes/b", "Neg", {"yes/a"});
  merge("m", {"no/b", "yes/b"});
  result("m");
  EXPECT_EQ(nodes(), (Names{"p", "x", "s", "no/b", "yes/b", "m", "result/0"}));
  EXPECT_EQ(values({Tensor::scalar(true), Tensor::scalar(3.f)}), Floats{-9});
  EXPECT_EQ(values({Tensor::scalar(false), Tensor::scalar(3.f)}), Floats{3});
}

TEST_F(FusedPlans, WhatIsReadOfAVariableShowsWhatCameBefore) {
  auto& v = add("v", "VariableV2");
  (*v.mutable_attr())["shape"].mutable_shape();
  constant("start", {5});
  add("assign", "Assign", {"v", "start"});
  add("read", "Identity", {"v", "^assign"});
  add("a", "Neg", {"read"});
  add("b", "Square", {"a"});
  result("b");
  EXPECT_EQ(values(), Floats{25});
  EXPECT_THAT(nodes(), ::testing::Contains("read"));
}

TEST_F(FusedPlans, AVariableThatWasNeverSetIsAnErrorOfItsReader) {
  auto& v = add("v", "VariableV2");
  (*v.mutable_attr())["shape"].mutable_shape();
  argument("x");
  add("a", "Square", {"x"});
  add("d", "Sub", {"v", "a"});
  result("d");
  EXPECT_EQ(nodes(), (Names{"v", "x", "d", "result/0"}));
  EXPECT_EQ(text_of(run({Tensor::scalar(3.f)}).status()), "Attempting to use uninitialized value v\n\t [[{{node d}}]]");
}

TEST_F(FusedPlans, NodesThatOnlyHandOnArePassedOver) {
  argument("x");
  add("same", "Identity", {"x"});
  add("again", "StopGradient", {"same"});
  result("again");
  EXPECT_EQ(nodes(), (Names{"x", "result/0"}));
  EXPECT_EQ(values({Tensor::scalar(3.f)}), Floats{3});
  EXPECT_THAT(recorded({Tensor::scalar(3.f)}), ::testing::IsSupersetOf({"same", "again"}));
}

TEST_F(FusedPlans, WhoWaitsForOneThatHandsOnWaits) {
  argument("x");
  add("same", "Identity", {"x"});
  constant("one", {1}, {"^same"});
  add("after", "Identity", {"x", "^same"});
  result("one");
  result("after");
  EXPECT_THAT(nodes(), ::testing::IsSupersetOf({"same", "after"}));
  EXPECT_EQ(values({Tensor::scalar(3.f)}), (Floats{1, 3}));
}

}  // namespace
}  // namespace troupe
