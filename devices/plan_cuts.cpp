// Which nodes of a plan update variables and tables, which read them for a checkpoint, and which tell the metrics.
#include <troupe/devices/plan.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace troupe {
namespace {

bool is_read(const std::string& op) {
  static constexpr std::array reads{"ReadVariableOp",      "_ReadVariablesOp",  "ResourceGather",    "ResourceGatherNd", "LookupTableExport",
                                    "LookupTableExportV2", "LookupTableFindV2", "LookupTableSizeV2", "LookupTableFind",  "LookupTableSize"};
  return std::find(reads.begin(), reads.end(), op) != reads.end();
}

/// What changes a variable or a table. Queues, arrays, stacks and the like are not part of checkpoints.
bool is_update(std::string_view op) {
  if (op.find("Accumulator") != op.npos || op.starts_with("TensorArray")) return false;
  static constexpr std::array parts{"Assign", "Apply", "Scatter", "CountUpTo"};
  static constexpr std::array beginnings{"LookupTableInsert", "LookupTableImport", "LookupTableRemove", "InitializeTable", "DestroyResourceOp", "Rng",
                                         "StatefulStandard",  "StatefulUniform",   "StatefulTrunc",     "StatefulRandom"};
  return std::any_of(parts.begin(), parts.end(), [&](const char* part) { return op.find(part) != op.npos; }) ||
         std::any_of(beginnings.begin(), beginnings.end(), [&](const char* begin) { return op.starts_with(begin); });
}

bool touches_state(const Node& node) {
  const auto& types = node.signature.inputs;
  return std::any_of(types.begin(), types.end(), [](DType t) { return is_ref(t) || t == DType::resource; });
}

}  // namespace

void Plan::mark_watches() {
  for (PlanNode& p : nodes_) {
    const std::string& op = p.facts.op;
    if (!p.kernel) continue;
    if (op.find("AccumulatorApplyGradient") != op.npos) p.watch = Watch::gradient;
    else if (p.touch == Touch::update) p.watch = Watch::update;
    else if (p.kernel->start && (p.transfer || op.find("Dequeue") != op.npos || op.find("TakeGradient") != op.npos)) p.watch = Watch::wait;
    else if (is_read(op)) p.watch = Watch::read;
  }
}

bool is_save(const std::string& op) { return op == "SaveV2" || op == "Save" || op == "SaveSlices"; }

void Plan::mark_cuts(const Graph& graph) {
  std::vector<int> behind;
  for (int i = 0; i < graph.size(); ++i) {
    if (!placed(i)) continue;
    PlanNode& p = at(i);
    const Node& node = graph.node(i);
    if (p.kernel && p.kernel->run && touches_state(node) && is_update(node.kind())) p.touch = Touch::update;
    if (!is_save(node.kind()) && !(p.transfer && node.def.attr().contains(saved_attr))) continue;
    saves_.push_back(places_[static_cast<std::size_t>(i)]);
    behind.push_back(i);
  }
  std::vector<bool> seen(static_cast<std::size_t>(graph.size()), false);
  while (!behind.empty()) {
    const int i = behind.back();
    behind.pop_back();
    if (seen[static_cast<std::size_t>(i)]) continue;
    seen[static_cast<std::size_t>(i)] = true;
    if (placed(i)) {
      PlanNode& p = at(i);
      // What is saved of an update's result is read by that update.
      if (p.touch == Touch::update) continue;
      if (is_read(p.facts.op)) p.touch = Touch::read;
      // One that is handed references reads them when it starts, unless it passes them on.
      else if (p.any_ref_source && p.ref_inputs == 0) p.touch = Touch::read_of_references;
    }
    for (const Edge& e : graph.node(i).inputs) behind.push_back(e.node);
  }
}

}  // namespace troupe
