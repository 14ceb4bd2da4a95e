// RaggedTensorToTensor: rows padded, or cut, to one length each dimension.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/broadcast.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/ragged/splits.hpp>
#include <troupe/ops/resources/partial_shapes.hpp>

namespace troupe {
namespace {

/// How a dimension is divided into rows.
struct Partition {
  std::string kind;
  const Tensor* tensor;
};

struct Ragged {
  const Tensor &shape, &values, &otherwise;
  std::vector<Partition> partitions;  // without the size of the first dimension
  std::int64_t first = 0;             // that size

  int depth() const { return static_cast<int>(partitions.size()); }
};

Status check_kinds(const std::vector<std::string>& kinds) {
  for (const std::string& kind : kinds) {
    bool known = false;
    for (const char* name : {"FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_LENGTHS", "ROW_SPLITS", "ROW_LIMITS", "ROW_STARTS"})
      known = known || kind == name;
    if (!known) return invalid("Unknown string for partition info type: {}", kind);
  }
  return absl::OkStatus();
}

/// Takes the partitions and finds out how many rows there are.
Status read_partitions(Ragged& r, const List& tensors, const std::vector<std::string>& kinds) {
  TRY(check_kinds(kinds));
  if (tensors.size() == 0) return invalid("No row_partition_tensors given.");
  if (tensors[0].size() == 0) return invalid("Invalid first partition input. Tensor requires at least one element.");
  if (kinds.empty()) return invalid("No row_partition_types given.");
  if (static_cast<int>(kinds.size()) != tensors.size()) return invalid("Expected {} row partitions, got {}", kinds.size(), tensors.size());
  const Tensor& first = tensors[0];
  if (kinds[0] == "FIRST_DIM_SIZE") {
    if (first.size() != 1) return invalid("The size of the first dimension must be a scalar, got shape {}", first.shape());
    r.first = as_integer(first);
    if (r.first < 0) return invalid("The size of the first dimension must not be negative, got {}", r.first);
  } else if (kinds[0] == "ROW_SPLITS") {
    if (first.rank() < 1) return invalid("Row splits must be a vector, got shape {}", first.shape());
    r.first = first.dim(0) - 1;
  } else if (kinds[0] == "VALUE_ROWIDS") {
    return invalid("Cannot handle VALUE_ROWIDS in first dimension.");
  } else {
    return invalid("Cannot handle type {}", kinds[0]);
  }
  for (int i = kinds[0] == "FIRST_DIM_SIZE" ? 1 : 0; i < tensors.size(); ++i)
    r.partitions.push_back({kinds[static_cast<std::size_t>(i)], &tensors[i]});
  return absl::OkStatus();
}

Status check_default(const Shape& otherwise, const Shape& values) {
  if (otherwise.rank() >= values.rank())
    return invalid(
        "default_value.shape={} and rt_input.flat_values.shape={} are incompatible: default_value.rank = {}  must be less than "
        "rt_input.flat_values.rank = {}",
        otherwise, values, otherwise.rank(), values.rank());
  for (int i = 0; i < otherwise.rank(); ++i)
    if (otherwise.dim(i) != 1 && otherwise.dim(i) != values.dim(i + 1))
      return invalid(
          "default_value.shape={} and rt_input.flat_values.shape={} are incompatible: default_value.shape[{}] = {} but "
          "rt_input.flat_values.shape[{}] = {}",
          otherwise, values, i - otherwise.rank(), otherwise.dim(i), i - otherwise.rank(), values.dim(i + 1));
  return absl::OkStatus();
}

StatusOr<std::int64_t> widest_row(const Partition& p) {
  const std::vector<std::int64_t> at = split_values(*p.tensor);
  std::int64_t widest = 0;
  if (p.kind == "ROW_SPLITS") {
    for (std::size_t i = 1; i < at.size(); ++i) widest = std::max(widest, at[i] - at[i - 1]);
  } else if (p.kind == "VALUE_ROWIDS") {
    for (std::size_t first = 0, i = 1; i <= at.size(); ++i)
      if (i == at.size() || at[i] != at[first]) {
        widest = std::max(widest, static_cast<std::int64_t>(i - first));
        first = i;
      }
    if (at.empty()) return 0;
  } else {
    return invalid("Cannot handle partition type {}", p.kind);
  }
  return widest;
}

StatusOr<Shape> output_shape(const Ragged& r) {
  const Shape& values = r.values.shape();
  TRY(check_default(r.otherwise.shape(), values));
  TRY_ASSIGN(const PartialShape given, shape_from_tensor(r.shape));
  const int rank = r.depth() + values.rank();
  Dims dims = given.unknown_rank() ? Dims(static_cast<std::size_t>(rank), -1) : Dims(given.dims().begin(), given.dims().end());
  if (static_cast<int>(dims.size()) != rank)
    return invalid("rt_input.shape and shape={} are incompatible: rt_input.rank = {} but shape.rank = {}", given, rank, dims.size());
  for (int i = 1; i < values.rank(); ++i) {
    std::int64_t& dim = dims[static_cast<std::size_t>(r.depth() + i)];
    if (dim >= 0 && dim != values.dim(i))
      return invalid("rt_input.shape and shape={} are incompatible: rt_input.shape[{}] = {} but shape[{}] = {}", given, i + r.depth(), values.dim(i),
                     i + r.depth(), dim);
    dim = values.dim(i);
  }
  if (dims[0] < 0) dims[0] = r.first;
  for (int i = 1; i <= r.depth(); ++i)
    if (dims[static_cast<std::size_t>(i)] < 0) {
      TRY_ASSIGN(dims[static_cast<std::size_t>(i)], widest_row(r.partitions[static_cast<std::size_t>(i) - 1]));
    }
  return Shape::checked(std::span<const std::int64_t>(dims.data(), dims.size()));
}

/// For each row of a level the place in the output where it begins, or -1. A tensor, so that absurd numbers of rows are refused.
using Places = Tensor;

Places first_places(std::int64_t rows, std::int64_t kept, std::int64_t step) {
  Places places(DType::i64, Shape{rows});
  for (std::int64_t i = 0; i < rows; ++i) places.mutable_data<std::int64_t>()[i] = i < kept ? i * step : -1;
  return places;
}

StatusOr<Places> places_by_splits(const std::vector<std::int64_t>& splits, const Places& parents, std::int64_t width, std::int64_t step) {
  const auto rows = static_cast<std::int64_t>(splits.size()) - 1;
  if (rows > parents.size()) return invalid("Row partition size is greater than output size: {} > {}", rows, parents.size());
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    total += std::max<std::int64_t>(splits[static_cast<std::size_t>(i) + 1] - splits[static_cast<std::size_t>(i)], 0);
  if (!splits.empty() && total != splits.back()) return invalid("Invalid row split size.");
  Places places(DType::i64, Shape{total});
  std::int64_t* out = places.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t parent = parents.data<std::int64_t>()[i],
                       length = splits[static_cast<std::size_t>(i) + 1] - splits[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < length; ++j) *out++ = parent >= 0 && j < width ? parent + j * step : -1;
  }
  return places;
}

StatusOr<Places> places_by_rows(const std::vector<std::int64_t>& rowids, const Places& parents, std::int64_t width, std::int64_t step) {
  Places places(DType::i64, Shape{static_cast<std::int64_t>(rowids.size())});
  std::int64_t column = 0;
  for (std::size_t i = 0; i < rowids.size(); ++i) {
    column = i > 0 && rowids[i] == rowids[i - 1] ? column + 1 : 0;
    if (rowids[i] < 0 || rowids[i] >= parents.size())
      return invalid("Got {}_value_rowid={} which is not less than {}", i == 0 ? "current" : "next", rowids[i], parents.size());
    const std::int64_t parent = parents.data<std::int64_t>()[rowids[i]];
    places.mutable_data<std::int64_t>()[i] = parent >= 0 && column < width ? parent + column * step : -1;
  }
  return places;
}

StatusOr<Places> all_places(const Ragged& r, const Shape& shape) {
  const auto step = [&](int d) { return shape.elements(d + 1, r.depth() + 1); };
  Places places = first_places(r.first, shape.dim(0), step(0));
  for (int d = 1; d <= r.depth(); ++d) {
    const Partition& p = r.partitions[static_cast<std::size_t>(d) - 1];
    if (p.kind != "ROW_SPLITS" && p.kind != "VALUE_ROWIDS") return invalid("Unsupported partition type:{}", p.kind);
    const auto at = split_values(*p.tensor);
    TRY_ASSIGN(places,
               p.kind == "ROW_SPLITS" ? places_by_splits(at, places, shape.dim(d), step(d)) : places_by_rows(at, places, shape.dim(d), step(d)));
  }
  return places;
}

/// The default value as one whole element.
StatusOr<Tensor> whole_default(const Tensor& otherwise, const Shape& element) {
  Tensor whole(otherwise.dtype(), element);
  const auto b = Broadcast::of(otherwise.shape(), element);
  if (!b || b->output != element) return invalid("Error broadcasting default_value");
  by_storage(otherwise.dtype(), [&]<class S>() {
    b->for_each_row([&](std::int64_t o, std::int64_t l, std::int64_t) {
      for (std::int64_t i = 0; i < b->size.back(); ++i) whole.mutable_data<S>()[o + i] = otherwise.data<S>()[l + i * b->left_step.back()];
    });
  });
  return whole;
}

Status to_tensor(Call& call, const Ragged& r) {
  TRY_ASSIGN(const Shape shape, output_shape(r));
  Tensor& out = call.alloc(0, r.values.dtype(), shape);
  if (out.size() == 0) return absl::OkStatus();
  TRY_ASSIGN(const Places places, all_places(r, shape));
  if (places.size() > r.values.dim(0)) return invalid("Row partitions have {} values, but there are {}", places.size(), r.values.dim(0));
  const Shape element(shape.dims().subspan(static_cast<std::size_t>(r.depth()) + 1));
  TRY_ASSIGN(const Tensor otherwise, whole_default(r.otherwise, element));
  const std::int64_t inner = element.elements(), rows = out.size() / inner;
  by_storage(out.dtype(), [&]<class S>() {
    S* to = out.mutable_data<S>();
    for (std::int64_t i = 0; i < rows; ++i) std::copy_n(otherwise.data<S>(), inner, to + i * inner);
    for (std::int64_t i = 0; i < places.size(); ++i)
      if (const std::int64_t at = places.data<std::int64_t>()[i]; at >= 0) std::copy_n(r.values.data<S>() + i * inner, inner, to + at * inner);
  });
  return absl::OkStatus();
}

}  // namespace

void add_ragged_to_tensor(Registry& ops) {
  const DTypes moved = dtypes::plain_strings() + dtypes::quantized() + dtypes::quantized16();
  add_for(ops, "RaggedTensorToTensor", {{"T", moved}, {"Tindex", list_of(indices{})}},
          [](Call& call, Any shape, Any values, Any otherwise, List tensors, Attr<"row_partition_types", std::vector<std::string>> kinds) -> Status {
            Ragged r{shape.tensor, values.tensor, otherwise.tensor, {}};
            TRY(read_partitions(r, tensors, *kinds));
            return to_tensor(call, r);
          });
}

}  // namespace troupe
