// Look-up of op definitions and the checks of nodes against them, with TensorFlow's texts.
#include <troupe/ops/definitions.hpp>

#include <troupe/messaging/dtype.hpp>
#include <troupe/ops/binding.hpp>
#include <troupe/ops/op_summary.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

extern "C" {
extern const char troupe_op_definitions_begin[];
extern const char troupe_op_definitions_end[];
}

namespace troupe {
namespace {

struct Table {
  wire::OpList list;
  std::unordered_map<std::string_view, const wire::OpDef*> by_name;

  Table() {
    list.ParseFromArray(troupe_op_definitions_begin, static_cast<int>(troupe_op_definitions_end - troupe_op_definitions_begin));
    for (const auto& op : list.op()) by_name.emplace(op.name(), &op);
  }
};

const wire::OpDef::AttrDef* find_attr(const wire::OpDef& op, const std::string& name) {
  auto found = std::find_if(op.attr().begin(), op.attr().end(), [&](const auto& attr) { return attr.name() == name; });
  return found == op.attr().end() ? nullptr : &*found;
}

std::string kind_of(const wire::AttrValue::ListValue& list) {
  if (list.s_size()) return "list(string)";
  if (list.i_size()) return "list(int)";
  if (list.f_size()) return "list(float)";
  if (list.b_size()) return "list(bool)";
  if (list.type_size()) return "list(type)";
  if (list.shape_size()) return "list(shape)";
  if (list.tensor_size()) return "list(tensor)";
  if (list.func_size()) return "list(func)";
  return "list";
}

std::string kind_of(const wire::AttrValue& value) {
  switch (value.value_case()) {
    case wire::AttrValue::kS: return "string";
    case wire::AttrValue::kI: return "int";
    case wire::AttrValue::kF: return "float";
    case wire::AttrValue::kB: return "bool";
    case wire::AttrValue::kType: return "type";
    case wire::AttrValue::kShape: return "shape";
    case wire::AttrValue::kTensor: return "tensor";
    case wire::AttrValue::kList: return kind_of(value.list());
    case wire::AttrValue::kFunc: return "func";
    case wire::AttrValue::kPlaceholder: return "placeholder";
    case wire::AttrValue::VALUE_NOT_SET: break;
  }
  return "";
}

Status check_type(int type) {
  const auto dtype = static_cast<DType>(type);
  if (type == 0) return invalid("AttrValue has invalid DataType");
  if (is_ref(dtype) && wire::DataType_IsValid(type)) return invalid("AttrValue must not have reference type value of {}", name_of(dtype));
  if (!wire::DataType_IsValid(type)) return invalid("AttrValue has invalid DataType enum: {}", type);
  return absl::OkStatus();
}

Status check_kind(const wire::AttrValue& value, const std::string& wanted) {
  const bool wants_list = wanted.starts_with("list(");
  const std::string kind = kind_of(value);
  if (kind == "placeholder") return invalid("AttrValue had value with unexpected type 'placeholder'");
  // An empty list goes as a list of anything, and so does no value at all.
  if (wants_list && (kind == "list" || kind.empty())) return absl::OkStatus();
  if (kind.empty()) return invalid("AttrValue missing value with expected type '{}'", wanted);
  if (kind != wanted) return invalid("AttrValue had value with type '{}' when '{}' expected", kind, wanted);
  if (wanted == "type") return check_type(value.type());
  for (int type : value.list().type()) TRY(check_type(type));
  return absl::OkStatus();
}

int length_of(const wire::AttrValue::ListValue& l) {
  return l.s_size() + l.i_size() + l.f_size() + l.b_size() + l.type_size() + l.shape_size() + l.tensor_size() + l.func_size();
}

Status check_allowed_types(const wire::OpDef::AttrDef& attr, int type) {
  const auto& allowed = attr.allowed_values().list().type();
  if (std::find(allowed.begin(), allowed.end(), type) != allowed.end()) return absl::OkStatus();
  std::vector<std::string> names;
  for (int t : allowed) names.push_back(name_of(static_cast<DType>(t)));
  return invalid("Value for attr '{}' of {} is not in the list of allowed values: {}", attr.name(), name_of(static_cast<DType>(type)),
                 fmt::join(names, ", "));
}

Status check_allowed_strings(const wire::OpDef::AttrDef& attr, const std::string& text) {
  const auto& allowed = attr.allowed_values().list().s();
  if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return absl::OkStatus();
  std::vector<std::string> names;
  for (const auto& s : allowed) names.push_back(fmt::format("\"{}\"", s));
  return invalid("Value for attr '{}' of \"{}\" is not in the list of allowed values: {}", attr.name(), text, fmt::join(names, ", "));
}

Status check_value(const wire::AttrValue& value, const wire::OpDef::AttrDef& attr) {
  if (Status kind = check_kind(value, attr.type()); !kind.ok()) return append_text(kind, fmt::format("\n\t for attr '{}'", attr.name()));
  if (attr.has_minimum()) {
    if (attr.type() == "int" && value.i() < attr.minimum())
      return invalid("Value for attr '{}' of {} must be at least minimum {}", attr.name(), value.i(), attr.minimum());
    if (attr.type() != "int" && length_of(value.list()) < attr.minimum())
      return invalid("Length for attr '{}' of {} must be at least minimum {}", attr.name(), length_of(value.list()), attr.minimum());
  }
  if (!attr.has_allowed_values()) return absl::OkStatus();
  if (attr.type() == "type") return check_allowed_types(attr, value.type());
  if (attr.type() == "string") return check_allowed_strings(attr, value.s());
  for (int type : value.list().type()) TRY(check_allowed_types(attr, type));
  for (const auto& text : value.list().s()) TRY(check_allowed_strings(attr, text));
  return absl::OkStatus();
}

Status check_attributes(const wire::NodeDef& node, const wire::OpDef& op) {
  // A map of protobuf has no order of its own; messages must not depend on it.
  std::set<std::string> given, missing;
  for (const auto& [name, value] : node.attr()) given.insert(name);
  for (const auto& attr : op.attr()) missing.insert(attr.name());
  for (const auto& name : given) {
    if (name.starts_with('_')) continue;
    const auto* attr = find_attr(op, name);
    if (!attr)
      return invalid(
          "NodeDef mentions attr '{}' not in {}; NodeDef: {{{{node {}}}}}. (Check whether your GraphDef-interpreting binary is up to date "
          "with your GraphDef-generating binary.).",
          name, summary_of(op), node.name());
    missing.erase(name);
    if (Status bad = check_value(node.attr().at(name), *attr); !bad.ok())
      return append_text(bad, fmt::format("\n\t; NodeDef: {{{{node {}}}}}; {}{}", node.name(), summary_of(op),
                                          attr->type() == "type" ? fmt::format("\n\t [[{}]]", node.name()) : ""));
  }
  if (missing.empty()) return absl::OkStatus();
  for (const auto& arg : op.output_arg())
    for (const auto& name : {arg.type_attr(), arg.number_attr(), arg.type_list_attr()})
      if (missing.contains(name))
        return not_found("No attr named '{}' in NodeDef:\n\t [[{{{{node {}}}}}]]\n\t [[{}]]", name, node.name(), node.name());
  return invalid("NodeDef missing attr{} '{}' from {}; NodeDef: {{{{node {}}}}}", missing.size() == 1 ? "" : "s", fmt::join(missing, "', '"),
                 summary_of(op), node.name());
}

}  // namespace

const wire::OpDef* find_op(const std::string& name) {
  static const Table table;
  auto found = table.by_name.find(name);
  return found == table.by_name.end() ? nullptr : found->second;
}

void fill_defaults(wire::NodeDef* node, const wire::OpDef& op) {
  for (const auto& attr : op.attr())
    if (attr.has_default_value() && !node->attr().contains(attr.name())) (*node->mutable_attr())[attr.name()] = attr.default_value();
}

Status validate_node(const wire::NodeDef& node, const wire::OpDef& op) {
  TRY(check_attributes(node, op));
  int inputs = 0;
  bool control = false;
  for (const auto& input : node.input()) {
    if (input.starts_with('^')) {
      control = true;
      continue;
    }
    if (control) return invalid("All control inputs must follow all data inputs\n\t [[{{{{node {}}}}}]]", node.name());
    ++inputs;
  }
  TRY_ASSIGN(Signature signature, resolve_signature(node, op));
  const int wanted = static_cast<int>(signature.inputs.size());
  if (inputs == wanted) return absl::OkStatus();
  if (inputs > wanted) return invalid("Input {} of node {} does not exist. Node only has {} inputs.", wanted, node.name(), wanted);
  std::vector<std::string> names;
  for (DType t : signature.inputs) names.push_back(name_of(t));
  return invalid("NodeDef expected inputs '{}' do not match {} inputs specified; {}; NodeDef: {{{{node {}}}}}", fmt::join(names, ", "), inputs,
                 summary_of(op), node.name());
}

}  // namespace troupe
