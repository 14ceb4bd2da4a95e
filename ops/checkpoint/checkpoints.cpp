// Ops on checkpoints of version 2.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/checkpoint/bundle.hpp>
#include <troupe/ops/checkpoint/slice_table.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <numeric>

namespace troupe {
namespace {

Status check_names(const In<std::string>& prefix, const In<std::string>& names, const In<std::string>& slices) {
  if (prefix.size() != 1) return invalid("Input prefix should have a single element, got {} instead.", prefix.size());
  if (names.dims() != 1 || slices.dims() != 1)
    return invalid("Input tensor_names and shape_and_slices should be an 1-D tensors, got {} and {} instead.", names.shape(), slices.shape());
  if (names.size() != slices.size())
    return invalid("tensor_names and shape_and_slices have different number of elements: {} vs. {}", names.size(), slices.size());
  if (names.size() > std::numeric_limits<std::int32_t>::max()) return invalid("Too many inputs to the op");
  return absl::OkStatus();
}

Status save_one(BundleWriter& writer, const std::string& name, const std::string& spec, const Tensor& value) {
  if (spec.empty()) return writer.add(name, value);
  TRY_ASSIGN(const auto parsed, ShapeAndSlice::parse(spec));
  if (parsed.part != value.shape())
    return invalid("Slice in shape_and_slice specification does not match the shape of the tensor to  save: {}, tensor: {}", spec, value.shape());
  return writer.add_slice(name, parsed.full, parsed.slice, value);
}

/// Tensors of a checkpoint in the order in which they lie in its files.
StatusOr<std::vector<std::size_t>> by_place(BundleReader& reader, const In<std::string>& names, std::vector<wire::BundleEntryProto>& entries) {
  for (const std::string& name : names.values()) {
    TRY_ASSIGN(entries.emplace_back(), reader.entry(name));
  }
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(entries[a].shard_id(), entries[a].offset()) < std::pair(entries[b].shard_id(), entries[b].offset());
  });
  return order;
}

Status check_types(const In<std::string>& names, const std::vector<DType>& types, const std::vector<wire::BundleEntryProto>& entries,
                   const std::vector<std::size_t>& order) {
  std::vector<std::string> wrong;
  for (const std::size_t i : order)
    if (const auto stored = static_cast<DType>(entries[i].dtype()); stored != types[i])
      wrong.push_back(fmt::format("tensor_name = {}; expected dtype {} does not equal original dtype {}", names[static_cast<std::int64_t>(i)],
                                  name_of(types[i]), name_of(stored)));
  return wrong.empty() ? absl::OkStatus() : invalid("{}", fmt::join(wrong, "\n"));
}

StatusOr<Tensor> restore_one(BundleReader& reader, const std::string& name, const std::string& spec, const wire::BundleEntryProto& entry) {
  if (spec.empty()) return reader.read(name);
  TRY_ASSIGN(const auto parsed, ShapeAndSlice::parse(spec));
  TRY_ASSIGN(const Shape stored, shape_from_proto(entry.shape()));
  if (stored != parsed.full)
    return invalid("tensor_name = {}; shape in shape_and_slice spec {} does not match the shape stored in checkpoint: {}", name, parsed.full, stored);
  return reader.read_slice(name, parsed.slice);
}

}  // namespace

void add_checkpoints(Registry& ops) {
  ops.io("SaveV2", [](Call& call, In<std::string> prefix, In<std::string> names, In<std::string> slices, List tensors) -> Status {
    TRY(check_names(prefix, names, slices));
    if (tensors.size() != names.size()) return invalid("Got {} tensor names but {} tensors.", names.size(), tensors.size());
    TRY_ASSIGN(BundleWriter writer, BundleWriter::create(prefix[0]));
    for (int i = 0; i < tensors.size(); ++i) {
      TRY(save_one(writer, names[i], slices[i], tensors[i]));
      call.input_value(tensors.first + i).tensor = Tensor();  // an update need not copy what is written
    }
    return writer.finish();
  });

  ops.io("RestoreV2",
         [](Call& call, In<std::string> prefix, In<std::string> names, In<std::string> slices, Attr<"dtypes", std::vector<DType>> types) -> Status {
           TRY(check_names(prefix, names, slices));
           if (static_cast<std::int64_t>(types->size()) != names.size())
             return invalid("Got {} tensor names, but {} expected dtypes.", names.size(), types->size());
           const auto found = matching_files(bundle::index_file(prefix[0]));
           if (!found.ok() || found->empty()) {
             TRY_ASSIGN(SliceTableReader reader, SliceTableReader::open(prefix[0]));
             for (std::int64_t i = 0; i < names.size(); ++i) {
               TRY_ASSIGN(Tensor value, reader.restore(names[i], slices[i], (*types)[static_cast<std::size_t>(i)]));
               call.set(static_cast<int>(i), std::move(value));
             }
             return absl::OkStatus();
           }
           TRY_ASSIGN(BundleReader reader, BundleReader::open(prefix[0]));
           std::vector<wire::BundleEntryProto> entries;
           TRY_ASSIGN(const auto order, by_place(reader, names, entries));
           TRY(check_types(names, *types, entries, order));
           for (const std::size_t i : order) {
             const auto at = static_cast<std::int64_t>(i);
             TRY_ASSIGN(Tensor value, restore_one(reader, names[at], slices[at], entries[i]));
             call.set(static_cast<int>(i), std::move(value));
           }
           return absl::OkStatus();
         });

  ops.io("MergeV2Checkpoints",
         [](Call&, In<std::string> prefixes, In<std::string> destination, Attr<"delete_old_dirs", bool> delete_old_dirs,
            Attr<"allow_missing_files", bool> allow_missing) -> Status {
           if (prefixes.dims() != 1) return invalid("Input checkpoint_prefixes should be an 1-D tensor, got {} instead.", prefixes.shape());
           if (destination.dims() != 0) return invalid("Input destination_prefix should be a scalar tensor, got {} instead.", destination.shape());
           const std::string& merged = destination[0];
           TRY(merge_bundles({prefixes.values().begin(), prefixes.values().end()}, merged, *allow_missing));
           if (!*delete_old_dirs) return absl::OkStatus();
           for (const std::string& prefix : prefixes.values())
             if (directory_of(prefix) != directory_of(merged)) delete_directory(std::string(directory_of(prefix))).IgnoreError();
           return absl::OkStatus();
         });
}

}  // namespace troupe
