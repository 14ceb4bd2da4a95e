// Ragged tensors in variants: their wire form and their arithmetic.
#include <troupe/ops/ragged/ragged_value.hpp>

#include <troupe/ops/containers/variant_arithmetic.hpp>
#include <troupe/ops/ragged/splits.hpp>
#include <troupe/ops/resources/variant_tensors.hpp>

namespace troupe {
namespace {

void encode_ragged(const VariantValue& value, wire::VariantTensorDataProto* proto) {
  const auto& ragged = static_cast<const RaggedValue&>(value);
  put_tensors(ragged.splits, proto);
  put_tensors({&ragged.values, 1}, proto);
}

StatusOr<std::shared_ptr<const VariantValue>> decode_ragged(const wire::VariantTensorDataProto& proto) {
  TRY_ASSIGN(std::vector<Tensor> tensors, get_tensors(proto));
  if (tensors.empty()) return invalid("A RaggedTensorVariant has no values");
  for (std::size_t i = 0; i + 1 < tensors.size(); ++i)
    if ((tensors[i].dtype() != DType::i32 && tensors[i].dtype() != DType::i64) || tensors[i].rank() != 1 || tensors[i].size() < 1)
      return invalid("A RaggedTensorVariant has splits of type {} and shape {}", name_of(tensors[i].dtype()), tensors[i].shape());
  Tensor values = std::move(tensors.back());
  tensors.pop_back();
  return std::make_shared<const RaggedValue>(std::move(values), std::move(tensors));
}

VariantResult zeros_of_ragged(const VariantValue& value) {
  const auto& x = static_cast<const RaggedValue&>(value);
  TRY_ASSIGN(Tensor zeros, zeros_like(x.values));
  return std::make_shared<const RaggedValue>(std::move(zeros), x.splits);
}

VariantResult sum_of_ragged(const VariantValue& left, const VariantValue& right) {
  const auto &a = static_cast<const RaggedValue&>(left), &b = static_cast<const RaggedValue&>(right);
  if (a.values.dtype() != b.values.dtype())
    return invalid("Can't add RaggedTensorVariants of different dtypes. One is {} and the other is {}", name_of(a.values.dtype()),
                   name_of(b.values.dtype()));
  if (a.splits.size() != b.splits.size())
    return invalid("Can't add RaggedTensorVariants of different ragged rank. One is {} and the other is {}", a.splits.size(), b.splits.size());
  for (std::size_t i = 0; i < a.splits.size(); ++i)
    if (a.splits[i].dtype() != b.splits[i].dtype() || split_values(a.splits[i]) != split_values(b.splits[i]))
      return invalid("Can't add RaggedTensorVariants with different row_splits.");
  TRY_ASSIGN(Tensor sum, add_tensors(a.values, b.values));
  return std::make_shared<const RaggedValue>(std::move(sum), a.splits);
}

}  // namespace

void introduce_ragged_values() {
  register_variant_codec("RaggedTensorVariant", encode_ragged, decode_ragged);
  let_compute("RaggedTensorVariant", {.zeros = zeros_of_ragged, .add = sum_of_ragged});
}

}  // namespace troupe
