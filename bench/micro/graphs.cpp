// Making and running of small graphs.
#include "graphs.hpp"

#include <troupe/ops/resources/store.hpp>

#include <stdexcept>

namespace troupe::bench {
namespace {

/// Types of the few ops that are used here.
void fill_types(wire::NodeDef& node) {
  const std::string& op = node.op();
  if (op == "NoOp" || op == "LoopCond") return;
  (*node.mutable_attr())[op == "Const" ? "dtype" : "T"].set_type(wire::DT_FLOAT);
}

}  // namespace

GraphText& GraphText::add(const std::string& name, const std::string& op, std::vector<std::string> inputs) {
  wire::NodeDef& node = *def_.add_node();
  node.set_name(name);
  node.set_op(op);
  for (auto& input : inputs) node.add_input(std::move(input));
  fill_types(node);
  return *this;
}

GraphText& GraphText::constant(const std::string& name, float value, std::vector<std::string> inputs) {
  add(name, "Const", std::move(inputs));
  auto& tensor = *(*def_.mutable_node(def_.node_size() - 1)->mutable_attr())["value"].mutable_tensor();
  tensor.set_dtype(wire::DT_FLOAT);
  tensor.mutable_tensor_shape();
  tensor.add_float_val(value);
  return *this;
}

GraphText& GraphText::enter(const std::string& name, const std::string& input, bool is_constant) {
  add(name, "Enter", {input});
  auto& attr = *def_.mutable_node(def_.node_size() - 1)->mutable_attr();
  attr["frame_name"].set_s("loop");
  attr["is_constant"].set_b(is_constant);
  attr["parallel_iterations"].set_i(10);
  return *this;
}

GraphText& GraphText::set(const char* attr, std::int64_t value) {
  (*def_.mutable_node(def_.node_size() - 1)->mutable_attr())[attr].set_i(value);
  return *this;
}

wire::GraphDef chain(int length) {
  GraphText g;
  g.add("x", "_Arg").set("index", 0);
  std::string last = "x";
  for (int i = 0; i < length; ++i) {
    const std::string n = std::to_string(i);
    g.constant("one" + n, 1).add("add" + n, "AddV2", {last, "one" + n});
    last = "add" + n;
  }
  return g.add("y", "_Retval", {last}).set("index", 0).def();
}

wire::GraphDef fan(int width) {
  GraphText g;
  g.add("x", "_Arg").set("index", 0);
  std::vector<std::string> all;
  for (int i = 0; i < width; ++i) {
    const std::string n = std::to_string(i);
    g.constant("c" + n, static_cast<float>(i)).add("add" + n, "AddV2", {"x", "c" + n});
    all.push_back("add" + n);
  }
  return g.add("sum", "AddN", all).set("N", width).add("y", "_Retval", {"sum"}).set("index", 0).def();
}

wire::GraphDef counting_loop() {
  GraphText g;
  g.add("x", "_Arg").set("index", 0).constant("zero", 0);
  g.enter("i/enter", "zero", false).enter("limit", "x", true);
  g.add("i", "Merge", {"i/enter", "i/next"}).set("N", 2);
  g.add("less", "Less", {"i", "limit"}).add("cond", "LoopCond", {"less"});
  g.add("switch", "Switch", {"i", "cond"}).add("value", "Identity", {"switch:1"});
  g.constant("one", 1, {"^value"}).add("add", "AddV2", {"value", "one"});
  g.add("i/next", "NextIteration", {"add"}).add("exit", "Exit", {"switch"});
  return g.add("y", "_Retval", {"exit"}).set("index", 0).def();
}

wire::GraphDef single(const std::string& op, int inputs, const std::function<void(wire::NodeDef&)>& complete) {
  GraphText g;
  std::vector<std::string> names;
  for (int i = 0; i < inputs; ++i) {
    names.push_back("x" + std::to_string(i));
    g.add(names.back(), "_Arg").set("index", i);
  }
  g.add("node", op, names);
  wire::GraphDef def = g.add("y", "_Retval", {"node"}).set("index", 0).def();
  if (complete) complete(*def.mutable_node(inputs));
  return def;
}

Runner::Runner(const wire::GraphDef& def) {
  auto graph = Graph::from(def, std::make_shared<FunctionLibrary>());
  if (!graph.ok()) throw std::runtime_error(graph.status().ToString());
  auto plan = Plan::compile(*graph, all_kernels(), kernels_);
  if (!plan.ok()) throw std::runtime_error(plan.status().ToString());
  plan_ = *std::move(plan);
}

Tensor Runner::operator()(std::vector<Tensor> arguments) {
  auto execution = std::make_shared<Execution>(plan_);
  execution->set_arguments(std::move(arguments));
  Status ended = internal("The plan did not come to its end");
  execution->run([&](Status status) { ended = std::move(status); });
  if (!ended.ok()) throw std::runtime_error(ended.ToString());
  return execution->results().at(0);
}

}  // namespace troupe::bench
