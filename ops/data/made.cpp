// Datasets that know how they were made.
#include <troupe/ops/data/made.hpp>

#include <troupe/ops/data/dataset.hpp>
#include <troupe/ops/function_fingerprint.hpp>

namespace troupe {
namespace {

using NodePtr = std::shared_ptr<const wire::NodeDef>;

std::vector<Tensor> inputs_of(Call& call) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < call.inputs(); ++i) inputs.push_back(call.in(i));
  return inputs;
}

/// A dataset that was only handed on was made by somebody else.
void keep(Call& call, const NodePtr& node, std::vector<Tensor> inputs) {
  const auto dataset = dataset_in(call.out(0));
  if (dataset.ok() && !(*dataset)->made) (*dataset)->made = std::make_shared<const Made>(Made{node, std::move(inputs)});
}

}  // namespace

bool makes_dataset(const wire::OpDef& op) {
  return op.output_arg_size() == 1 && op.output_arg(0).type() == wire::DT_VARIANT && op.name().find("Dataset") != std::string::npos;
}

Kernel remembering(Kernel kernel, const wire::NodeDef& node) {
  auto shared = std::make_shared<const wire::NodeDef>(node);
  if (kernel.run)
    kernel.run = [run = std::move(kernel.run), shared](Call& call) {
      std::vector<Tensor> inputs = inputs_of(call);
      const Status status = run(call);
      if (status.ok()) keep(call, shared, std::move(inputs));
      return status;
    };
  else
    kernel.start = [start = std::move(kernel.start), shared](Call& call, Done done) {
      start(call, [&call, shared, inputs = inputs_of(call), done = std::move(done)](Status status) {
        if (status.ok()) keep(call, shared, inputs);
        done(status);
      });
    };
  return kernel;
}

Status check_functions(const Dataset& dataset) {
  for (const auto& function : dataset.functions)
    if (const auto* known = dynamic_cast<const HasFingerprint*>(function.get()))
      if (const std::string op = known->stateful_op(); !op.empty()) return failed_precondition("{} is stateful.", op);
  return absl::OkStatus();
}

Status check_state(const Dataset& dataset) {
  for (const auto& input : dataset.inputs) TRY(check_state(*input));
  return check_functions(dataset);
}

}  // namespace troupe
