// Small constants are on every device where they are used; what is large, or waits for something, is sent.
#include "plan_graph.hpp"

#include <troupe/actors/plan/near_constants.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace troupe {
namespace {

using namespace troupe::testing;

/// The device of the input of each node, by name.
std::string inputs_of(const Graph& graph, const std::string& name) {
  std::string text;
  for (const Node& node : graph.nodes()) {
    if (node.name() != name) continue;
    for (const Edge& e : node.inputs)
      text += fmt::format("{}{}@{}", text.empty() ? "" : ", ", graph.node(e.node).name(), short_name(graph.node(e.node).device));
  }
  return text;
}

Graph brought(std::string_view text) {
  Graph graph = graph_of(text);
  for (int i = 0; i < graph.size(); ++i)
    if (const auto& asked = graph.node(i).def.device(); !asked.empty()) graph.node(i).device = asked;
  const Status status = bring_constants_near(graph);
  EXPECT_TRUE(status.ok()) << status;
  return graph;
}

TEST(NearConstants, EachDeviceHasOneCopy) {
  const Graph graph = brought(R"(
    rate = Const() @worker0
    here = Neg(rate) @worker0
    there = Neg(rate) @ps0
    sum = AddV2(rate, there) @ps0
    elsewhere = Neg(rate) @ps1
  )");
  EXPECT_EQ(inputs_of(graph, "here"), "rate@worker0");
  EXPECT_EQ(inputs_of(graph, "there"), "rate/near@ps0");
  EXPECT_EQ(inputs_of(graph, "sum"), "rate/near@ps0, there@ps0");
  EXPECT_EQ(inputs_of(graph, "elsewhere"), "rate/near_1@ps1");
}

TEST(NearConstants, WhatWaitsIsLeftWhereItIs) {
  const Graph graph = brought(R"(
    first = NoOp() @worker0
    rate = Const(^first) @worker0
    there = Neg(rate) @ps0
  )");
  EXPECT_EQ(inputs_of(graph, "there"), "rate@worker0");
}

TEST(NearConstants, WhatIsLargeIsSent) {
  Graph graph = graph_of(R"(
    large = Const() @worker0
    there = Neg(large) @ps0
  )");
  for (int i = 0; i < graph.size(); ++i) graph.node(i).device = graph.node(i).def.device();
  auto& tensor = *(*graph.node(0).def.mutable_attr())["value"].mutable_tensor();
  tensor.set_tensor_content(std::string(4000, 'x'));
  ASSERT_TRUE(bring_constants_near(graph).ok());
  EXPECT_EQ(graph.size(), 2);
}

}  // namespace
}  // namespace troupe
