// Partitions that run: graphs spread over devices give what they give on one, loops and dead branches included, and leave nothing behind.
#include "plan_graph.hpp"

#include <troupe/actors/plan/partition.hpp>
#include <troupe/actors/plan/place.hpp>
#include <troupe/actors/plan/step_graph.hpp>
#include <troupe/devices/execution.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/store.hpp>

#include <gtest/gtest.h>

#include <cctype>
#include <deque>
#include <map>

namespace troupe {
namespace {

using namespace troupe::testing;

/// Hands values over as they come; who receives is called later, as on an actor of its own.
class Exchange final : public Rendezvous {
 public:
  Status send(const std::string& key, Value value) override {
    if (!values_.emplace(key, std::move(value)).second) return internal("{} was sent twice", key);
    match(key);
    return absl::OkStatus();
  }
  void receive(const std::string& key, Receiver receiver) override {
    receivers_.emplace(key, std::move(receiver));
    match(key);
  }
  void deliver_all() {
    while (!due_.empty()) {
      auto deliver = std::move(due_.front());
      due_.pop_front();
      deliver();
    }
  }
  StatusOr<Value> take(const std::string& key) {
    auto found = values_.find(key);
    if (found == values_.end()) return not_found("{} was not sent", key);
    Value value = std::move(found->second);
    values_.erase(found);
    return value;
  }
  /// What was sent but not received, and what is still waited for.
  std::vector<std::string> left() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : values_) keys.push_back("unread " + key);
    for (const auto& [key, receiver] : receivers_) keys.push_back("awaited " + key);
    return keys;
  }

 private:
  void match(const std::string& key) {
    auto value = values_.find(key);
    auto receiver = receivers_.find(key);
    if (value == values_.end() || receiver == receivers_.end()) return;
    due_.push_back([value = std::move(value->second), receiver = std::move(receiver->second)]() mutable { receiver(std::move(value)); });
    values_.erase(value);
    receivers_.erase(receiver);
  }

  std::map<std::string, Value> values_;
  std::map<std::string, Receiver> receivers_;
  std::deque<std::function<void()>> due_;
};

/// A device's part of a step in execution.
struct Run {
  std::shared_ptr<Execution> execution;
  ResourceStore store{"localhost"};
  KernelCache cache;
  Cancellation cancellation;
  bool over = false;
  Status status;
};

/// Runs all parts of a step to the end and gives the value of one tensor.
StatusOr<Value> run_parts(const std::map<std::string, wire::GraphDef>& parts, const std::string& key, std::vector<std::string>& left) {
  Exchange exchange;
  std::deque<Run> runs;
  for (const auto& [task, part] : parts) {
    TRY_ASSIGN(Graph graph, Graph::from(part, std::make_shared<FunctionLibrary>()));
    for (Node& node : graph.nodes()) node.device = node.def.device();
    Run& run = runs.emplace_back();
    TRY_ASSIGN(auto plan, Plan::compile(graph, all_kernels(), run.cache));
    run.execution = std::make_shared<Execution>(plan);
    run.execution->device = graph.node(0).device;
    run.execution->resources = &run.store;
    run.execution->rendezvous = &exchange;
    run.execution->cancellation = &run.cancellation;
  }
  for (Run& run : runs)
    run.execution->run([&run](Status status) {
      run.over = true;
      run.status = std::move(status);
    });
  exchange.deliver_all();
  for (Run& run : runs) {
    TRY(run.status);
    if (!run.over) return internal("{} waits for {}", run.execution->device, fmt::join(run.execution->waiting(), ", "));
  }
  auto value = exchange.take(key);
  left = exchange.left();
  return value;
}

/// The value of `out`; `spread` false puts everything on one device.
StatusOr<float> value_of(std::string_view text, bool spread, std::vector<std::string>& left, std::size_t& parts_used) {
  Graph graph = graph_of(text);
  PlacementRequest request;
  request.devices = all_devices();
  request.default_device = long_name("worker0");
  if (!spread)
    for (Node& node : graph.nodes()) node.def.clear_device();
  TRY(place(graph, request));
  const std::string client = long_name("worker0");
  TRY_ASSIGN(Graph step, cut_step(graph, {{}, {"out:0"}, {}, {}}, client, 1));
  std::uint64_t counter = 0;
  TRY_ASSIGN(auto parts, partition(
                             std::move(step), [](const std::string&) { return 1; }, &counter));
  parts_used = parts.size();
  TRY_ASSIGN(const Value value, run_parts(parts, client_key(client, 1, "out:0"), left));
  if (value.dead) return internal("out is dead");
  return value.tensor.item<float>();
}

struct Case {
  const char* what;
  std::string graph;
  float want;
  std::size_t parts = 2;
};

class Spread : public ::testing::TestWithParam<Case> {};

TEST_P(Spread, GivesWhatOneDeviceGives) {
  for (const bool spread : {false, true}) {
    SCOPED_TRACE(spread ? "spread" : "on one device");
    std::vector<std::string> left;
    std::size_t parts = 0;
    auto value = value_of(GetParam().graph, spread, left, parts);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(*value, GetParam().want);
    EXPECT_EQ(left, std::vector<std::string>{});
    EXPECT_EQ(parts, spread ? GetParam().parts : 1);
  }
}

/// A loop that counts `i` up to a limit and gives `a` to its body; what stands where is up to the devices given.
struct Devices {
  const char *count = "/job:worker/task:0", *body = "/job:ps/task:0", *kept = "/job:worker/task:0";
};

std::string counting_loop(int limit, Devices on, int parallel = 10) {
  return fmt::format(R"(
    zero = Const @{0} v=0
    top = Const @{0} v={3}
    ten = Const @{1} v=10
    i/enter = Enter(zero) @{0} frame_name="w" parallel_iterations={4}
    a/enter = Enter(ten) @{2} frame_name="w" parallel_iterations={4}
    limit = Enter(top) @{0} frame_name="w" is_constant=true parallel_iterations={4}
    i = Merge(i/enter, i/next) @{0} N=2
    a = Merge(a/enter, a/next) @{2} N=2
    less = Less(i, limit) @{0}
    cond = LoopCond(less) @{0}
    i/switch = Switch(i, cond) @{0}
    a/switch = Switch(a, cond) @{2}
    i/value = Identity(i/switch:1) @{0}
    a/value = Identity(a/switch:1) @{2}
    one = Const(^i/value) @{0} v=1
    i/add = AddV2(i/value, one) @{0}
    two = Const(^i/value) @{1} v=2
    a/add = AddV2(a/value, two) @{1}
    i/next = NextIteration(i/add) @{0}
    a/next = NextIteration(a/add) @{2}
    a/exit = Exit(a/switch) @{2}
    out = Identity(a/exit) @{0})",
                     on.count, on.body, on.kept, limit, parallel);
}

const std::string nested = R"(
    zero = Const @/job:worker v=0
    i/enter = Enter(zero) @/job:worker frame_name="o"
    a/enter = Enter(zero) @/job:worker frame_name="o"
    i = Merge(i/enter, i/next) @/job:worker N=2
    a = Merge(a/enter, a/next) @/job:worker N=2
    three = Const(^i) @/job:worker v=3
    less = Less(i, three) @/job:worker
    cond = LoopCond(less) @/job:worker
    i/switch = Switch(i, cond) @/job:worker
    a/switch = Switch(a, cond) @/job:worker
    i/value = Identity(i/switch:1) @/job:worker
    a/value = Identity(a/switch:1) @/job:worker
    start = Const(^i/value) @/job:worker v=0
    j/enter = Enter(start) @/job:worker frame_name="o/i"
    b/enter = Enter(a/value) @/job:worker frame_name="o/i"
    j = Merge(j/enter, j/next) @/job:worker N=2
    b = Merge(b/enter, b/next) @/job:worker N=2
    two = Const(^j) @/job:worker v=2
    j/less = Less(j, two) @/job:worker
    j/cond = LoopCond(j/less) @/job:worker
    j/switch = Switch(j, j/cond) @/job:worker
    b/switch = Switch(b, j/cond) @/job:worker
    j/value = Identity(j/switch:1) @/job:worker
    b/value = Identity(b/switch:1) @/job:worker
    j/one = Const(^j/value) @/job:worker v=1
    j/add = AddV2(j/value, j/one) @/job:worker
    b/one = Const(^j/value) @/job:ps v=1
    b/add = AddV2(b/value, b/one) @/job:ps
    j/next = NextIteration(j/add) @/job:worker
    b/next = NextIteration(b/add) @/job:worker
    b/exit = Exit(b/switch) @/job:worker
    i/one = Const(^i/value) @/job:worker v=1
    i/add = AddV2(i/value, i/one) @/job:worker
    a/ten = Const(^i/value) @/job:ps/task:1 v=10
    a/add = AddV2(b/exit, a/ten) @/job:ps/task:1
    i/next = NextIteration(i/add) @/job:worker
    a/next = NextIteration(a/add) @/job:worker
    a/exit = Exit(a/switch) @/job:worker
    out = Identity(a/exit) @/job:worker)";

/// A variable on one device that a loop on another adds to; the loop waits for each addition.
const std::string updates = R"(
    v = VariableV2 @/job:ps shape=shape
    start = Const @/job:ps v=100
    init = Assign(v, start)
    zero = Const(^init) @/job:worker v=0
    i/enter = Enter(zero) @/job:worker frame_name="w"
    i = Merge(i/enter, i/next) @/job:worker N=2
    four = Const(^i) @/job:worker v=4
    less = Less(i, four) @/job:worker
    cond = LoopCond(less) @/job:worker
    i/switch = Switch(i, cond) @/job:worker
    i/value = Identity(i/switch:1) @/job:worker
    v/enter = RefEnter(v, ^init) frame_name="w" is_constant=true
    five = Const(^i/value) @/job:ps v=5
    add = AssignAdd(v/enter, five)
    one = Const(^add) @/job:worker v=1
    i/add = AddV2(i/value, one) @/job:worker
    i/next = NextIteration(i/add) @/job:worker
    exit = Exit(i/switch) @/job:worker
    read = Identity(v, ^exit) @/job:worker
    out = AddV2(read, exit) @/job:worker)";

std::string branch(int taken) {
  return fmt::format(R"(
    x = Const @/job:worker v=3
    p = Const @/job:worker dtype=DT_BOOL v={}
    s = Switch(x, p) @/job:worker
    no = AddV2(s, s) @/job:ps
    no/more = AddV2(no, no) @/job:ps/task:1
    yes/mark = NoOp(^yes/start) @/job:ps/task:1
    yes/start = Identity(s:1) @/job:worker
    yes = AddV2(s:1, s:1, ^yes/mark) @/job:ps
    m = Merge(no/more, yes) @/job:worker N=2
    out = Identity(m) @/job:worker)",
                     taken);
}

/// A loop on two devices within a branch.
std::string loop_in_branch(int taken) {
  return fmt::format(R"(
    x = Const @/job:worker v=3
    p = Const @/job:worker dtype=DT_BOOL v={}
    s = Switch(x, p) @/job:worker
    enter = Enter(s:1) @/job:worker frame_name="w"
    i = Merge(enter, next) @/job:worker N=2
    top = Const(^i) @/job:worker v=20
    less = Less(i, top) @/job:worker
    cond = LoopCond(less) @/job:worker
    switch = Switch(i, cond) @/job:worker
    value = Identity(switch:1) @/job:worker
    add = AddV2(value, value) @/job:ps
    next = NextIteration(add) @/job:worker
    exit = Exit(switch) @/job:worker
    m = Merge(s, exit) @/job:worker N=2
    out = Identity(m) @/job:worker)",
                     taken);
}

std::vector<Case> cases() {
  const char *worker = "/job:worker/task:0", *ps = "/job:ps/task:0", *other = "/job:ps/task:1";
  return {
      {"a value there and back", "a = Const @/job:worker v=2\n b = AddV2(a, a) @/job:ps\n out = AddV2(a, b) @/job:worker", 6},
      {"body elsewhere", counting_loop(3, {}), 16},
      {"no iteration", counting_loop(0, {}), 10},
      {"many iterations", counting_loop(100, {}), 210},
      {"one iteration at a time", counting_loop(20, {}, 1), 50},
      {"a loop variable that lives elsewhere", counting_loop(5, {worker, ps, ps}), 20},
      {"condition elsewhere", counting_loop(5, {ps, worker, worker}), 20},
      {"condition, variable and body on three devices", counting_loop(5, {ps, other, worker}), 20, 3},
      {"condition, variable and body on three devices, one at a time", counting_loop(5, {ps, other, worker}, 1), 20, 3},
      {"a loop within a loop", nested, 36, 3},
      {"updates of a variable", updates, 124},
      {"a branch not taken", branch(0), 12, 3},
      {"a branch taken", branch(1), 6, 3},
      {"a loop in a branch taken", loop_in_branch(1), 24},
      {"a loop in a branch not taken", loop_in_branch(0), 3},
  };
}

INSTANTIATE_TEST_SUITE_P(Graphs, Spread, ::testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.what;
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
  return name;
});

}  // namespace
}  // namespace troupe
