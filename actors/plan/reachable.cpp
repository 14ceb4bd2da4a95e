// Walk from nodes through the functions that they name.
#include <troupe/actors/plan/reachable.hpp>

#include <set>

namespace troupe {
namespace {

class Reach {
 public:
  explicit Reach(const FunctionLibrary& library) : library_(library) {}

  void visit(const wire::NodeDef& node) {
    visit(node.op());
    for (const auto& [name, value] : node.attr()) visit(value);
  }
  bool contains(const std::string& name) const { return seen_.contains(name); }

  void finish() {
    while (!open_.empty()) {
      const wire::FunctionDef* function = open_.back();
      open_.pop_back();
      for (const auto& node : function->node_def()) visit(node);
      for (const auto& [name, value] : function->attr()) visit(value);
    }
  }

 private:
  void visit(const wire::AttrValue& value) {
    visit(value.func());
    for (const auto& function : value.list().func()) visit(function);
  }
  void visit(const wire::NameAttrList& function) {
    visit(function.name());
    for (const auto& [name, value] : function.attr()) visit(value);
  }
  void visit(const std::string& name) {
    const wire::FunctionDef* function = library_.find(name);
    if (!function || !seen_.insert(name).second) return;
    open_.push_back(function);
    if (const std::string* gradient = library_.gradient_of(name)) visit(*gradient);
  }

  const FunctionLibrary& library_;
  std::set<std::string> seen_;
  std::vector<const wire::FunctionDef*> open_;
};

}  // namespace

wire::FunctionDefLibrary reachable_functions(const wire::GraphDef& graph, const FunctionLibrary& library) {
  Reach reach(library);
  for (const auto& node : graph.node()) reach.visit(node);
  reach.finish();
  wire::FunctionDefLibrary out;
  for (const auto& function : library.proto().function())
    if (reach.contains(function.signature().name())) *out.add_function() = function;
  for (const auto& gradient : library.proto().gradient())
    if (reach.contains(gradient.function_name())) *out.add_gradient() = gradient;
  return out;
}

}  // namespace troupe
