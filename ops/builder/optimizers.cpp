// The update rules.
#include <troupe/ops/builder/array.hpp>
#include <troupe/ops/builder/optimizer.hpp>

namespace troupe::build {

Op GradientDescent::update(const Variable& v, const Out& grad) { return apply(v, "ApplyGradientDescent", {number(v, "learning_rate"), grad}); }

Op GradientDescent::update_rows(const Variable& v, const Out& grad, const Out& indices) {
  return v.scatter_sub(indices, grad * number(v, "learning_rate"));
}

Op Momentum::update(const Variable& v, const Out& grad) {
  return apply(v, "ApplyMomentum", {slot(v, "momentum").handle, number(v, "learning_rate"), grad, number(v, "momentum")},
               {{"use_nesterov", nesterov_}});
}

Op Momentum::update_rows(const Variable& v, const Out& grad, const Out& indices) {
  return apply(v, "SparseApplyMomentum", {slot(v, "momentum").handle, number(v, "learning_rate"), grad, indices, number(v, "momentum")},
               {{"use_nesterov", nesterov_}});
}

Op Adagrad::update(const Variable& v, const Out& grad) {
  return apply(v, "ApplyAdagrad", {slot(v, "accumulator").handle, number(v, "learning_rate"), grad});
}

Op Adagrad::update_rows(const Variable& v, const Out& grad, const Out& indices) {
  return apply(v, "SparseApplyAdagrad", {slot(v, "accumulator").handle, number(v, "learning_rate"), grad, indices});
}

void RmsProp::create_slots(const Variable& v) {
  make_slot(v, "rms", 1);
  make_slot(v, "momentum", 0);
}

Op RmsProp::update(const Variable& v, const Out& grad) {
  return apply(v, "ApplyRMSProp",
               {slot(v, "rms").handle, slot(v, "momentum").handle, number(v, "learning_rate"), number(v, "decay"), number(v, "momentum"),
                number(v, "epsilon"), grad});
}

Op RmsProp::update_rows(const Variable& v, const Out& grad, const Out& indices) {
  return apply(v, "SparseApplyRMSProp",
               {slot(v, "rms").handle, slot(v, "momentum").handle, number(v, "learning_rate"), number(v, "decay"), number(v, "momentum"),
                number(v, "epsilon"), grad, indices});
}

void Ftrl::create_slots(const Variable& v) {
  make_slot(v, "accum", initial_);
  make_slot(v, "linear", 0);
}

Op Ftrl::update(const Variable& v, const Out& grad) {
  return apply(v, "ApplyFtrl",
               {slot(v, "accum").handle, slot(v, "linear").handle, grad, number(v, "learning_rate"), number(v, "l1_regularization_strength"),
                number(v, "l2_regularization_strength"), number(v, "learning_rate_power")});
}

Op Ftrl::update_rows(const Variable& v, const Out& grad, const Out& indices) {
  return apply(v, "SparseApplyFtrl",
               {slot(v, "accum").handle, slot(v, "linear").handle, grad, indices, number(v, "learning_rate"), number(v, "l1_regularization_strength"),
                number(v, "l2_regularization_strength"), number(v, "learning_rate_power")});
}

void Adam::create_slots(const Variable& v) {
  Builder& b = *v.handle.builder;
  if (!power1_.valid()) {
    auto beside = b.beside(op_of(v.handle));
    first_ = v;
    power1_ = variable(b, "beta1_power", value_of(static_cast<float>(beta1_)), {.trainable = false, .resource = v.resource});
    power2_ = variable(b, "beta2_power", value_of(static_cast<float>(beta2_)), {.trainable = false, .resource = v.resource});
  }
  make_slot(v, "m", 0);
  make_slot(v, "v", 0);
}

Op Adam::update(const Variable& v, const Out& grad) {
  const Out power1 = cast(power1_.read(), v.dtype), power2 = cast(power2_.read(), v.dtype);
  return apply(v, "ApplyAdam",
               {slot(v, "m").handle, slot(v, "v").handle, power1, power2, number(v, "learning_rate"), number(v, "beta1"), number(v, "beta2"),
                number(v, "epsilon"), grad});
}

/// Both averages fade in all rows; only the rows that came are added to.
Op Adam::update_rows(const Variable& v, const Out& grad, const Out& indices) {
  Builder& b = *v.handle.builder;
  const Out beta1 = number(v, "beta1"), beta2 = number(v, "beta2");
  const Out power1 = cast(power1_.read(), v.dtype), power2 = cast(power2_.read(), v.dtype);
  const Out rate = number(v, "learning_rate") * sqrt(1 - power2) / (1 - power1);
  auto faded = [&](const Variable& average, const Out& beta, const Out& fresh) {
    const Op fade = average.assign(average.read() * beta);
    auto after_fading = b.after({fade});
    const Op added = average.scatter_add(indices, fresh);
    auto after_adding = b.after({added});
    return average.resource ? average.read() : Out(added);
  };
  const Out m = faded(slot(v, "m"), beta1, grad * (1 - beta1));
  const Out n = faded(slot(v, "v"), beta2, square(grad) * (1 - beta2));
  return v.assign_sub(rate * m / (sqrt(n) + number(v, "epsilon")));
}

void Adam::finish(const std::vector<Op>& updates, std::vector<Op>& more) {
  if (!power1_.valid()) return;
  Builder& b = *power1_.handle.builder;
  std::vector<Op> powers;
  {
    auto after = b.after(updates);
    auto beside = b.beside(op_of(first_.handle));
    powers.push_back(power1_.assign(power1_.read() * b.number(beta1_, power1_.dtype)));
    powers.push_back(power2_.assign(power2_.read() * b.number(beta2_, power2_.dtype)));
  }
  more.insert(more.end(), powers.begin(), powers.end());
}

}  // namespace troupe::build
