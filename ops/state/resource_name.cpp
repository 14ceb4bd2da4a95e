// Checks of container and shared_name.
#include <troupe/ops/state/resource_name.hpp>

#include <algorithm>

namespace troupe {
namespace {

bool is_alphanumeric(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_container_name(std::string_view s) {
  if (s.empty()) return true;
  if (!is_alphanumeric(s[0]) && s[0] != '.') return false;
  return std::all_of(s.begin(), s.end(), [](char c) { return is_alphanumeric(c) || c == '_' || c == '.' || c == '-' || c == '/'; });
}

}  // namespace

StatusOr<ResourceName> ResourceName::make(Binding& binding) {
  ResourceName result;
  TRY_ASSIGN(result.container, binding.attr<std::string>("container"));
  if (!is_container_name(result.container)) return invalid("container contains invalid characters: {}", result.container);
  TRY_ASSIGN(result.name, binding.attr<std::string>("shared_name"));
  if (result.name.starts_with('_')) return invalid("shared_name cannot start with '_':{}", result.name);
  if (result.name.empty()) result.name = binding.node().name();
  return result;
}

}  // namespace troupe
