// Gradient descent, plain, with momentum, proximal, and by the sign of the gradient.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/training/numbers.hpp>
#include <troupe/ops/training/update.hpp>

namespace troupe {
namespace {

using namespace training;

template <class T>
using Given = RuleNumbers<T>;

/// Shrinks towards zero by l1 and l2 after a step of size `rate`.
template <class T>
T shrunk(const T& moved, const T& rate, const T& l1, const T& l2) {
  if (l1 > T(0)) return sign(moved) * positive_part(magnitude(moved) - rate * l1) / (T(1) + l2 * rate);
  return moved / (T(1) + l2 * rate);
}

void add_proximal(Registry& ops) {
  add_update<1>(ops,
                {"ApplyProximalGradientDescent", "ResourceApplyProximalGradientDescent", "SparseApplyProximalGradientDescent",
                 "ResourceSparseApplyProximalGradientDescent"},
                full_floats{}, []<class T>(const UpdateLayout&, const Given<T>& given) {
                  return [rate = given[0], l1 = given[1], l2 = given[2]](const T& g, T& var) { var = shrunk(var - g * rate, rate, l1, l2); };
                });
  add_update<2>(ops, {"ApplyProximalAdagrad", "ResourceApplyProximalAdagrad", "SparseApplyProximalAdagrad", "ResourceSparseApplyProximalAdagrad"},
                full_floats{}, []<class T>(const UpdateLayout&, const Given<T>& given) {
                  return [lr = given[0], l1 = given[1], l2 = given[2]](const T& g, T& var, T& accum) {
                    accum += square(g);
                    const T rate = lr * inverse_root(accum);
                    var = shrunk(var - g * rate, rate, l1, l2);
                  };
                });
}

void add_momentum(Registry& ops) {
  add_update<2>(ops, {"ApplyMomentum", "ResourceApplyMomentum", "SparseApplyMomentum", "ResourceSparseApplyMomentum"}, all{},
                []<class T>(const UpdateLayout& layout, const Given<T>& given) {
                  return [lr = given[0], momentum = given[1], nesterov = layout.use_nesterov](const T& g, T& var, T& accum) {
                    accum = accum * momentum + g;
                    var -= nesterov ? g * lr + accum * momentum * lr : accum * lr;
                  };
                });
  add_update<2>(ops, {"ResourceApplyKerasMomentum", "ResourceSparseApplyKerasMomentum"}, all{},
                []<class T>(const UpdateLayout& layout, const Given<T>& given) {
                  return [lr = given[0], momentum = given[1], nesterov = layout.use_nesterov](const T& g, T& var, T& accum) {
                    accum = accum * momentum - g * lr;
                    var += nesterov ? accum * momentum - g * lr : accum;
                  };
                });
}

void add_by_sign(Registry& ops) {
  add_update<2>(ops, {"ApplyAddSign", "ResourceApplyAddSign"}, floats{}, []<class T>(const UpdateLayout&, const Given<T>& given) {
    return [lr = given[0], alpha = given[1], decay = given[2], beta = given[3]](const T& g, T& var, T& m) {
      m = m * beta + g * (T(1) - beta);
      var -= lr * (alpha + decay * (sign(g) * sign(m))) * g;
    };
  });
  add_update<2>(ops, {"ApplyPowerSign", "ResourceApplyPowerSign"}, floats{}, []<class T>(const UpdateLayout&, const Given<T>& given) {
    return [lr = given[0], base = given[1], decay = given[2], beta = given[3]](const T& g, T& var, T& m) {
      m = m * beta + g * (T(1) - beta);
      var -= lr * Eigen::numext::exp(T(base * decay * (sign(g) * sign(m)))) * g;
    };
  });
}

}  // namespace

void add_descent(Registry& ops) {
  add_update<1>(ops, {"ApplyGradientDescent", "ResourceApplyGradientDescent"}, all{},
                []<class T>(const UpdateLayout&, const Given<T>& given) { return [rate = given[0]](const T& g, T& var) { var -= g * rate; }; });
  add_momentum(ops);
  add_proximal(ops);
  add_by_sign(ops);
}

}  // namespace troupe
