// Bytes as tensors and tensors as bytes.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/strings/base64.hpp>

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

/// Turns the bytes of each element round; a complex number is two elements.
void swap_bytes(char* bytes, std::size_t size, DType dtype) {
  const std::size_t element = size_of(dtype) / (dtype == DType::c64 || dtype == DType::c128 ? 2 : 1);
  if (element > 1)
    for (std::size_t i = 0; i + element <= size; i += element) std::reverse(bytes + i, bytes + i + element);
}

void normalise_bools(Tensor& t) {
  // Any byte may stand in the text, but a bool is 0 or 1.
  if (t.dtype() == DType::boolean)
    for (std::int64_t i = 0; i < t.size(); ++i) t.mutable_data<std::uint8_t>()[i] = t.data<std::uint8_t>()[i] != 0;
}

Status decode_raw(Call& call, const In<std::string>& x, DType dtype, bool little_endian) {
  const std::size_t width = size_of(dtype);
  Shape shape = x.shape();
  if (x.size() == 0) {
    shape.add_dim(0);
    call.alloc(0, dtype, shape);
    return absl::OkStatus();
  }
  const std::size_t size = x[0].size();
  for (std::int64_t i = 0; i < x.size(); ++i)
    if (x[i].size() != size)
      return invalid("DecodeRaw requires input strings to all be the same size, but element {} has size {} != {}", i, size, x[i].size());
  if (size % width != 0) return invalid("Input to DecodeRaw has length {} that is not a multiple of {}, the size of {}", size, width, name_of(dtype));
  shape.add_dim(static_cast<std::int64_t>(size / width));
  Tensor& out = call.alloc(0, dtype, shape);
  if (out.size() == 0) return absl::OkStatus();
  char* to = out.mutable_data<char>();
  for (std::int64_t i = 0; i < x.size(); ++i) std::memcpy(to + static_cast<std::size_t>(i) * size, x[i].data(), size);
  if (!little_endian) swap_bytes(to, size * static_cast<std::size_t>(x.size()), dtype);
  normalise_bools(out);
  return absl::OkStatus();
}

Status decode_padded(Call& call, const In<std::string>& x, const In<std::int32_t>& length, DType dtype, bool little_endian) {
  if (length.dims() != 0) return invalid("k must be scalar, got shape {}", length.shape());
  const std::int32_t size = length[0];
  const auto width = static_cast<std::int32_t>(size_of(dtype));
  if (size <= 0) return invalid("fixed_length ({}) must be greater than zero.", size);
  if (size % width != 0) return invalid("fixed_length ({}) must be a multiple of the size of out_type ({})", size, width);
  Shape shape = x.shape();
  shape.add_dim(size / width);
  TRY_ASSIGN(shape, Shape::checked(shape.dims()));
  Tensor& out = call.alloc(0, dtype, shape);
  if (out.size() == 0) return absl::OkStatus();
  char* to = out.mutable_data<char>();
  std::memset(to, 0, out.bytes());
  for (std::int64_t i = 0; i < x.size(); ++i, to += size) {
    std::memcpy(to, x[i].data(), std::min<std::size_t>(x[i].size(), static_cast<std::size_t>(size)));
    if (!little_endian) swap_bytes(to, static_cast<std::size_t>(size), dtype);
  }
  return absl::OkStatus();
}

Status parse_tensor(Call& call, const In<std::string>& x, DType dtype) {
  if (x.dims() != 0) return invalid("Expected `serialized` to be a scalar, got shape: {}", x.shape());
  wire::TensorProto proto;
  if (!proto.ParseFromString(x[0])) return invalid("Could not parse `serialized` as TensorProto, base64: {}", encode_base64(x[0], true));
  auto parsed = tensor_from_proto(proto);
  if (!parsed.ok() || !parsed->valid()) return invalid("Cannot parse tensor from proto: {}", proto.ShortDebugString());
  if (parsed->dtype() != dtype) return invalid("Type mismatch between parsed tensor ({}) and dtype ({})", name_of(parsed->dtype()), name_of(dtype));
  call.set(0, std::move(*parsed));
  return absl::OkStatus();
}

/// The lengths of handles, then the handles. TensorFlow fills one message for all of them, in which dtypes and shapes add up.
std::string handles_in_bytes(const Tensor& x) {
  wire::ResourceHandleProto proto;
  std::string bytes, lengths;
  for (const ResourceHandle& handle : x.values<ResourceHandle>()) {
    to_proto(handle, &proto);
    const std::string one = proto.SerializeAsString();
    std::uint64_t length = one.size();
    for (; length >= 0x80; length >>= 7) lengths.push_back(static_cast<char>(length | 0x80));
    lengths.push_back(static_cast<char>(length));
    bytes += one;
  }
  return lengths + bytes;
}

Status serialize_tensor(Call& call, const Tensor& x) {
  wire::TensorProto proto;
  if (x.dtype() == DType::string) {
    proto.set_dtype(wire::DT_STRING);
    to_proto(x.shape(), proto.mutable_tensor_shape());
    for (const std::string& text : x.values<std::string>()) proto.add_string_val(text);
  } else {
    to_proto(x, &proto);
    if (x.dtype() == DType::resource && x.size() > 0) proto.set_tensor_content(handles_in_bytes(x));
  }
  // Present even when empty, as a scalar's shape is.
  proto.mutable_tensor_shape();
  call.set_scalar(0, proto.SerializeAsString());
  return absl::OkStatus();
}

}  // namespace

void add_raw(Registry& ops) {
  add_for(ops, "DecodeRaw",
          {{"out_type", list_of(types<half, bfloat16, float, double, std::int32_t, std::uint16_t, std::uint8_t, std::int16_t, std::int8_t,
                                      std::int64_t, complex64, complex128, bool>{})}},
          [](Call& call, In<std::string> x, Attr<"out_type", DType> dtype, Attr<"little_endian", bool> little) {
            return decode_raw(call, x, *dtype, *little);
          });
  add_for(
      ops, "DecodePaddedRaw",
      {{"out_type", list_of(types<bfloat16, float, double, std::int32_t, std::uint16_t, std::uint8_t, std::int16_t, std::int8_t, std::int64_t>{})}},
      [](Call& call, In<std::string> x, In<std::int32_t> length, Attr<"out_type", DType> dtype, Attr<"little_endian", bool> little) {
        return decode_padded(call, x, length, *dtype, *little);
      });
  ops.add("ParseTensor", [](Call& call, In<std::string> x, Attr<"out_type", DType> dtype) { return parse_tensor(call, x, *dtype); });
  ops.add("SerializeTensor", [](Call& call, Any x) { return serialize_tensor(call, x.tensor); });
}

}  // namespace troupe
