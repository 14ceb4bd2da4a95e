// Fields of protocol messages whose descriptors come with the graph.
#pragma once

#include <troupe/messaging/dtype.hpp>
#include <troupe/messaging/status.hpp>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>

#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// A message type and some of its fields; lives as long as who uses the descriptors.
struct ProtoFields {
  std::shared_ptr<google::protobuf::DescriptorPool> pool;  // none for the types that are linked in
  std::shared_ptr<google::protobuf::DynamicMessageFactory> factory;
  const google::protobuf::Descriptor* message = nullptr;
  std::vector<const google::protobuf::FieldDescriptor*> fields;  // as they were named
  std::vector<std::size_t> by_number;                            // positions in `fields`, by the number on the wire

  /// `source` is "local://", "bytes://" and a set of descriptors, or the name of a file with one.
  static StatusOr<ProtoFields> find(const std::string& source, const std::string& message_type, const std::vector<std::string>& names);
};

/// Whether values of a field may be elements of a tensor of this type.
bool fits(const google::protobuf::FieldDescriptor& field, DType dtype);

}  // namespace troupe
