// Maps from tensors to tensors as values of variants.
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/containers/variant_arithmetic.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/resources/tensor_list.hpp>
#include <troupe/ops/resources/variant_tensors.hpp>

#include <map>

namespace troupe {
namespace {

struct MapEntry {
  Tensor key, value;
};

/// Immutable once others see it.
class TensorMap final : public VariantValue {
 public:
  std::string type_name() const override { return "tensorflow::TensorMap"; }

  std::map<std::string, MapEntry> entries;  // by what tells keys apart
};

/// Type, shape and elements as one text.
std::string identity_of(const Tensor& key) {
  std::string text = fmt::format("{}{}:", name_of(key.dtype()), key.shape());
  if (is_object(key.dtype())) return text + encode_objects(key);
  return text.append(static_cast<const char*>(key.raw()), key.bytes());
}

void encode_map(const VariantValue& value, wire::VariantTensorDataProto* proto) {
  for (const auto& [identity, entry] : static_cast<const TensorMap&>(value).entries) {
    put_tensors({&entry.key, 1}, proto);
    put_tensors({&entry.value, 1}, proto);
  }
}

StatusOr<std::shared_ptr<const VariantValue>> decode_map(const wire::VariantTensorDataProto& proto) {
  TRY_ASSIGN(const std::vector<Tensor> tensors, get_tensors(proto));
  if (tensors.size() % 2 != 0) return invalid("A map of tensors has a key without a value");
  auto map = std::make_shared<TensorMap>();
  for (std::size_t i = 0; i < tensors.size(); i += 2) map->entries.insert_or_assign(identity_of(tensors[i]), MapEntry{tensors[i], tensors[i + 1]});
  return map;
}

VariantResult zeros_of_map(const VariantValue&) { return std::make_shared<TensorMap>(); }

/// All keys of both; values of keys that both have are added.
VariantResult sum_of_maps(const VariantValue& a, const VariantValue& b) {
  auto sum = std::make_shared<TensorMap>(static_cast<const TensorMap&>(a));
  for (const auto& [identity, entry] : static_cast<const TensorMap&>(b).entries) {
    const auto [at, fresh] = sum->entries.try_emplace(identity, entry);
    if (fresh) continue;
    TRY_ASSIGN(at->second.value, add_tensors(entry.value, at->second.value));
  }
  return sum;
}

/// A parameter: an input that is a scalar variant with a map in it.
struct MapIn {
  const TensorMap& map;
  const TensorMap* operator->() const { return &map; }
};

StatusOr<const TensorMap*> map_at(const Call& call, int input) {
  const Tensor& t = call.in(input);
  if (t.dtype() != DType::variant) return detail::wrong_dtype(call, input, DType::variant);
  if (t.rank() != 0) return invalid("Input map must be a scalar. Saw: {}", t.shape());
  const auto* map = dynamic_cast<const TensorMap*>(t.item<Variant>().value.get());
  if (!map) return invalid("Input handle is not a map. Saw: '{}'", show_variant(t.item<Variant>()));
  return map;
}

/// The map of input 0 to be changed: itself where nobody else has it, otherwise a copy. Output 0 takes it over.
TensorMap& map_to_change(Call& call) {
  Tensor& t = call.input_value(0).tensor;
  if (t.unique() && t.item<Variant>().value.use_count() == 1) {
    call.set(0, std::move(t));
    t = Tensor();
  } else {
    call.set(0, Tensor::scalar<Variant>(Variant{std::make_shared<TensorMap>(static_cast<const TensorMap&>(*t.item<Variant>().value))}));
  }
  // Nobody else has it.
  return const_cast<TensorMap&>(static_cast<const TensorMap&>(*call.out(0).item<Variant>().value));
}

Status stack_keys(Call& call, const TensorMap& map, DType dtype) {
  if (map.entries.empty()) return invalid("TensorMapStackKeys cannot be called on empty map.");
  const Shape element = map.entries.begin()->second.key.shape();
  Shape shape = element;
  shape.insert_dim(0, static_cast<std::int64_t>(map.entries.size()));
  Tensor keys(dtype, shape);
  std::int64_t at = 0;
  for (const auto& [identity, entry] : map.entries) {
    if (entry.key.dtype() != dtype) return invalid("Key does not match requested dtype.");
    if (entry.key.shape() != element) return invalid("Keys must all have the same shape.");
    copy_into(entry.key, keys, at);
    at += entry.key.size();
  }
  call.set(0, std::move(keys));
  return absl::OkStatus();
}

}  // namespace

template <>
struct Param<MapIn> : InputParam {
  static Status check(int at, Call& call) { return map_at(call, at).status(); }
  static MapIn get(int at, Call& call) { return {**map_at(call, at)}; }
};

void add_tensor_maps(Registry& ops) {
  register_variant_codec("tensorflow::TensorMap", encode_map, decode_map);
  let_compute("tensorflow::TensorMap", {.zeros = zeros_of_map, .add = sum_of_maps});
  ops.add("EmptyTensorMap", [](Call& call) { call.set_scalar<Variant>(0, Variant{std::make_shared<TensorMap>()}); });
  ops.add("TensorMapSize", [](Call& call, MapIn map) { call.set_scalar<std::int32_t>(0, static_cast<std::int32_t>(map->entries.size())); });
  ops.add("TensorMapHasKey", [](Call& call, MapIn map, Any key) { call.set_scalar<bool>(0, map->entries.contains(identity_of(key.tensor))); });
  ops.add("TensorMapLookup", [](Call& call, MapIn map, Any key, Attr<"value_dtype", DType> dtype) -> Status {
    const auto found = map->entries.find(identity_of(key.tensor));
    if (found == map->entries.end()) return invalid("Trying to lookup non-existent key. Could not find key \"{}\".", summarize(key.tensor, 100));
    const Tensor& value = found->second.value;
    if (value.dtype() != *dtype) return invalid("Value of the key is {}, expected {}", name_of(value.dtype()), name_of(*dtype));
    call.set(0, value);
    return absl::OkStatus();
  });
  ops.add("TensorMapInsert", [](Call& call, MapIn, Any key, Any value) {
    const MapEntry entry{key.tensor, value.tensor};
    map_to_change(call).entries.insert_or_assign(identity_of(entry.key), entry);
  });
  ops.add("TensorMapErase", [](Call& call, MapIn map, Any key) -> Status {
    const std::string identity = identity_of(key.tensor);
    if (!map->entries.contains(identity)) return invalid("Trying to erase non-existent item. Could not find key \"{}\".", summarize(key.tensor, 100));
    map_to_change(call).entries.erase(identity);
    return absl::OkStatus();
  });
  ops.add("TensorMapStackKeys", [](Call& call, MapIn map, Attr<"key_dtype", DType> dtype) { return stack_keys(call, map.map, *dtype); });
}

}  // namespace troupe
