// Descriptors from the attribute that says where they are.
#include <troupe/ops/files/local_files.hpp>
#include <troupe/ops/parsing/proto_fields.hpp>

#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <numeric>

namespace troupe {
namespace pb = google::protobuf;
namespace {

StatusOr<std::shared_ptr<pb::DescriptorPool>> pool_from(const std::string& source) {
  constexpr std::string_view in_place = "bytes://";
  std::string bytes;
  if (source.starts_with(in_place)) {
    bytes = source.substr(in_place.size());
  } else {
    TRY_ASSIGN(bytes, read_file(source));
  }
  pb::FileDescriptorSet set;
  if (!set.ParseFromString(bytes)) return invalid("descriptor_source does not contain valid descriptors: {}", source);
  auto pool = std::make_shared<pb::DescriptorPool>();
  for (const auto& file : set.file())
    if (!pool->BuildFile(file)) return invalid("Failed to load FileDescriptorProto: {}", file.name());
  return pool;
}

const pb::FieldDescriptor* extension_named(const pb::DescriptorPool& pool, const pb::Descriptor* message, const std::string& name) {
  std::vector<const pb::FieldDescriptor*> all;
  pool.FindAllExtensions(message, &all);
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto* field) { return field->full_name() == name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace

StatusOr<ProtoFields> ProtoFields::find(const std::string& source, const std::string& message_type, const std::vector<std::string>& names) {
  ProtoFields found;
  const pb::DescriptorPool* pool = pb::DescriptorPool::generated_pool();
  if (!source.empty() && source != "local://") {
    TRY_ASSIGN(found.pool, pool_from(source));
    pool = found.pool.get();
  }
  found.message = pool->FindMessageTypeByName(message_type);
  if (!found.message) return invalid("No descriptor found for message type {}", message_type);
  for (const auto& name : names) {
    const pb::FieldDescriptor* field = found.message->FindFieldByName(name);
    if (!field) field = extension_named(*pool, found.message, name);
    if (!field) return invalid("Unknown field: {} in message type {}", name, message_type);
    found.fields.push_back(field);
  }
  found.by_number.resize(names.size());
  std::iota(found.by_number.begin(), found.by_number.end(), 0);
  std::stable_sort(found.by_number.begin(), found.by_number.end(),
                   [&](std::size_t a, std::size_t b) { return found.fields[a]->number() < found.fields[b]->number(); });
  found.factory = std::make_shared<pb::DynamicMessageFactory>(pool);
  return found;
}

bool fits(const pb::FieldDescriptor& field, DType dtype) {
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_DOUBLE: return dtype == DType::f64;
    case pb::FieldDescriptor::CPPTYPE_FLOAT: return dtype == DType::f32 || dtype == DType::f64;
    case pb::FieldDescriptor::CPPTYPE_INT64: return dtype == DType::i64;
    case pb::FieldDescriptor::CPPTYPE_UINT64: return dtype == DType::u64;
    case pb::FieldDescriptor::CPPTYPE_INT32: return dtype == DType::i32 || dtype == DType::i64;
    case pb::FieldDescriptor::CPPTYPE_UINT32: return dtype == DType::u32 || dtype == DType::u64;
    case pb::FieldDescriptor::CPPTYPE_BOOL: return dtype == DType::boolean;
    case pb::FieldDescriptor::CPPTYPE_ENUM: return dtype == DType::i32;
    default: return dtype == DType::string;
  }
}

}  // namespace troupe
