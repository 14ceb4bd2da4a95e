// Datasets as inputs and outputs of kernels.
#include <troupe/ops/data/dataset.hpp>

namespace troupe {

StatusOr<DatasetPtr> dataset_in(const Tensor& tensor) {
  if (tensor.dtype() != DType::variant || tensor.rank() != 0) return invalid("Dataset tensor must be a scalar of dtype DT_VARIANT.");
  auto dataset = std::dynamic_pointer_cast<const Dataset>(tensor.item<Variant>().value);
  if (!dataset) return invalid("Tensor must be a Dataset object.");
  return dataset;
}

Tensor to_tensor(DatasetPtr dataset) { return Tensor::scalar<Variant>(Variant{std::move(dataset)}); }
Tensor to_tensor(Dataset dataset) { return to_tensor(std::make_shared<const Dataset>(std::move(dataset))); }

Status give(Call& call, Dataset dataset) {
  call.set(0, to_tensor(std::move(dataset)));
  return absl::OkStatus();
}

Dataset over(const DatasetPtr& input, std::string kind) {
  Dataset dataset;
  dataset.kind = std::move(kind);
  dataset.element = input->element;
  dataset.cardinality = input->cardinality;
  dataset.inputs = {input};
  return dataset;
}

ElementFacts Param<Elements>::bind(Binding& binding, Status& status) {
  ElementFacts facts;
  auto types = binding.attr<std::vector<DType>>(binding.find("output_types") ? "output_types" : "Toutput_types");
  auto shapes = binding.attr<std::vector<PartialShape>>("output_shapes");
  status.Update(types.status());
  status.Update(shapes.status());
  if (types.ok()) facts.types = *std::move(types);
  if (shapes.ok()) facts.shapes = *std::move(shapes);
  return facts;
}

Status check_types(const std::vector<DType>& wanted, const std::vector<DType>& given) {
  if (wanted.size() != given.size())
    return invalid("Number of components does not match: expected {} types but got {}.", wanted.size(), given.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] != given[i])
      return invalid("Data type mismatch at component {}: expected {} but got {}.", i, name_of(wanted[i]), name_of(given[i]));
  return absl::OkStatus();
}

namespace {

bool compatible(const PartialShape& a, const PartialShape& b) {
  if (a.unknown_rank() || b.unknown_rank()) return true;
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i)
    if (a.dim(i) >= 0 && b.dim(i) >= 0 && a.dim(i) != b.dim(i)) return false;
  return true;
}

}  // namespace

Status check_shapes(const std::vector<PartialShape>& wanted, const std::vector<PartialShape>& given) {
  if (wanted.size() != given.size())
    return invalid("Number of components does not match: expected {} shapes but got {}.", wanted.size(), given.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!compatible(wanted[i], given[i])) return invalid("Incompatible shapes at component {}: expected {} but got {}.", i, wanted[i], given[i]);
  return absl::OkStatus();
}

Status check_element(const ElementFacts& wanted, const Tuple& element) {
  if (wanted.types.size() != element.size())
    return invalid("Number of components does not match: expected {} types but got {}.", wanted.types.size(), element.size());
  for (std::size_t i = 0; i < element.size(); ++i)
    if (wanted.types[i] != element[i].dtype())
      return invalid("Data type mismatch at component {}: expected {} but got {}.", i, name_of(wanted.types[i]), name_of(element[i].dtype()));
  if (wanted.shapes.size() != element.size())
    return invalid("Number of components does not match: expected {} shapes but got {}.", wanted.shapes.size(), element.size());
  for (std::size_t i = 0; i < element.size(); ++i)
    if (!wanted.shapes[i].compatible_with(element[i].shape()))
      return invalid("Incompatible shapes at component {}: expected {} but got {}.", i, wanted.shapes[i], element[i].shape());
  return absl::OkStatus();
}

Tuple tensors_in(const List& list) {
  Tuple all;
  for (int i = 0; i < list.size(); ++i) all.push_back(list[i]);
  return all;
}

StatusOr<Captured> capture(Step& step, const wire::NameAttrList& function, const List& values) {
  StepHost* host = host_of(step);
  if (!host) return unimplemented("Function {} cannot be kept here", function.name());
  TRY_ASSIGN(auto kept, host->keep_function(function));
  return Captured{std::move(kept), tensors_in(values)};
}

}  // namespace troupe
