// Finding of groups: from sinks to sources, a node joins the group that all its consumers are in.
#include <troupe/devices/fusion.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace troupe {
namespace {

bool has_row(const PlanNode& p) {
  return p.flow == Flow::kernel && p.kernel && p.kernel->row.function != nullptr && p.kernel->row.inputs == p.inputs;
}

/// Whom each node gives values to; -1 for a control edge, which no group can take in.
std::vector<std::vector<int>> consumers(const std::vector<Wiring>& wiring) {
  std::vector<std::vector<int>> all(wiring.size());
  for (int i = 0; i < static_cast<int>(wiring.size()); ++i) {
    const Wiring& w = wiring[static_cast<std::size_t>(i)];
    if (!w.runs) continue;
    for (const auto& input : w.inputs)
      if (!input.constant) all[static_cast<std::size_t>(input.from.node)].push_back(i);
    for (int c : w.controls) all[static_cast<std::size_t>(c)].push_back(-1);
  }
  return all;
}

bool is_usable(const FusedGroup& group, const std::vector<PlanNode>& nodes) {
  std::vector<RowProgram::Instruction> instructions;
  for (std::size_t i = 0; i < group.members.size(); ++i)
    instructions.push_back({nodes[static_cast<std::size_t>(group.members[i])].kernel->row, group.operands[i].front(), group.operands[i].back()});
  return RowProgram(std::move(instructions), group.constants, static_cast<int>(group.inputs.size())).usable();
}

}  // namespace

Fusion Fusion::find(const std::vector<Wiring>& wiring, const std::vector<PlanNode>& nodes, const std::vector<int>& order,
                    const std::vector<bool>& references) {
  Fusion found;
  found.roots_.resize(nodes.size());
  found.group_of_.resize(nodes.size(), -1);
  std::iota(found.roots_.begin(), found.roots_.end(), 0);
  const auto to = consumers(wiring);
  const auto reads_reference = [&](int i) {
    const auto& inputs = wiring[static_cast<std::size_t>(i)].inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return references[static_cast<std::size_t>(input.from.node)]; });
  };
  std::set<int> with_members;
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const int i = *at;
    const auto& mine = to[static_cast<std::size_t>(i)];
    if (!wiring[static_cast<std::size_t>(i)].runs || !has_row(nodes[static_cast<std::size_t>(i)])) continue;
    const int root = mine.empty() || mine[0] < 0 ? -1 : found.root(mine[0]);
    const bool joins = root >= 0 && has_row(nodes[static_cast<std::size_t>(mine[0])]) && !reads_reference(i) &&
                       std::all_of(mine.begin(), mine.end(), [&](int c) { return c >= 0 && found.root(c) == root; });
    if (!joins) continue;
    found.roots_[static_cast<std::size_t>(i)] = root;
    with_members.insert(root);
  }
  for (int root : with_members) {
    FusedGroup group = found.describe(wiring, root);
    if (!is_usable(group, nodes)) {
      for (int m : group.members) found.roots_[static_cast<std::size_t>(m)] = m;
      continue;
    }
    found.group_of_[static_cast<std::size_t>(root)] = static_cast<int>(found.groups_.size());
    found.groups_.push_back(std::move(group));
  }
  return found;
}

/// Depth first, so that few results wait for others at a time.
FusedGroup Fusion::describe(const std::vector<Wiring>& wiring, int root) const {
  FusedGroup group;
  std::set<int> reached{root};
  std::vector<std::pair<int, std::size_t>> path{{root, 0}};
  while (!path.empty()) {
    const int node = path.back().first;
    const auto& inputs = wiring[static_cast<std::size_t>(node)].inputs;
    if (path.back().second == inputs.size()) {
      group.members.push_back(node);
      path.pop_back();
      continue;
    }
    const auto& input = inputs[path.back().second++];
    if (!input.constant && this->root(input.from.node) == root && reached.insert(input.from.node).second) path.emplace_back(input.from.node, 0);
  }
  std::set<int> waited;
  for (int m : group.members)
    for (int c : wiring[static_cast<std::size_t>(m)].controls)
      if (waited.insert(c).second) group.controls.push_back(c);
  find_operands(wiring, group);
  return group;
}

void Fusion::find_operands(const std::vector<Wiring>& wiring, FusedGroup& group) {
  using Kind = RowProgram::Operand::Kind;
  std::map<int, int> results;
  std::map<std::pair<int, int>, int> known;
  for (int m : group.members) {
    auto& operands = group.operands.emplace_back();
    for (const auto& input : wiring[static_cast<std::size_t>(m)].inputs) {
      if (input.constant) {
        operands.push_back({Kind::constant, static_cast<int>(group.constants.size())});
        group.constants.push_back(*input.constant);
      } else if (const auto result = results.find(input.from.node); result != results.end()) {
        operands.push_back({Kind::result, result->second});
      } else {
        const auto [at, fresh] = known.try_emplace({input.from.node, input.from.output}, static_cast<int>(group.inputs.size()));
        if (fresh) group.inputs.push_back(input.from);
        operands.push_back({Kind::input, at->second});
      }
    }
    results.emplace(m, static_cast<int>(results.size()));
  }
}

const FusedGroup* Fusion::group(int root) const {
  const int at = group_of_[static_cast<std::size_t>(root)];
  return at < 0 ? nullptr : &groups_[static_cast<std::size_t>(at)];
}

void Fusion::join(std::vector<Wiring>& wiring) const {
  for (const FusedGroup& group : groups_) {
    for (int m : group.members) wiring[static_cast<std::size_t>(m)] = {.runs = false};
    Wiring& w = wiring[static_cast<std::size_t>(group.members.back())];
    w.runs = true;
    for (const Edge& e : group.inputs) w.inputs.push_back({e});
    w.controls = group.controls;
  }
}

}  // namespace troupe
