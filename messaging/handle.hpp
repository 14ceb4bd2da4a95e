// Elements that are objects: resource handles and variants.
#pragma once

#include <troupe/messaging/dtype.hpp>
#include <troupe/messaging/shape.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// The state behind a handle: variable, queue, table, iterator, … Owned by its device; touched only on that device's actor.
class Resource {
 public:
  virtual ~Resource() = default;
  /// One line on what it is, for messages and the status page.
  virtual std::string describe() const = 0;
};

/// Names a resource on a device; `resource` is set for anonymous ones, which live as long as their handles.
struct ResourceHandle {
  std::string device;
  std::string container;
  std::string name;
  std::uint64_t hash_code = 0;
  std::string type_name;
  std::vector<std::pair<DType, PartialShape>> dtypes_and_shapes;
  std::shared_ptr<Resource> resource;
};

/// What a variant element holds. Immutable once shared.
class VariantValue {
 public:
  virtual ~VariantValue() = default;
  /// The registered type name that goes over the wire.
  virtual std::string type_name() const = 0;
};

struct Variant {
  std::shared_ptr<const VariantValue> value;
};

}  // namespace troupe
