// If and Case: every input goes through a Switch to the branch that is taken, results meet in a Merge.
#include <troupe/ops/lowering_graph.hpp>

namespace troupe::lowering {
namespace {

class Conditional {
 public:
  Conditional(Editor& editor, int at) : editor_(editor), at_(at), name_(editor.node(at).name()), where_(editor.node(at).def.device()) {}

  Status run() {
    TRY(read_branches());
    TRY(choose());
    std::vector<std::vector<Edge>> results(branches_.size());
    std::vector<Edge> ends;
    for (std::size_t b = 0; b < branches_.size(); ++b) {
      TRY_ASSIGN(Inlined inlined, put_in(b));
      results[b] = std::move(inlined.results);
      // An Identity of the branch's pivot: dead when the branch is, and after all that the branch does.
      TRY_ASSIGN(const Edge end, editor_.add_on("Identity", fmt::format("{}/branch_{}_done", name_, b), pivots_[b], inlined.done, where_, true));
      ends.push_back(end);
    }
    std::vector<Edge> merged;
    const std::size_t outputs = results[0].size();
    for (std::size_t i = 0; i < outputs; ++i) {
      std::vector<Edge> candidates;
      for (const auto& r : results) candidates.push_back(r[i]);
      TRY_ASSIGN(const Edge m, merge(fmt::format("{}/merge_{}", name_, i), candidates));
      merged.push_back(m);
    }
    TRY_ASSIGN(const Edge done, merge(name_ + "/done", ends));
    return editor_.replace(at_, std::move(merged), {done.node});
  }

 private:
  Status read_branches() {
    const Node& node = editor_.node(at_);
    if (node.kind() == "Case" || node.kind() == "StatelessCase") {
      for (const auto& f : node.def.attr().at("branches").list().func()) branches_.push_back(f);
    } else {
      // In the order of Switch's outputs: false, true.
      branches_ = {node.def.attr().at("else_branch").func(), node.def.attr().at("then_branch").func()};
    }
    if (branches_.empty()) return invalid("{} has no branches", name_);
    std::vector<DType> arguments(node.signature.inputs.begin() + 1, node.signature.inputs.end());
    for (const auto& f : branches_) {
      TRY_ASSIGN(const Body* body, editor_.body_of(f, arguments, editor_.node(at_).signature.outputs));
      bodies_.push_back(body);
    }
    return absl::OkStatus();
  }

  /// The pivots: for each branch a node that lives only if the branch is taken.
  Status choose() {
    const bool two = editor_.node(at_).kind() == "If" || editor_.node(at_).kind() == "StatelessIf";
    steered_ = editor_.steered(at_);
    const std::vector<int> controls = editor_.node(at_).controls;
    chosen_ = editor_.node(at_).inputs[0];
    if (two) {
      TRY_ASSIGN(chosen_, editor_.as_bool(chosen_, name_ + "/pred", where_, steered_));
    }
    if (!controls.empty()) {
      TRY_ASSIGN(chosen_, editor_.add_on("Identity", name_ + "/chosen", chosen_, controls, where_, steered_));
    }
    TRY_ASSIGN(const int pivot, switch_on(name_ + "/switch_pred", chosen_));
    for (std::size_t b = 0; b < branches_.size(); ++b) {
      TRY_ASSIGN(const Edge p, editor_.add_on("Identity", fmt::format("{}/pivot_{}", name_, b), Edge{pivot, static_cast<int>(b)}, {}, where_, true));
      pivots_.push_back(p);
    }
    for (std::size_t i = 1; i < editor_.node(at_).inputs.size(); ++i) {
      const Edge input = editor_.node(at_).inputs[i];
      TRY_ASSIGN(const int s, switch_on(fmt::format("{}/switch_{}", name_, i - 1), input));
      switches_.push_back(s);
    }
    return absl::OkStatus();
  }

  StatusOr<int> switch_on(const std::string& name, const Edge& value) {
    std::vector<Attr> attrs{{"T", type_attr(editor_.type_of(value))}};
    if (editor_.type_of(chosen_) != DType::boolean) attrs.emplace_back("num_outs", int_attr(static_cast<std::int64_t>(branches_.size())));
    return editor_.add(editor_.type_of(chosen_) == DType::boolean ? "Switch" : "_SwitchN", name, {value, chosen_}, {},
                       editor_.where_for(value, where_), attrs, true);
  }

  StatusOr<Inlined> put_in(std::size_t b) {
    Site site;
    site.prefix = branches_.size() == 2 && editor_.type_of(chosen_) == DType::boolean ? fmt::format("{}/{}", name_, b == 1 ? "then" : "else")
                                                                                      : fmt::format("{}/branch_{}", name_, b);
    site.where = where_;
    for (int s : switches_) site.arguments.push_back(Edge{s, static_cast<int>(b)});
    site.gate = pivots_[b].node;
    site.steered = true;
    site.lineage = std::make_shared<Lineage>(Lineage{branches_[b].name(), editor_.lineage(at_), true});
    site.callers = editor_.callers_of_branch(at_);
    return editor_.put_in(*bodies_[b], site);
  }

  StatusOr<Edge> merge(const std::string& name, const std::vector<Edge>& candidates) {
    TRY_ASSIGN(
        const int made,
        editor_.add("Merge", name, candidates, {}, editor_.where_for(candidates[0], where_),
                    {{"T", type_attr(editor_.type_of(candidates[0]))}, {"N", int_attr(static_cast<std::int64_t>(candidates.size()))}}, steered_));
    return Edge{made, 0};
  }

  Editor& editor_;
  int at_;
  std::string name_;
  Where where_;
  bool steered_ = false;
  std::vector<wire::NameAttrList> branches_;
  std::vector<const Body*> bodies_;
  Edge chosen_;
  std::vector<Edge> pivots_;
  std::vector<int> switches_;
};

}  // namespace

Status lower_conditional(Editor& editor, int node) { return Conditional(editor, node).run(); }

}  // namespace troupe::lowering
