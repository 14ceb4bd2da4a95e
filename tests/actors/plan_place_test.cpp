// Placement: where TensorFlow 2.15's master puts nodes, and what it says where it cannot. The cases were put to it word by word.
#include "plan_graph.hpp"

#include <troupe/actors/plan/place.hpp>

#include <gtest/gtest.h>

namespace troupe {
namespace {

using namespace troupe::testing;

struct Case {
  const char* what;
  const char* graph;
  std::string want;  // devices by node, or the error
  bool soft = false;
  std::vector<std::string> devices = all_devices();
};

std::string outcome(Graph& graph, const Case& c) {
  PlacementRequest request;
  request.devices = c.devices;
  request.default_device = long_name("worker0");
  request.allow_soft_placement = c.soft;
  Status status = place(graph, request);
  if (!status.ok()) return fmt::format("{}: {}", static_cast<int>(status.code()), text_of(status));
  std::string text;
  for (const Node& node : graph.nodes()) text += fmt::format("{}{}:{}", text.empty() ? "" : " ", node.name(), short_name(node.device));
  return text;
}

void expect_all(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    Graph graph = graph_of(c.graph);
    EXPECT_EQ(outcome(graph, c), c.want);
  }
}

std::string listed(const std::vector<std::string>& devices) { return fmt::format("{}", fmt::join(devices, ", ")); }

std::string not_there(const char* node, const char* device, std::vector<std::string> names = {"ps0", "ps1", "worker0", "worker1"}) {
  for (auto& name : names) name = long_name(name);
  return fmt::format(
      "3: Cannot assign a device for operation {0}: {{{{node {0}}}}} was explicitly assigned to {1} but available devices are [ {2} ]. Make sure the "
      "device specification refers to a valid device.\n\t [[{0}]]",
      node, device, listed(names));
}

TEST(Place, TakesPartialNames) {
  expect_all({
      {"nothing asked: the master's own", R"(
        a = Const
        b = Const
        c = AddV2(a, b))",
       "a:worker0 b:worker0 c:worker0"},
      {"the first that fits, the master's own before others", R"(
        a = Const
        c = Neg(a) @/job:ps
        d = Neg(c) @/task:1
        e = Neg(c) @/job:worker
        f = Neg(c) @/job:worker/task:1/cpu:0)",
       "a:ps0 c:ps0 d:ps1 e:worker0 f:worker1"},
      {"stars and slashes", R"(
        x = Const @/job:*/task:1
        y = Const @/job:worker/task:*/device:CPU:*
        z = Const @/)",
       "x:ps1 y:worker0 z:worker0"},
      {"old forms", R"(
        x = NoOp @/job:ps/task:1/cpu:0
        y = NoOp @/CPU:0
        z = NoOp @/job:ps/cpu:*)",
       "x:ps1 y:worker0 z:ps0"},
      {"device filters leave few",
       R"(
        x = Const
        mul = Mul(x, x))",
       "x:worker0 mul:worker0",
       false,
       {long_name("ps1"), long_name("worker0")}},
  });
}

TEST(Place, RefusesDevicesThatAreNotThere) {
  const char* mul = "x = Const\n mul = Mul(x, x) @";
  auto with = [&](const char* device) { return std::string(mul) + device; };
  for (const char* device :
       {"/job:chief/task:0", "/job:ps/task:7", "/gpu:0", "/job:ps/task:1/device:GPU:0", "/device:TPU:0", "/device:cpu:0", "/job:ps/replica:1"}) {
    SCOPED_TRACE(device);
    Graph graph = graph_of(with(device));
    EXPECT_EQ(outcome(graph, {}), not_there("mul", device));
    for (const Node& node : graph.nodes()) EXPECT_EQ(node.device, "");
  }
  Graph graph = graph_of(with("/job:worker/task:1"));
  EXPECT_EQ(outcome(graph, {"", "", "", false, {long_name("worker0"), long_name("ps1"), long_name("ps0")}}),
            not_there("mul", "/job:worker/task:1", {"ps0", "ps1", "worker0"}));
}

TEST(Place, MeetsErrorsInTensorFlowsOrder) {
  expect_all({
      {"sources are placed after those who use them", R"(
        b = Neg(a) @/job:x
        a = Const @/job:y)",
       not_there("b", "/job:x")},
      {"otherwise sources come first", R"(
        b = Neg(a) @/job:x
        a = Neg(c) @/job:y
        c = Const)",
       not_there("a", "/job:y")},
      {"in the order of the graph", R"(
        a = Const @/job:y
        c = Const @/job:z)",
       not_there("a", "/job:y")},
  });
}

TEST(Place, RefusesMalformedNames) {
  expect_all({
      {"no name at all", R"(
        x = Const
        mul = Mul(x, x) @junk)",
       "3: Malformed device specification 'junk' in node: {name:'mul' id:3 op device:{requested: 'junk', assigned: ''} def:{{{node mul}} = "
       "Mul[T=DT_FLOAT, _device=\"junk\"](x, x)}}\n\t [[mul]]"},
      {"soft placement does not help", R"(
        x = Const
        mul = Mul(x, x) @/job:ps/foo)",
       "3: Malformed device specification '/job:ps/foo' in node: {name:'mul' id:3 op device:{requested: '/job:ps/foo', assigned: ''} def:{{{node "
       "mul}} = "
       "Mul[T=DT_FLOAT, _device=\"/job:ps/foo\"](x, x)}}\n\t [[mul]]",
       true},
      {"a variable", "v = VariableV2 @junk shape=shape",
       "3: Malformed device specification 'junk' in node: {name:'v' id:2 op device:{requested: 'junk', assigned: ''} def:{{{node v}} = "
       "VariableV2[container=\"\", dtype=DT_FLOAT, shape=[], shared_name=\"\", _device=\"junk\"]()}}\n\t [[v]]"},
  });
}

TEST(Place, SoftPlacementGivesWayOnTypeAndNumberOnly) {
  expect_all({
      {"a GPU that is not there", "x = Const\n mul = Mul(x, x) @/job:ps/task:1/gpu:0", "x:ps1 mul:ps1", true},
      {"a CPU that is not there", "x = Const\n mul = Mul(x, x) @/job:ps/task:1/cpu:1", "x:ps1 mul:ps1", true},
      {"a variable on a GPU", R"(
        v = VarHandleOp @/job:ps/task:1/gpu:0 shape=shape
        c = Const
        a = AssignVariableOp(v, c))",
       "v:ps1 c:ps1 a:ps1", true},
      {"a variable on any GPU", "v = VarHandleOp @/gpu:0 shape=shape", "v:worker0", true},
      {"a task that is not there", "x = Const\n mul = Mul(x, x) @/job:ps/task:7", not_there("mul", "/job:ps/task:7"), true},
  });
}

TEST(Place, KeepsClassesTogether) {
  expect_all({
      {"by the name of a node", "x = Const @/job:ps/task:1\n mul = Mul(x, x) [x]", "x:ps1 mul:ps1"},
      {"by a name that no node has", R"(
        x = Const @/job:ps/task:1
        y = Const @/job:ps [nobody]
        z = Neg(x) @/task:1 [nobody])",
       "x:ps1 y:ps1 z:ps1"},
      {"in chains, before the node comes", R"(
        x = Const [z]
        y = Neg(x) [x]
        z = Neg(y) @/job:ps/task:1)",
       "x:ps1 y:ps1 z:ps1"},
      {"with itself", "x = Const @/job:ps [x]", "x:ps0"},
      {"not when the attribute is no list", "x = Const @/job:ps\n y = Const _class=\"loc:@x\"", "x:ps0 y:worker0"},
  });
}

TEST(Place, RefusesClassesThatCannotBeTogether) {
  auto conflict = [](const char* text) {
    return fmt::format(
        "3: Cannot colocate nodes {{{{colocation_node mul}}}} and {{{{colocation_node x}}}}: Cannot merge devices with {}\n\t [[{{{{node mul}}}}]]",
        text);
  };
  expect_all({
      {"jobs", "x = Const @/job:ps/task:1\n mul = Mul(x, x) @/job:worker [x]", conflict("incompatible jobs: '/job:worker' and '/job:ps/task:1'")},
      {"tasks", "x = Const @/job:ps/task:1\n mul = Mul(x, x) @/job:ps/task:0 [x]",
       conflict("incompatible tasks: '/job:ps/task:0' and '/job:ps/task:1'")},
      {"types", "x = Const @/job:ps/task:1/cpu:0\n mul = Mul(x, x) @/job:ps/task:1/gpu:0 [x]",
       conflict("incompatible types: '/job:ps/task:1/device:GPU:0' and '/job:ps/task:1/device:CPU:0'")},
      {"numbers", "x = Const @/job:ps/task:1/cpu:0\n mul = Mul(x, x) @/job:ps/task:1/cpu:1 [x]",
       conflict("incompatible ids: '/job:ps/task:1/device:CPU:1' and '/job:ps/task:1/device:CPU:0'")},
      {"a variable and a class", "x = VarHandleOp @/job:ps/task:1 shape=shape\n mul = Const @/job:worker [x]",
       conflict("incompatible jobs: '/job:worker' and '/job:ps/task:1'")},
      {"soft placement drops types", "x = Const @/job:ps/task:1/cpu:0\n mul = Mul(x, x) @/job:ps/task:1/gpu:0 [x]", "x:ps1 mul:ps1", true},
      {"soft placement ignores the class", "x = Const @/job:ps/task:1\n mul = Mul(x, x) @/job:worker [x]", "x:ps1 mul:worker0", true},
      {"soft placement keeps a variable's type", "x = VarHandleOp @/job:ps/task:1/cpu:0 shape=shape\n y = Const @/job:ps/task:1/gpu:0 [x]",
       "x:ps1 y:ps1", true},
  });
}

TEST(Place, ExplainsAGroupThatFitsNowhere) {
  auto nowhere = [](const char* node, const char* own, const char* merged, const char* resource, const char* members) {
    return fmt::format(
        "3: Cannot assign a device for operation {0}: Could not satisfy explicit device specification '{1}' because the node {{{{colocation_node "
        "{0}}}}} was "
        "colocated with a group of nodes that required incompatible device '{2}'. All available devices [{3}]. \nColocation Debug Info:\nColocation "
        "group had "
        "the following types and supported devices: \nRoot Member(assigned_device_name_index_=-1 requested_device_name_='{2}' "
        "assigned_device_name_='' "
        "resource_device_name_='{4}' supported_device_types_=[CPU] possible_devices_=[]\n{5}\n\n\t [[{{{{node {0}}}}}]]",
        node, own, merged, listed(all_devices()), resource, members);
  };
  const std::string head = "Neg: CPU \nConst: CPU \n\nColocation members, user-requested devices, and framework assigned devices, if any:\n";
  expect_all({
      {"each part is there, but not together", "x = Const @/job:ps\n y = Neg(x) @/task:5 [x]",
       nowhere("y", "/task:5", "/job:ps/task:5", "", (head + "  x (Const) /job:ps\n  y (Neg) /task:5").c_str())},
      {"the first member of the group is told", R"(
        x = Const
        y = Neg(x) [x]
        z = Neg(y) @/job:ps/task:5 [x])",
       nowhere("y", "", "/job:ps/task:5", "", (head + "  x (Const) \n  y (Neg) \n  z (Neg) /job:ps/task:5").c_str())},
      {"a variable on a GPU", R"(
        v = VarHandleOp @/job:ps/task:1/gpu:0 shape=shape
        c = Const
        a = AssignVariableOp(v, c))",
       nowhere("a", "", "/job:ps/task:1/device:GPU:0", "/job:ps/task:1/device:GPU:0",
               "AssignVariableOp: CPU \nVarHandleOp: CPU \n\nColocation members, user-requested devices, and framework assigned devices, if any:\n"
               "  v (VarHandleOp) /job:ps/task:1/gpu:0\n  a (AssignVariableOp) ")},
  });
}

TEST(Place, KeepsUsersWithTheirVariables) {
  expect_all({
      {"references", R"(
        v = VariableV2 @/job:ps/task:1 shape=shape
        c = Const @/job:worker
        a = Assign(v, c) @/job:worker
        b = AssignAdd(a, c) @/job:worker/task:1
        r = Identity(v) @/job:worker/task:1)",
       "v:ps1 c:worker0 a:ps1 b:ps1 r:worker1"},
      {"handles", R"(
        v = VarHandleOp @/job:ps/task:1 shape=shape
        i = Identity(v) @/job:worker T=DT_RESOURCE
        c = Const
        a = AssignVariableOp(i, c) @/job:worker
        r = ReadVariableOp(v) @/job:worker/task:1)",
       "v:ps1 i:ps1 c:ps1 a:ps1 r:ps1"},
      {"a variable with its user", R"(
        v = VariableV2 shape=shape
        c = Const
        a = Assign(v, c) @/job:ps/task:1)",
       "v:ps1 c:ps1 a:ps1"},
      {"through loops and branches", R"(
        v = VarHandleOp @/job:ps/task:1 shape=shape
        e = Enter(v) @/job:worker T=DT_RESOURCE frame_name="w" is_constant=true
        r = ReadVariableOp(e) @/job:worker
        x = Exit(r)
        p = Const dtype=DT_BOOL
        s = Switch(v, p) @/job:worker T=DT_RESOURCE
        t = ReadVariableOp(s) @/job:worker)",
       "v:ps1 e:ps1 r:ps1 x:worker0 p:ps1 s:ps1 t:ps1"},
      {"queues", "q = FIFOQueueV2 @/job:ps/task:1 component_types={list{type: DT_FLOAT}}\n c = Const\n s = QueueSizeV2(q) @/job:worker",
       "q:ps1 c:worker0 s:ps1"},
  });
}

TEST(Place, RefusesUsersOfVariablesFarApart) {
  const std::string handles =
      "3: Cannot place the graph because a reference or resource edge connects colocation groups with incompatible resource devices: /job:ps/task:0 "
      "vs "
      "/job:ps/task:1. The edge src node is name='w' (op='VarHandleOp'), and the dst node is name='a' (op='ResourceApplyMomentum').";
  const char* graph = R"(
      v = VarHandleOp @/job:ps/task:1 shape=shape
      w = VarHandleOp @/job:ps/task:0 shape=shape
      c = Const
      a = ResourceApplyMomentum(v, w, c, c, c))";
  expect_all({{"handles", graph, handles},
              {"handles, softly", graph, handles, true},
              {"references", R"(
        v = VariableV2 @/job:ps/task:1 shape=shape
        w = VariableV2 @/job:ps/task:0 shape=shape
        c = Const
        a = ApplyMomentum(v, w, c, c, c))",
               "3: Cannot place the graph because a reference or resource edge connects colocation groups with incompatible resource devices: "
               "/job:ps/task:0 "
               "vs /job:ps/task:1. The edge src node is name='w' (op='VariableV2'), and the dst node is name='a' (op='ApplyMomentum')."},
              {"a class against a reference", R"(
        v = VariableV2 @/job:ps/task:1 shape=shape
        c = Const @/job:worker
        a = Assign(v, c) @/job:worker
        d = Neg(c) [a]
        e = Neg(c) @/job:ps/task:0 [v])",
               "3: Cannot colocate nodes {{colocation_node e}} and {{colocation_node v}}: Cannot merge devices with incompatible tasks: "
               "'/job:ps/task:1' and "
               "'/job:ps/task:0'\n\t [[{{node e}}]]"}});
}

TEST(Place, SourcesFollowTheirUsers) {
  expect_all({
      {"all on one device", "x = Const\n a = Neg(x) @/job:ps/task:1\n b = Neg(x) @/job:ps/task:1", "x:ps1 a:ps1 b:ps1"},
      {"not when users are apart", "x = Const\n a = Neg(x) @/job:ps/task:1\n b = Neg(x) @/job:ps/task:0", "x:worker0 a:ps1 b:ps0"},
      {"as far as they may", "x = Const @/job:ps\n a = Neg(x) @/job:ps/task:1", "x:ps1 a:ps1"},
      {"and no further", "x = Const @/job:ps\n a = Neg(x) @/job:worker/task:1", "x:ps0 a:worker1"},
      {"also who only waits for them", "x = Const\n a = NoOp(^x) @/job:ps/task:1", "x:ps1 a:ps1"},
      {"waiting counts as using", "x = Const\n b = Neg(x) @/job:ps/task:1\n a = NoOp(^x) @/job:ps/task:0", "x:worker0 b:ps1 a:ps0"},
      {"what they wait for does not count", "y = NoOp @/job:ps/task:0\n x = Const(^y)\n b = Neg(x) @/job:ps/task:1", "y:ps0 x:ps1 b:ps1"},
      {"placeholders", "x = Placeholder\n b = Neg(x) @/job:ps/task:1", "x:ps1 b:ps1"},
      {"not out of their class", "x = Const\n y = Const @/job:ps/task:1 [x]\n b = Neg(x) @/job:worker/task:1", "x:ps1 y:ps1 b:worker1"},
  });
}

TEST(Place, ShapesFollowTheirValues) {
  expect_all({
      {"Shape, Size and Rank", R"(
        x = Const
        a = Neg(x) @/job:ps/task:1
        s = Shape(a)
        z = Size(a)
        r = Rank(a)
        n = Neg(s) T=DT_INT32)",
       "x:ps1 a:ps1 s:ps1 z:ps1 r:ps1 n:worker0"},
      {"where they may", R"(
        x = Const
        a = Neg(x) @/job:ps/task:1
        q = Shape(a) @/job:worker
        p = Shape(a) @/job:ps)",
       "x:ps1 a:ps1 q:worker0 p:ps1"},
      {"not sources, which come later", "x = Const\n s = Shape(x)\n b = Neg(x) @/job:ps/task:1", "x:worker0 s:worker0 b:ps1"},
      {"not ShapeN", R"(
        x = Const
        a = Neg(x) @/job:ps/task:1
        s = ShapeN(a, a) N=2)",
       "x:ps1 a:ps1 s:worker0"},
  });
}

TEST(Place, PlacesOpsWithoutKernels) {
  Graph graph = graph_of("x = Const dtype=DT_STRING\n y = Fingerprint(x, x) @/job:ps T=DT_STRING");
  EXPECT_EQ(outcome(graph, {}), "x:ps0 y:ps0");
}

struct Growth {
  const char *what, *before, *more;
  std::string want;
  bool soft = false;
};

TEST(Place, OnlyStatefulNodesStayWhenTheGraphGrows) {
  const std::vector<Growth> cases{
      {"a source with new users", "x = Const\n a = Neg(x) @/job:ps/task:1", "b = Neg(x) @/job:ps/task:0", "x:worker0 a:ps1 b:ps0"},
      {"a class with a new member", "x = Const\n a = Neg(x)", "b = Neg(x) @/job:ps/task:0 [a]", "x:ps0 a:ps0 b:ps0"},
      {"a variable", "v = VariableV2 shape=shape", "c = Const\n a = Assign(v, c) @/job:ps/task:0", "v:worker0 c:worker0 a:worker0"},
      {"a handle", "v = VarHandleOp shape=shape", "c = Const\n a = AssignVariableOp(v, c) @/job:ps/task:1", "v:worker0 c:worker0 a:worker0"},
      {"against a new class", "v = VariableV2 shape=shape", "c = Const @/job:ps/task:0 [v]",
       "3: Cannot colocate nodes {{colocation_node c}} and {{colocation_node v}}: Cannot merge devices with incompatible jobs: '/job:ps/task:0' and "
       "'/job:worker/replica:0/task:0/device:CPU:0'\n\t [[{{node c}}]]"},
      {"softly against a new class", "v = VariableV2 shape=shape", "c = Const @/job:ps/task:0 [v]", "v:worker0 c:ps0", true},
      {"two that are apart", "v = VarHandleOp shape=shape\n w = VarHandleOp @/job:ps shape=shape",
       "c = Const\n a = ResourceApplyMomentum(v, w, c, c, c)",
       "3: Cannot place the graph because a reference or resource edge connects colocation groups with incompatible assigned devices: "
       "/job:ps/replica:0/task:0/device:CPU:0 vs /job:worker/replica:0/task:0/device:CPU:0. The edge src node is name='w' (op='VarHandleOp'), and "
       "the dst "
       "node is name='a' (op='ResourceApplyMomentum')."},
      {"a failure moves nothing", "v = VarHandleOp shape=shape", "c = Const @/job:q", not_there("c", "/job:q")},
  };
  for (const Growth& c : cases) {
    SCOPED_TRACE(c.what);
    Graph graph = graph_of(c.before);
    const Case as{c.what, "", "", c.soft};
    outcome(graph, as);
    ASSERT_TRUE(graph.extend(graph_def(c.more)).ok());
    unsettle(graph);
    const std::string settled = graph.node(0).device;
    EXPECT_EQ(outcome(graph, as), c.want);
    if (c.want[0] == '3') {
      EXPECT_EQ(graph.node(0).device, settled);
    }
  }
}

TEST(Place, DatasetsStayWithTheirInputs) {
  const std::string types = "output_types={list{type: DT_INT64}} output_shapes={list{shape{}}}";
  Graph graph = graph_of(fmt::format(R"(
      n = Const dtype=DT_INT64
      d = RangeDataset(n, n, n) @/job:ps/task:1 {0}
      t = TakeDataset(d, n) @/job:worker {0})",
                                     types));
  EXPECT_EQ(outcome(graph, {}), "n:ps1 d:ps1 t:ps1");
}

TEST(Place, PlacedNodesStay) {
  Graph graph = graph_of("x = Const\n a = Neg(x) @/job:ps/task:1 [c]");
  outcome(graph, {});
  ASSERT_TRUE(graph.extend(graph_def("b = Neg(x) @/job:ps/task:0\n c = Neg(x)\n s = Shape(x)")).ok());
  EXPECT_EQ(outcome(graph, {}), "x:ps1 a:ps1 b:ps0 c:ps1 s:ps1");
}

TEST(Place, OnlyBodiesOfFunctionsAreTiedToVariables) {
  expect_all({{"calls and loops are not; loops hand on what they got", R"(
        v = VarHandleOp @/job:ps/task:1 shape=shape
        w = VarHandleOp @/job:ps/task:0 shape=shape
        x = Const @/job:worker/task:1
        c = StatefulPartitionedCall(v, w) @/job:worker/task:1 Tin={list{type: DT_RESOURCE type: DT_RESOURCE}} Tout={list{type: DT_FLOAT}} f={func{name: "f"}}
        l = While(x, v, w) @/job:worker/task:1 T={list{type: DT_FLOAT type: DT_RESOURCE type: DT_RESOURCE}} cond={func{name: "f"}} body={func{name: "f"}}
        r = ReadVariableOp(l:1) @/job:worker
        s = ReadVariableOp(l:2) @/job:worker
        t = Neg(l) @/job:worker)",
               "v:ps1 w:ps0 x:worker1 c:worker1 l:worker1 r:ps1 s:ps0 t:worker0"}});
}

TEST(Place, NeedsDevices) {
  Graph graph = graph_of("a = NoOp");
  EXPECT_EQ(outcome(graph, {"", "", "", false, {}}), "9: No devices are registered");
}

}  // namespace
}  // namespace troupe
