// What can be asked of a dataset without reading it: its options and the size of its batches.
#include <troupe/ops/data/dataset.hpp>

#include <google/protobuf/unknown_field_set.h>

#include <array>
#include <map>

namespace troupe {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

/// Serialized messages one after another are merged when they are parsed: the last number wins, parts of parts are merged.
StatusOr<std::string> merged(const std::string& messages) {
  UnknownFieldSet fields, result;
  if (!fields.ParseFromString(messages)) return invalid("Could not parse serialized_options as valid Options.");
  std::map<int, std::string> parts;
  std::map<int, std::uint64_t> numbers;
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.type() == UnknownField::TYPE_LENGTH_DELIMITED) parts[field.number()] += field.length_delimited();
    else if (field.type() == UnknownField::TYPE_VARINT) numbers[field.number()] = field.varint();
    else return invalid("Could not parse serialized_options as valid Options.");
  }
  for (auto part = parts.begin(); auto& [field, number] : numbers) {
    for (; part != parts.end() && part->first < field; ++part) {
      auto inner = merged(part->second);
      result.AddLengthDelimited(part->first, inner.ok() ? *inner : part->second);
    }
    result.AddVarint(field, number);
  }
  const int last = numbers.empty() ? -1 : numbers.rbegin()->first;
  for (const auto& [field, text] : parts)
    if (field > last) {
      auto inner = merged(text);
      result.AddLengthDelimited(field, inner.ok() ? *inner : text);
    }
  std::string text;
  if (!result.SerializeToString(&text)) return internal("Options cannot be written down");
  return text;
}

/// Those of the inputs first: what is said later wins.
void collect_options(const Dataset& dataset, std::string& all) {
  for (const auto& input : dataset.inputs) collect_options(*input, all);
  all += dataset.options;
}

std::int64_t batch_size(const Dataset& dataset) {
  static constexpr std::array passing{"Prefetch", "Repeat",  "Shuffle", "ShuffleAndRepeat", "Take", "Skip", "Cache",
                                      "Filter",   "Options", "Shard",   "AssertCardinality"};
  if (dataset.batch >= 0) return dataset.batch;
  if (dataset.inputs.empty()) return -1;
  if (std::find(passing.begin(), passing.end(), dataset.kind) != passing.end()) return batch_size(*dataset.inputs[0]);
  if (dataset.kind != "Concatenate") return -1;
  const std::int64_t first = batch_size(*dataset.inputs[0]);
  for (const auto& input : dataset.inputs)
    if (batch_size(*input) != first) return -1;
  return first;
}

}  // namespace

void add_dataset_facts(Registry& ops) {
  ops.add("OptionsDataset", [](Call& call, DatasetIn input, Attr<"serialized_options", std::string> options) -> Status {
    TRY(merged(*options).status());
    Dataset dataset = over(input, "Options");
    dataset.options = *options;
    dataset.open = input->open;
    return give(call, std::move(dataset));
  });
  ops.add("GetOptions", [](Call& call, DatasetIn input) -> Status {
    std::string all;
    collect_options(*input.dataset, all);
    TRY_ASSIGN(std::string options, merged(all));
    call.set_scalar<std::string>(0, std::move(options));
    return absl::OkStatus();
  });
  ops.add("ComputeBatchSize", [](Call& call, DatasetIn input) { call.set_scalar<std::int64_t>(0, batch_size(*input.dataset)); });
}

}  // namespace troupe
