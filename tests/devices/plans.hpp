// A fixture for tests of plans.
#pragma once

#include <troupe/devices/execution.hpp>
#include <troupe/ops/definitions.hpp>
#include <troupe/ops/resources/store.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// A graph, its plan and the world that its kernels see.
class Plans : public ::testing::Test {
 protected:
  wire::NodeDef& add(const std::string& name, const std::string& op, std::vector<std::string> inputs = {}) {
    wire::NodeDef& node = *def_.add_node();
    node.set_name(name);
    node.set_op(op);
    for (auto& input : inputs) node.add_input(std::move(input));
    for (const auto& attr : find_op(op)->attr())
      if (attr.type() == "type" && !attr.has_default_value()) (*node.mutable_attr())[attr.name()].set_type(wire::DT_FLOAT);
    return node;
  }
  void constant(const std::string& name, std::vector<float> values, std::vector<std::string> inputs = {}) {
    auto& tensor = *(*add(name, "Const", std::move(inputs)).mutable_attr())["value"].mutable_tensor();
    tensor.set_dtype(wire::DT_FLOAT);
    auto& shape = *tensor.mutable_tensor_shape();
    if (values.size() != 1) shape.add_dim()->set_size(static_cast<std::int64_t>(values.size()));
    for (float v : values) tensor.add_float_val(v);
  }
  void truth(const std::string& name, bool value) {
    auto& node = add(name, "Const");
    (*node.mutable_attr())["dtype"].set_type(wire::DT_BOOL);
    auto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
    tensor.set_dtype(wire::DT_BOOL);
    tensor.mutable_tensor_shape();
    tensor.add_bool_val(value);
  }
  void argument(const std::string& name) { (*add(name, "_Arg").mutable_attr())["index"].set_i(arguments_++); }
  void result(const std::string& of, wire::DataType type = wire::DT_FLOAT) {
    auto& attr = *add("result/" + std::to_string(results_), "_Retval", {of}).mutable_attr();
    attr["index"].set_i(results_++);
    attr["T"].set_type(type);
  }
  void enter(const std::string& name, const std::string& input, bool is_constant) {
    auto& attr = *add(name, "Enter", {input}).mutable_attr();
    attr["frame_name"].set_s("loop");
    attr["is_constant"].set_b(is_constant);
  }
  void merge(const std::string& name, std::vector<std::string> inputs) {
    const auto n = static_cast<std::int64_t>(inputs.size());
    (*add(name, "Merge", std::move(inputs)).mutable_attr())["N"].set_i(n);
  }

  const Plan& compile() {
    auto graph = Graph::from(def_, std::make_shared<FunctionLibrary>());
    EXPECT_TRUE(graph.ok()) << graph.status();
    auto plan = Plan::compile(*graph, all_kernels(), kernels_);
    EXPECT_TRUE(plan.ok()) << plan.status();
    plan_ = *plan;
    return *plan_;
  }
  /// Names of the nodes that are left.
  std::vector<std::string> nodes() {
    std::vector<std::string> names;
    for (const PlanNode& p : compile().nodes()) names.push_back(p.facts.name);
    return names;
  }
  /// With a record of the step where `stats` are given.
  StatusOr<std::vector<Tensor>> run(std::vector<Tensor> arguments = {}, wire::DeviceStepStats* stats = nullptr) {
    if (!plan_) compile();
    auto execution = std::make_shared<Execution>(plan_);
    execution->resources = &store_;
    execution->record(stats);
    execution->set_arguments(std::move(arguments));
    std::optional<Status> ended;
    execution->run([&](Status status) { ended = std::move(status); });
    if (!ended) return internal("The run did not end");
    TRY(*ended);
    return execution->results();
  }
  /// The values of all results in order.
  std::vector<float> values(std::vector<Tensor> arguments = {}) {
    auto tensors = run(std::move(arguments));
    EXPECT_TRUE(tensors.ok()) << tensors.status();
    std::vector<float> all;
    if (tensors.ok())
      for (const Tensor& t : *tensors) all.insert(all.end(), t.data<float>(), t.data<float>() + t.size());
    return all;
  }

  wire::GraphDef def_;
  KernelCache kernels_;
  std::shared_ptr<const Plan> plan_;
  ResourceStore store_{"localhost"};
  int arguments_ = 0, results_ = 0;
};

using Names = std::vector<std::string>;
using Floats = std::vector<float>;

}  // namespace troupe
