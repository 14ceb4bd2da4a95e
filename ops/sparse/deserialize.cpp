// DeserializeSparse and DeserializeManySparse.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/sparse/boxed_tensor.hpp>
#include <troupe/ops/sparse/stacked.hpp>

namespace troupe {
namespace {

StatusOr<Tensor> parsed(const std::string& bytes) {
  wire::TensorProto proto;
  if (!proto.ParseFromString(bytes)) return invalid("Could not parse serialized proto");
  auto tensor = tensor_from_proto(proto);
  if (!tensor.ok() || !tensor->valid()) return invalid("Could not construct tensor from proto");
  return tensor;
}

/// Part `column` of sparse tensor `i`; refuses indices and shapes of other types.
StatusOr<Tensor> part(const Tensor& serialized, std::int64_t i, int column) {
  const std::int64_t at = i * 3 + column;
  if (serialized.dtype() == DType::string) return parsed(serialized.data<std::string>()[at]);
  const Tensor* t = unboxed(serialized.data<Variant>()[at]);
  if (!t) return invalid("Could not get a tensor from serialized_sparse[{}, {}]", i, column);
  return *t;
}

Status check_numbers(const Tensor& t, std::int64_t i, int column, const char* kind) {
  if (t.dtype() == DType::i64) return absl::OkStatus();
  return invalid("Expected serialized_sparse[{}, {}] to be a {} of DT_INT64 but received dtype {}", i, column, kind, name_of(t.dtype()));
}

StatusOr<Tensor> read_shape(const Tensor& serialized, std::int64_t i) {
  TRY_ASSIGN(Tensor shape, part(serialized, i, 2));
  TRY(check_numbers(shape, i, 2, "vector"));
  if (shape.rank() != 1)
    return invalid("Expected serialized_sparse[{}, {}] to be a shape vector but its shape is {}", i, serialized.dtype() == DType::string ? 1 : 2,
                   shape.shape());
  return shape;
}

/// Variants have their shapes looked at before anything else.
Status check_shapes(const Tensor& serialized) {
  std::int64_t rank = -1;
  for (std::int64_t i = 0; i < serialized.size() / 3; ++i) {
    TRY_ASSIGN(const Tensor shape, read_shape(serialized, i));
    if (rank >= 0 && shape.size() != rank)
      return invalid("Inconsistent shape across SparseTensors: rank prior to SparseTensor[{}] was: {} but rank of SparseTensor[{}] is: {}", i, rank,
                     i, shape.size());
    rank = shape.size();
  }
  return absl::OkStatus();
}

StatusOr<SparseParts> read_one(const Tensor& serialized, std::int64_t i, DType dtype) {
  SparseParts p;
  TRY_ASSIGN(p.indices, part(serialized, i, 0));
  TRY(check_numbers(p.indices, i, 0, "matrix"));
  if (p.indices.rank() != 2)
    return invalid("Expected serialized_sparse[{}, 0] to represent an index matrix but received shape {}", i, p.indices.shape());
  TRY_ASSIGN(p.values, part(serialized, i, 1));
  if (p.values.rank() != 1)
    return invalid("Expected serialized_sparse[{}, 1] to represent a values vector but received shape {}", i, p.values.shape());
  if (p.values.dtype() != dtype)
    return invalid("Requested SparseTensor of type {} but SparseTensor[{}].values.dtype() == {}", name_of(dtype), i, name_of(p.values.dtype()));
  if (p.indices.dim(0) != p.values.dim(0))
    return invalid("Expected row counts of SparseTensor[{}].indices and SparseTensor[{}].values to match but they do not: {} vs. {}", i, i,
                   p.indices.dim(0), p.values.dim(0));
  TRY_ASSIGN(p.shape, read_shape(serialized, i));
  if (p.indices.dim(1) != p.shape.dim(0))
    return invalid("Expected column counts of SparseTensor[{}].indices to match size of SparseTensor[{}].shape but they do not: {} vs. {}", i, i,
                   p.indices.dim(1), p.shape.dim(0));
  return p;
}

Status deserialize(Call& call, const Tensor& serialized, DType dtype) {
  const int rank = serialized.rank();
  if (rank == 0) return invalid("Serialized sparse should have non-zero rank {}", serialized.shape());
  if (serialized.dim(rank - 1) != 3) return invalid("Serialized sparse should have 3 as the last dimension {}", serialized.shape());
  const std::int64_t count = serialized.size() / 3;
  if (count == 0) return invalid("Serialized sparse should have at least 1 serialized tensor, but has a zero dimension {}", serialized.shape());
  if (serialized.dtype() == DType::variant) TRY(check_shapes(serialized));
  std::vector<SparseParts> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    TRY_ASSIGN(SparseParts one, read_one(serialized, i, dtype));
    if (i > 0 && one.shape.size() != parts[0].shape.size())
      return invalid("Inconsistent shape across SparseTensors: rank prior to SparseTensor[{}] was: {} but rank of SparseTensor[{}] is: {}", i,
                     parts[0].shape.size(), i, one.shape.size());
    parts.push_back(std::move(one));
  }
  SparseParts whole = rank == 1 ? std::move(parts[0]) : stack(parts, Shape(serialized.shape().dims().first(static_cast<std::size_t>(rank) - 1)));
  call.set(0, std::move(whole.indices));
  call.set(1, std::move(whole.values));
  call.set(2, std::move(whole.shape));
  return absl::OkStatus();
}

}  // namespace

SparseParts stack(const std::vector<SparseParts>& parts, const Shape& outer) {
  const std::int64_t inner = parts[0].shape.size(), rank = outer.rank() + inner;
  std::int64_t rows = 0;
  std::vector<std::int64_t> sizes(outer.begin(), outer.end());
  sizes.resize(static_cast<std::size_t>(rank), 0);
  for (const SparseParts& p : parts) {
    rows += p.values.size();
    for (std::int64_t d = 0; d < inner; ++d) {
      std::int64_t& size = sizes[static_cast<std::size_t>(outer.rank() + d)];
      size = std::max(size, p.shape.data<std::int64_t>()[d]);
    }
  }
  SparseParts whole{Tensor(DType::i64, Shape{rows, rank}), Tensor(parts[0].values.dtype(), Shape{rows}), sizes_tensor(sizes)};
  const Dims steps = steps_of(outer);
  std::int64_t* to = whole.indices.mutable_data<std::int64_t>();
  std::int64_t at = 0, number = 0;
  for (const SparseParts& p : parts) {
    const std::int64_t* from = p.indices.data<std::int64_t>();
    for (std::int64_t i = 0; i < p.values.size(); ++i) {
      for (int d = 0; d < outer.rank(); ++d) *to++ = number / steps[static_cast<std::size_t>(d)] % outer.dim(d);
      to = std::copy_n(from + i * inner, inner, to);
    }
    copy_into(p.values, whole.values, at);
    at += p.values.size();
    ++number;
  }
  return whole;
}

void add_sparse_deserialize(Registry& ops) {
  const auto kernel = [](Call& call, Any serialized, Attr<"dtype", DType> dtype) { return deserialize(call, serialized.tensor, *dtype); };
  add_for(ops, "DeserializeSparse", {{"Tserialized", {DType::string, DType::variant}}}, kernel);
  add_for(ops, "DeserializeManySparse", {}, kernel);
}

}  // namespace troupe
