// What all optimizers share: slots, hyperparameters, one update per variable.
#include <troupe/ops/builder/optimizer.hpp>

#include <troupe/ops/builder/array.hpp>

#include <algorithm>

namespace troupe::build {
namespace {

/// Rows that come more than once are summed into one.
IndexedSlices unique_rows(const IndexedSlices& grad) {
  Builder& b = *grad.values.builder;
  const Op unique = b.op("Unique", {grad.indices});
  if (!unique.valid()) return {};
  const Out summed = b.op("UnsortedSegmentSum", {grad.values, unique[1], element(Out(b.op("Shape", {unique[0]})), 0)});
  return {summed, unique[0], grad.dense_shape};
}

}  // namespace

std::vector<GradientOf> Optimizer::compute_gradients(const Out& loss, const std::vector<Variable>& variables) const {
  std::vector<Variable> all = variables;
  if (all.empty() && loss.valid())
    std::copy_if(loss.builder->variables().begin(), loss.builder->variables().end(), std::back_inserter(all),
                 [](const Variable& v) { return v.trainable; });
  std::vector<GradientOf> out;
  if (!loss.valid()) return out;
  auto grads = gradients(loss, all);
  for (std::size_t i = 0; i < all.size(); ++i) out.push_back({all[i], grads[i]});
  return out;
}

Op Optimizer::minimize(const Out& loss, const Variable& step, const std::vector<Variable>& variables) {
  const auto grads = compute_gradients(loss, variables);
  if (loss.valid() && std::all_of(grads.begin(), grads.end(), [](const GradientOf& g) { return g.grad.none(); })) {
    loss.builder->fail(invalid("No gradients provided for any variable: '{}' depends on none of {}", loss.name(), grads.size()));
    return {};
  }
  return apply_gradients(grads, step);
}

Op Optimizer::apply_gradients(const std::vector<GradientOf>& gradients, const Variable& step) {
  std::vector<GradientOf> all;
  std::copy_if(gradients.begin(), gradients.end(), std::back_inserter(all), [](const GradientOf& g) { return !g.grad.none() && g.variable.valid(); });
  if (all.empty()) return {};
  Builder& b = *all[0].variable.handle.builder;
  {
    auto root = b.scope("");
    for (const auto& g : all) create_slots(g.variable);
  }
  auto scope = b.scope(name_);
  make_numbers(b, all);
  std::vector<Op> updates;
  for (const auto& g : all) updates.push_back(update_one(b, g));
  finish(updates, updates);
  if (!b.status().ok()) return {};
  if (!step.valid()) return b.group(updates, b.scope_name());
  auto after = b.after({b.group(updates, "update")});
  auto beside = b.beside(op_of(step.handle));
  return step.assign_add(b.number(1, step.dtype), b.scope_name());
}

Op Optimizer::update_one(Builder& b, const GradientOf& g) {
  auto scope = b.scope("update_" + g.variable.name());
  auto beside = b.beside(op_of(g.variable.handle));
  if (!g.grad.is_sparse()) return update(g.variable, g.grad.dense());
  const IndexedSlices rows = sums_rows() ? g.grad.sparse() : unique_rows(g.grad.sparse());
  return update_rows(g.variable, rows.values, rows.indices);
}

void Optimizer::make_numbers(Builder& b, const std::vector<GradientOf>& gradients) {
  for (const auto& g : gradients)
    for (const auto& [name, rate] : numbers_) {
      auto& made = made_numbers_[{name, g.variable.dtype}];
      if (!made.valid()) made = rate.tensor.valid() ? cast(rate.tensor, g.variable.dtype) : b.number(rate.value, g.variable.dtype, name);
    }
}

Out Optimizer::number(const Variable& variable, const std::string& name) { return made_numbers_[{name, variable.dtype}]; }

void Optimizer::make_slot(const Variable& variable, const std::string& key, double initial) {
  auto& kept = slots_[variable.name() + "#" + key];
  if (kept.valid()) return;
  Builder& b = *variable.handle.builder;
  const auto shape = variable.shape.known();
  if (!shape) return b.fail(invalid("Optimizer {} needs the shape of variable '{}', which is {}", name_, variable.name(), variable.shape));
  auto beside = b.beside(op_of(variable.handle));
  const VariableOptions options{.trainable = false, .resource = variable.resource};
  kept = build::variable(b, variable.name() + "/" + name_, initial == 0 ? zeros(*shape, variable.dtype) : filled(*shape, initial, variable.dtype),
                         options);
}

Op Optimizer::apply(const Variable& variable, const std::string& kind, std::vector<In> inputs, const Attrs& attrs) {
  Builder& b = *variable.handle.builder;
  inputs.insert(inputs.begin(), variable.handle);
  Attrs typed = attrs;
  if (variable.resource) typed.emplace_back("T", variable.dtype);
  return b.op((variable.resource ? "Resource" : "") + kind, inputs, typed);
}

}  // namespace troupe::build
