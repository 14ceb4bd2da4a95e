// Tensors to and from TensorProto.
#include <troupe/messaging/hash64.hpp>
#include <troupe/messaging/tensor_codec.hpp>

#include <google/protobuf/io/coded_stream.h>

#include <bit>
#include <cstring>

namespace troupe {
namespace {

template <class T, class Field, class Convert>
StatusOr<Tensor> fill_from(const Field& field, Shape shape, Convert convert) {
  Tensor t = Tensor::zeros(dtype_of<T>::value, std::move(shape));
  const std::int64_t n = t.size();
  if (field.size() == 0 || n == 0) return t;
  T* out = t.mutable_data<T>();
  const std::int64_t given = std::min<std::int64_t>(field.size(), n);
  for (std::int64_t i = 0; i < given; ++i) out[i] = convert(field.Get(static_cast<int>(i)));
  std::fill(out + given, out + n, out[given - 1]);
  return t;
}

template <class T>
StatusOr<Tensor> cast_from(const auto& field, Shape shape) {
  return fill_from<T>(field, std::move(shape), [](auto v) { return static_cast<T>(v); });
}
template <class T>
StatusOr<Tensor> bits_from(const auto& field, Shape shape) {
  return fill_from<T>(field, std::move(shape), [](auto v) {
    const auto bits = static_cast<std::uint16_t>(v);
    return std::bit_cast<T>(bits);
  });
}
template <class T>
StatusOr<Tensor> quantized_from(const auto& field, Shape shape) {
  return fill_from<T>(field, std::move(shape), [](auto v) { return T{static_cast<decltype(T::value)>(v)}; });
}

template <class T>
StatusOr<Tensor> complex_from(const auto& field, Shape shape) {
  Tensor t = Tensor::zeros(dtype_of<T>::value, std::move(shape));
  const std::int64_t n = t.size();
  const std::int64_t given = std::min<std::int64_t>(field.size() / 2, n);
  T* out = t.mutable_data<T>();
  for (std::int64_t i = 0; i < given; ++i) out[i] = T(field.Get(static_cast<int>(2 * i)), field.Get(static_cast<int>(2 * i + 1)));
  if (given > 0) std::fill(out + given, out + n, out[given - 1]);
  return t;
}

StatusOr<Tensor> handles_from(const wire::TensorProto& proto, Shape shape) {
  Tensor t(DType::resource, std::move(shape));
  const std::int64_t n = std::min<std::int64_t>(proto.resource_handle_val_size(), t.size());
  for (std::int64_t i = 0; i < n; ++i) {
    TRY_ASSIGN(t.mutable_data<ResourceHandle>()[i], handle_from_proto(proto.resource_handle_val(static_cast<int>(i))));
  }
  return t;
}

StatusOr<Tensor> from_typed_fields(const wire::TensorProto& p, DType dtype, Shape shape) {
  switch (dtype) {
    case DType::f32: return cast_from<float>(p.float_val(), std::move(shape));
    case DType::f64: return cast_from<double>(p.double_val(), std::move(shape));
    case DType::i32: return cast_from<std::int32_t>(p.int_val(), std::move(shape));
    case DType::u8: return cast_from<std::uint8_t>(p.int_val(), std::move(shape));
    case DType::i16: return cast_from<std::int16_t>(p.int_val(), std::move(shape));
    case DType::i8: return cast_from<std::int8_t>(p.int_val(), std::move(shape));
    case DType::u16: return cast_from<std::uint16_t>(p.int_val(), std::move(shape));
    case DType::i64: return cast_from<std::int64_t>(p.int64_val(), std::move(shape));
    case DType::u32: return cast_from<std::uint32_t>(p.uint32_val(), std::move(shape));
    case DType::u64: return cast_from<std::uint64_t>(p.uint64_val(), std::move(shape));
    case DType::boolean: return cast_from<bool>(p.bool_val(), std::move(shape));
    case DType::f16: return bits_from<half>(p.half_val(), std::move(shape));
    case DType::bf16: return bits_from<bfloat16>(p.half_val(), std::move(shape));
    case DType::c64: return complex_from<complex64>(p.scomplex_val(), std::move(shape));
    case DType::c128: return complex_from<complex128>(p.dcomplex_val(), std::move(shape));
    case DType::qi8: return quantized_from<qint8>(p.int_val(), std::move(shape));
    case DType::qu8: return quantized_from<quint8>(p.int_val(), std::move(shape));
    case DType::qi16: return quantized_from<qint16>(p.int_val(), std::move(shape));
    case DType::qu16: return quantized_from<quint16>(p.int_val(), std::move(shape));
    case DType::qi32: return quantized_from<qint32>(p.int_val(), std::move(shape));
    case DType::string: return fill_from<std::string>(p.string_val(), std::move(shape), [](const std::string& s) { return s; });
    case DType::resource: return handles_from(p, std::move(shape));
    default: return Tensor::zeros(dtype, std::move(shape));
  }
}

struct VariantCodec {
  VariantEncoder encode;
  VariantDecoder decode;
};

std::map<std::string, VariantCodec>& variant_codecs() {
  static std::map<std::string, VariantCodec> codecs;
  return codecs;
}

StatusOr<Variant> variant_from_proto(const wire::VariantTensorDataProto& proto) {
  if (proto.type_name().empty()) return Variant{};
  auto codec = variant_codecs().find(proto.type_name());
  if (codec == variant_codecs().end()) return invalid("Could not decode variant with type_name: \"{}\"", proto.type_name());
  TRY_ASSIGN(auto value, codec->second.decode(proto));
  return Variant{std::move(value)};
}

std::string object_bytes(const Tensor& t, std::int64_t i) {
  if (t.dtype() == DType::resource) {
    wire::ResourceHandleProto proto;
    to_proto(t.data<ResourceHandle>()[i], &proto);
    return proto.SerializeAsString();
  }
  wire::VariantTensorDataProto proto;
  if (const auto& value = t.data<Variant>()[i].value) {
    proto.set_type_name(value->type_name());
    if (auto codec = variant_codecs().find(value->type_name()); codec != variant_codecs().end()) codec->second.encode(*value, &proto);
  }
  return proto.SerializeAsString();
}

Status set_object(Tensor& t, std::int64_t i, std::string bytes) {
  if (t.dtype() == DType::string) {
    t.mutable_data<std::string>()[i] = std::move(bytes);
    return absl::OkStatus();
  }
  if (t.dtype() == DType::resource) {
    wire::ResourceHandleProto proto;
    if (!proto.ParseFromString(bytes)) return invalid("Malformed resource handle in a tensor");
    TRY_ASSIGN(t.mutable_data<ResourceHandle>()[i], handle_from_proto(proto));
    return absl::OkStatus();
  }
  wire::VariantTensorDataProto proto;
  if (!proto.ParseFromString(bytes)) return invalid("Malformed variant in a tensor");
  TRY_ASSIGN(t.mutable_data<Variant>()[i], variant_from_proto(proto));
  return absl::OkStatus();
}

void append_varint(std::string& out, std::uint64_t v) {
  for (; v >= 0x80; v >>= 7) out.push_back(static_cast<char>(v | 0x80));
  out.push_back(static_cast<char>(v));
}

}  // namespace

void register_variant_codec(const std::string& type_name, VariantEncoder encode, VariantDecoder decode) {
  variant_codecs()[type_name] = {encode, decode};
}

StatusOr<Shape> shape_from_proto(const wire::TensorShapeProto& proto) {
  if (proto.unknown_rank()) return invalid("Shape must be fully defined, but its rank is unknown");
  Shape::Dims dims;
  for (const auto& dim : proto.dim()) dims.push_back(dim.size());
  return Shape::checked({dims.data(), dims.size()});
}

PartialShape partial_shape_from_proto(const wire::TensorShapeProto& proto) {
  if (proto.unknown_rank()) return PartialShape();
  Shape::Dims dims;
  for (const auto& dim : proto.dim()) dims.push_back(dim.size() < 0 ? -1 : dim.size());
  return PartialShape(std::span<const std::int64_t>(dims.data(), dims.size()));
}

void to_proto(const Shape& shape, wire::TensorShapeProto* proto) {
  proto->Clear();
  for (std::int64_t d : shape) proto->add_dim()->set_size(d);
}

void to_proto(const PartialShape& shape, wire::TensorShapeProto* proto) {
  proto->Clear();
  if (shape.unknown_rank()) return proto->set_unknown_rank(true);
  for (std::int64_t d : shape.dims()) proto->add_dim()->set_size(d);
}

StatusOr<Tensor> tensor_from_proto(const wire::TensorProto& proto) {
  const auto dtype = static_cast<DType>(proto.dtype());
  if (stride_of(dtype) == 0 || is_ref(dtype)) return invalid("Tensor has an unsupported dtype: {}", name_of(dtype));
  TRY_ASSIGN(Shape shape, shape_from_proto(proto.tensor_shape()));
  try {
    if (proto.tensor_content().empty()) return from_typed_fields(proto, dtype, std::move(shape));
    if (is_object(dtype)) return decode_objects(dtype, std::move(shape), proto.tensor_content());
    const auto wanted = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
    if (proto.tensor_content().size() != wanted)
      return invalid("Tensor of type {} and shape {} needs {} bytes of content, got {}", name_of(dtype), shape, wanted,
                     proto.tensor_content().size());
    Tensor t(dtype, std::move(shape));
    std::memcpy(t.mutable_data<char>(), proto.tensor_content().data(), wanted);
    return t;
  } catch (const OutOfMemory& e) {
    return resource_exhausted("OOM when allocating tensor with shape{} and type {}", e.shape, name_of(e.dtype));
  }
}

void to_proto(const Tensor& tensor, wire::TensorProto* proto) {
  proto->Clear();
  proto->set_dtype(static_cast<wire::DataType>(tensor.dtype()));
  to_proto(tensor.shape(), proto->mutable_tensor_shape());
  if (is_object(tensor.dtype())) proto->set_tensor_content(encode_objects(tensor));
  else proto->set_tensor_content(tensor.raw(), tensor.bytes());
}

std::string encode_objects(const Tensor& tensor) {
  std::string out;
  std::vector<std::string> made;
  if (tensor.dtype() != DType::string)
    for (std::int64_t i = 0; i < tensor.size(); ++i) made.push_back(object_bytes(tensor, i));
  const std::span<const std::string> items = tensor.dtype() == DType::string ? tensor.values<std::string>() : std::span<const std::string>(made);
  for (const std::string& s : items) append_varint(out, s.size());
  for (const std::string& s : items) out += s;
  return out;
}

StatusOr<Tensor> decode_objects(DType dtype, Shape shape, std::string_view content) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(content.data()), static_cast<int>(content.size()));
  const std::int64_t n = shape.elements();
  if (n > static_cast<std::int64_t>(content.size())) return invalid("String tensor content is shorter than its {} lengths", n);
  std::vector<std::uint32_t> lengths(static_cast<std::size_t>(n));
  for (auto& length : lengths)
    if (!in.ReadVarint32(&length)) return invalid("Malformed lengths in the content of a {} tensor", name_of(dtype));
  Tensor t(dtype, std::move(shape));
  for (std::int64_t i = 0; i < n; ++i) {
    std::string bytes;
    if (!in.ReadString(&bytes, static_cast<int>(lengths[static_cast<std::size_t>(i)])))
      return invalid("Truncated content of a {} tensor", name_of(dtype));
    TRY(set_object(t, i, std::move(bytes)));
  }
  return t;
}

void to_proto(const ResourceHandle& handle, wire::ResourceHandleProto* proto) {
  proto->set_device(handle.device);
  proto->set_container(handle.container);
  proto->set_name(handle.name);
  proto->set_hash_code(handle.hash_code != 0 || handle.type_name.empty() ? handle.hash_code : hash64(handle.type_name));
  proto->set_maybe_type_name(handle.type_name);
  for (const auto& [dtype, shape] : handle.dtypes_and_shapes) {
    auto* pair = proto->add_dtypes_and_shapes();
    pair->set_dtype(static_cast<wire::DataType>(dtype));
    to_proto(shape, pair->mutable_shape());
  }
}

StatusOr<ResourceHandle> handle_from_proto(const wire::ResourceHandleProto& proto) {
  ResourceHandle handle{proto.device(), proto.container(), proto.name(), proto.hash_code(), proto.maybe_type_name(), {}, nullptr};
  for (const auto& pair : proto.dtypes_and_shapes())
    handle.dtypes_and_shapes.emplace_back(static_cast<DType>(pair.dtype()), partial_shape_from_proto(pair.shape()));
  return handle;
}

}  // namespace troupe
