// What lowering has put before a name is taken off again: the call's name, and the branch's or loop part's where there is one.
#include <troupe/actors/body_names.hpp>

#include <absl/strings/numbers.h>

namespace troupe {
namespace {

/// The function whose body a lowered name belongs to, with the name's rest there.
struct Inner {
  std::string function, rest;
};

Inner inner_of(const wire::NodeDef& call, const FunctionLibrary& library, std::string rest) {
  if (library.find(call.op())) return {call.op(), std::move(rest)};
  const auto slash = rest.find('/');
  const std::string part = rest.substr(0, slash);
  const auto& attrs = call.attr();
  auto named = [&](const char* attr) { return attrs.contains(attr) ? attrs.at(attr).func().name() : std::string(); };
  if (attrs.contains("f")) return {named("f"), std::move(rest)};
  rest = slash == std::string::npos ? "" : rest.substr(slash + 1);
  if (part == "then" || part == "else") return {named(part == "then" ? "then_branch" : "else_branch"), std::move(rest)};
  if (part == "cond" || part == "body") return {named(part.c_str()), std::move(rest)};
  int number = -1;
  if (attrs.contains("branches") && part.starts_with("branch_") && absl::SimpleAtoi(part.substr(part.find('_') + 1), &number))
    if (const auto& branches = attrs.at("branches").list().func(); number >= 0 && number < branches.size())
      return {branches[number].name(), std::move(rest)};
  return {};
}

}  // namespace

std::string name_in_body(const FunctionLibrary& library, const std::string& function, std::string lowered) {
  const auto* body = library.find(function);
  if (!body) return lowered;
  const wire::NodeDef* call = nullptr;
  for (const auto& node : body->node_def()) {
    if (node.name() == lowered) return lowered;
    if (lowered.starts_with(node.name() + "/") && (!call || node.name().size() > call->name().size())) call = &node;
  }
  if (!call) return lowered;
  const Inner inner = inner_of(*call, library, lowered.substr(call->name().size() + 1));
  return inner.function.empty() || inner.rest.empty() ? lowered : name_in_body(library, inner.function, inner.rest);
}

Status named_by_body(const FunctionLibrary& library, const std::string& function, const Status& status) {
  constexpr std::string_view begin = "{{node ", end = "}}";
  const std::string text(text_of(status));
  const auto at = text.rfind(begin);
  const auto stop = at == std::string::npos ? at : text.find(end, at);
  if (stop == std::string::npos) return status;
  const std::string lowered = text.substr(at + begin.size(), stop - at - begin.size()), name = name_in_body(library, function, lowered);
  Status renamed = make_status(status.code(), text.substr(0, at + begin.size()) + name + text.substr(stop));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) { renamed.SetPayload(type, payload); });
  return renamed;
}

}  // namespace troupe
