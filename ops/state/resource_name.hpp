// The container and name that a node's attributes give to what it keeps on a device.
#pragma once

#include <troupe/ops/binding.hpp>

#include <string>

namespace troupe {

struct ResourceName {
  std::string container;  // empty: the store's default
  std::string name;

  /// From the attributes container and shared_name, or the node's own name; refuses what TensorFlow refuses.
  static StatusOr<ResourceName> make(Binding& binding);
};

}  // namespace troupe
