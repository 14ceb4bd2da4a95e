// Optimizers: from a loss to an op that makes one step of training.
//
// Slots ("w/Momentum", "w/Adam_1"), hyperparameters and updates have TensorFlow's names and stand beside their variables. Variables whose gradient
// is rows get the sparse update. An optimizer keeps its slots, belongs to one builder and is used by who builds.
#pragma once

#include <troupe/ops/builder/gradients.hpp>

#include <map>

namespace troupe::build {

struct GradientOf {
  Variable variable;
  Grad grad;
};

/// A hyperparameter: a number, or an output that says it anew on each step.
struct Rate {
  Rate(double number) : value(number) {}
  template <class T>
  requires std::is_convertible_v<const T&, Out> Rate(const T& output) : tensor(static_cast<Out>(output)) {}
  double value = 0;
  Out tensor;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Of all trainable variables where none are named.
  std::vector<GradientOf> compute_gradients(const Out& loss, const std::vector<Variable>& variables = {}) const;
  /// One step; counts it where there is a global step.
  Op apply_gradients(const std::vector<GradientOf>& gradients, const Variable& step = {});
  Op minimize(const Out& loss, const Variable& step = {}, const std::vector<Variable>& variables = {});

 protected:
  using Numbers = std::vector<std::pair<std::string, Rate>>;
  Optimizer(std::string name, Numbers numbers) : name_(std::move(name)), numbers_(std::move(numbers)) {}

  /// Variables of the optimizer's own, before anything is updated.
  virtual void create_slots(const Variable& variable) { (void)variable; }
  virtual Op update(const Variable& variable, const Out& grad) = 0;
  /// Rows are unique unless the optimizer says that it sums them itself.
  virtual Op update_rows(const Variable& variable, const Out& grad, const Out& indices) = 0;
  virtual bool sums_rows() const { return false; }
  /// After all updates.
  virtual void finish(const std::vector<Op>& updates, std::vector<Op>& more) { (void)updates, (void)more; }

  const Variable& slot(const Variable& variable, const std::string& key) { return slots_[variable.name() + "#" + key]; }
  void make_slot(const Variable& variable, const std::string& key, double initial);
  /// A hyperparameter in the variable's type.
  Out number(const Variable& variable, const std::string& name);
  /// "ResourceApplyX" or "ApplyX", by the kind of variable.
  Op apply(const Variable& variable, const std::string& kind, std::vector<In> inputs, const Attrs& attrs = {});

  std::string name_;

 private:
  void make_numbers(Builder& b, const std::vector<GradientOf>& gradients);
  Op update_one(Builder& b, const GradientOf& g);

  Numbers numbers_;
  std::map<std::pair<std::string, DType>, Out> made_numbers_;
  std::map<std::string, Variable> slots_;
};

class GradientDescent final : public Optimizer {
 public:
  explicit GradientDescent(Rate rate) : Optimizer("GradientDescent", {{"learning_rate", rate}}) {}

 private:
  Op update(const Variable& v, const Out& grad) override;
  Op update_rows(const Variable& v, const Out& grad, const Out& indices) override;
  bool sums_rows() const override { return true; }
};

class Momentum final : public Optimizer {
 public:
  Momentum(Rate rate, Rate momentum, bool nesterov = false)
      : Optimizer("Momentum", {{"learning_rate", rate}, {"momentum", momentum}}), nesterov_(nesterov) {}

 private:
  void create_slots(const Variable& v) override { make_slot(v, "momentum", 0); }
  Op update(const Variable& v, const Out& grad) override;
  Op update_rows(const Variable& v, const Out& grad, const Out& indices) override;
  bool nesterov_;
};

class Adagrad final : public Optimizer {
 public:
  explicit Adagrad(Rate rate, double initial = 0.1) : Optimizer("Adagrad", {{"learning_rate", rate}}), initial_(initial) {}

 private:
  void create_slots(const Variable& v) override { make_slot(v, "accumulator", initial_); }
  Op update(const Variable& v, const Out& grad) override;
  Op update_rows(const Variable& v, const Out& grad, const Out& indices) override;
  double initial_;
};

class RmsProp final : public Optimizer {
 public:
  explicit RmsProp(Rate rate, double decay = 0.9, double momentum = 0, double epsilon = 1e-10)
      : Optimizer("RMSProp", {{"learning_rate", rate}, {"decay", decay}, {"momentum", momentum}, {"epsilon", epsilon}}) {}

 private:
  void create_slots(const Variable& v) override;
  Op update(const Variable& v, const Out& grad) override;
  Op update_rows(const Variable& v, const Out& grad, const Out& indices) override;
};

class Ftrl final : public Optimizer {
 public:
  explicit Ftrl(Rate rate, double rate_power = -0.5, double initial = 0.1, double l1 = 0, double l2 = 0)
      : Optimizer(
            "Ftrl",
            {{"learning_rate", rate}, {"l1_regularization_strength", l1}, {"l2_regularization_strength", l2}, {"learning_rate_power", rate_power}}),
        initial_(initial) {}

 private:
  void create_slots(const Variable& v) override;
  Op update(const Variable& v, const Out& grad) override;
  Op update_rows(const Variable& v, const Out& grad, const Out& indices) override;
  double initial_;
};

class Adam final : public Optimizer {
 public:
  explicit Adam(Rate rate = 0.001, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8)
      : Optimizer("Adam", {{"learning_rate", rate}, {"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}}), beta1_(beta1), beta2_(beta2) {}

 private:
  void create_slots(const Variable& v) override;
  Op update(const Variable& v, const Out& grad) override;
  Op update_rows(const Variable& v, const Out& grad, const Out& indices) override;
  void finish(const std::vector<Op>& updates, std::vector<Op>& more) override;
  double beta1_, beta2_;
  Variable power1_, power2_, first_;
};

}  // namespace troupe::build
