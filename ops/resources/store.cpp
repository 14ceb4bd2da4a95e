// Look-up of resources with TensorFlow's texts.
#include <troupe/ops/resources/store.hpp>

#include <troupe/messaging/hash64.hpp>

#include <cxxabi.h>

#include <cstdlib>

namespace troupe {
namespace {

constexpr std::string_view step_prefix = "__per_step_";

bool is_of_step(std::string_view container) { return container.starts_with(step_prefix); }

std::string key_of(const std::string& name, std::string_view type) {
  std::string key;
  key.reserve(name.size() + 1 + type.size());
  key.append(name).push_back('\0');
  return key.append(type);
}

/// "tensorflow::Var" of "N10tensorflow3VarE".
std::string readable(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : mangled;
}

}  // namespace

std::string container_of_step(std::int64_t step) { return std::string(step_prefix) + std::to_string(step); }

void ResourceStore::put(const std::string& container, const std::string& name, const char* type, std::shared_ptr<Resource> resource) {
  const auto [in, made] = containers_.try_emplace(container);
  if (made && is_of_step(container)) ++of_steps_;
  in->second[key_of(name, type)] = std::move(resource);
}

StatusOr<std::shared_ptr<Resource>> ResourceStore::find_any(const std::string& container, const std::string& name, std::string_view type) const {
  auto in = containers_.find(container);
  if (in == containers_.end()) return not_found("Container {} does not exist. (Could not find resource: {}/{})", container, container, name);
  auto found = in->second.find(key_of(name, type));
  if (found == in->second.end()) return not_found("Resource {}/{}/{} does not exist.", container, name, type);
  return found->second;
}

Status ResourceStore::wrong_type(const ResourceHandle& handle, std::string_view wanted) {
  return invalid(
      "Trying to access a handle's resource using the wrong type. The handle points to a resource (name '{}') of type '{}' (hash code {}) but you "
      "are trying to access the resource as type '{}' (hash code {})",
      handle.name, readable(handle.type_name), hash64(handle.type_name), readable(std::string(wanted)), hash64(wanted));
}

Status ResourceStore::erase(const std::string& container, const std::string& name, std::string_view type) {
  auto found = find_any(container, name, type);
  if (!found.ok()) return found.status();
  containers_[container].erase(key_of(name, type));
  return absl::OkStatus();
}

void ResourceStore::erase_container(const std::string& container) {
  if (containers_.erase(container) > 0 && is_of_step(container)) --of_steps_;
}

void ResourceStore::erase_step(std::int64_t step) {
  if (of_steps_ > 0) erase_container(container_of_step(step));
}

void ResourceStore::clear() {
  containers_.clear();
  of_steps_ = 0;
}

std::vector<std::string> ResourceStore::describe() const {
  std::vector<std::string> lines;
  for (const auto& [container, resources] : containers_)
    for (const auto& [key, resource] : resources) lines.push_back(fmt::format("{}/{}: {}", container, key.c_str(), resource->describe()));
  return lines;
}

}  // namespace troupe
