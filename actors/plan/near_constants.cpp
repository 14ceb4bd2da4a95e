// Copies of constants.
#include <troupe/actors/plan/near_constants.hpp>

#include <map>
#include <string>
#include <utility>

namespace troupe {
namespace {

/// Beyond this a constant is better sent than kept twice.
constexpr std::size_t small = 1024;

bool is_small_constant(const Node& node) {
  return node.kind() == "Const" && node.inputs.empty() && node.controls.empty() && node.def.ByteSizeLong() <= small;
}

}  // namespace

Status bring_constants_near(Graph& placed) {
  std::map<std::pair<int, std::string>, int> copies;  // by constant and device
  const int given = placed.size();
  for (int i = 0; i < given; ++i) {
    const std::string here = placed.node(i).device;
    for (std::size_t k = 0; k < placed.node(i).inputs.size(); ++k) {
      const int source = placed.node(i).inputs[k].node;
      const Node& constant = placed.node(source);
      if (constant.device == here || !is_small_constant(constant)) continue;
      auto [copy, fresh] = copies.try_emplace({source, here}, 0);
      if (fresh) {
        wire::NodeDef def = constant.def;
        def.set_name(placed.unique_name(constant.name() + "/near"));
        TRY_ASSIGN(copy->second, placed.add(std::move(def), {}, {}, here));
      }
      placed.node(i).inputs[k] = Edge{copy->second, 0};
    }
  }
  return absl::OkStatus();
}

}  // namespace troupe
