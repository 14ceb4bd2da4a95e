// Ops on checkpoints of version 1.
#include <troupe/ops/checkpoint/slice_table.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

/// Without specifications every tensor is saved whole.
Status save(const In<std::string>& file, const In<std::string>& names, const In<std::string>* slices, const List& tensors) {
  if (file.size() != 1) return invalid("Input 0 (filename) must be a string scalar; got a tensor of {}elements", file.size());
  const std::int64_t fixed = slices ? 3 : 2;
  if (names.size() != tensors.size())
    return invalid("Expected totally {} inputs as input #1 (which is a string tensor of saved names) contains {} names, but received {} inputs",
                   names.size() + fixed, names.size(), tensors.size() + fixed);
  if (slices && slices->size() != tensors.size())
    return invalid("Expected {} elements for the tensor shapes and slices but got {}", tensors.size(), slices->size());
  SliceTableWriter writer(file[0]);
  for (int i = 0; i < tensors.size(); ++i) {
    const Tensor& value = tensors[i];
    if (!slices || (*slices)[i].empty()) {
      TRY(writer.add(names[i], value.shape(), TensorSlice(value.rank()), value));
      continue;
    }
    TRY_ASSIGN(const auto parsed, ShapeAndSlice::parse((*slices)[i]));
    if (parsed.part != value.shape())
      return invalid("Slice in shape_and_slice specification does not match the shape of the tensor to  save: {}, tensor: {}", (*slices)[i],
                     value.shape());
    TRY(writer.add(names[i], parsed.full, parsed.slice, value));
  }
  return writer.finish();
}

Status restore(Call& call, const In<std::string>& pattern, const In<std::string>& name, const std::string& slice, DType type) {
  if (pattern.size() != 1) return invalid("Input 0 (file_pattern) must be a string scalar; got a tensor of {} elements", pattern.size());
  if (name.size() < 1) return invalid("Input 1 (file_pattern) must be a have at least 1 elements");
  TRY_ASSIGN(SliceTableReader reader, SliceTableReader::open(pattern[0]));
  TRY_ASSIGN(Tensor value, reader.restore(name[0], slice, type));
  call.set(0, std::move(value));
  return absl::OkStatus();
}

}  // namespace

void add_checkpoints_v1(Registry& ops) {
  ops.io("Save", [](Call&, In<std::string> file, In<std::string> names, List tensors) { return save(file, names, nullptr, tensors); });
  ops.io("SaveSlices", [](Call&, In<std::string> file, In<std::string> names, In<std::string> slices, List tensors) {
    return save(file, names, &slices, tensors);
  });
  ops.io("Restore",
         [](Call& call, In<std::string> pattern, In<std::string> name, Attr<"dt", DType> type) { return restore(call, pattern, name, "", type); });
  ops.io("RestoreSlice", [](Call& call, In<std::string> pattern, In<std::string> name, In<std::string> slice, Attr<"dt", DType> type) -> Status {
    if (slice.size() < 1) return invalid("Input 2 (shape_and_slice) must have at least 1 elements");
    return restore(call, pattern, name, slice[0], type);
  });
}

}  // namespace troupe
