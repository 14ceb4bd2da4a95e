// Update rules that keep a rate per element: Adagrad, Adadelta, RMSProp, Adam and their kin.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/training/numbers.hpp>
#include <troupe/ops/training/update.hpp>

#include <algorithm>

namespace troupe {
namespace {

using namespace training;

template <class T>
using Given = RuleNumbers<T>;

void add_adagrad(Registry& ops) {
  add_update<2>(ops, {"ApplyAdagrad", "ResourceApplyAdagrad", "SparseApplyAdagrad", "ResourceSparseApplyAdagrad"}, all{},
                []<class T>(const UpdateLayout& layout, const Given<T>& given) {
                  return [lr = given[0], gather = layout.update_slots](const T& g, T& var, T& accum) {
                    if (gather) accum += square(g);
                    var -= g * lr * inverse_root(accum);
                  };
                });
  add_update<2>(ops, {"ApplyAdagradV2", "ResourceApplyAdagradV2", "SparseApplyAdagradV2", "ResourceSparseApplyAdagradV2"}, all{},
                []<class T>(const UpdateLayout& layout, const Given<T>& given) {
                  return [lr = given[0], epsilon = given[1], gather = layout.update_slots](const T& g, T& var, T& accum) {
                    if (gather) accum += square(g);
                    var -= g * lr / (root(accum) + epsilon);
                  };
                });
  add_update<3>(ops, {"ApplyAdagradDA", "ResourceApplyAdagradDA", "SparseApplyAdagradDA", "ResourceSparseApplyAdagradDA"}, full_floats{},
                []<class T>(const UpdateLayout&, const Given<T>& given) {
                  return [lr = given[0], l1 = given[1], l2 = given[2], steps = given[3]](const T& g, T& var, T& sum, T& squares) {
                    sum += g;
                    squares += square(g);
                    const T above = l1 > T(0) ? sign(sum) * positive_part(magnitude(sum) - steps * l1) : sum;
                    var = -lr * above / (l2 * (steps * lr) + root(squares));
                  };
                });
}

void add_adadelta(Registry& ops) {
  add_update<3>(ops, {"ApplyAdadelta", "ResourceApplyAdadelta", "SparseApplyAdadelta", "ResourceSparseApplyAdadelta"}, all{},
                []<class T>(const UpdateLayout&, const Given<T>& given) {
                  return [lr = given[0], rho = given[1], epsilon = given[2]](const T& g, T& var, T& accum, T& updates) {
                    accum = accum * rho + square(g) * (T(1) - rho);
                    const T update = root(T(updates + epsilon)) * inverse_root(T(accum + epsilon)) * g;
                    var -= update * lr;
                    updates = updates * rho + square(update) * (T(1) - rho);
                  };
                });
}

/// The moving mean, written in the two ways in which dense and sparse ops round.
template <class T>
T moved_mean(const T& mean, const T& x, const T& rho, bool sparse) {
  return sparse ? T(mean * rho + x * (T(1) - rho)) : T(mean + (x - mean) * (T(1) - rho));
}

template <class... Ts>
void add_rms_for(Registry& ops, Registry::Names plain, Registry::Names centered, types<Ts...> ts, bool sparse) {
  add_update<3>(ops, plain, ts, [sparse]<class T>(const UpdateLayout&, const Given<T>& given) {
    return [lr = given[0], rho = given[1], momentum = given[2], epsilon = given[3], sparse](const T& g, T& var, T& ms, T& mom) {
      ms = moved_mean(ms, square(g), rho, sparse);
      mom = mom * momentum + (g * lr) / root(T(ms + epsilon));
      var -= mom;
    };
  });
  add_update<4>(ops, centered, ts, [sparse]<class T>(const UpdateLayout&, const Given<T>& given) {
    return [lr = given[0], rho = given[1], momentum = given[2], epsilon = given[3], sparse](const T& g, T& var, T& mg, T& ms, T& mom) {
      ms = moved_mean(ms, square(g), rho, sparse);
      mg = moved_mean(mg, g, rho, sparse);
      mom = mom * momentum + (g * lr) / root(T((ms - square(mg)) + epsilon));
      var -= mom;
    };
  });
}

void add_rms(Registry& ops) {
  add_rms_for(ops, {"ApplyRMSProp", "ResourceApplyRMSProp"}, {"ApplyCenteredRMSProp", "ResourceApplyCenteredRMSProp"}, all{}, false);
  add_rms_for(ops, {"SparseApplyRMSProp", "ResourceSparseApplyRMSProp"}, {"SparseApplyCenteredRMSProp", "ResourceSparseApplyCenteredRMSProp"},
              without_bfloat16{}, true);
}

template <class T>
T bias_corrected_rate(const Given<T>& given) {
  return given[2] * root(T(T(1) - given[1])) / (T(1) - given[0]);
}

void add_adam(Registry& ops) {
  add_update<3>(ops, {"ApplyAdam", "ResourceApplyAdam"}, all{}, []<class T>(const UpdateLayout& layout, const Given<T>& given) {
    return [alpha = bias_corrected_rate(given), beta1 = given[3], beta2 = given[4], epsilon = given[5], nesterov = layout.use_nesterov](
               const T& g, T& var, T& m, T& v) {
      m += (g - m) * (T(1) - beta1);
      v += (square(g) - v) * (T(1) - beta2);
      const T step = nesterov ? T((g * (T(1) - beta1) + beta1 * m) * alpha) : T(m * alpha);
      var -= step / (root(v) + epsilon);
    };
  });
  add_update<4>(ops, {"ResourceApplyAdamWithAmsgrad"}, floats{}, []<class T>(const UpdateLayout&, const Given<T>& given) {
    return [alpha = bias_corrected_rate(given), beta1 = given[3], beta2 = given[4], epsilon = given[5]](const T& g, T& var, T& m, T& v, T& largest) {
      m += (g - m) * (T(1) - beta1);
      v += (square(g) - v) * (T(1) - beta2);
      largest = std::max(largest, v);
      var -= (m * alpha) / (root(largest) + epsilon);
    };
  });
  add_update<3>(ops, {"ApplyAdaMax", "ResourceApplyAdaMax"}, types<half, float, double>{}, []<class T>(const UpdateLayout&, const Given<T>& given) {
    return [rate = T(given[1] / (T(1) - given[0])), beta1 = given[2], beta2 = given[3], epsilon = given[4]](const T& g, T& var, T& m, T& v) {
      m += (g - m) * (T(1) - beta1);
      v = std::max(T(beta2 * v), magnitude(g));
      var -= rate * (m / (v + epsilon));
    };
  });
}

}  // namespace

void add_adaptive(Registry& ops) {
  add_adagrad(ops);
  add_adadelta(ops);
  add_rms(ops);
  add_adam(ops);
}

}  // namespace troupe
