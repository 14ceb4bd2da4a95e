// Rows dealt out to several tensors, and put together again.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

bool begins_with(const Shape& shape, const Shape& prefix) {
  return shape.rank() >= prefix.rank() && std::equal(prefix.begin(), prefix.end(), shape.begin());
}

/// The dimensions of a row: what is left of data's shape behind that of its indices.
std::span<const std::int64_t> row_dims(const Tensor& data, const Tensor& indices) {
  return data.shape().dims().subspan(static_cast<std::size_t>(indices.rank()));
}

Shape shape_of_rows(std::int64_t rows, std::span<const std::int64_t> dims) {
  Shape shape{rows};
  for (std::int64_t n : dims) shape.add_dim(n);
  return shape;
}

Status dynamic_partition(Call& call, const Tensor& data, const Tensor& partitions, std::int64_t count) {
  if (!begins_with(data.shape(), partitions.shape()))
    return invalid("data.shape must start with partitions.shape, got data.shape = {}, partitions.shape = {}", data.shape(), partitions.shape());
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count), 0);
  const auto which = partitions.values<std::int32_t>();
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (which[i] < 0 || which[i] >= count)
      return invalid("partitions{} = {} is not in [0, {})", index_text(partitions.shape(), static_cast<std::int64_t>(i)), which[i], count);
    ++sizes[static_cast<std::size_t>(which[i])];
  }
  const auto dims = row_dims(data, partitions);
  for (int p = 0; p < count; ++p) call.alloc(p, data.dtype(), shape_of_rows(sizes[static_cast<std::size_t>(p)], dims));
  const std::int64_t row = data.shape().elements(partitions.rank(), data.rank());
  by_storage(data.dtype(), [&]<class S>() {
    std::vector<S*> to;
    for (int p = 0; p < count; ++p) to.push_back(call.out(p).mutable_data<S>());
    const S* from = data.data<S>();
    for (std::int32_t p : which) {
      auto& at = to[static_cast<std::size_t>(p)];
      at = std::copy_n(from, row, at);
      from += row;
    }
  });
  return absl::OkStatus();
}

/// Checks shapes; returns the number of rows of the result.
StatusOr<std::int64_t> check_stitch(List indices, List data) {
  std::int64_t last = -1;
  for (int i = 0; i < indices.size(); ++i) {
    if (!begins_with(data[i].shape(), indices[i].shape()))
      return invalid("data[{}].shape = {} does not start with indices[{}].shape = {}", i, data[i].shape(), i, indices[i].shape());
    const auto first = row_dims(data[0], indices[0]), here = row_dims(data[i], indices[i]);
    if (!std::equal(first.begin(), first.end(), here.begin(), here.end()))
      return invalid(
          "Need data[0].shape[{}:] = data[{}].shape[{}:], got data[0].shape = {}, data[{}].shape = {}, indices[0].shape = {}, "
          "indices[{}].shape = {}",
          indices[0].rank(), i, indices[i].rank(), data[0].shape(), i, data[i].shape(), indices[0].shape(), i, indices[i].shape());
    for (std::int32_t at : indices[i].values<std::int32_t>()) last = std::max<std::int64_t>(last, at);
  }
  for (int i = 0; i < indices.size(); ++i) {
    const auto at = indices[i].values<std::int32_t>();
    for (std::size_t j = 0; j < at.size(); ++j)
      if (at[j] < 0) return invalid("indices[{}] is out of range", j);
  }
  return last + 1;
}

Status dynamic_stitch(Call& call, List indices, List data) {
  TRY_ASSIGN(const std::int64_t rows, check_stitch(indices, data));
  TRY_ASSIGN(Shape shape, Shape::checked(shape_of_rows(rows, row_dims(data[0], indices[0])).dims()));
  const std::int64_t row = shape.elements(1, shape.rank());
  // Rows that no index names are zero.
  call.set(0, Tensor::zeros(data[0].dtype(), std::move(shape)));
  by_storage(data[0].dtype(), [&]<class S>() {
    S* to = call.out(0).mutable_data<S>();
    for (int i = 0; i < indices.size(); ++i) {
      const S* from = data[i].data<S>();
      for (std::int32_t at : indices[i].values<std::int32_t>()) {
        std::copy_n(from, row, to + at * row);
        from += row;
      }
    }
  });
  return absl::OkStatus();
}

}  // namespace

void add_partition(Registry& ops) {
  add_for(ops, "DynamicPartition", {{"T", dtypes::all()}}, [](Call& call, Any data, Any partitions, Attr<"num_partitions", std::int64_t> n) {
    return dynamic_partition(call, data.tensor, partitions.tensor, n);
  });
  add_for(ops, {"DynamicStitch", "ParallelDynamicStitch"}, {{"T", dtypes::plain_strings() + dtypes::quantized() + DTypes{DType::variant}}},
          [](Call& call, List indices, List data) { return dynamic_stitch(call, indices, data); });
}

}  // namespace troupe
