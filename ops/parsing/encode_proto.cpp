// Tensors, one per field, to serialized protocol messages.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/parsing/proto_fields.hpp>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

namespace troupe {
namespace pb = google::protobuf;
namespace {

using Wire = pb::internal::WireFormatLite;
using Output = pb::io::CodedOutputStream;
using Field = pb::FieldDescriptor;

struct Encoding {
  ProtoFields proto;
  std::vector<std::string> names;

  static StatusOr<Encoding> make(Binding& binding) {
    Encoding encoding;
    TRY_ASSIGN(const auto source, binding.attr<std::string>("descriptor_source"));
    TRY_ASSIGN(const auto type, binding.attr<std::string>("message_type"));
    TRY_ASSIGN(encoding.names, binding.attr<std::vector<std::string>>("field_names"));
    TRY_ASSIGN(encoding.proto, ProtoFields::find(source, type, encoding.names));
    return encoding;
  }
};

template <class T>
T value_at(const Tensor& t, std::int64_t i) {
  T value{};
  visit_dtype(types<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t, bool>{}, t.dtype(),
              [&]<class S>() { value = static_cast<T>(t.data<S>()[i]); });
  return value;
}

/// A number without its tag.
void write_number(Field::Type type, const Tensor& t, std::int64_t i, Output* out) {
  switch (type) {
    case Field::TYPE_DOUBLE: return Wire::WriteDoubleNoTag(value_at<double>(t, i), out);
    case Field::TYPE_FLOAT: return Wire::WriteFloatNoTag(value_at<float>(t, i), out);
    case Field::TYPE_INT64: return Wire::WriteInt64NoTag(value_at<std::int64_t>(t, i), out);
    case Field::TYPE_UINT64: return Wire::WriteUInt64NoTag(value_at<std::uint64_t>(t, i), out);
    case Field::TYPE_INT32: return Wire::WriteInt32NoTag(value_at<std::int32_t>(t, i), out);
    case Field::TYPE_FIXED64: return Wire::WriteFixed64NoTag(value_at<std::uint64_t>(t, i), out);
    case Field::TYPE_FIXED32: return Wire::WriteFixed32NoTag(value_at<std::uint32_t>(t, i), out);
    case Field::TYPE_BOOL: return Wire::WriteBoolNoTag(value_at<bool>(t, i), out);
    case Field::TYPE_UINT32: return Wire::WriteUInt32NoTag(value_at<std::uint32_t>(t, i), out);
    case Field::TYPE_ENUM: return Wire::WriteEnumNoTag(value_at<std::int32_t>(t, i), out);
    case Field::TYPE_SFIXED32: return Wire::WriteSFixed32NoTag(value_at<std::int32_t>(t, i), out);
    case Field::TYPE_SFIXED64: return Wire::WriteSFixed64NoTag(value_at<std::int64_t>(t, i), out);
    case Field::TYPE_SINT32: return Wire::WriteSInt32NoTag(value_at<std::int32_t>(t, i), out);
    case Field::TYPE_SINT64: return Wire::WriteSInt64NoTag(value_at<std::int64_t>(t, i), out);
    default: return;
  }
}

void write_text(const Field& field, const std::string& text, Output* out) {
  if (field.type() == Field::TYPE_GROUP) {
    Wire::WriteTag(field.number(), Wire::WIRETYPE_START_GROUP, out);
    out->WriteRaw(text.data(), static_cast<int>(text.size()));
    Wire::WriteTag(field.number(), Wire::WIRETYPE_END_GROUP, out);
    return;
  }
  Wire::WriteTag(field.number(), Wire::WIRETYPE_LENGTH_DELIMITED, out);
  out->WriteVarint32(static_cast<std::uint32_t>(text.size()));
  out->WriteRaw(text.data(), static_cast<int>(text.size()));
}

void write_field(const Field& field, const Tensor& values, std::int64_t first, std::int64_t count, Output* out) {
  if (values.dtype() == DType::string) {
    for (std::int64_t i = 0; i < count; ++i) write_text(field, values.data<std::string>()[first + i], out);
  } else if (field.is_packed()) {
    std::string packed;
    {
      pb::io::StringOutputStream bytes(&packed);
      Output inner(&bytes);
      for (std::int64_t i = 0; i < count; ++i) write_number(field.type(), values, first + i, &inner);
    }
    write_text(field, packed, out);
  } else {
    const auto wire_type = Wire::WireTypeForFieldType(static_cast<Wire::FieldType>(field.type()));
    for (std::int64_t i = 0; i < count; ++i) {
      Wire::WriteTag(field.number(), wire_type, out);
      write_number(field.type(), values, first + i, out);
    }
  }
}

Shape without_last(const Shape& shape) { return Shape(shape.dims().subspan(0, static_cast<std::size_t>(shape.rank()) - 1)); }

Status check(const In<std::int32_t>& sizes, const List& values, const Encoding& encoding) {
  const auto& fields = encoding.proto.fields;
  if (fields.size() != static_cast<std::size_t>(values.size())) return invalid("Length of inputs list must match field_names");
  Shape prefix;
  for (int i = 0; i < values.size(); ++i) {
    const auto& field = *fields[static_cast<std::size_t>(i)];
    const auto& name = encoding.names[static_cast<std::size_t>(i)];
    if (!fits(field, values[i].dtype()))
      return invalid("Incompatible type for field {}.  Saw dtype: {} but field type is: {}", name, name_of(values[i].dtype()), field.type_name());
    if (values[i].rank() < 2)
      return invalid("Invalid shape for field {}.  Saw shape {} but it should be at least a matrix.", name, values[i].shape());
    if (i == 0) prefix = without_last(values[0].shape());
    else if (without_last(values[i].shape()) != prefix) return invalid("Values must match up to the last dimension");
  }
  Shape wanted = prefix;
  wanted.insert_dim(wanted.rank(), values.size());
  if (sizes.shape() != wanted) return invalid("sizes should be batch_size + [len(field_names)].  Saw: {} but expected: {}", sizes.shape(), wanted);
  for (int i = 0; i < values.size(); ++i) {
    const std::int64_t most = values[i].dim(values[i].rank() - 1);
    for (std::int64_t m = 0; m < prefix.elements(); ++m)
      if (const std::int64_t size = sizes[m * values.size() + i]; size > most || size < 0)
        return invalid("Size to write must not be larger than value tensor; but saw: {} > {} at message {} field {}", size, most, m, i);
  }
  return absl::OkStatus();
}

}  // namespace

void add_encode_proto(Registry& ops) {
  ops.add("EncodeProto", [](Call& call, In<std::int32_t> sizes, List values, const Encoding& encoding) -> Status {
    TRY(check(sizes, values, encoding));
    if (values.size() == 0) return invalid("There are no fields to encode");
    const Shape shape = without_last(sizes.shape());
    auto* out = call.alloc<std::string>(0, shape);
    for (std::int64_t m = 0; m < shape.elements(); ++m) {
      pb::io::StringOutputStream bytes(&out[m]);
      Output coded(&bytes);
      for (std::size_t f : encoding.proto.by_number) {
        const Tensor& t = values[static_cast<int>(f)];
        const std::int64_t size = sizes[m * values.size() + static_cast<std::int64_t>(f)];
        if (size > 0) write_field(*encoding.proto.fields[f], t, m * t.dim(t.rank() - 1), size, &coded);
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace troupe
