// The resources of a device by container, name and type.
#pragma once

#include <troupe/messaging/handle.hpp>
#include <troupe/messaging/status.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace troupe {

/// A kind of resource says under which TensorFlow type name it goes: specialise for each class.
///   template <> struct resource_type<Variable> { static constexpr const char* name = "N10tensorflow3VarE"; };
template <class R>
struct resource_type;

/// The container that lives as long as the step.
std::string container_of_step(std::int64_t step);

/// Owned by a device and touched only on its actor: no locks.
class ResourceStore {
 public:
  explicit ResourceStore(std::string default_container) : default_container_(std::move(default_container)) {}

  const std::string& default_container() const { return default_container_; }
  /// The container meant by an attribute that may be empty.
  const std::string& container_or_default(const std::string& container) const { return container.empty() ? default_container_ : container; }

  /// NOT_FOUND with TensorFlow's text when there is none.
  template <class R>
  StatusOr<std::shared_ptr<R>> find(const std::string& container, const std::string& name) const {
    auto found = find_any(container, name, resource_type<R>::name);
    if (!found.ok()) return found.status();
    return std::static_pointer_cast<R>(*found);
  }
  template <class R>
  StatusOr<std::shared_ptr<R>> find(const ResourceHandle& handle) const {
    if (handle.type_name != resource_type<R>::name) return wrong_type(handle, resource_type<R>::name);
    if (handle.resource) return std::static_pointer_cast<R>(handle.resource);
    return find<R>(handle.container, handle.name);
  }
  /// `make` is a function that returns StatusOr<std::shared_ptr<R>>.
  template <class R, class Make>
  StatusOr<std::shared_ptr<R>> find_or_create(const std::string& container, const std::string& name, Make&& make) {
    if (auto found = find<R>(container, name); found.ok()) return found;
    StatusOr<std::shared_ptr<R>> made = make();
    if (made.ok()) put(container, name, resource_type<R>::name, *made);
    return made;
  }
  template <class R>
  ResourceHandle handle_to(const std::string& device, const std::string& container, const std::string& name) const {
    return ResourceHandle{device, container, name, 0, resource_type<R>::name, {}, nullptr};
  }

  void put(const std::string& container, const std::string& name, const char* type, std::shared_ptr<Resource> resource);
  /// NOT_FOUND when there is none.
  Status erase(const std::string& container, const std::string& name, std::string_view type);
  void erase_container(const std::string& container);
  /// What a step has left in its own container.
  void erase_step(std::int64_t step);
  void clear();
  /// A number that no other resource of this store has, for private names.
  std::uint64_t next_number() { return next_number_++; }
  std::vector<std::string> describe() const;

 private:
  using Key = std::string;  // name, a zero byte, type
  StatusOr<std::shared_ptr<Resource>> find_any(const std::string& container, const std::string& name, std::string_view type) const;
  static Status wrong_type(const ResourceHandle& handle, std::string_view wanted);

  std::string default_container_;
  std::unordered_map<std::string, std::unordered_map<Key, std::shared_ptr<Resource>>> containers_;
  std::size_t of_steps_ = 0;  // containers of steps
  std::uint64_t next_number_ = 0;
};

}  // namespace troupe
