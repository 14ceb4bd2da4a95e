// Saving where an iterator stands: how far it has come, and the seeds of what is shuffled. To restore is to go there again.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/data/iterator.hpp>
#include <troupe/ops/data/made.hpp>
#include <troupe/ops/data/seeds.hpp>

#include <algorithm>
#include <array>

namespace troupe {
namespace {

constexpr const char* state_type = "tensorflow::Iterator";

struct IteratorState final : VariantValue {
  std::string type_name() const override { return state_type; }
  Tensor numbers;  // answers given, then pairs of seeds
};

void encode(const VariantValue& value, wire::VariantTensorDataProto* proto) {
  proto->set_metadata("troupe");
  to_proto(static_cast<const IteratorState&>(value).numbers, proto->add_tensors());
}

StatusOr<std::shared_ptr<const VariantValue>> decode(const wire::VariantTensorDataProto& proto) {
  auto state = std::make_shared<IteratorState>();
  if (proto.metadata() != "troupe" || proto.tensors_size() != 1) return invalid("The state of an iterator was saved by somebody else");
  TRY_ASSIGN(state->numbers, tensor_from_proto(proto.tensors(0)));
  if (state->numbers.dtype() != DType::i64 || state->numbers.rank() != 1 || state->numbers.size() % 2 != 1)
    return invalid("The state of an iterator is damaged");
  return state;
}

/// The generators of all shuffles that a dataset is made of, always in the same order.
void collect(const Dataset& dataset, std::vector<std::shared_ptr<SeedGenerator>>& all) {
  if (dataset.seeds) all.push_back(dataset.seeds);
  for (const auto& input : dataset.inputs) collect(*input, all);
}

/// Whether nothing is kept of the inputs: many let go of them at their end, shuffles have none before they begin.
bool without_inputs(const Dataset& dataset, const Pass& pass) {
  static constexpr std::array letting_go{"Concatenate",
                                         "DirectedInterleave",
                                         "Filter",
                                         "FlatMap",
                                         "IgnoreErrors",
                                         "LegacyParallelInterleave",
                                         "PaddedBatch",
                                         "Repeat",
                                         "Shard",
                                         "Shuffle",
                                         "ShuffleAndRepeat",
                                         "Skip",
                                         "Take",
                                         "TakeWhile",
                                         "Unbatch",
                                         "Window",
                                         "Zip"};
  static constexpr std::array beginning_late{"Shuffle", "ShuffleAndRepeat", "Snapshot"};
  auto among = [&](const auto& kinds) { return std::find(kinds.begin(), kinds.end(), dataset.kind) != kinds.end(); };
  return (pass.ended() && among(letting_go)) || (!pass.ended() && pass.given() == 0 && among(beginning_late));
}

/// Refuses what keeps a state elsewhere.
Status check_state(const Dataset& dataset, const Pass& pass) {
  TRY(check_functions(dataset));
  if (without_inputs(dataset, pass)) return absl::OkStatus();
  for (const auto& input : dataset.inputs) TRY(check_state(*input, pass));
  return absl::OkStatus();
}

Status restore(DataIterator& iterator, const Tensor& serialized) {
  if (!iterator.pass())
    return failed_precondition(
        "Restore() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this "
        "iterator before restoring it.");
  if (serialized.dtype() != DType::variant || serialized.size() != 1)
    return invalid("The state of an iterator is one variant, not {}", serialized.shape());
  const auto* state = dynamic_cast<const IteratorState*>(serialized.item<Variant>().value.get());
  if (!state) return invalid("Tensor must hold the state of an iterator.");
  const auto numbers = state->numbers.values<std::int64_t>();
  const DatasetPtr dataset = iterator.pass()->dataset();
  std::vector<std::shared_ptr<SeedGenerator>> generators;
  collect(*dataset, generators);
  if (numbers.size() != 1 + 2 * generators.size()) return invalid("The state belongs to an iterator of another dataset");
  for (std::size_t i = 0; i < generators.size(); ++i) generators[i]->restart({numbers[1 + 2 * i], numbers[2 + 2 * i]});
  iterator.replace(std::make_shared<Pass>(dataset, numbers[0]));
  return absl::OkStatus();
}

}  // namespace

void add_iterator_checkpoints(Registry& ops) {
  register_variant_codec(state_type, encode, decode);
  ops.add("SerializeIterator", [](Call& call, Held<DataIterator> iterator, Attr<"external_state_policy", std::int64_t> policy) -> Status {
    if (!iterator->pass())
      return failed_precondition(
          "Save() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this "
          "iterator "
          "before saving it.");
    constexpr std::int64_t refuse = 2;
    if (*policy == refuse) TRY(check_state(*iterator->pass()->dataset(), *iterator->pass()));
    std::vector<std::int64_t> numbers{iterator->pass()->given()};
    std::vector<std::shared_ptr<SeedGenerator>> generators;
    collect(*iterator->pass()->dataset(), generators);
    for (const auto& generator : generators) {
      numbers.push_back(generator->seeds().first);
      numbers.push_back(generator->seeds().second);
    }
    auto state = std::make_shared<IteratorState>();
    state->numbers = Tensor::vector<std::int64_t>(numbers);
    call.alloc<Variant>(0, Shape{1})[0] = Variant{std::move(state)};
    return absl::OkStatus();
  });
  ops.add("DeserializeIterator", [](Call&, Held<DataIterator> iterator, Any serialized) -> Status {
    const Status restored = restore(*iterator.object, serialized.tensor);
    if (restored.ok()) return restored;
    return make_status(
        restored.code(),
        fmt::format("Failed to restore dataset iterator from checkpoint: {}. Make sure the dataset definition has not changed between the "
                    "process that saved the checkpoint and the process that is restoring it.",
                    text_of(restored)));
  });
}

}  // namespace troupe
