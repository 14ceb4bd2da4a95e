// Rows of a variable combined with updates, by index of the first dimension.
#include <troupe/ops/array/combine.hpp>
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/array/variables.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

bool is_integer(DType dtype) {
  return visit_dtype(integers{}, dtype, []<class T>() {});
}

bool starts_with(const Shape& shape, const Shape& prefix) {
  if (shape.rank() < prefix.rank()) return false;
  return std::equal(prefix.begin(), prefix.end(), shape.begin());
}

/// updates.shape = indices.shape + params.shape[1:], or one value for all.
bool shapes_fit(const Shape& params, const Shape& indices, const Shape& updates) {
  if (updates.rank() == 0) return true;
  if (updates.rank() != indices.rank() + params.rank() - 1 || !starts_with(updates, indices)) return false;
  return std::equal(params.begin() + 1, params.end(), updates.begin() + indices.rank());
}

StatusOr<std::vector<std::int64_t>> row_offsets(const Tensor& indices, std::int64_t rows, std::int64_t size) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(indices.size()));
  Status status;
  by_index(indices.dtype(), [&]<class I>() {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const auto row = static_cast<std::int64_t>(indices.data<I>()[i]);
      if (row < 0 || row >= rows) {
        status = invalid("indices{} = {} is not in [0, {})", index_text(indices.shape(), static_cast<std::int64_t>(i)), row, rows);
        return;
      }
      offsets[i] = row * size;
    }
  });
  TRY(status);
  return offsets;
}

Status scatter(Call& call, AnyVar ref, const Tensor& indices, const Tensor& updates, Combine how) {
  TRY(check_readable(call, ref, updates.dtype()));
  const Shape shape = ref->snapshot().shape();
  if (shape.rank() < 1) return invalid("params must be at least 1-D, got shape {}", shape);
  const bool by_handle = !call.input_value(0).ref;
  if (how == Combine::div && has_zero(updates) && (by_handle || is_integer(updates.dtype()))) return invalid("updates must not contain 0");
  if (by_handle && indices.size() > 0 && updates.rank() > 0 && !starts_with(updates.shape(), indices.shape()))
    return invalid("The shape of indices ({}) must be a prefix of the shape of updates ({})", indices.shape(), updates.shape());
  if (!shapes_fit(shape, indices.shape(), updates.shape()))
    return invalid(
        "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape {}, "
        "indices.shape {}, params.shape {}",
        updates.shape(), indices.shape(), shape);
  const std::int64_t size = shape.elements(1, shape.rank());
  TRY_ASSIGN(const auto offsets, row_offsets(indices, shape.dim(0), size));
  if (!offsets.empty()) combine_slices(how, ref->writable(), offsets, size, updates, updates.rank() == 0);
  return absl::OkStatus();
}

void add_scatter_ops(Registry& ops, const char* by_ref, const char* by_handle, Combine how, const DTypes& ref_types, const DTypes& handle_types) {
  auto kernel = [how](Call& call, AnyVar ref, Any indices, Any updates) { return scatter(call, ref, indices.tensor, updates.tensor, how); };
  add_for(ops, by_ref, {{"T", ref_types}}, kernel);
  add_for(ops, by_handle, {{"dtype", handle_types}}, kernel);
}

}  // namespace

void add_scatter(Registry& ops) {
  const DTypes numeric = dtypes::numeric(), real = dtypes::real();
  add_scatter_ops(ops, "ScatterUpdate", "ResourceScatterUpdate", Combine::update, dtypes::all(), dtypes::plain_strings() + DTypes{DType::variant});
  add_scatter_ops(ops, "ScatterAdd", "ResourceScatterAdd", Combine::add, numeric, numeric);
  add_scatter_ops(ops, "ScatterSub", "ResourceScatterSub", Combine::sub, numeric, numeric);
  add_scatter_ops(ops, "ScatterMul", "ResourceScatterMul", Combine::mul, numeric, numeric);
  add_scatter_ops(ops, "ScatterDiv", "ResourceScatterDiv", Combine::div, numeric, numeric);
  add_scatter_ops(ops, "ScatterMin", "ResourceScatterMin", Combine::min, real, real);
  add_scatter_ops(ops, "ScatterMax", "ResourceScatterMax", Combine::max, real, real);
}

}  // namespace troupe
