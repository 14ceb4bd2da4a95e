// Send and Recv, and the control loops that make a Recv run once per iteration.
#include <troupe/actors/plan/crossing.hpp>

namespace troupe {
namespace {

wire::NodeDef node_def(std::string name, const char* op) {
  wire::NodeDef def;
  def.set_name(std::move(name));
  def.set_op(op);
  return def;
}

struct Route {
  std::string tensor, from, to;
  std::uint64_t incarnation;
};

wire::NodeDef transfer_def(std::string name, const char* op, const char* type_attr, DType type, const Route& route) {
  wire::NodeDef def = node_def(std::move(name), op);
  auto& attr = *def.mutable_attr();
  attr[type_attr].set_type(static_cast<wire::DataType>(type));
  attr["tensor_name"].set_s(route.tensor);
  attr["send_device"].set_s(route.from);
  attr["send_device_incarnation"].set_i(static_cast<std::int64_t>(route.incarnation));
  attr["recv_device"].set_s(route.to);
  attr["client_terminated"].set_b(false);
  return def;
}

}  // namespace

StatusOr<Edge> Crossing::carry(const Edge& edge, int user) {
  const Goal goal{graph_.node(user).device, graph_.node(user).name()};
  std::vector<int> waits;
  // A reference is read when it is sent: that must not happen before what its user waits for.
  if (is_ref(graph_.node(edge.node).signature.outputs[static_cast<std::size_t>(edge.output)])) {
    const Goal back{graph_.node(edge.node).device, graph_.node(edge.node).name()};
    for (const int control : std::vector<int>(graph_.node(user).controls)) {
      if (graph_.node(control).device == back.device) {
        waits.push_back(control);
      } else {
        TRY_ASSIGN(const int signalled, signal(control, back));
        waits.push_back(signalled);
      }
    }
  }
  return bring(edge, std::move(waits), goal);
}

StatusOr<int> Crossing::carry_control(int source, int user) { return signal(source, {graph_.node(user).device, graph_.node(user).name()}); }

StatusOr<Edge> Crossing::bring(const Edge& edge, std::vector<int> waits, const Goal& goal) {
  auto key = std::tuple(edge.node, edge.output, goal.device, waits);
  if (auto known = carried_.find(key); known != carried_.end()) return Edge{known->second, 0};
  const std::string source = graph_.node(edge.node).name();
  TRY_ASSIGN(const int received, transfer(edge, frames_.of_outputs(edge.node), std::move(waits), source, goal));
  carried_[std::move(key)] = received;
  return Edge{received, 0};
}

StatusOr<int> Crossing::signal(int source, const Goal& goal) {
  if (auto known = signals_.find({source, goal.device}); known != signals_.end()) return known->second;
  const std::string name = graph_.node(source).name(), from = graph_.node(source).device;
  TRY_ASSIGN(const int token, add_token(new_name(name + "/ctrl"), {source}, from));
  TRY_ASSIGN(const int received, transfer(Edge{token, 0}, frames_.of_outputs(source), {}, name, goal));
  wire::NodeDef identity = node_def(new_name(name), "Identity");
  (*identity.mutable_attr())["T"].set_type(wire::DT_FLOAT);
  TRY_ASSIGN(const int made, graph_.add(std::move(identity), {Edge{received, 0}}, {}, goal.device));
  signals_[{source, goal.device}] = made;
  return made;
}

StatusOr<int> Crossing::transfer(const Edge& edge, int frame, std::vector<int> waits, const std::string& source, const Goal& goal) {
  std::vector<int> pace;
  if (frame != 0) {
    TRY_ASSIGN(const int merge, step_along(frame, goal));
    pace.push_back(merge);
  }
  const std::string from = graph_.node(edge.node).device;
  const DType type = without_ref(graph_.node(edge.node).signature.outputs[static_cast<std::size_t>(edge.output)]);
  const Route route{fmt::format("edge_{}_{}", ++edges_, source), from, goal.device, incarnation_of_(from)};
  const bool host = is_object(type);
  auto send = transfer_def(new_name(source), host ? "_HostSend" : "_Send", "T", type, route);
  TRY(graph_.add(std::move(send), {edge}, std::move(waits), from).status());
  auto recv = transfer_def(new_name(source), host ? "_HostRecv" : "_Recv", "tensor_type", type, route);
  return graph_.add(std::move(recv), {}, std::move(pace), goal.device);
}

/// A device that takes part in a loop runs a loop of its own under the same name, for as long as the real one says. Its
/// Merge runs in every iteration, also in those whose values are dead, and so paces the Recvs.
StatusOr<int> Crossing::step_along(int frame, const Goal& goal) {
  if (auto known = loops_.find({frame, goal.device}); known != loops_.end()) return known->second;
  if (frames_.frame(frame).condition < 0) return invalid("A cross-device loop must have a pivot predicate: {}", frames_.frame(frame).name);
  const int parent = frames_.frame(frame).parent;
  TRY_ASSIGN(const int start, parent == 0 ? add_token(new_name(goal.user), {}, goal.device) : step_along(parent, goal));
  TRY_ASSIGN(const int enter, add_flow("Enter", {Edge{start, 0}}, goal, frame));
  TRY_ASSIGN(const int merge, add_flow("Merge", {Edge{enter, 0}, Edge{enter, 0}}, goal));
  // Known before the condition is carried here: that, too, is received once per iteration.
  loops_[{frame, goal.device}] = merge;
  TRY_ASSIGN(const int next, close_loop(frame, merge, goal));
  graph_.node(merge).inputs[1] = Edge{next, 0};
  return merge;
}

StatusOr<int> Crossing::close_loop(int frame, int merge, const Goal& goal) {
  Edge condition{frames_.frame(frame).condition, 0};
  if (graph_.node(condition.node).device != goal.device) {
    TRY_ASSIGN(condition, bring(condition, {}, goal));
  }
  TRY_ASSIGN(const int split, add_flow("Switch", {Edge{merge, 0}, condition}, goal));
  return add_flow("NextIteration", {Edge{split, 1}}, goal);
}

StatusOr<int> Crossing::add_token(const std::string& name, std::vector<int> controls, const std::string& device) {
  wire::NodeDef def = node_def(name, "Const");
  auto& attr = *def.mutable_attr();
  attr["dtype"].set_type(wire::DT_FLOAT);
  attr["value"].mutable_tensor()->set_dtype(wire::DT_FLOAT);
  attr["value"].mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(0);
  return graph_.add(std::move(def), {}, std::move(controls), device);
}

StatusOr<int> Crossing::add_flow(const char* op, std::vector<Edge> inputs, const Goal& goal, int frame) {
  wire::NodeDef def = node_def("_cloop" + new_name(goal.user), op);
  auto& attr = *def.mutable_attr();
  attr["T"].set_type(wire::DT_FLOAT);
  if (inputs.size() == 2 && std::string_view(op) == "Merge") attr["N"].set_i(2);
  if (frame != 0) {
    attr["frame_name"].set_s(frames_.frame(frame).name);
    attr["parallel_iterations"].set_i(frames_.frame(frame).parallel_iterations);
  }
  return graph_.add(std::move(def), std::move(inputs), {}, goal.device);
}

std::string Crossing::new_name(const std::string& base) { return graph_.unique_name(fmt::format("{}_S{}", base, (*counter_)++)); }

}  // namespace troupe
