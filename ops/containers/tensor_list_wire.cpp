// Lists of tensors on their way to other tasks.
#include <troupe/ops/containers/tensor_lists.hpp>
#include <troupe/ops/resources/variant_tensors.hpp>

namespace troupe {
namespace {

void put_varint(std::string& out, std::uint64_t v) {
  for (; v >= 0x80; v >>= 7) out.push_back(static_cast<char>(v | 0x80));
  out.push_back(static_cast<char>(v));
}

StatusOr<std::uint64_t> get_varint(std::string_view& text) {
  std::uint64_t v = 0;
  for (int shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    v |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return v;
  }
  return invalid("Malformed metadata of a tensor list");
}

/// Metadata: how many elements were never set and which, the dtype, the limit, the shape of an element. Then the set ones.
void encode_list(const VariantValue& value, wire::VariantTensorDataProto* proto) {
  const auto& list = static_cast<const TensorList&>(value);
  std::string unset;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < list.tensors.size(); ++i) {
    if (list.tensors[i].valid()) {
      to_proto(list.tensors[i], proto->add_tensors());
      continue;
    }
    put_varint(unset, i);
    ++count;
  }
  std::string metadata;
  put_varint(metadata, count);
  metadata += unset;
  put_varint(metadata, static_cast<std::uint64_t>(list.dtype));
  put_varint(metadata, static_cast<std::uint64_t>(std::int64_t{list.most}));
  wire::TensorShapeProto shape;
  to_proto(list.element, &shape);
  proto->set_metadata(metadata + shape.SerializeAsString());
}

StatusOr<std::shared_ptr<const VariantValue>> decode_list(const wire::VariantTensorDataProto& proto) {
  std::string_view text = proto.metadata();
  TRY_ASSIGN(const std::uint64_t count, get_varint(text));
  if (count > text.size()) return invalid("Malformed metadata of a tensor list");
  TRY_ASSIGN(std::vector<Tensor> set, get_tensors(proto));
  std::vector<bool> unset(static_cast<std::size_t>(count) + set.size(), false);
  for (std::uint64_t i = 0; i < count; ++i) {
    TRY_ASSIGN(const std::uint64_t at, get_varint(text));
    if (at >= unset.size() || unset[at]) return invalid("Malformed metadata of a tensor list");
    unset[at] = true;
  }
  auto list = std::make_shared<TensorList>();
  TRY_ASSIGN(const std::uint64_t dtype, get_varint(text));
  TRY_ASSIGN(const std::uint64_t most, get_varint(text));
  wire::TensorShapeProto shape;
  if (!shape.ParseFromArray(text.data(), static_cast<int>(text.size()))) return invalid("Malformed metadata of a tensor list");
  list->dtype = static_cast<DType>(dtype);
  list->most = static_cast<std::int32_t>(most);
  list->element = partial_shape_from_proto(shape);
  auto next = set.begin();
  for (const bool missing : unset) list->tensors.push_back(missing ? Tensor() : std::move(*next++));
  for (const Tensor& t : list->tensors)
    if (t.valid() && t.dtype() != list->dtype) return invalid("A list of {} holds a {}", name_of(list->dtype), name_of(t.dtype()));
  return list;
}

}  // namespace

void let_lists_travel() { register_variant_codec("tensorflow::TensorList", encode_list, decode_list); }

}  // namespace troupe
