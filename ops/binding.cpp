// Attributes and argument types of a node.
#include <troupe/ops/binding.hpp>

#include <troupe/messaging/tensor_codec.hpp>

#include <limits>

namespace troupe {
namespace {

const wire::AttrValue* find_attr(const wire::NodeDef& node, std::string_view name) {
  auto found = node.attr().find(std::string(name));
  return found == node.attr().end() ? nullptr : &found->second;
}

Status missing(const wire::NodeDef& node, std::string_view name) {
  return invalid("NodeDef expected attribute '{}' which is missing: {{{{node {}}}}} ({})", name, node.name(), node.op());
}

Status append_types(const wire::NodeDef& node, const wire::OpDef::ArgDef& arg, std::vector<DType>& out) {
  auto push = [&](DType t) { out.push_back(arg.is_ref() ? as_ref(t) : t); };
  std::int64_t count = 1;
  if (!arg.number_attr().empty()) {
    const auto* n = find_attr(node, arg.number_attr());
    if (!n) return missing(node, arg.number_attr());
    if (n->i() < 0 || n->i() > std::numeric_limits<int>::max()) return invalid("Value for number_attr() {} < 0", n->i());
    count = n->i();
  }
  if (!arg.type_list_attr().empty()) {
    const auto* list = find_attr(node, arg.type_list_attr());
    if (!list) return missing(node, arg.type_list_attr());
    for (int t : list->list().type()) push(static_cast<DType>(t));
    return absl::OkStatus();
  }
  auto type = static_cast<DType>(arg.type());
  if (!arg.type_attr().empty()) {
    const auto* t = find_attr(node, arg.type_attr());
    if (!t) return missing(node, arg.type_attr());
    type = static_cast<DType>(t->type());
  }
  for (std::int64_t i = 0; i < count; ++i) push(type);
  return absl::OkStatus();
}

}  // namespace

StatusOr<Signature> resolve_signature(const wire::NodeDef& node, const wire::OpDef& op) {
  Signature s;
  s.input_begin.push_back(0);
  s.output_begin.push_back(0);
  for (const auto& arg : op.input_arg()) {
    TRY(append_types(node, arg, s.inputs));
    s.input_begin.push_back(static_cast<int>(s.inputs.size()));
  }
  for (const auto& arg : op.output_arg()) {
    TRY(append_types(node, arg, s.outputs));
    s.output_begin.push_back(static_cast<int>(s.outputs.size()));
  }
  return s;
}

const wire::AttrValue* Binding::find(std::string_view attr) const { return find_attr(node_, attr); }

StatusOr<std::pair<int, int>> Binding::next_argument() {
  if (argument_ + 1 >= signature_.input_begin.size()) return internal("The kernel of {} takes more arguments than its definition has", node_.op());
  const auto i = argument_++;
  return std::pair{signature_.input_begin[i], signature_.input_begin[i + 1]};
}

#define TROUPE_ATTR(Type, expression)                               \
  template <>                                                       \
  StatusOr<Type> Binding::attr<Type>(std::string_view name) const { \
    const wire::AttrValue* a = find_attr(node_, name);              \
    if (!a) return missing(node_, name);                            \
    return expression;                                              \
  }
#define TROUPE_LIST_ATTR(Type, field, expression)                                             \
  template <>                                                                                 \
  StatusOr<std::vector<Type>> Binding::attr<std::vector<Type>>(std::string_view name) const { \
    const wire::AttrValue* a = find_attr(node_, name);                                        \
    if (!a) return missing(node_, name);                                                      \
    std::vector<Type> all;                                                                    \
    for (const auto& x : a->list().field()) all.push_back(expression);                        \
    return all;                                                                               \
  }
TROUPE_ATTR(bool, a->b())
TROUPE_ATTR(std::int64_t, a->i())
TROUPE_ATTR(std::int32_t, static_cast<std::int32_t>(a->i()))
TROUPE_ATTR(float, a->f())
TROUPE_ATTR(std::string, a->s())
TROUPE_ATTR(DType, static_cast<DType>(a->type()))
TROUPE_ATTR(PartialShape, partial_shape_from_proto(a->shape()))
TROUPE_ATTR(Tensor, tensor_from_proto(a->tensor()))
TROUPE_ATTR(wire::NameAttrList, a->func())
TROUPE_LIST_ATTR(bool, b, x)
TROUPE_LIST_ATTR(std::int64_t, i, x)
TROUPE_LIST_ATTR(std::int32_t, i, static_cast<std::int32_t>(x))
TROUPE_LIST_ATTR(float, f, x)
TROUPE_LIST_ATTR(std::string, s, x)
TROUPE_LIST_ATTR(DType, type, static_cast<DType>(x))
TROUPE_LIST_ATTR(PartialShape, shape, partial_shape_from_proto(x))
TROUPE_LIST_ATTR(wire::NameAttrList, func, x)
#undef TROUPE_ATTR
#undef TROUPE_LIST_ATTR

}  // namespace troupe
