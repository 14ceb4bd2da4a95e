// A graph that somebody has written, as a model: variables become parameters, placeholders get what the data has.
#include <troupe/actors/lab/model.hpp>

#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/builder/array.hpp>
#include <troupe/ops/builder/loading.hpp>
#include <troupe/ops/builder/math.hpp>
#include <troupe/ops/graph.hpp>

#include <map>
#include <set>

namespace troupe::lab {
namespace {

using namespace build;

bool is_variable(const std::string& op) { return op == "VarHandleOp" || op == "VariableV2" || op == "Variable"; }

std::string with_output(const std::string& tensor) { return tensor.find(':') == tensor.npos ? tensor + ":0" : tensor; }
std::string node_of(const std::string& input) { return split_tensor_name(input[0] == '^' ? input.substr(1) : input).first; }

class Rewriter {
 public:
  Rewriter(wire::GraphDef graph, const ModelSpec& spec, const Data& data, std::uint64_t seed)
      : graph_(std::move(graph)), spec_(spec), data_(data), seed_(static_cast<std::int64_t>(seed)) {
    for (int i = 0; i < graph_.node_size(); ++i) by_name_[graph_.node(i).name()] = i;
  }

  /// Variables that turn out not to be trained keep their initial values, in a second attempt.
  StatusOr<Model> make() {
    TRY_ASSIGN(Model model, attempt());
    if (untrained_.empty()) return model;
    return attempt();
  }

 private:
  StatusOr<Model> attempt() {
    model_ = Model();
    model_.inputs = "lab/x:0";
    model_.labels = "lab/y:0";
    model_.loss = with_output(spec_.loss);
    model_.score = with_output(spec_.score);
    // The placeholders end what is needed: what follows them is made anew.
    TRY_ASSIGN(wire::GraphDef needed, part_for({spec_.loss, spec_.score}, "the model"));
    TRY(give_data(needed));
    TRY(give_parameters(needed));
    Builder b;
    TRY(b.add_graph(needed));
    TRY_ASSIGN(const Out loss, b.find_output(model_.loss));
    TRY_ASSIGN(const Out score, b.find_output(model_.score));
    for (const Out& number : {loss, score})
      if (number.dtype() != DType::f32 || (!number.shape().unknown_rank() && number.rank() != 0))
        return invalid("{} of {} is no single float", number.name(), spec_.file);
    std::vector<Out> placeholders;
    for (const Parameter& p : model_.parameters) {
      TRY_ASSIGN(const Out out, b.find_output(p.name + ":0"));
      placeholders.push_back(out);
    }
    if (placeholders.empty()) return invalid("the loss of {} depends on no variable", spec_.file);
    const auto grads = gradients({loss}, placeholders);
    TRY(b.status());
    for (std::size_t i = 0; i < grads.size(); ++i)
      if (grads[i].none()) untrained_.insert(model_.parameters[i].name);
    if (untrained_.empty() || second_) TRY(note_gradients(grads, model_));
    second_ = true;
    TRY_ASSIGN(model_.graph, b.graph());
    return std::move(model_);
  }

  /// What these tensors are computed from, without devices; equal seeds give equal numbers.
  StatusOr<wire::GraphDef> part_for(std::vector<std::string> open, const std::string& what) {
    for (auto& name : open) name = node_of(name);
    wire::GraphDef part;
    *part.mutable_versions() = graph_.versions();
    *part.mutable_library() = graph_.library();
    std::set<int> seen;
    while (!open.empty()) {
      const auto found = by_name_.find(open.back());
      if (found == by_name_.end()) return invalid("{} has no node {}, which {} needs", spec_.file, open.back(), what);
      open.pop_back();
      if (!seen.insert(found->second).second) continue;
      for (const auto& input : graph_.node(found->second).input()) open.push_back(node_of(input));
    }
    for (int i : seen) {
      wire::NodeDef& node = *part.add_node() = graph_.node(i);
      node.clear_device();
      node.mutable_attr()->erase("_class");
      auto seed = node.mutable_attr()->find("seed"), more = node.mutable_attr()->find("seed2");
      if (seed == node.mutable_attr()->end() || more == node.mutable_attr()->end()) continue;
      seed->second.set_i(seed_ + 1);
      more->second.set_i(i + 1);
    }
    return part;
  }

  /// Both placeholders take what the data has and pass it on in the form that the graph wants.
  Status give_data(wire::GraphDef& needed) {
    Builder b;
    const bool words = data_.train.inputs.dtype() == DType::i32;
    const Out x = b.placeholder(words ? DType::i32 : DType::f32, dims({-1, data_.train.width()}), "lab/x");
    const Out y = b.placeholder(data_.classifies() ? DType::i64 : DType::f32, dims({-1}), "lab/y");
    for (const auto& [name, given] : {std::pair{spec_.inputs, x}, std::pair{spec_.labels, y}}) {
      wire::NodeDef* placeholder = nullptr;
      for (auto& node : *needed.mutable_node())
        if (node.name() == node_of(name)) placeholder = &node;
      if (!placeholder) return invalid("{} has no placeholder {} that loss and score depend on", spec_.file, name);
      if (placeholder->op() != "Placeholder") return invalid("{} of {} is a {}, no placeholder", name, spec_.file, placeholder->op());
      const auto type = static_cast<DType>(placeholder->attr().at("dtype").type());
      const Out fitting = fit(given, type, placeholder->attr().at("shape").shape());
      TRY(b.status());
      placeholder->set_op("Identity");
      placeholder->clear_attr();
      (*placeholder->mutable_attr())["T"].set_type(static_cast<wire::DataType>(type));
      placeholder->add_input(fitting.name());
    }
    for (const auto& node : needed.node())
      if (node.op() == "Placeholder")
        return invalid("{} has a placeholder {} besides inputs and labels; give it a default (PlaceholderWithDefault)", spec_.file, node.name());
    TRY_ASSIGN(const auto more, b.graph());
    for (const auto& node : more.node()) *needed.add_node() = node;
    return absl::OkStatus();
  }

  /// Classes as a row for each where the graph wants that; other sizes of the same number.
  Out fit(const Out& given, DType type, const wire::TensorShapeProto& wanted) const {
    Out out = given;
    const int rank = wanted.unknown_rank() ? -1 : wanted.dim_size();
    const bool rows = given.rank() == 1 && rank == 2 && data_.classifies() && wanted.dim(1).size() != 1;
    if (rows) out = one_hot(out, data_.classes, type, "lab/rows");
    else if (given.dtype() != type) out = cast(out, type, "lab/cast");
    if (rows || rank < 1 || rank == given.rank()) return out;
    std::vector<std::int32_t> sizes{-1};
    for (int i = 1; i < rank; ++i) sizes.push_back(static_cast<std::int32_t>(wanted.dim(i).size()));
    return reshape(out, sizes, "lab/shaped");
  }

  Status give_parameters(wire::GraphDef& needed) {
    std::map<std::string, wire::DataType> types;
    std::set<std::string> present;
    std::vector<wire::NodeDef> more;  // nodes
    for (const auto& node : needed.node()) {
      present.insert(node.name());
      if (!is_variable(node.op())) continue;
      types[node.name()] = node.attr().at("dtype").type();
      if (is_trained(node)) TRY(add_parameter(node));
    }
    for (auto& node : *needed.mutable_node()) {
      if (const auto own = types.find(node.name()); own != types.end()) {
        if (!is_trained(node)) {
          TRY(fix(node, present, more));
          continue;
        }
        const wire::AttrValue shape = node.attr().at("shape");
        node.set_op("Placeholder");
        node.clear_attr();
        node.clear_input();
        (*node.mutable_attr())["dtype"].set_type(own->second);
        (*node.mutable_attr())["shape"] = shape;
      } else if (const auto used = node.input_size() > 0 ? types.find(node_of(node.input(0))) : types.end(); used != types.end()) {
        TRY(read_parameter(node, used->second, more));
      }
    }
    for (auto& node : more) *needed.add_node() = std::move(node);
    return absl::OkStatus();
  }

  bool is_trained(const wire::NodeDef& variable) const {
    return static_cast<DType>(variable.attr().at("dtype").type()) == DType::f32 && !untrained_.contains(variable.name());
  }

  /// Such a variable is its initial value, computed in every step.
  Status fix(wire::NodeDef& variable, std::set<std::string>& present, std::vector<wire::NodeDef>& more) {
    TRY_ASSIGN(const std::string value, initial_value_of(variable.name()));
    TRY_ASSIGN(wire::GraphDef part, part_for({value}, "the initial value of " + variable.name()));
    for (auto& node : *part.mutable_node()) {
      if (is_variable(node.op()) || node.attr().contains("seed"))
        return invalid("the variable {} of {} is not trained, and its initial value depends on {}, which is no constant", variable.name(), spec_.file,
                       node.name());
      if (present.insert(node.name()).second) more.push_back(std::move(node));
    }
    const auto type = variable.attr().at("dtype").type();
    variable.set_op("Identity");
    variable.clear_attr();
    variable.clear_input();
    variable.add_input(value);
    (*variable.mutable_attr())["T"].set_type(type);
    return absl::OkStatus();
  }

  /// A node that reads a variable's handle reads the placeholder.
  Status read_parameter(wire::NodeDef& node, wire::DataType type, std::vector<wire::NodeDef>& more) const {
    const bool by_reference = graph_.node(by_name_.at(node_of(node.input(0)))).op() != "VarHandleOp";
    if (node.op() == "ReadVariableOp") {
      node.set_op("Identity");
      node.clear_attr();
      (*node.mutable_attr())["T"].set_type(type);
    } else if (node.op() == "ResourceGather") {
      wire::NodeDef axis;
      axis.set_name("lab/axis/" + node.name());
      axis.set_op("Const");
      (*axis.mutable_attr())["dtype"].set_type(static_cast<wire::DataType>(DType::i32));
      to_proto(Tensor::scalar<std::int32_t>(0), (*axis.mutable_attr())["value"].mutable_tensor());
      const auto indices = node.attr().at("Tindices").type();
      node.set_op("GatherV2");
      node.clear_attr();
      (*node.mutable_attr())["Tparams"].set_type(type);
      (*node.mutable_attr())["Tindices"].set_type(indices);
      (*node.mutable_attr())["Taxis"].set_type(static_cast<wire::DataType>(DType::i32));
      // Data comes before control.
      std::vector<std::string> inputs(node.input().begin(), node.input().end());
      inputs.insert(inputs.begin() + 2, axis.name());
      node.clear_input();
      for (auto& input : inputs) node.add_input(std::move(input));
      more.push_back(std::move(axis));
    } else if (!by_reference || node.op().starts_with("Assign") || node.op().starts_with("Scatter")) {
      return invalid("the loss or the score of {} needs {}, a {} of a variable; only reads of variables may be part of a model", spec_.file,
                     node.name(), node.op());
    }
    return absl::OkStatus();
  }

  Status add_parameter(const wire::NodeDef& node) {
    Shape shape;
    for (const auto& dim : node.attr().at("shape").shape().dim()) {
      if (dim.size() < 0) return invalid("the shape of the variable {} of {} is not known", node.name(), spec_.file);
      shape.add_dim(dim.size());
    }
    TRY_ASSIGN(const std::string value, initial_value_of(node.name()));
    TRY_ASSIGN(const wire::GraphDef part, part_for({value}, "the initial value of " + node.name()));
    for (const auto& other : part.node())
      if (is_variable(other.op())) return invalid("the initial value of {} depends on the variable {}", node.name(), other.name());
    const Initial initial = [part, shape, value = with_output(value), prefix = node.name() + "/given"](Builder& b) -> Out {
      b.fail(b.add_graph(part, prefix));
      auto out = b.find_output(prefix + "/" + value);
      b.fail(out.status());
      if (out.ok()) b.refine(*out, PartialShape(shape));
      return out.value_or(Out{});
    };
    model_.parameters.push_back({node.name(), shape, initial});
    return absl::OkStatus();
  }

  StatusOr<std::string> initial_value_of(const std::string& variable) const {
    const wire::NodeDef* best = nullptr;
    for (const auto& node : graph_.node()) {
      if ((node.op() != "AssignVariableOp" && node.op() != "Assign") || node.input_size() < 2 || node_of(node.input(0)) != variable) continue;
      if (!best || node.name() == variable + "/Assign") best = &node;
    }
    if (!best) return invalid("nothing in {} gives the variable {} its initial value", spec_.file, variable);
    return best->input(1);
  }

  wire::GraphDef graph_;
  const ModelSpec& spec_;
  const Data& data_;
  std::int64_t seed_;
  std::map<std::string, int> by_name_;
  Model model_;
  std::set<std::string> untrained_;
  bool second_ = false;
};

}  // namespace

StatusOr<Model> own_model(const ModelSpec& spec, const Data& data, std::uint64_t seed) {
  TRY_ASSIGN(auto graph, load_graph_def(spec.file));
  // Checked, and with all attributes that have defaults.
  auto read = Graph::from(graph, std::make_shared<const FunctionLibrary>(graph.library()));
  if (!read.ok()) return prepend_text(spec.file + ": ", read.status());
  graph.clear_node();
  for (const Node& node : read->nodes()) *graph.add_node() = node.def;
  return Rewriter(std::move(graph), spec, data, seed).make();
}

}  // namespace troupe::lab
