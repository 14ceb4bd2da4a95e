// While: a frame with Enter, Merge, Switch, NextIteration and Exit for every loop variable that changes.
#include <troupe/ops/lowering_graph.hpp>

#include <algorithm>

namespace troupe::lowering {
namespace {

class Loop {
 public:
  Loop(Editor& editor, int at) : editor_(editor), at_(at), name_(editor.node(at).name()), where_(editor.node(at).def.device()) {}

  StatusOr<bool> run() {
    TRY(read_functions());
    if (!tell_constants()) return false;
    TRY(enter());
    TRY(test());
    TRY(iterate());
    TRY(leave());
    return true;
  }

 private:
  struct Variable {
    bool constant = false;
    Edge source, entered;  // entered: what the test and, for constants, the body sees
    int merge = -1, chosen = -1;
  };

  Status read_functions() {
    const Node& node = editor_.node(at_);
    test_name_ = node.def.attr().at("cond").func().name();
    body_name_ = node.def.attr().at("body").func().name();
    if (auto found = node.def.attr().find("parallel_iterations"); found != node.def.attr().end())
      parallel_ = std::max<std::int64_t>(1, found->second.i());
    const std::vector<DType> types = node.signature.inputs;
    const wire::NameAttrList test = node.def.attr().at("cond").func(), body = node.def.attr().at("body").func();
    TRY_ASSIGN(body_, editor_.body_of(body, types, types));
    const auto* definition = editor_.graph().library()->find(test.name());
    if (!definition) return not_found("Function {} is not defined.", test.name());
    wire::NodeDef call;
    *call.mutable_attr() = test.attr();
    TRY_ASSIGN(const Signature signature, resolve_signature(call, definition->signature()));
    if (signature.outputs.size() != 1) return invalid("The condition {} of {} has {} results, not one", test.name(), name_, signature.outputs.size());
    TRY_ASSIGN(test_, editor_.body_of(test, types, signature.outputs));
    return absl::OkStatus();
  }

  /// Variables that the body hands back as they are need not go round. False when nothing would.
  bool tell_constants() {
    const auto& inputs = editor_.node(at_).inputs;
    bool any = false, plain = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Variable v;
      v.source = inputs[i];
      const Node& from = body_->graph.node(body_->results[i].node);
      v.constant = from.kind() == "_Arg" && from.def.attr().at("index").i() == static_cast<std::int64_t>(i);
      any |= !v.constant;
      plain |= editor_.type_of(v.source) != DType::resource;
      variables_.push_back(v);
    }
    if (any) return true;
    for (Variable& v : variables_) v.constant = editor_.type_of(v.source) == DType::resource;
    return plain;
  }

  Status enter() {
    const std::vector<int> controls = editor_.node(at_).controls;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      Variable& v = variables_[i];
      const DType type = editor_.type_of(v.source);
      TRY_ASSIGN(const int entered,
                 editor_.add("Enter", fmt::format("{}/enter_{}", name_, i), {v.source}, controls, editor_.where_for(v.source, where_),
                             {{"T", type_attr(type)},
                              {"frame_name", text_attr(name_)},
                              {"is_constant", bool_attr(v.constant)},
                              {"parallel_iterations", int_attr(parallel_)}},
                             true));
      v.entered = Edge{entered, 0};
      if (v.constant) continue;
      // The second input is the NextIteration, which is not there yet.
      TRY_ASSIGN(v.merge, editor_.add("Merge", fmt::format("{}/merge_{}", name_, i), {v.entered, v.entered}, {}, editor_.where_for(v.entered, where_),
                                      {{"T", type_attr(type)}, {"N", int_attr(2)}}, true));
      v.entered = Edge{v.merge, 0};
      if (pivot_ < 0) pivot_ = v.merge;
    }
    return absl::OkStatus();
  }

  Status test() {
    Site site;
    site.prefix = name_ + "/cond";
    site.where = where_;
    for (const Variable& v : variables_) site.arguments.push_back(v.entered);
    site.gate = pivot_;
    site.steered = true;
    site.lineage = std::make_shared<Lineage>(Lineage{test_name_, editor_.lineage(at_), true});
    site.callers = editor_.callers_of_branch(at_);
    TRY_ASSIGN(const Inlined inlined, editor_.put_in(*test_, site));
    TRY_ASSIGN(const Edge again, editor_.as_bool(inlined.results[0], name_ + "/again", where_, true));
    TRY_ASSIGN(const int condition, editor_.add("LoopCond", name_ + "/loop_cond", {again}, inlined.done, where_, {}, true));
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      Variable& v = variables_[i];
      if (v.constant) continue;
      TRY_ASSIGN(v.chosen, editor_.add("Switch", fmt::format("{}/switch_{}", name_, i), {v.entered, Edge{condition, 0}}, {},
                                       editor_.where_for(v.entered, where_), {{"T", type_attr(editor_.type_of(v.entered))}}, true));
    }
    return absl::OkStatus();
  }

  Status iterate() {
    TRY_ASSIGN(const int pivot, add_body_pivot());
    Site site;
    site.prefix = name_ + "/body";
    site.where = where_;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      Variable& v = variables_[i];
      Edge argument{v.chosen, 1};
      // A constant is there in the last iteration, too, when the body must not run.
      if (v.constant && is_used(i)) {
        TRY_ASSIGN(argument, editor_.add_on("Identity", fmt::format("{}/constant_{}", name_, i), v.entered, {pivot}, where_, true));
      } else if (v.constant) {
        argument = v.entered;
      }
      site.arguments.push_back(argument);
    }
    site.gate = pivot;
    site.steered = true;
    site.lineage = std::make_shared<Lineage>(Lineage{body_name_, editor_.lineage(at_), true});
    site.callers = editor_.callers_of_branch(at_);
    TRY_ASSIGN(const Inlined inlined, editor_.put_in(*body_, site));
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (variables_[i].constant) continue;
      // What an iteration does is done before the next one begins.
      TRY_ASSIGN(const Edge next,
                 editor_.add_on("NextIteration", fmt::format("{}/next_{}", name_, i), inlined.results[i], inlined.done, where_, true));
      editor_.node(variables_[i].merge).inputs[1] = next;
    }
    return absl::OkStatus();
  }

  StatusOr<int> add_body_pivot() {
    const auto first = std::find_if(variables_.begin(), variables_.end(), [](const Variable& v) { return !v.constant; });
    TRY_ASSIGN(const Edge pivot, editor_.add_on("Identity", name_ + "/body_pivot", Edge{first->chosen, 1}, {}, where_, true));
    return pivot.node;
  }

  bool is_used(std::size_t argument) const {
    const auto& nodes = body_->graph.nodes();
    for (const Node& node : nodes) {
      if (node.kind() == "_Retval" && node.def.attr().at("index").i() == static_cast<std::int64_t>(argument)) continue;
      for (const Edge& e : node.inputs)
        if (is_argument(e.node, argument)) return true;
      for (int c : node.controls)
        if (is_argument(c, argument)) return true;
    }
    return false;
  }
  bool is_argument(int node, std::size_t argument) const {
    const Node& n = body_->graph.node(node);
    return n.kind() == "_Arg" && n.def.attr().at("index").i() == static_cast<std::int64_t>(argument);
  }

  Status leave() {
    std::vector<Edge> results;
    std::vector<int> done;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (variables_[i].constant) {
        results.push_back(variables_[i].source);
        continue;
      }
      TRY_ASSIGN(const Edge left,
                 editor_.add_on("Exit", fmt::format("{}/exit_{}", name_, i), Edge{variables_[i].chosen, 0}, {}, where_, editor_.steered(at_)));
      results.push_back(left);
      done.push_back(left.node);
    }
    return editor_.replace(at_, std::move(results), std::move(done));
  }

  Editor& editor_;
  int at_;
  std::string name_;
  Where where_;
  std::string test_name_, body_name_;
  std::int64_t parallel_ = 10;
  const Body* test_ = nullptr;
  const Body* body_ = nullptr;
  std::vector<Variable> variables_;
  int pivot_ = -1;
};

}  // namespace

StatusOr<bool> lower_loop(Editor& editor, int node) { return Loop(editor, node).run(); }

}  // namespace troupe::lowering
