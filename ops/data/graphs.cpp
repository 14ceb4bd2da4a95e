// Datasets to graphs and back.
#include <troupe/ops/data/made.hpp>
#include <troupe/ops/data/to_graph.hpp>
#include <troupe/ops/graph.hpp>
#include <troupe/ops/graph_function.hpp>

#include <map>
#include <set>

namespace troupe {
namespace {

Status give_graph(Call& call, Step& step, const DatasetPtr& dataset, bool refuse_state) {
  auto prefixed = [](const Status& status) {
    return make_status(status.code(), fmt::format("Failed to serialize the input pipeline graph: {}", text_of(status)));
  };
  if (refuse_state)
    if (const Status status = check_state(*dataset); !status.ok()) return prefixed(status);
  auto graph = to_graph(dataset, *step.resources);
  if (!graph.ok()) return prefixed(graph.status());
  std::string text;
  if (!graph->SerializeToString(&text)) return internal("The graph of a dataset is too large.");
  call.set_scalar<std::string>(0, std::move(text));
  return absl::OkStatus();
}

/// Only what the result needs, with the result in the place where it is looked for.
StatusOr<wire::GraphDef> needed_of(const std::string& text) {
  wire::GraphDef all, needed;
  if (!all.ParseFromString(text)) return invalid("Could not parse GraphDef");
  std::map<std::string, const wire::NodeDef*> by_name;
  const wire::NodeDef* result = nullptr;
  for (const auto& node : all.node()) {
    by_name[node.name()] = &node;
    if (node.op() == "_Retval") result = &node;
  }
  if (!result || result->input_size() == 0) return not_found("FetchOutputs node : not found");
  std::set<const wire::NodeDef*> seen{result};
  std::vector<const wire::NodeDef*> left{result};
  while (!left.empty()) {
    const wire::NodeDef* node = left.back();
    left.pop_back();
    if (node->op() == "_Arg" || (node != result && node->op() == "_Retval")) return invalid("A dataset's graph cannot have a {}", node->op());
    for (const std::string& input : node->input()) {
      const auto found = by_name.find(split_tensor_name(input).first);
      if (found == by_name.end()) return invalid("Node '{}': Unknown input node '{}'", node->name(), input);
      if (seen.insert(found->second).second) left.push_back(found->second);
    }
  }
  for (const auto& node : all.node()) {
    if (!seen.contains(&node)) continue;
    wire::NodeDef& copy = *needed.add_node() = node;
    copy.clear_device();
    if (&node == result) (*copy.mutable_attr())["index"].set_i(0);
  }
  *needed.mutable_library() = all.library();
  *needed.mutable_versions() = all.versions();
  return needed;
}

struct Making {
  Captured graph;
  FunctionCall call;
  Tuple results;
};

void make_again(Call& call, Step& step, const std::string& text, Done done) {
  auto graph = needed_of(text);
  if (!graph.ok()) return done(graph.status());
  StepHost* host = host_of(step);
  if (!host) return done(unimplemented("Graphs cannot be run here"));
  auto kept = host->keep_function(as_function(*graph));
  if (!kept.ok()) return done(kept.status());
  auto making = std::make_shared<Making>();
  making->graph.function = *std::move(kept);
  auto attempt = [making](Reading& reading) {
    if (!making->call.started()) making->call.start(reading, making->graph, {});
    return making->call.take(reading, making->results);
  };
  Reading::start(step, std::make_shared<Instances>(), attempt, [making, &call, done = std::move(done)](Poll, Status status) {
    if (!status.ok()) return done(std::move(status));
    if (making->results.size() != 1) return done(internal("The graph of a dataset gave {} results", making->results.size()));
    const Tensor& result = making->results.front();
    if (result.dtype() != DType::variant)
      return done(internal("Output 0 of type {} does not match declared output type variant for node {{{{node {}}}}}", name_of(result.dtype()),
                           call.node().name));
    call.set(0, result);
    done(absl::OkStatus());
  });
}

}  // namespace

void add_dataset_graphs(Registry& ops) {
  ops.add("DatasetToGraph",
          [](Call& call, Step& step, DatasetIn dataset, Attr<"allow_stateful", bool> allow) { return give_graph(call, step, dataset, !*allow); });
  ops.add("DatasetToGraphV2", [](Call& call, Step& step, DatasetIn dataset, Attr<"external_state_policy", std::int64_t> policy) {
    constexpr std::int64_t refuse = 2;
    return give_graph(call, step, dataset, *policy == refuse);
  });
  ops.add("DatasetFromGraph", [](Call& call, Step& step, Number<std::string> graph, Done done) { make_again(call, step, *graph, std::move(done)); });
}

}  // namespace troupe
