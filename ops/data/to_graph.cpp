// Datasets written down as graphs that make them again: their nodes, constants for what these were given, the functions that they call.
#include <troupe/ops/data/to_graph.hpp>

#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/data/made.hpp>
#include <troupe/ops/function_fingerprint.hpp>
#include <troupe/ops/graph.hpp>
#include <troupe/ops/resources/store.hpp>
#include <troupe/ops/resources/table.hpp>
#include <troupe/ops/resources/variable.hpp>

#include <fmt/format.h>

#include <set>

namespace troupe {
namespace {

constexpr int newest_version = 1645;

wire::AttrValue type_value(DType type) {
  wire::AttrValue value;
  value.set_type(static_cast<wire::DataType>(type));
  return value;
}
wire::AttrValue text_value(const std::string& text) {
  wire::AttrValue value;
  value.set_s(text);
  return value;
}

class Writer {
 public:
  explicit Writer(ResourceStore& resources) : resources_(resources) {}

  Status write(const DatasetPtr& dataset) {
    TRY_ASSIGN(const std::string name, add(dataset));
    wire::NodeDef& result = *graph.add_node();
    result.set_name("dataset");
    result.set_op("_Retval");
    result.add_input(name);
    (*result.mutable_attr())["T"] = type_value(DType::variant);
    (*result.mutable_attr())["index"].set_i(0);
    graph.mutable_versions()->set_producer(newest_version);
    graph.mutable_library();
    return absl::OkStatus();
  }

  wire::GraphDef graph;

 private:
  /// A dataset that is used twice is written once.
  StatusOr<std::string> add(const DatasetPtr& dataset) {
    if (auto known = names_.find(dataset.get()); known != names_.end()) return known->second;
    if (!dataset->made) return unimplemented("A {}Dataset that no node of a graph made cannot be written down.", dataset->kind);
    std::vector<std::string> inputs;
    for (const Tensor& input : dataset->made->inputs) {
      TRY_ASSIGN(std::string name, add(input));
      inputs.push_back(std::move(name));
    }
    const wire::NodeDef& from = *dataset->made->node;
    wire::NodeDef& node = add_node(from.op());
    for (std::string& name : inputs) node.add_input(std::move(name));
    for (const auto& [key, value] : from.attr()) {
      if (key.starts_with("_")) continue;
      (*node.mutable_attr())[key] = value;
      if (value.has_func()) add_function(*dataset, value.func().name());
      for (const auto& function : value.list().func()) add_function(*dataset, function.name());
    }
    names_[dataset.get()] = node.name();
    return node.name();
  }

  StatusOr<std::string> add(const Tensor& tensor) {
    if (tensor.dtype() == DType::variant) {
      if (auto dataset = dataset_in(tensor); dataset.ok()) return add(*dataset);
      for (const Variant& value : tensor.values<Variant>())
        if (dynamic_cast<const Dataset*>(value.value.get())) return unimplemented("Datasets within a tensor cannot be written down.");
    }
    if (tensor.dtype() == DType::resource && tensor.rank() == 0) {
      const auto& handle = tensor.item<ResourceHandle>();
      if (auto variable = resources_.find<Variable>(handle); variable.ok() && (*variable)->initialized()) return add(handle, **variable);
      if (auto table = resources_.find<Table>(handle); table.ok() && plain(**table)) return add(**table);
    }
    return constant(tensor);
  }

  std::string constant(const Tensor& tensor) {
    wire::NodeDef& node = add_node("Const");
    (*node.mutable_attr())["dtype"] = type_value(tensor.dtype());
    to_proto(tensor, (*node.mutable_attr())["value"].mutable_tensor());
    return node.name();
  }

  /// The variable with the value that it has now.
  std::string add(const ResourceHandle& handle, const Variable& variable) {
    wire::NodeDef& made = add_node("VarHandleOp");
    const std::string name = made.name();
    auto& attrs = *made.mutable_attr();
    attrs["container"] = text_value(handle.container);
    attrs["shared_name"] = text_value(handle.name);
    attrs["dtype"] = type_value(variable.dtype());
    to_proto(variable.declared_shape(), attrs["shape"].mutable_shape());
    const std::string value = constant(variable.snapshot());
    wire::NodeDef& assign = add_node("AssignVariableOp");
    assign.add_input(name);
    assign.add_input(value);
    (*assign.mutable_attr())["dtype"] = type_value(variable.dtype());
    return after(name, assign.name());
  }

  static bool plain(const Table& table) {
    const TableFacts& facts = table.facts();
    return facts.key_shape.rank() == 0 && facts.value_shape.rank() == 0 && !facts.empty_key.valid() && (table.initialized() || !facts.initializable);
  }

  /// A table of its own with the same content.
  StatusOr<std::string> add(const Table& table) {
    TRY_ASSIGN(const auto content, table.list());
    const bool filled_once = table.facts().initializable;
    wire::NodeDef& made = add_node(filled_once ? "HashTableV2" : "MutableHashTableV2");
    made.set_name(fmt::format("{}FromGraphDef/{}/{}", filled_once ? "HashTable" : "MutableHashTable", graph.node_size(), resources_.next_number()));
    const std::string name = made.name();
    auto& attrs = *made.mutable_attr();
    attrs["key_dtype"] = type_value(table.facts().key);
    attrs["value_dtype"] = type_value(table.facts().value);
    attrs["use_node_name_sharing"].set_b(true);
    const std::string keys = constant(content.first), values = constant(content.second);
    wire::NodeDef& import = add_node("LookupTableImportV2");
    for (const std::string& input : {name, keys, values}) import.add_input(input);
    (*import.mutable_attr())["Tin"] = type_value(table.facts().key);
    (*import.mutable_attr())["Tout"] = type_value(table.facts().value);
    return after(name, import.name());
  }

  std::string after(const std::string& handle, const std::string& filled) {
    wire::NodeDef& node = add_node("Identity");
    node.add_input(handle);
    node.add_input("^" + filled);
    (*node.mutable_attr())["T"] = type_value(DType::resource);
    return node.name();
  }

  /// With all functions that it calls.
  void add_function(const Dataset& dataset, const std::string& name) {
    for (const auto& function : dataset.functions)
      if (const auto* known = dynamic_cast<const HasFingerprint*>(function.get()))
        if (known->library().find(name)) return add_function(known->library(), name);
  }
  void add_function(const FunctionLibrary& library, const std::string& first) {
    std::vector<std::string> wanted{first};
    while (!wanted.empty()) {
      const std::string name = std::move(wanted.back());
      wanted.pop_back();
      const wire::FunctionDef* function = library.find(name);
      if (!function || !functions_.insert(name).second) continue;
      *graph.mutable_library()->add_function() = *function;
      if (const std::string* gradient = library.gradient_of(name)) {
        auto& entry = *graph.mutable_library()->add_gradient();
        entry.set_function_name(name);
        entry.set_gradient_func(*gradient);
        wanted.push_back(*gradient);
      }
      for (const auto& node : function->node_def()) {
        wanted.push_back(node.op());
        for (const auto& [key, value] : node.attr()) {
          if (value.has_func()) wanted.push_back(value.func().name());
          for (const auto& inner : value.list().func()) wanted.push_back(inner.name());
        }
      }
    }
  }

  wire::NodeDef& add_node(const std::string& op) {
    wire::NodeDef& node = *graph.add_node();
    node.set_name(fmt::format("{}/_{}", op, count_++));
    node.set_op(op);
    return node;
  }

  ResourceStore& resources_;
  std::map<const Dataset*, std::string> names_;
  std::set<std::string> functions_;
  int count_ = 0;
};

}  // namespace

StatusOr<wire::GraphDef> to_graph(const DatasetPtr& dataset, ResourceStore& resources) {
  Writer writer(resources);
  TRY(writer.write(dataset));
  return std::move(writer.graph);
}

}  // namespace troupe
