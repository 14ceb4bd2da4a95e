// Squared, logistic, hinge, smooth hinge and Poisson losses.
#include <troupe/ops/training/sdca_losses.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int most_steps = 100;

/// Where an increasing function is zero; `at` gives its value and its slope.
template <class F>
double newton(double x, F&& at) {
  for (int i = 0; i < most_steps; ++i) {
    const auto [value, slope] = at(x);
    const double step = value / slope;
    if (!std::isfinite(step)) return x;
    x -= step;
    if (std::abs(step) <= 1e-12 * std::max(1.0, std::abs(x))) return x;
  }
  return x;
}

class Squared : public SdcaLoss {
 public:
  double best_dual(const SdcaExample& e) const override { return e.dual + (e.label - e.wx - e.dual) / (1 + e.stiffness); }
  double primal(double label, double wx) const override { return 0.5 * (wx - label) * (wx - label); }
  double dual(double label, double dual) const override { return dual * (0.5 * dual - label); }
  StatusOr<double> label(float given) const override { return given; }
};

/// Losses of two classes, whose labels are -1 and 1.
class Classes : public SdcaLoss {
 public:
  StatusOr<double> label(float given) const override {
    if (given == 0.0f) return -1.0;
    if (given == 1.0f) return 1.0;
    return invalid("Only labels of 0.0 or 1.0 are supported right now. Found example with label: {:g}", given);
  }
};

class Logistic : public Classes {
 public:
  double best_dual(const SdcaExample& e) const override {
    // The dual is (1 + tanh x) / 2 towards the label.
    const double x = newton(0.0, [&](double x) {
      const double t = std::tanh(x);
      return std::pair{2 * x + e.label * e.wx + e.stiffness * ((1 + t) / 2 - e.label * e.dual), 2 + e.stiffness * (1 - t * t) / 2};
    });
    return e.label * (1 + std::tanh(x)) / 2;
  }
  double primal(double label, double wx) const override {
    const double x = -label * wx;
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
  double dual(double label, double dual) const override {
    const auto entropy = [](double p) { return p > 0 ? p * std::log(p) : 0.0; };
    return entropy(label * dual) + entropy(1 - label * dual);
  }
};

class Hinge : public Classes {
 public:
  double best_dual(const SdcaExample& e) const override {
    return e.label * std::clamp(e.label * (e.dual + (e.label - e.wx) / e.stiffness), 0.0, 1.0);
  }
  double primal(double label, double wx) const override { return std::max(0.0, 1 - label * wx); }
  double dual(double label, double dual) const override { return label * dual < 0 || label * dual > 1 ? infinity : -label * dual; }
};

class SmoothHinge : public Classes {
 public:
  double best_dual(const SdcaExample& e) const override {
    const double dual = e.label * e.dual;
    return e.label * std::clamp(dual + (1 - e.label * e.wx - dual) / (1 + e.stiffness), 0.0, 1.0);
  }
  double primal(double label, double wx) const override {
    const double x = label * wx;
    return x >= 1 ? 0 : x <= 0 ? 0.5 - x : 0.5 * (1 - x) * (1 - x);
  }
  double dual(double label, double dual) const override {
    const double d = label * dual;
    return d < 0 || d > 1 ? infinity : -d + 0.5 * d * d;
  }
};

class Poisson : public SdcaLoss {
 public:
  double best_dual(const SdcaExample& e) const override {
    // The label less the dual is exp(x); right of the solution the steps come nearer from one side.
    const double sum = e.wx + e.stiffness * (e.label - e.dual);
    const double x = newton(std::min(sum, 50.0), [&](double x) {
      const double rate = e.stiffness * std::exp(x);
      return std::pair{x + rate - sum, 1 + rate};
    });
    return e.label - std::exp(x);
  }
  double primal(double label, double wx) const override { return std::exp(wx) - wx * label; }
  double dual(double label, double dual) const override {
    const double rate = label - dual;
    return rate > 0 ? rate * std::log(rate) - rate : rate == 0 ? 0 : infinity;
  }
  StatusOr<double> label(float given) const override {
    if (given >= 0.0f) return given;
    return invalid("Only non-negative labels can be used with the Poisson log loss. Found example with label: {:g}", given);
  }
};

}  // namespace

StatusOr<std::unique_ptr<SdcaLoss>> SdcaLoss::of(const std::string& name) {
  if (name == "squared_loss") return std::make_unique<Squared>();
  if (name == "logistic_loss") return std::make_unique<Logistic>();
  if (name == "hinge_loss") return std::make_unique<Hinge>();
  if (name == "smooth_hinge_loss") return std::make_unique<SmoothHinge>();
  if (name == "poisson_loss") return std::make_unique<Poisson>();
  return invalid("Unsupported loss type: {}", name);
}

}  // namespace troupe
