// Follow the regularised leader, with and without shrinkage.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/training/numbers.hpp>
#include <troupe/ops/training/update.hpp>

namespace troupe {
namespace {

using namespace training;

template <class T>
struct Ftrl {
  T lr, l1, l2, shrinkage, lr_power;
  bool by_rate;  // `linear` is kept multiplied by the learning rate

  T scale(const T& accum) const { return lr_power == T(-0.5) ? root(accum) : power(accum, T(-lr_power)); }

  void operator()(const T& g, T& var, T& accum, T& linear) const {
    const T shifted = shrinkage == T(0) ? g : T(g + T(2) * shrinkage * var);
    const T grown = accum + g * g;
    const T change = scale(grown) - scale(accum);
    linear += by_rate ? T(shifted * lr - change * var) : T(shifted - change / lr * var);
    const T threshold = by_rate ? T(l1 * lr) : l1;
    const T slope = by_rate ? T(scale(grown) + T(2) * l2 * lr) : T(scale(grown) / lr + T(2) * l2);
    var = magnitude(linear) > threshold ? T((threshold * sign(linear) - linear) / slope) : T(0);
    accum = grown;
  }
};

}  // namespace

void add_ftrl(Registry& ops) {
  add_update<3>(ops, {"ApplyFtrl", "ResourceApplyFtrl", "SparseApplyFtrl", "ResourceSparseApplyFtrl"}, floats{},
                []<class T>(const UpdateLayout& layout, const RuleNumbers<T>& given) {
                  return Ftrl<T>{given[0], given[1], given[2], T(0), given[3], layout.multiply_linear_by_lr};
                });
  add_update<3>(ops, {"ApplyFtrlV2", "ResourceApplyFtrlV2", "SparseApplyFtrlV2", "ResourceSparseApplyFtrlV2"}, floats{},
                []<class T>(const UpdateLayout& layout, const RuleNumbers<T>& given) {
                  return Ftrl<T>{given[0], given[1], given[2], given[3], given[4], layout.multiply_linear_by_lr};
                });
}

}  // namespace troupe
