// Reading and writing of checkpoints of version 1.
#include <troupe/ops/checkpoint/slice_table.hpp>

#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/checkpoint/ordered_code.hpp>
#include <troupe/ops/files/local_files.hpp>

namespace troupe {
namespace {

constexpr int version = 1;

/// Version 1 keeps values in the fields of their type; shape and type stand in the description.
Status fill(const Tensor& value, wire::TensorProto* proto) {
  const auto each = [&]<class T>(auto&& add) {
    for (const T& v : value.values<T>()) add(v);
    return absl::OkStatus();
  };
  const auto ints = [&]<class T>() { return each.template operator()<T>([&](T v) { proto->add_int_val(v); }); };
  switch (value.dtype()) {
    case DType::f32: return each.operator()<float>([&](float v) { proto->add_float_val(v); });
    case DType::f64: return each.operator()<double>([&](double v) { proto->add_double_val(v); });
    case DType::i64: return each.operator()<std::int64_t>([&](std::int64_t v) { proto->add_int64_val(v); });
    case DType::boolean: return each.operator()<bool>([&](bool v) { proto->add_bool_val(v); });
    case DType::f16: return each.operator()<std::uint16_t>([&](std::uint16_t v) { proto->add_half_val(v); });
    case DType::string: return each.operator()<std::string>([&](const std::string& v) { proto->add_string_val(v); });
    case DType::c64:
      return each.operator()<complex64>([&](complex64 v) {
        proto->add_scomplex_val(v.real());
        proto->add_scomplex_val(v.imag());
      });
    case DType::c128:
      return each.operator()<complex128>([&](complex128 v) {
        proto->add_dcomplex_val(v.real());
        proto->add_dcomplex_val(v.imag());
      });
    case DType::i32:
    case DType::qi32: return ints.operator()<std::int32_t>();
    case DType::u8:
    case DType::qu8: return ints.operator()<std::uint8_t>();
    case DType::i8:
    case DType::qi8: return ints.operator()<std::int8_t>();
    case DType::i16: return ints.operator()<std::int16_t>();
    case DType::u16: return ints.operator()<std::uint16_t>();
    case DType::u32:
    case DType::u64: return invalid("Tensor slice serialization not implemented for dtype {}", static_cast<int>(value.dtype()));
    default: return unimplemented("Saving data type {} not yet supported", name_of(value.dtype()));
  }
}

}  // namespace

Status SliceTableWriter::add(const std::string& name, const Shape& full, const TensorSlice& slice, const Tensor& value) {
  const auto [at, fresh] = tensors_.try_emplace(name);
  wire::SavedSliceMeta& meta = at->second;
  if (fresh) {
    order_.push_back(name);
    meta.set_name(name);
    to_proto(full, meta.mutable_shape());
    meta.set_type(static_cast<wire::DataType>(value.dtype()));
  } else {
    TRY_ASSIGN(const Shape known, shape_from_proto(meta.shape()));
    if (known != full) return internal("Mismatching shapes: existing tensor = {}, trying to add name {}, shape = {}", known, name, full);
    if (static_cast<DType>(meta.type()) != value.dtype())
      return internal("Mismatching types: existing type = {}, trying to add name {}, type = {}", name_of(static_cast<DType>(meta.type())), name,
                      name_of(value.dtype()));
  }
  slice.to_proto(meta.add_slice());
  wire::SavedTensorSlices record;
  record.mutable_data()->set_name(name);
  slice.to_proto(record.mutable_data()->mutable_slice());
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1, per_element = 10, overhead = 1 << 10;
  std::int64_t bytes = value.dtype() == DType::string ? 0 : value.size() * per_element;
  if (value.dtype() == DType::string)
    for (const std::string& text : value.values<std::string>()) bytes += per_element + static_cast<std::int64_t>(text.size());
  if (bytes > most - overhead) return invalid("Tensor slice is too large to serialize (conservative estimate: {} bytes)", bytes + overhead);
  TRY(fill(value, record.mutable_data()->mutable_data()));
  data_[slice_key(name, slice)] = record.SerializeAsString();
  return absl::OkStatus();
}

Status SliceTableWriter::finish() {
  wire::SavedTensorSlices description;
  for (const std::string& name : order_) *description.mutable_meta()->add_tensor() = tensors_[name];
  description.mutable_meta()->mutable_versions()->set_producer(version);
  TRY_ASSIGN(TableWriter table, TableWriter::create(file_));
  table.add("", description.SerializeAsString());
  for (const auto& [key, record] : data_) table.add(key, record);
  return table.commit();
}

StatusOr<SliceTableReader> SliceTableReader::open(const std::string& pattern) {
  SliceTableReader reader;
  reader.pattern_ = pattern;
  const auto files = matching_files(pattern);
  if (!files.ok())
    return invalid("Unsuccessful TensorSliceReader constructor: Failed to get matching files on {}: {}", pattern, files.status().ToString());
  if (files->empty()) return not_found("Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {}", pattern);
  for (const std::string& file : *files) TRY(reader.load(file));
  return reader;
}

Status SliceTableReader::load(const std::string& file) {
  auto opened = TableReader::open(file);
  if (!opened.ok()) {
    const Status why =
        absl::IsDataLoss(opened.status())
            ? append_text(opened.status(), ": perhaps your file is in a different file format and you need to use a different restore operator?")
            : opened.status();
    return make_status(why.code(), fmt::format("Unable to open table file {}: {}", file, why.ToString()));
  }
  TRY_ASSIGN(const auto description, opened->find(""));
  wire::SavedTensorSlices parsed;
  if (!description) return internal("Failed to find the saved tensor slices at the beginning of the checkpoint file: {}", file);
  if (!parsed.ParseFromString(*description))
    return internal("Failed to parse the saved tensor slices at the beginning of the checkpoint file: {}", file);
  tables_.push_back(*std::move(opened));
  for (const auto& meta : parsed.meta().tensor()) {
    TRY_ASSIGN(Shape shape, shape_from_proto(meta.shape()));
    const auto type = static_cast<DType>(meta.type());
    const auto [at, fresh] = tensors_.try_emplace(meta.name());
    Stored& stored = at->second;
    if (fresh) {
      stored.shape = std::move(shape);
      stored.type = type;
    } else if (stored.shape != shape) {
      return internal("Incompatible tensor shapes detected for tensor {}: existing = {}, new = {}", meta.name(), stored.shape, shape);
    } else if (stored.type != type) {
      return internal("Incompatible tensor types detected for tensor {}: existing = {}, new = {}", meta.name(), name_of(stored.type), name_of(type));
    }
    for (const auto& proto : meta.slice()) {
      TRY_ASSIGN(const TensorSlice slice, TensorSlice::from_proto(proto));
      TRY(slice.shape_in(stored.shape).status());
      stored.slices.push_back(slice);
      stored.tables.push_back(tables_.size() - 1);
    }
  }
  return absl::OkStatus();
}

StatusOr<Tensor> SliceTableReader::read(const std::string& name, const Stored& stored, std::size_t slice) {
  TRY_ASSIGN(const auto found, tables_[stored.tables[slice]].find(slice_key(name, stored.slices[slice])));
  wire::SavedTensorSlices record;
  if (!found || !record.ParseFromString(*found))
    return data_loss("Failed to find or parse slice {} of tensor {}", to_string(stored.slices[slice]), name);
  wire::TensorProto& values = *record.mutable_data()->mutable_data();
  values.set_dtype(static_cast<wire::DataType>(stored.type));
  TRY_ASSIGN(const Shape part, stored.slices[slice].shape_in(stored.shape));
  to_proto(part, values.mutable_tensor_shape());
  return tensor_from_proto(values);
}

StatusOr<Tensor> SliceTableReader::restore(const std::string& name, const std::string& shape_and_slice, DType type) {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return not_found("Tensor name \"{}\" not found in checkpoint files {}", name, pattern_);
  const Stored& stored = found->second;
  if (stored.type != type)
    return invalid("Expected to restore a tensor of type {}, got a tensor of type {} instead: tensor_name = {}", name_of(type), name_of(stored.type),
                   name);
  TensorSlice wanted(stored.shape.rank());
  Shape part = stored.shape;
  if (!shape_and_slice.empty()) {
    TRY_ASSIGN(const auto parsed, ShapeAndSlice::parse(shape_and_slice));
    if (parsed.full != stored.shape)
      return invalid("Shape in shape_and_slice spec does not match the shape in the save file: {}, save file shape: {}", parsed.full, stored.shape);
    wanted = parsed.slice;
    part = parsed.part;
  }
  const auto parts = covering_slices(stored.slices, wanted, stored.shape);
  if (!parts.ok() || !*parts) return invalid("Error copying slice data");
  Tensor value(type, part);
  for (const TensorSlice& slice : **parts) {
    const auto at = static_cast<std::size_t>(std::find(stored.slices.begin(), stored.slices.end(), slice) - stored.slices.begin());
    TRY_ASSIGN(const Tensor piece, read(name, stored, at));
    copy_common(piece, slice.within(stored.shape), value, wanted.within(stored.shape));
  }
  return value;
}

}  // namespace troupe
