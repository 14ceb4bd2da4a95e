// Losses of stochastic dual coordinate ascent: their values, their duals, and the best dual of one example with all others fixed.
#pragma once

#include <troupe/messaging/status.hpp>

#include <memory>
#include <string>

namespace troupe {

/// An example as a loss sees it.
struct SdcaExample {
  double label, weight;
  double dual;       // before the step
  double wx;         // the model's output
  double stiffness;  // how much the output grows with the dual: the squared norm over the regularisation, weighted
};

class SdcaLoss {
 public:
  virtual ~SdcaLoss() = default;
  /// The dual that makes the example's part of the dual objective largest.
  virtual double best_dual(const SdcaExample& e) const = 0;
  virtual double primal(double label, double wx) const = 0;
  /// Infinite where the dual is not one.
  virtual double dual(double label, double dual) const = 0;
  /// What the formulas want as label; refuses what cannot be one.
  virtual StatusOr<double> label(float given) const = 0;

  static StatusOr<std::unique_ptr<SdcaLoss>> of(const std::string& name);
};

}  // namespace troupe
