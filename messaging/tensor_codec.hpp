// Tensors to and from TensorProto.
#pragma once

#include <troupe/wire/tensor.pb.h>
#include <troupe/messaging/tensor.hpp>

#include <string>

namespace troupe {

StatusOr<Shape> shape_from_proto(const wire::TensorShapeProto& proto);
PartialShape partial_shape_from_proto(const wire::TensorShapeProto& proto);
void to_proto(const Shape& shape, wire::TensorShapeProto* proto);
void to_proto(const PartialShape& shape, wire::TensorShapeProto* proto);

/// Accepts raw content and typed fields; fewer values than elements repeat the last one, none means zeros.
StatusOr<Tensor> tensor_from_proto(const wire::TensorProto& proto);
/// Writes raw content, strings as a list of lengths and bytes.
void to_proto(const Tensor& tensor, wire::TensorProto* proto);

/// The raw content of a tensor whose elements are objects: varint lengths, then all bytes.
std::string encode_objects(const Tensor& tensor);
StatusOr<Tensor> decode_objects(DType dtype, Shape shape, std::string_view content);

void to_proto(const ResourceHandle& handle, wire::ResourceHandleProto* proto);
StatusOr<ResourceHandle> handle_from_proto(const wire::ResourceHandleProto& proto);

/// Variants register how their type is rebuilt from its wire form; set once at start by the families that own the types.
using VariantDecoder = StatusOr<std::shared_ptr<const VariantValue>> (*)(const wire::VariantTensorDataProto&);
using VariantEncoder = void (*)(const VariantValue&, wire::VariantTensorDataProto*);
void register_variant_codec(const std::string& type_name, VariantEncoder encode, VariantDecoder decode);

}  // namespace troupe
