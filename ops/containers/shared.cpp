// References and handles to shared resources.
#include <troupe/ops/containers/shared.hpp>

namespace troupe {
namespace {

std::string listed(const std::vector<DType>& types) {
  std::vector<std::string> names;
  for (DType t : types) names.push_back(name_of(t));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

StatusOr<std::pair<std::string, std::string>> name_by_reference(Call& call, int input, const char* complaint) {
  const Value& value = call.input_value(input);
  const Tensor& names = value.ref ? value.ref->snapshot() : value.tensor;
  if (names.dtype() != DType::string) return detail::wrong_dtype(call, input, DType::string);
  if (names.size() != 2) return invalid("{}, but had shape: {}", complaint ? complaint : "Resource handle must have 2 elements", names.shape());
  return std::pair{names.data<std::string>()[0], names.data<std::string>()[1]};
}

std::shared_ptr<Variable> reference_to(const std::string& container, const std::string& name) {
  auto reference = std::make_shared<Variable>(name, DType::string, PartialShape(Shape{2}));
  reference->assign(Tensor::vector<std::string>(std::vector<std::string>{container, name}));
  return reference;
}

StatusOr<Exit> Exit::make(Binding& binding) {
  Exit exit;
  TRY_ASSIGN(exit.where, ResourceName::make(binding));
  exit.by_reference = binding.op().output_arg_size() > 0 && binding.op().output_arg(0).is_ref();
  return exit;
}

StatusOr<Exit> Exit::make_private(Binding& binding) {
  TRY_ASSIGN(Exit exit, make(binding));
  TRY_ASSIGN(const auto shared_name, binding.attr<std::string>("shared_name"));
  exit.nameless = shared_name.empty();
  return exit;
}

std::string signature_text(bool by_reference, const std::vector<DType>& inputs, const std::vector<DType>& outputs) {
  std::vector<DType> all{by_reference ? as_ref(DType::string) : DType::resource};
  all.insert(all.end(), inputs.begin(), inputs.end());
  return fmt::format("{}->{}", listed(all), listed(outputs));
}

Status match_signature(Call& call, const std::vector<DType>& inputs, const std::vector<DType>& wanted_inputs, const std::vector<DType>& outputs,
                       const std::vector<DType>& wanted_outputs) {
  if (inputs == wanted_inputs && outputs == wanted_outputs) return absl::OkStatus();
  const bool by_reference = call.in(0).dtype() != DType::resource;
  return invalid("Signature mismatch, have: {} expected: {}", signature_text(by_reference, inputs, outputs),
                 signature_text(by_reference, wanted_inputs, wanted_outputs));
}

}  // namespace troupe
