// Sparse tensors as three strings, or three variants, each: SerializeSparse and SerializeManySparse.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/variant_tensors.hpp>
#include <troupe/ops/sparse/boxed_tensor.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>
#include <troupe/ops/sparse/stacked.hpp>

namespace troupe {
namespace {

void encode_boxed(const VariantValue& value, wire::VariantTensorDataProto* proto) {
  put_tensors({&static_cast<const BoxedTensor&>(value).tensor, 1}, proto);
}

StatusOr<std::shared_ptr<const VariantValue>> decode_boxed(const wire::VariantTensorDataProto& proto) {
  TRY_ASSIGN(std::vector<Tensor> tensors, get_tensors(proto));
  if (tensors.size() != 1) return invalid("A variant of a tensor has {} tensors", tensors.size());
  return std::make_shared<const BoxedTensor>(std::move(tensors[0]));
}

void put_serialized(Tensor& out, std::int64_t at, const Tensor& t) {
  if (out.dtype() == DType::variant) {
    out.mutable_data<Variant>()[at] = boxed(t);
    return;
  }
  wire::TensorProto proto;
  to_proto(t, &proto);
  out.mutable_data<std::string>()[at] = proto.SerializeAsString();
}

}  // namespace

StatusOr<std::vector<SparseParts>> unstack(const SparseIn& s) {
  const std::int64_t rank = s.shape.size();
  if (rank <= 1) return invalid("Rank of input SparseTensor should be > 1, but saw rank: {}", rank);
  TRY_ASSIGN(const Shape shape, Shape::checked(s.sizes()));
  TRY(check_parts(s.indices, s.values, rank));
  TRY(check_order(s.indices, s.sizes()));
  const Tensor inner = sizes_tensor(s.sizes().subspan(1));
  std::vector<SparseParts> parts(static_cast<std::size_t>(shape.dim(0)));
  std::int64_t first = 0;
  for (std::int64_t row = 0; row < shape.dim(0); ++row) {
    std::int64_t last = first;
    while (last < s.rows() && s.row(last)[0] == row) ++last;
    Tensor indices(DType::i64, Shape{last - first, rank - 1});
    for (std::int64_t i = first; i < last; ++i) {
      const auto from = s.row(i).subspan(1);
      std::copy(from.begin(), from.end(), indices.mutable_data<std::int64_t>() + (i - first) * (rank - 1));
    }
    parts[static_cast<std::size_t>(row)] = {std::move(indices), s.values.rows(first, last), inner};
    first = last;
  }
  return parts;
}

void add_sparse_serialize(Registry& ops) {
  register_variant_codec("tensorflow::Tensor", encode_boxed, decode_boxed);
  const DTypes written{DType::string, DType::variant};
  add_for(ops, "SerializeSparse", {{"out_type", written}},
          [](Call& call, Any indices, Any values, Any shape, Attr<"out_type", DType> type) -> Status {
            const SparseIn s{indices.tensor, values.tensor, shape.tensor};
            TRY(check_ranks(s));
            Tensor& out = call.alloc(0, *type, Shape{3});
            put_serialized(out, 0, s.indices);
            put_serialized(out, 1, s.values);
            put_serialized(out, 2, s.shape);
            return absl::OkStatus();
          });
  add_for(ops, "SerializeManySparse", {{"T", dtypes::all()}, {"out_type", written}},
          [](Call& call, Any indices, Any values, Any shape, Attr<"out_type", DType> type) -> Status {
            const SparseIn s{indices.tensor, values.tensor, shape.tensor};
            TRY(check_ranks(s));
            TRY_ASSIGN(const auto parts, unstack(s));
            Tensor& out = call.alloc(0, *type, Shape{static_cast<std::int64_t>(parts.size()), 3});
            std::int64_t at = 0;
            for (const SparseParts& p : parts) {
              put_serialized(out, at++, p.indices);
              put_serialized(out, at++, p.values);
              put_serialized(out, at++, p.shape);
            }
            return absl::OkStatus();
          });
}

}  // namespace troupe
