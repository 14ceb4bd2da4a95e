// Partitioning: what each task gets of a graph, node by node.
#include "plan_graph.hpp"

#include <troupe/actors/plan/partition.hpp>
#include <troupe/actors/plan/place.hpp>

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace troupe {
namespace {

using namespace troupe::testing;
using Parts = std::map<std::string, wire::GraphDef>;

std::uint64_t incarnation_of(const std::string& device) { return device.find("/job:ps") == 0 ? 0xf00000000000000d : 7; }

Graph placed(std::string_view text, std::vector<std::string> devices = all_devices()) {
  Graph graph = graph_of(text);
  PlacementRequest request;
  request.devices = std::move(devices);
  request.default_device = long_name("worker0");
  Status status = place(graph, request);
  EXPECT_TRUE(status.ok()) << status;
  return graph;
}

Parts parts_of(Graph graph, std::uint64_t first = 0) {
  auto parts = partition(std::move(graph), incarnation_of, &first);
  EXPECT_TRUE(parts.ok()) << parts.status();
  return parts.ok() ? *std::move(parts) : Parts{};
}

/// One node a line: `name = Op(inputs)`.
std::string listing(const wire::GraphDef& part) {
  std::string text;
  for (const auto& node : part.node()) text += fmt::format("{} = {}({})\n", node.name(), node.op(), fmt::join(node.input(), ", "));
  return text;
}

std::string listing(const Parts& parts) {
  std::string text;
  for (const auto& [task, part] : parts) text += fmt::format("{}\n{}", short_name(task), listing(part));
  return text;
}

const wire::NodeDef& node_of(const Parts& parts, const std::string& name) {
  for (const auto& [task, part] : parts)
    for (const auto& node : part.node())
      if (node.name() == name) return node;
  static const wire::NodeDef none;
  ADD_FAILURE() << "no node " << name << " in\n" << listing(parts);
  return none;
}

struct Case {
  const char *what, *graph, *want;
};

void expect_all(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    EXPECT_EQ(listing(parts_of(placed(c.graph))), std::string(c.want).substr(1));
  }
}

TEST(Partition, CarriesValues) {
  expect_all({
      {"nothing crosses", "x = Const\n y = Neg(x)", R"(
worker0
x = Const()
y = Neg(x)
)"},
      {"one edge", "x = Const @/job:ps\n y = Neg(x) @/job:worker", R"(
ps0
x = Const()
x_S0 = _Send(x)
worker0
y = Neg(x_S1)
x_S1 = _Recv()
)"},
      {"users on one device share", "x = Const @/job:ps\n y = Neg(x) @/job:worker\n z = Mul(x, y) @/job:worker", R"(
ps0
x = Const()
x_S0 = _Send(x)
worker0
y = Neg(x_S1)
z = Mul(x_S1, y)
x_S1 = _Recv()
)"},
      {"users on two devices do not", "x = Const @/job:ps\n y = Neg(x) @/job:worker\n z = Neg(x) @/job:worker/task:1", R"(
ps0
x = Const()
x_S0 = _Send(x)
x_S2 = _Send(x)
worker0
y = Neg(x_S1)
x_S1 = _Recv()
worker1
z = Neg(x_S3)
x_S3 = _Recv()
)"},
      {"outputs go by themselves", R"(
        x = Const @/job:ps
        p = Const @/job:ps dtype=DT_BOOL
        s = Switch(x, p) @/job:ps
        m = Merge(s, s:1) @/job:worker N=2)",
       R"(
ps0
x = Const()
p = Const()
s = Switch(x, p)
s_S0 = _Send(s)
s_S2 = _Send(s:1)
worker0
m = Merge(s_S1, s_S3)
s_S1 = _Recv()
s_S3 = _Recv()
)"},
      {"what has no plain bytes goes through the host", R"(
        q = FIFOQueueV2 @/job:ps component_types={list{type: DT_FLOAT}}
        x = Const @/job:ps dtype=DT_STRING
        y = Identity(x) @/job:worker T=DT_STRING)",
       R"(
ps0
q = FIFOQueueV2()
x = Const()
x_S0 = _HostSend(x)
worker0
y = Identity(x_S1)
x_S1 = _HostRecv()
)"},
  });
}

TEST(Partition, NamesBothEndsAlike) {
  const Parts parts = parts_of(placed("x = Const @/job:ps dtype=DT_INT32\n y = Neg(x) @/job:worker T=DT_INT32"), 41);
  const auto &send = node_of(parts, "x_S41"), &recv = node_of(parts, "x_S42");
  EXPECT_EQ(send.device(), long_name("ps0"));
  EXPECT_EQ(recv.device(), long_name("worker0"));
  EXPECT_EQ(send.attr().at("T").type(), wire::DT_INT32);
  EXPECT_EQ(recv.attr().at("tensor_type").type(), wire::DT_INT32);
  for (const auto* node : {&send, &recv}) {
    EXPECT_EQ(node->attr().at("tensor_name").s(), "edge_1_x");
    EXPECT_EQ(node->attr().at("send_device").s(), long_name("ps0"));
    EXPECT_EQ(node->attr().at("recv_device").s(), long_name("worker0"));
    EXPECT_EQ(static_cast<std::uint64_t>(node->attr().at("send_device_incarnation").i()), 0xf00000000000000d);
    EXPECT_FALSE(node->attr().at("client_terminated").b());
  }
}

TEST(Partition, CountsOnFromStepToStepAndAvoidsTakenNames) {
  std::uint64_t counter = 5;
  for (const char* want : {"x_S5", "x_S7"}) {
    auto parts = partition(placed("x = Const @/job:ps\n y = Neg(x) @/job:worker"), incarnation_of, &counter);
    ASSERT_TRUE(parts.ok()) << parts.status();
    node_of(*parts, want);
  }
  node_of(parts_of(placed("x = Const @/job:ps\n x_S0 = Neg(x) @/job:worker")), "x_S0_1");
}

TEST(Partition, CarriesSignals) {
  expect_all({{"once for all who wait there", R"(
        a = NoOp @/job:ps
        b = NoOp(^a) @/job:worker
        c = Const(^b, ^a) @/job:worker)",
               R"(
ps0
a = NoOp()
a/ctrl_S0 = Const(^a)
a_S1 = _Send(a/ctrl_S0)
worker0
b = NoOp(^a_S3)
c = Const(^b, ^a_S3)
a_S2 = _Recv()
a_S3 = Identity(a_S2)
)"}});
  const auto token = node_of(parts_of(placed("a = NoOp @/job:ps\n b = NoOp(^a) @/job:worker")), "a/ctrl_S0").attr().at("value").tensor();
  EXPECT_EQ(token.dtype(), wire::DT_FLOAT);
  ASSERT_EQ(token.tensor_shape().dim_size(), 1);
  EXPECT_EQ(token.tensor_shape().dim(0).size(), 0);
}

TEST(Partition, ReadsReferencesWhenTheirUserMay) {
  expect_all({{"a value is sent, after what the user waits for, wherever that is", R"(
        v = VariableV2 @/job:ps shape=shape
        c = Const @/job:ps
        a = Assign(v, c)
        n = NoOp @/job:worker
        r = Identity(v, ^a, ^n) @/job:worker
        s = Identity(v) @/job:worker)",
               R"(
ps0
v = VariableV2()
c = Const()
a = Assign(v, c)
n_S2 = _Recv()
n_S3 = Identity(n_S2)
v_S4 = _Send(v, ^a, ^n_S3)
a/ctrl_S6 = Const(^a)
a_S7 = _Send(a/ctrl_S6)
v_S10 = _Send(v)
worker0
n = NoOp()
r = Identity(v_S5, ^a_S9, ^n)
s = Identity(v_S11)
n/ctrl_S0 = Const(^n)
n_S1 = _Send(n/ctrl_S0)
v_S5 = _Recv()
a_S8 = _Recv()
a_S9 = Identity(a_S8)
v_S11 = _Recv()
)"}});
  const Parts parts = parts_of(placed("v = VariableV2 @/job:ps shape=shape\n r = Identity(v) @/job:worker"));
  EXPECT_EQ(node_of(parts, "v_S0").attr().at("T").type(), wire::DT_FLOAT);
  EXPECT_EQ(node_of(parts, "v_S1").attr().at("tensor_type").type(), wire::DT_FLOAT);
}

TEST(Partition, SplitsDevicesOfOneTaskWithinItsPart) {
  const std::string first = long_name("worker0"), second = "/job:worker/replica:0/task:0/device:CPU:1";
  const Parts parts = parts_of(placed("x = Const @/cpu:0\n y = Neg(x) @/cpu:1", {first, second}));
  EXPECT_EQ(listing(parts), "worker0\nx = Const()\ny = Neg(x_S1)\nx_S0 = _Send(x)\nx_S1 = _Recv()\n");
  EXPECT_EQ(node_of(parts, "y").device(), second);
  EXPECT_EQ(node_of(parts, "x_S1").device(), second);
}

const char* const loop = R"(
    z = Const @/job:worker v=0
    n = Const @/job:worker v=3
    enter = Enter(z) @/job:worker frame_name="w" parallel_iterations=7
    limit = Enter(n) @/job:worker frame_name="w" is_constant=true parallel_iterations=7
    merge = Merge(enter, next) @/job:worker N=2
    less = Less(merge, limit) @/job:worker
    cond = LoopCond(less) @/job:worker
    switch = Switch(merge, cond) @/job:worker
    body = AddV2(switch:1, switch:1) @/job:ps
    next = NextIteration(body) @/job:worker
    exit = Exit(switch) @/job:worker)";

TEST(Partition, StepsAlongWithALoopOfAnotherDevice) {
  expect_all({{"the body is elsewhere", loop, R"(
ps0
body = AddV2(switch_S8, switch_S8)
body_S0 = Const()
_cloopbody_S1 = Enter(body_S0)
_cloopbody_S2 = Merge(_cloopbody_S1, _cloopbody_S6)
cond_S4 = _Recv(^_cloopbody_S2)
_cloopbody_S5 = Switch(_cloopbody_S2, cond_S4)
_cloopbody_S6 = NextIteration(_cloopbody_S5:1)
switch_S8 = _Recv(^_cloopbody_S2)
body_S14 = _Send(body)
worker0
z = Const()
n = Const()
enter = Enter(z)
limit = Enter(n)
merge = Merge(enter, next)
less = Less(merge, limit)
cond = LoopCond(less)
switch = Switch(merge, cond)
next = NextIteration(body_S15)
exit = Exit(switch)
cond_S3 = _Send(cond)
switch_S7 = _Send(switch:1)
next_S9 = Const()
_cloopnext_S10 = Enter(next_S9)
_cloopnext_S11 = Merge(_cloopnext_S10, _cloopnext_S13)
_cloopnext_S12 = Switch(_cloopnext_S11, cond)
_cloopnext_S13 = NextIteration(_cloopnext_S12:1)
body_S15 = _Recv(^_cloopnext_S11)
)"}});
  const auto enter = node_of(parts_of(placed(loop)), "_cloopbody_S1");
  EXPECT_EQ(enter.attr().at("frame_name").s(), "w");
  EXPECT_EQ(enter.attr().at("parallel_iterations").i(), 7);
}

TEST(Partition, MovesFlowToItsData) {
  expect_all({{"", R"(
        x = Const @/job:ps v=0
        p = Const @/job:ps dtype=DT_BOOL
        s = Switch(x, p) @/job:worker
        a = Neg(s) @/job:ps
        e = Enter(a) @/job:worker frame_name="w"
        i = Neg(e) @/job:ps
        o = Exit(i) @/job:worker)",
               R"(
ps0
x = Const()
p = Const()
s = Switch(x, p)
a = Neg(s)
e = Enter(a)
i = Neg(e)
o = Exit(i)
)"}});
}

TEST(Partition, RefusesBrokenLoops) {
  const std::vector<Case> cases{
      {"mixed frames", R"(
        a = Const
        b = Const
        e = Enter(a) frame_name="w"
        c = AddV2(e, b)
        x = Exit(c))",
       "3: {{node c}} has inputs from different frames. The input {{node e}} is in frame 'w'. The input {{node b}} is in frame ''."},
      {"mixed frames by waiting", R"(
        a = Const
        b = Const
        e = Enter(a) frame_name="w"
        c = Neg(e, ^b)
        x = Exit(c))",
       "3: {{node c}} has inputs from different frames. The input {{node e}} is in frame 'w'. The input {{node b}} is in frame ''."},
      {"two loops", R"(
        a = Const
        b = Const
        e = Enter(a) frame_name="w"
        f = Enter(b) frame_name="w2"
        c = AddV2(e, f)
        x = Exit(c))",
       "3: {{node c}} has inputs from different frames. The input {{node f}} is in frame 'w2'. The input {{node e}} is in frame 'w'."},
      {"no loop to leave", "a = Const\n x = Exit(a)", "3: Invalid Exit op: Cannot find a corresponding Enter op."},
      {"no condition to step along with", R"(
        a = Const
        e = Enter(a) frame_name="w"
        c = Neg(e) @/job:ps
        d = Neg(c) @/job:worker
        x = Exit(d))",
       "3: A cross-device loop must have a pivot predicate: w"},
      {"a loop within itself", R"(
        a = Const
        e = Enter(a) frame_name="w"
        f = Enter(e) frame_name="w"
        g = Exit(f)
        x = Exit(g))",
       "13: Invalid loop structure: Mismatched parent frames for \"w\": \"w\" vs \"\". The node giving this error: {{node f}}. This is an internal "
       "bug, please "
       "file a bug report with instructions on how to reproduce the error."},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    std::uint64_t counter = 0;
    auto parts = partition(placed(c.graph), incarnation_of, &counter);
    ASSERT_FALSE(parts.ok());
    EXPECT_EQ(fmt::format("{}: {}", static_cast<int>(parts.status().code()), text_of(parts.status())), c.want);
  }
}

TEST(Partition, EachPartGetsTheFunctionsItNeeds) {
  wire::FunctionDefLibrary functions;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
      function { signature { name: "f" } node_def { name: "n" op: "g" } }
      function { signature { name: "g" } node_def { name: "n" op: "PartitionedCall" attr { key: "f" value { func { name: "h" } } } } }
      function { signature { name: "h" } }
      function { signature { name: "h_gradient" } }
      function { signature { name: "idle" } }
      gradient { function_name: "h" gradient_func: "h_gradient" }
      gradient { function_name: "idle" gradient_func: "h" })",
                                                            &functions));
  auto graph = Graph::from(graph_def("a = f @/job:ps\n b = NoOp @/job:worker"), std::make_shared<FunctionLibrary>(functions));
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (Node& node : graph->nodes()) node.device = long_name(node.name() == "a" ? "ps0" : "worker0");
  const Parts parts = parts_of(*graph);
  const auto& library = parts.at("/job:ps/replica:0/task:0").library();
  std::vector<std::string> names;
  for (const auto& function : library.function()) names.push_back(function.signature().name());
  EXPECT_EQ(names, (std::vector<std::string>{"f", "g", "h", "h_gradient"}));
  ASSERT_EQ(library.gradient_size(), 1);
  EXPECT_EQ(library.gradient(0).function_name(), "h");
  EXPECT_EQ(parts.at("/job:worker/replica:0/task:0").library().function_size(), 0);
  EXPECT_EQ(parts.at("/job:worker/replica:0/task:0").versions().producer(), 1645);
}

TEST(Partition, TasksOfDevices) {
  EXPECT_EQ(task_of(long_name("ps1")), "/job:ps/replica:0/task:1");
  EXPECT_EQ(task_of("/job:ps/replica:0/task:1"), "/job:ps/replica:0/task:1");
}

}  // namespace
}  // namespace troupe
