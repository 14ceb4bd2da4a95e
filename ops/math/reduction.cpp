// Planning of reductions.
#include <troupe/ops/math/reduction.hpp>

#include <troupe/ops/math/index_values.hpp>

namespace troupe {
namespace {

StatusOr<std::vector<bool>> reduced_axes(int rank, const Tensor& axes) {
  std::vector<bool> reduced(static_cast<std::size_t>(rank), false);
  for (const std::int64_t axis : index_values(axes)) {
    if (axis < -rank || axis >= rank) return invalid("Invalid reduction dimension ({} for input with {} dimension(s)", axis, rank);
    const auto d = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    if (reduced[d]) return invalid("Invalid reduction arguments: Axes contains duplicate dimension: {}", d);
    reduced[d] = true;
  }
  return reduced;
}

}  // namespace

StatusOr<ReductionPlan> ReductionPlan::of(const Shape& input, const Tensor& axes, bool keep_dims) {
  TRY_ASSIGN(const std::vector<bool> reduced, reduced_axes(input.rank(), axes));
  ReductionPlan plan;
  bool last = false;
  for (int d = 0; d < input.rank(); ++d) {
    const bool gone = reduced[static_cast<std::size_t>(d)];
    const std::int64_t n = input.dim(d);
    if (!gone) plan.output.add_dim(n);
    else if (keep_dims) plan.output.add_dim(1);
    if (gone) plan.per_output *= n;
    if (n == 1) continue;
    if (!plan.size.empty() && gone == last) {
      plan.size.back() *= n;
    } else {
      plan.size.push_back(n);
      plan.output_step.push_back(gone ? 0 : 1);
      last = gone;
    }
  }
  if (plan.size.empty()) {
    plan.size.push_back(1);
    plan.output_step.push_back(1);
  }
  std::int64_t step = 1;
  for (std::size_t d = plan.size.size(); d-- > 0;) {
    if (plan.output_step[d] == 0) continue;
    plan.output_step[d] = step;
    step *= plan.size[d];
  }
  return plan;
}

}  // namespace troupe
