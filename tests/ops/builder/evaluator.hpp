// Runs a graph in this process, node after node, so that what was built can be tested without a server.
#pragma once

#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/graph.hpp>
#include <troupe/ops/kernel.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

class Evaluator {
 public:
  static StatusOr<std::unique_ptr<Evaluator>> of(const wire::GraphDef& def) {
    TRY_ASSIGN(Graph graph, Graph::from(def, std::make_shared<const FunctionLibrary>(def.library())));
    auto made = std::unique_ptr<Evaluator>(new Evaluator(std::move(graph)));
    TRY_ASSIGN(made->order_, made->graph_.topological_order());
    return made;
  }

  /// Values of the fetches ("node:0"); names without an output are only run.
  StatusOr<std::vector<Tensor>> run(const std::map<std::string, Tensor>& feeds, const std::vector<std::string>& fetches) {
    OneStep step(++steps_, &store_);
    values_.clear();
    for (const auto& [name, tensor] : feeds) {
      auto [node, output] = split_tensor_name(name);
      const int at = graph_.find(node);
      if (at < 0) return not_found("Nothing to feed: {}", name);
      values_[at].resize(graph_.node(at).signature.outputs.size());
      values_[at][static_cast<std::size_t>(output)] = tensor;
    }
    std::vector<bool> wanted(static_cast<std::size_t>(graph_.size()));
    for (const auto& name : fetches) {
      const int at = graph_.find(split_tensor_name(name).first);
      if (at < 0) return not_found("Nothing to fetch: {}", name);
      want(at, wanted);
    }
    for (int at : order_)
      if (wanted[static_cast<std::size_t>(at)] && !values_.contains(at)) TRY(run_node(at, step));
    std::vector<Tensor> out;
    for (const auto& name : fetches) {
      auto [node, output] = split_tensor_name(name);
      const auto& values = values_[graph_.find(node)];
      if (name.find(':') == std::string::npos) continue;
      const Value& value = values.at(static_cast<std::size_t>(output));
      out.push_back(value.ref ? value.ref->snapshot() : value.tensor);
    }
    return out;
  }

 private:
  struct OneStep final : Step {
    OneStep(std::int64_t number, ResourceStore* store) {
      id = number;
      device = "/job:localhost/replica:0/task:0/device:CPU:0";
      resources = store;
      cancellation = &cancel;
    }
    void call_function(const wire::NameAttrList& function, std::vector<Tensor>, FunctionDone done) override {
      done(unimplemented("No function {}", function.name()));
    }
    Cancellation cancel;
  };

  explicit Evaluator(Graph graph) : graph_(std::move(graph)) {}

  void want(int at, std::vector<bool>& wanted) {
    if (wanted[static_cast<std::size_t>(at)] || values_.contains(at)) return;
    wanted[static_cast<std::size_t>(at)] = true;
    for (const Edge& e : graph_.node(at).inputs) want(e.node, wanted);
    for (int c : graph_.node(at).controls) want(c, wanted);
  }

  Status run_node(int at, Step& step) {
    const Node& node = graph_.node(at);
    auto& outputs = values_[at];
    outputs.resize(node.signature.outputs.size());
    if (node.kind() == "NoOp") return absl::OkStatus();
    auto& bound = kernels_[at];
    if (!bound) {
      TRY_ASSIGN(Kernel kernel, all_kernels().bind(node.def, *node.op, node.signature));
      bound = std::make_unique<Bound>(Bound{{node.name(), node.kind(), step.device}, std::move(kernel)});
    }
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      Value value = values_[node.inputs[i].node][static_cast<std::size_t>(node.inputs[i].output)];
      if (value.ref) {
        if (value.ref->initialized()) value.tensor = value.ref->snapshot();
        else if (!node.op->allows_uninitialized_input()) return failed_precondition("Attempting to use uninitialized value {}", value.ref->name());
        if (!is_ref(node.signature.inputs[i])) value.ref = nullptr;
      }
      inputs.push_back(std::move(value));
    }
    Call call(bound->facts, inputs, outputs, step, Tag{});
    std::optional<Status> result;
    if (bound->kernel.run) result = bound->kernel.run(call);
    else bound->kernel.start(call, [&](Status done) { result = std::move(done); });
    if (!result) return internal("{} waits", node.name());
    if (!result->ok()) return prepend_text(node.name() + ": ", *result);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (is_ref(node.signature.outputs[i]) && !outputs[i].ref && !inputs.empty()) outputs[i].ref = inputs[0].ref;
    return absl::OkStatus();
  }

  struct Bound {
    NodeFacts facts;
    Kernel kernel;
  };
  Graph graph_;
  std::vector<int> order_;
  std::map<int, std::unique_ptr<Bound>> kernels_;
  std::map<int, std::vector<Value>> values_;
  ResourceStore store_{"localhost"};
  std::int64_t steps_ = 0;
};

}  // namespace troupe
