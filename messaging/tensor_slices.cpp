// Tensors in slices.
#include <troupe/messaging/tensor_slices.hpp>

#include <troupe/wire/named_tensor.pb.h>
#include <troupe/messaging/tensor_codec.hpp>

#include <algorithm>
#include <cstring>
#include <optional>

namespace troupe {
namespace {

/// Below this a copy costs less than keeping a slice that may be much larger than the tensor.
constexpr std::size_t borrow_from = 4096;

enum TensorProtoField { dtype_number = 1, shape_number = 2, version_number = 3, content_number = 4 };

std::size_t alignment_of(DType dtype) {
  switch (dtype) {
    case DType::c64: return alignof(float);
    case DType::c128: return alignof(double);
    default: return size_of(dtype);
  }
}

bool is_plain(DType dtype) { return size_of(dtype) > 0 && !is_object(dtype) && !is_ref(dtype); }

/// The parts of a TensorProto that the short way understands; anything else is left to protobuf.
struct Parts {
  DType dtype = DType::invalid;
  std::optional<wire::TensorShapeProto> shape;
  std::optional<SliceReader> content;
  bool ordinary = true;
};

bool read_part(SliceReader& bytes, std::uint32_t tag, Parts& parts) {
  std::uint64_t number = 0;
  switch (tag) {
    case varint_field(dtype_number):
      if (!bytes.read_varint(&number)) return false;
      parts.dtype = static_cast<DType>(static_cast<std::int32_t>(number));
      return true;
    case bytes_field(shape_number):
      if (!parts.shape) parts.shape.emplace();
      return bytes.read_message(&*parts.shape);
    case bytes_field(content_number): return bytes.read_bytes(&parts.content.emplace(bytes));
    case varint_field(version_number): return bytes.skip_value(tag);
    default: return parts.ordinary = false, bytes.skip_value(tag);
  }
}

bool read_parts(SliceReader bytes, Parts& parts) {
  return bytes.read_fields([&](std::uint32_t tag) { return read_part(bytes, tag, parts); });
}

Tensor tensor_of_content(DType dtype, Shape shape, SliceReader content) {
  const std::size_t size = content.left();
  const char* data = content.contiguous();
  const bool aligned = data != nullptr && reinterpret_cast<std::uintptr_t>(data) % alignment_of(dtype) == 0;
  // A received bool may be any byte, which C++ does not forgive: those are copied and made 0 or 1.
  if (size >= borrow_from && aligned && dtype != DType::boolean)
    return Tensor(dtype, std::move(shape), borrow_buffer(data, size, [slice = content.slice()] {}));
  Tensor tensor(dtype, std::move(shape));
  char* out = tensor.mutable_data<char>();
  content.copy_to(out, size);
  if (dtype == DType::boolean) std::transform(out, out + size, out, [](char c) { return static_cast<char>(c != 0); });
  return tensor;
}

StatusOr<Tensor> read_by_protobuf(SliceReader bytes) {
  wire::TensorProto proto;
  SliceInputStream stream(bytes);
  if (!proto.ParseFromZeroCopyStream(&stream)) return unreadable();
  return tensor_from_proto(proto);
}

/// For a tensor that comes in two parts, which protobuf merges.
StatusOr<NamedTensor> read_named_by_protobuf(SliceReader bytes) {
  wire::NamedTensorProto proto;
  SliceInputStream stream(bytes);
  if (!proto.ParseFromZeroCopyStream(&stream)) return unreadable();
  TRY_ASSIGN(Tensor tensor, tensor_from_proto(proto.tensor()));
  return NamedTensor{proto.name(), std::move(tensor)};
}

}  // namespace

Status unreadable() { return internal("Unable to parse request"); }

StatusOr<Tensor> read_tensor(SliceReader bytes) {
  Parts parts;
  if (!read_parts(bytes, parts)) return unreadable();
  if (!parts.ordinary || !parts.content || parts.content->left() == 0 || !is_plain(parts.dtype)) return read_by_protobuf(bytes);
  TRY_ASSIGN(Shape shape, shape_from_proto(parts.shape ? *parts.shape : wire::TensorShapeProto()));
  const std::size_t size = parts.content->left();
  if (size % size_of(parts.dtype) != 0 || static_cast<std::size_t>(shape.elements()) != size / size_of(parts.dtype)) return read_by_protobuf(bytes);
  try {
    return tensor_of_content(parts.dtype, std::move(shape), *parts.content);
  } catch (const OutOfMemory& e) {
    return resource_exhausted("OOM when allocating tensor with shape{} and type {}", e.shape, name_of(e.dtype));
  }
}

StatusOr<NamedTensor> read_named_tensor(SliceReader bytes) {
  const SliceReader whole = bytes;
  NamedTensor named;
  std::optional<SliceReader> tensor;
  bool repeated = false;
  const bool read = bytes.read_fields([&](std::uint32_t tag) {
    if (tag == bytes_field(1)) return bytes.read_text(&named.name);
    if (tag != bytes_field(2)) return bytes.skip_value(tag);
    repeated = tensor.has_value();
    return bytes.read_bytes(&tensor.emplace(bytes));
  });
  if (!read) return unreadable();
  if (repeated) return read_named_by_protobuf(whole);
  TRY_ASSIGN(named.tensor, tensor ? read_tensor(*tensor) : tensor_from_proto({}));
  return named;
}

TensorField::TensorField(const Tensor& tensor, Style style) : tensor_(tensor) {
  if (is_object(tensor.dtype())) objects_ = encode_objects(tensor);
  content_size_ = is_object(tensor.dtype()) ? objects_.size() : tensor.bytes();
  if (tensor.valid()) {
    append_varint(head_, varint_field(dtype_number));
    append_varint(head_, static_cast<std::uint64_t>(tensor.dtype()));
  }
  if (style == Style::as_protobuf || tensor.rank() > 0) {
    wire::TensorShapeProto shape;
    to_proto(tensor.shape(), &shape);
    append_varint(head_, bytes_field(shape_number));
    append_varint(head_, shape.ByteSizeLong());
    shape.AppendToString(&head_);
  }
  if (style == Style::as_rendezvous || content_size_ > 0) {
    append_varint(head_, bytes_field(content_number));
    append_varint(head_, content_size_);
  }
}

std::size_t TensorField::size() const { return head_.size() + content_size_; }

void TensorField::write(SliceWriter& out) const {
  out.raw(head_);
  if (is_object(tensor_.dtype())) out.raw(objects_);
  else out.memory(tensor_);
}

void write_named_tensor(SliceWriter& out, int field, const NamedTensor& named) {
  const TensorField tensor(named.tensor, TensorField::Style::as_protobuf);
  const std::size_t name_size = named.name.empty() ? 0 : 1 + varint_size(named.name.size()) + named.name.size();
  out.begin_bytes(field, name_size + 1 + varint_size(tensor.size()) + tensor.size());
  out.optional_text(1, named.name);
  out.begin_bytes(2, tensor.size());
  tensor.write(out);
}

}  // namespace troupe
