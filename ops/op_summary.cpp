// Writes op definitions and attributes the way TensorFlow's messages show them.
#include <troupe/ops/op_summary.hpp>

#include <troupe/messaging/dtype.hpp>
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/logging/summarize.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace troupe {
namespace {

std::string type_constant(int type) {
  std::string name = name_of(static_cast<DType>(type));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "DT_" + name;
}

std::string quoted(const std::string& text) { return '"' + text + '"'; }

std::string summary_of(const wire::NameAttrList& function) {
  std::vector<std::string> attrs;
  for (const auto& [name, value] : function.attr()) attrs.push_back(fmt::format("{}={}", name, troupe::summary_of(value)));
  std::sort(attrs.begin(), attrs.end());
  return fmt::format("{}[{}]", function.name(), fmt::join(attrs, ", "));
}

std::string summary_of(const wire::TensorProto& tensor) {
  if (auto decoded = tensor_from_proto(tensor); decoded.ok()) return describe(*decoded);
  return fmt::format("Tensor<type: {} shape: {}>", name_of(static_cast<DType>(tensor.dtype())), partial_shape_from_proto(tensor.tensor_shape()));
}

std::vector<std::string> items_of(const wire::AttrValue::ListValue& list) {
  std::vector<std::string> items;
  for (const auto& x : list.s()) items.push_back(quoted(x));
  for (auto x : list.i()) items.push_back(fmt::format("{}", x));
  for (auto x : list.f()) items.push_back(fmt::format("{:.6g}", x));
  for (auto x : list.b()) items.push_back(x ? "true" : "false");
  for (auto x : list.type()) items.push_back(type_constant(x));
  for (const auto& x : list.shape()) items.push_back(to_string(partial_shape_from_proto(x)));
  for (const auto& x : list.tensor()) items.push_back(summary_of(x));
  for (const auto& x : list.func()) items.push_back(summary_of(x));
  return items;
}

std::string arguments(const google::protobuf::RepeatedPtrField<wire::OpDef::ArgDef>& args) {
  std::string out;
  for (const auto& arg : args) {
    out += fmt::format("{}{}:", out.empty() ? "" : ", ", arg.name());
    if (arg.is_ref()) out += "Ref(";
    if (!arg.number_attr().empty()) out += arg.number_attr() + "*";
    out += arg.type() != wire::DT_INVALID ? name_of(static_cast<DType>(arg.type())) : arg.type_attr();
    if (arg.is_ref()) out += ")";
  }
  return out;
}

}  // namespace

std::string summary_of(const wire::AttrValue& value) {
  switch (value.value_case()) {
    case wire::AttrValue::kS: return quoted(value.s());
    case wire::AttrValue::kI: return fmt::format("{}", value.i());
    case wire::AttrValue::kF: return fmt::format("{:.6g}", value.f());
    case wire::AttrValue::kB: return value.b() ? "true" : "false";
    case wire::AttrValue::kType: return type_constant(value.type());
    case wire::AttrValue::kShape: return to_string(partial_shape_from_proto(value.shape()));
    case wire::AttrValue::kTensor: return summary_of(value.tensor());
    case wire::AttrValue::kList: return fmt::format("[{}]", fmt::join(items_of(value.list()), ", "));
    case wire::AttrValue::kFunc: return summary_of(value.func());
    case wire::AttrValue::kPlaceholder: return "$" + value.placeholder();
    case wire::AttrValue::VALUE_NOT_SET: break;
  }
  return "<Unknown AttrValue type>";
}

std::string summary_of(const wire::OpDef& op) {
  std::string out = fmt::format("Op<name={}; signature={} -> {}", op.name(), arguments(op.input_arg()), arguments(op.output_arg()));
  for (const auto& attr : op.attr()) {
    out += fmt::format("; attr={}:{}", attr.name(), attr.type());
    if (attr.has_default_value()) out += ",default=" + summary_of(attr.default_value());
    if (attr.has_minimum()) out += fmt::format(",min={}", attr.minimum());
    if (attr.has_allowed_values()) out += ",allowed=" + summary_of(attr.allowed_values());
  }
  if (op.is_commutative()) out += "; is_commutative=true";
  if (op.is_aggregate()) out += "; is_aggregate=true";
  if (op.is_stateful()) out += "; is_stateful=true";
  if (op.allows_uninitialized_input()) out += "; allows_uninitialized_input=true";
  if (op.is_distributed_communication()) out += "; is_distributed_communication=true";
  return out + ">";
}

}  // namespace troupe
