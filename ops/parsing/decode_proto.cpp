// Serialized protocol messages to a tensor per field.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/parsing/proto_fields.hpp>

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

namespace troupe {
namespace pb = google::protobuf;
namespace {

using Cpp = pb::FieldDescriptor;

struct Decoding {
  ProtoFields proto;
  std::vector<DType> types;
  bool binary = true;
  const pb::Message* prototype = nullptr;

  static StatusOr<Decoding> make(Binding& binding) {
    Decoding decoding;
    TRY_ASSIGN(const auto source, binding.attr<std::string>("descriptor_source"));
    TRY_ASSIGN(const auto type, binding.attr<std::string>("message_type"));
    TRY_ASSIGN(const auto names, binding.attr<std::vector<std::string>>("field_names"));
    TRY_ASSIGN(decoding.types, binding.attr<std::vector<DType>>("output_types"));
    TRY_ASSIGN(const auto format, binding.attr<std::string>("message_format"));
    if (names.size() != decoding.types.size()) return invalid("field_names and output_types attributes must have the same length");
    TRY_ASSIGN(decoding.proto, ProtoFields::find(source, type, names));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto& field = *decoding.proto.fields[i];
      if (!fits(field, decoding.types[i]))
        return invalid("Unexpected output type for {}: {} to {}", field.full_name(), static_cast<int>(field.cpp_type()),
                       static_cast<int>(decoding.types[i]));
    }
    if (format != "binary" && format != "text") return invalid("format must be one of binary or text");
    decoding.binary = format == "binary";
    decoding.prototype = decoding.proto.factory->GetPrototype(decoding.proto.message);
    return decoding;
  }

  StatusOr<std::unique_ptr<pb::Message>> parse(const std::string& bytes) const {
    std::unique_ptr<pb::Message> message(prototype->New());
    if (binary && !message->ParsePartialFromString(bytes)) return data_loss("Unable to parse binary protobuf");
    if (!binary) {
      pb::TextFormat::Parser parser;
      parser.AllowPartialMessage(true);
      struct Silent : pb::io::ErrorCollector {
        void AddError(int, pb::io::ColumnNumber, const std::string&) override {}
      } silent;
      parser.RecordErrorsTo(&silent);
      if (!parser.ParseFromString(bytes, message.get())) return data_loss("Unable to parse text protobuf");
    }
    return message;
  }
};

std::int64_t count_of(const pb::Message& message, const pb::FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  return field.is_repeated() ? reflection.FieldSize(message, &field) : reflection.HasField(message, &field);
}

/// Element i of a field; of one that is not there, its default.
template <class T, class One, class Many>
T element(const pb::FieldDescriptor& field, int i, One&& one, Many&& many) {
  return static_cast<T>(field.is_repeated() ? many(i) : one());
}

#define TROUPE_PROTO_FIELD(Kind) \
  element<T>(                    \
      field, i, [&] { return reflection.Get##Kind(message, &field); }, [&](int at) { return reflection.GetRepeated##Kind(message, &field, at); })

template <class T>
T number_at(const pb::Message& message, const pb::FieldDescriptor& field, int i) {
  const auto& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case Cpp::CPPTYPE_DOUBLE: return TROUPE_PROTO_FIELD(Double);
    case Cpp::CPPTYPE_FLOAT: return TROUPE_PROTO_FIELD(Float);
    case Cpp::CPPTYPE_INT64: return TROUPE_PROTO_FIELD(Int64);
    case Cpp::CPPTYPE_UINT64: return TROUPE_PROTO_FIELD(UInt64);
    case Cpp::CPPTYPE_INT32: return TROUPE_PROTO_FIELD(Int32);
    case Cpp::CPPTYPE_UINT32: return TROUPE_PROTO_FIELD(UInt32);
    case Cpp::CPPTYPE_BOOL: return TROUPE_PROTO_FIELD(Bool);
    case Cpp::CPPTYPE_ENUM: return TROUPE_PROTO_FIELD(EnumValue);
    default: return T{};
  }
}
#undef TROUPE_PROTO_FIELD

std::string text_at(const pb::Message& message, const pb::FieldDescriptor& field, int i) {
  const auto& reflection = *message.GetReflection();
  if (field.cpp_type() == Cpp::CPPTYPE_STRING)
    return field.is_repeated() ? reflection.GetRepeatedString(message, &field, i) : reflection.GetString(message, &field);
  return (field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, i) : reflection.GetMessage(message, &field))
      .SerializePartialAsString();
}

template <class T>
T default_of(const pb::FieldDescriptor& field) {
  if (field.is_repeated()) return T{};
  switch (field.cpp_type()) {
    case Cpp::CPPTYPE_DOUBLE: return static_cast<T>(field.default_value_double());
    case Cpp::CPPTYPE_FLOAT: return static_cast<T>(field.default_value_float());
    case Cpp::CPPTYPE_INT64: return static_cast<T>(field.default_value_int64());
    case Cpp::CPPTYPE_UINT64: return static_cast<T>(field.default_value_uint64());
    case Cpp::CPPTYPE_INT32: return static_cast<T>(field.default_value_int32());
    case Cpp::CPPTYPE_UINT32: return static_cast<T>(field.default_value_uint32());
    case Cpp::CPPTYPE_BOOL: return static_cast<T>(field.default_value_bool());
    case Cpp::CPPTYPE_ENUM: return static_cast<T>(field.default_value_enum()->number());
    default: return T{};
  }
}

using Messages = std::vector<std::unique_ptr<pb::Message>>;

/// A row for every message, filled up with the field's default.
void give_field(Tensor& out, const Messages& messages, const pb::FieldDescriptor& field, std::int64_t width) {
  if (out.dtype() == DType::string) {
    auto* to = out.mutable_data<std::string>();
    const bool text = field.cpp_type() == Cpp::CPPTYPE_STRING && !field.is_repeated();
    for (const auto& message : messages)
      for (std::int64_t i = 0, n = count_of(*message, field); i < width; ++i)
        *to++ = i < n ? text_at(*message, field, static_cast<int>(i)) : text ? field.default_value_string() : std::string();
    return;
  }
  visit_dtype(types<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t, bool>{}, out.dtype(), [&]<class T>() {
    T* to = out.mutable_data<T>();
    for (const auto& message : messages)
      for (std::int64_t i = 0, n = count_of(*message, field); i < width; ++i)
        *to++ = i < n ? number_at<T>(*message, field, static_cast<int>(i)) : default_of<T>(field);
  });
}

}  // namespace

void add_decode_proto(Registry& ops) {
  ops.add("DecodeProtoV2", [](Call& call, In<std::string> bytes, const Decoding& decoding) -> Status {
    if (bytes.size() < 1) return invalid("Bufs argument must contain at least one value");
    Messages messages;
    for (const std::string& text : bytes.values()) {
      TRY_ASSIGN(auto message, decoding.parse(text));
      messages.push_back(std::move(message));
    }
    const auto& fields = decoding.proto.fields;
    Shape sizes = bytes.shape();
    sizes.insert_dim(sizes.rank(), std::ssize(fields));
    auto* size = call.alloc<std::int32_t>(0, sizes);
    for (const auto& message : messages)
      for (const auto* field : fields) *size++ = static_cast<std::int32_t>(count_of(*message, *field));
    for (std::size_t f = 0; f < fields.size(); ++f) {
      // A field that is nowhere still has room for its default.
      std::int64_t width = 1;
      for (const auto& message : messages) width = std::max(width, count_of(*message, *fields[f]));
      Shape shape = bytes.shape();
      shape.insert_dim(shape.rank(), width);
      TRY_ASSIGN(shape, Shape::checked(shape.dims()));
      give_field(call.alloc(static_cast<int>(f) + 1, decoding.types[f], shape), messages, *fields[f], width);
    }
    return absl::OkStatus();
  });
}

}  // namespace troupe
