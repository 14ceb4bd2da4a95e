// Tensors that make up one value of a Python class, in one variant: CompositeTensorVariantFromComponents and ToComponents.
#include <troupe/wire/types.pb.h>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/resources/variant_tensors.hpp>

#include <google/protobuf/unknown_field_set.h>

#include <optional>

namespace troupe {
namespace {

class Composite final : public VariantValue {
 public:
  std::string type_name() const override { return "CompositeTensorVariant"; }

  std::string metadata;
  std::uint64_t kind = 0;  // of the class that its metadata describes
  std::vector<Tensor> components;
};

/// The class in the metadata: field 1 of the description that is field 1. Nothing when that is no message.
std::optional<std::uint64_t> kind_in(const std::string& metadata) {
  google::protobuf::UnknownFieldSet outer;
  if (!outer.ParseFromString(metadata)) return std::nullopt;
  std::uint64_t kind = 0;
  for (int i = 0; i < outer.field_count(); ++i) {
    const auto& field = outer.field(i);
    if (field.number() != 1 || field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) continue;
    google::protobuf::UnknownFieldSet inner;
    if (!inner.ParseFromString(field.length_delimited())) return std::nullopt;
    for (int j = 0; j < inner.field_count(); ++j)
      if (inner.field(j).number() == 1 && inner.field(j).type() == google::protobuf::UnknownField::TYPE_VARINT) kind = inner.field(j).varint();
  }
  return kind;
}

void encode_composite(const VariantValue& value, wire::VariantTensorDataProto* proto) {
  const auto& composite = static_cast<const Composite&>(value);
  proto->set_metadata(composite.metadata);
  put_tensors(composite.components, proto);
}

StatusOr<std::shared_ptr<const VariantValue>> decode_composite(const wire::VariantTensorDataProto& proto) {
  auto composite = std::make_shared<Composite>();
  const auto kind = kind_in(proto.metadata());
  if (!kind) return invalid("Error parsing metadata");
  composite->metadata = proto.metadata();
  composite->kind = *kind;
  TRY_ASSIGN(composite->components, get_tensors(proto));
  return composite;
}

std::string kind_name(std::uint64_t kind) {
  static constexpr const char* names[] = {"UNKNOWN",
                                          "SPARSE_TENSOR_SPEC",
                                          "INDEXED_SLICES_SPEC",
                                          "RAGGED_TENSOR_SPEC",
                                          "TENSOR_ARRAY_SPEC",
                                          "DATA_DATASET_SPEC",
                                          "DATA_ITERATOR_SPEC",
                                          "OPTIONAL_SPEC",
                                          "PER_REPLICA_SPEC",
                                          "VARIABLE_SPEC",
                                          "ROW_PARTITION_SPEC",
                                          "",
                                          "REGISTERED_TYPE_SPEC",
                                          "EXTENSION_TYPE_SPEC"};
  return kind < std::size(names) ? names[kind] : "";
}

Status to_components(Call& call, const Tensor& encoded, std::uint64_t kind, const std::vector<DType>& wanted) {
  if (encoded.size() == 0) return invalid("Input `encoded` must not be an empty variant tensor, but got {}", describe(encoded));
  const auto* composite = dynamic_cast<const Composite*>(encoded.item<Variant>().value.get());
  if (!composite) return invalid("The input `encoded` is not a valid CompositeTensorVariant tensor, got {}", describe(encoded));
  if (composite->kind != kind)
    return invalid("Expected a {} (based on `type_spec`), but `encoded` contains a {}", kind_name(kind), kind_name(composite->kind));
  if (composite->components.size() != wanted.size())
    return invalid("Encoded value has {} tensor components; expected {} components based on type_spec", composite->components.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Tensor& component = composite->components[i];
    if (component.dtype() != wanted[i])
      return invalid("Tensor component {} had dtype {}; expected dtype {}", i, wire::DataType_Name(static_cast<wire::DataType>(component.dtype())),
                     wire::DataType_Name(static_cast<wire::DataType>(wanted[i])));
    call.set(static_cast<int>(i), component);
  }
  return absl::OkStatus();
}

}  // namespace

void add_composites(Registry& ops) {
  register_variant_codec("CompositeTensorVariant", encode_composite, decode_composite);
  add_for(ops, "CompositeTensorVariantFromComponents", {}, [](Call& call, List components, Attr<"metadata", std::string> metadata) -> Status {
    const auto kind = kind_in(*metadata);
    if (!kind) return invalid("Error parsing metadata");
    auto composite = std::make_shared<Composite>();
    composite->metadata = *metadata;
    composite->kind = *kind;
    for (int i = 0; i < components.size(); ++i) composite->components.push_back(components[i]);
    call.set_scalar<Variant>(0, Variant{std::move(composite)});
    return absl::OkStatus();
  });
  add_for(ops, "CompositeTensorVariantToComponents", {},
          [](Call& call, Any encoded, Attr<"metadata", std::string> metadata, Attr<"Tcomponents", std::vector<DType>> wanted) -> Status {
            const auto kind = kind_in(*metadata);
            if (!kind) return invalid("Error parsing `metadata`");
            return to_components(call, encoded.tensor, *kind, *wanted);
          });
}

}  // namespace troupe
