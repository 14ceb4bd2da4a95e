// Elements of datasets squeezed into one variant, and back.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/data/dataset.hpp>

#include <snappy.h>

namespace troupe {
namespace {

constexpr const char* compressed_type = "tensorflow::data::CompressedElement";

struct CompressedElement final : VariantValue {
  std::string type_name() const override { return compressed_type; }
  std::vector<std::string> components;  // each a tensor's wire form under snappy
};

void encode(const VariantValue& value, wire::VariantTensorDataProto* proto) {
  Tensor all = Tensor::vector<std::string>(static_cast<const CompressedElement&>(value).components);
  to_proto(all, proto->add_tensors());
}

StatusOr<std::shared_ptr<const VariantValue>> decode(const wire::VariantTensorDataProto& proto) {
  if (proto.tensors_size() != 1) return invalid("A compressed element is damaged");
  TRY_ASSIGN(const Tensor all, tensor_from_proto(proto.tensors(0)));
  if (all.dtype() != DType::string) return invalid("A compressed element is damaged");
  auto element = std::make_shared<CompressedElement>();
  element->components.assign(all.values<std::string>().begin(), all.values<std::string>().end());
  return element;
}

StatusOr<Tensor> uncompressed(const std::string& component) {
  std::string plain;
  wire::TensorProto proto;
  if (!snappy::Uncompress(component.data(), component.size(), &plain) || !proto.ParseFromString(plain))
    return internal("Failed to uncompress a component of an element");
  return tensor_from_proto(proto);
}

}  // namespace

void add_compressed_elements(Registry& ops) {
  register_variant_codec(compressed_type, encode, decode);
  ops.add("CompressElement", [](Call& call, List components) {
    auto element = std::make_shared<CompressedElement>();
    for (int i = 0; i < components.size(); ++i) {
      wire::TensorProto proto;
      to_proto(components[i], &proto);
      const std::string plain = proto.SerializeAsString();
      snappy::Compress(plain.data(), plain.size(), &element->components.emplace_back());
    }
    call.set_scalar<Variant>(0, Variant{std::move(element)});
  });
  ops.add("UncompressElement", [](Call& call, Any compressed, Elements elements) -> Status {
    if (compressed->size() != 1) return invalid("A compressed element is one variant, not {}", compressed->shape());
    const auto* element = dynamic_cast<const CompressedElement*>(compressed->item<Variant>().value.get());
    if (!element) return invalid("Input does not contain a compressed element.");
    Tuple components;
    for (const std::string& component : element->components) {
      TRY_ASSIGN(Tensor t, uncompressed(component));
      components.push_back(std::move(t));
    }
    if (components.size() != elements->types.size())
      return failed_precondition("Expected {} outputs from uncompress, but got {}", elements->types.size(), components.size());
    for (std::size_t i = 0; i < components.size(); ++i) {
      if (components[i].dtype() != elements->types[i])
        return failed_precondition("Expected a tensor of type {} but got a tensor of type {}", name_of(elements->types[i]),
                                   name_of(components[i].dtype()));
      call.set(static_cast<int>(i), std::move(components[i]));
    }
    return absl::OkStatus();
  });
}

}  // namespace troupe
