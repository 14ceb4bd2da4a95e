// What a run tells the metrics: versions that it reads and updates, gradients that it hands in.
#include <troupe/devices/execution.hpp>

#include <troupe/ops/resources/accumulator.hpp>
#include <troupe/ops/resources/variable.hpp>

namespace troupe {
namespace {

/// The resource behind a handle, or behind the two strings of an older graph's reference; none where there is none.
template <class R>
std::shared_ptr<R> shared_resource(ResourceStore& store, const Value& value) {
  if (value.ref) {
    const Tensor& names = value.ref->snapshot();
    if (!names.valid() || names.dtype() != DType::string || names.size() != 2) return nullptr;
    return store.find<R>(names.data<std::string>()[0], names.data<std::string>()[1]).value_or(nullptr);
  }
  if (!value.tensor.valid() || value.tensor.dtype() != DType::resource || value.tensor.size() < 1) return nullptr;
  return store.find<R>(value.tensor.data<ResourceHandle>()[0]).value_or(nullptr);
}

}  // namespace

void Execution::tell(const PlanNode& p, std::span<Value> inputs) {
  if (inputs.empty() || !resources) return;
  if (p.watch == Watch::gradient) {
    const auto accumulator = shared_resource<Accumulator>(*resources, inputs[0]);
    const Tensor* step = inputs.size() > 1 ? &inputs[1].tensor : nullptr;
    if (inputs.size() > 1 && inputs[1].ref) step = &inputs[1].ref->snapshot();
    if (!accumulator || !step->valid() || step->dtype() != DType::i64 || step->rank() != 0) return;
    sight_->gradient(accumulator->facts().name, step->item<std::int64_t>() < accumulator->step());
    return;
  }
  const auto variable = inputs[0].ref ? inputs[0].ref : shared_resource<Variable>(*resources, inputs[0]);
  if (!variable) return;
  if (p.watch == Watch::update) sight_->updates(*variable);
  else if (p.watch == Watch::read) sight_->reads(*variable);
}

const char* Execution::waited_for(const PlanNode& p) {
  const std::string& op = p.facts.op;
  if (p.transfer) return "tensor";
  return op.find("TakeGradient") != op.npos ? "gradients" : "queue";
}

}  // namespace troupe
