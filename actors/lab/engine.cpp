// Steps of a graph on the calling thread.
#include <troupe/actors/lab/engine.hpp>

#include <troupe/devices/execution.hpp>
#include <troupe/devices/float_mode.hpp>
#include <troupe/ops/definitions.hpp>
#include <troupe/ops/lowering.hpp>

#include <omp.h>

#include <optional>
#include <set>

namespace troupe::lab {

Engine::Engine(wire::GraphDef graph) : graph_(std::move(graph)), library_(std::make_shared<const FunctionLibrary>(graph_.library())) {
  for (int i = 0; i < graph_.node_size(); ++i) by_name_[graph_.node(i).name()] = i;
}

StatusOr<std::unique_ptr<Engine>> Engine::open(wire::GraphDef graph) {
  omp_set_num_threads(1);
  flush_denormals();
  return std::unique_ptr<Engine>(new Engine(std::move(graph)));
}

/// Fed placeholders become arguments, fetches results; what neither fetches nor targets need is left out.
StatusOr<std::shared_ptr<const Plan>> Engine::compile(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches,
                                                      const std::vector<std::string>& targets) {
  std::map<std::string, int> fed;
  for (const auto& feed : feeds) fed.emplace(split_tensor_name(feed).first, static_cast<int>(fed.size()));
  wire::GraphDef step;
  std::set<std::string> seen;
  std::vector<std::string> open;
  auto need = [&](const std::string& tensor) {
    const std::string name = split_tensor_name(tensor).first;
    if (seen.insert(name).second) open.push_back(name);
  };
  for (const auto& fetch : fetches) need(fetch);
  for (const auto& target : targets) need(target);
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return not_found("There is no node {}", name);
    wire::NodeDef& node = *step.add_node();
    node = graph_.node(found->second);
    if (const auto f = fed.find(name); f != fed.end()) {
      const auto type = node.attr().at("dtype").type();
      node.set_op("_Arg");
      node.clear_attr();
      (*node.mutable_attr())["T"].set_type(type);
      (*node.mutable_attr())["index"].set_i(f->second);
    }
    for (const auto& input : node.input()) need(input);
  }
  TRY_ASSIGN(Graph graph, Graph::from(step, library_));
  for (std::size_t i = 0; i < fetches.size(); ++i) {
    const auto [name, output] = split_tensor_name(fetches[i]);
    const int source = graph.find(name);
    const auto& types = graph.node(source).signature.outputs;
    if (output < 0 || output >= static_cast<int>(types.size())) return not_found("There is no tensor {}", fetches[i]);
    wire::NodeDef node;
    node.set_name(fmt::format("_fetch/{}", i));
    node.set_op("_Retval");
    (*node.mutable_attr())["index"].set_i(static_cast<std::int64_t>(i));
    (*node.mutable_attr())["T"].set_type(static_cast<wire::DataType>(types[static_cast<std::size_t>(output)]));
    TRY(graph.add(std::move(node), {Edge{source, output}}, {}, "").status());
  }
  TRY(lower_functions(graph));
  return Plan::compile(graph, all_kernels(), kernels_);
}

StatusOr<std::vector<Tensor>> Engine::run(const std::map<std::string, Tensor>& feeds, const std::vector<std::string>& fetches,
                                          const std::vector<std::string>& targets) {
  std::vector<std::string> names;
  std::vector<Tensor> arguments;
  for (const auto& [name, value] : feeds) {
    names.push_back(name);
    arguments.push_back(value);
  }
  auto& plan = plans_[fmt::format("{}|{}|{}", fmt::join(names, ","), fmt::join(fetches, ","), fmt::join(targets, ","))];
  if (!plan) {
    TRY_ASSIGN(plan, compile(names, fetches, targets));
  }
  auto execution = std::make_shared<Execution>(plan);
  execution->resources = &store_;
  execution->set_arguments(std::move(arguments));
  std::optional<Status> ended;
  execution->run([&](Status status) { ended = std::move(status); });
  if (!ended) return internal("The step waits for something that never comes");
  TRY(*ended);
  return std::move(execution->results());
}

}  // namespace troupe::lab
