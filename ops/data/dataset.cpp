// Datasets as inputs and outputs of kernels.
#include <troupe/ops/data/dataset.hpp>

#include <troupe/ops/definitions.hpp>
#include <troupe/ops/function_fingerprint.hpp>

namespace troupe {
namespace {

bool takes_functions(const std::string& name) {
  const wire::OpDef* op = find_op(name);
  if (!op) return true;
  return std::any_of(op->attr().begin(), op->attr().end(), [](const auto& attr) { return attr.type() == "func" || attr.type() == "list(func)"; });
}

/// Zero where something is in it whose content is not known.
std::uint64_t fingerprint_of(const Call& call, const Dataset& dataset) {
  Fingerprint print;
  print.add_text(call.node().op);
  if (dataset.functions.empty() && takes_functions(call.node().op)) return 0;
  for (const auto& function : dataset.functions) {
    const auto* known = dynamic_cast<const HasFingerprint*>(function.get());
    if (!known) return 0;
    print.add_number(known->fingerprint());
  }
  for (int i = 0; i < call.inputs(); ++i) {
    const Tensor& input = call.in(i);
    print.add_number(static_cast<std::uint64_t>(input.dtype()));
    print.add_text(to_string(input.shape()));
    if (input.dtype() == DType::resource) continue;
    if (input.dtype() == DType::string) {
      for (const auto& text : input.values<std::string>()) print.add_text(text);
    } else if (input.dtype() == DType::variant) {
      for (const Variant& value : input.values<Variant>()) {
        const auto* inner = dynamic_cast<const Dataset*>(value.value.get());
        if (!inner || inner->fingerprint == 0) return 0;
        print.add_number(inner->fingerprint);
      }
    } else if (input.bytes() > 0) {
      print.add(input.raw(), input.bytes());
    }
  }
  for (DType type : dataset.element.types) print.add_number(static_cast<std::uint64_t>(type));
  for (const auto& shape : dataset.element.shapes) print.add_text(fmt::format("{}", shape));
  return print.value();
}

}  // namespace

StatusOr<DatasetPtr> dataset_in(const Tensor& tensor) {
  if (tensor.dtype() != DType::variant || tensor.rank() != 0) return invalid("Dataset tensor must be a scalar of dtype DT_VARIANT.");
  auto dataset = std::dynamic_pointer_cast<const Dataset>(tensor.item<Variant>().value);
  if (!dataset) return invalid("Tensor must be a Dataset object.");
  return dataset;
}

Tensor to_tensor(DatasetPtr dataset) { return Tensor::scalar<Variant>(Variant{std::move(dataset)}); }
Tensor to_tensor(Dataset dataset) { return to_tensor(std::make_shared<const Dataset>(std::move(dataset))); }

Status give(Call& call, Dataset dataset) {
  dataset.fingerprint = fingerprint_of(call, dataset);
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
