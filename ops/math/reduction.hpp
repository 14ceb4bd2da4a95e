// Reductions over any axes: the plan of the walk and the walk itself.
#pragma once

#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace troupe {

/// What a reduction makes of a shape. Neighbouring dimensions of the same fate are merged.
struct ReductionPlan {
  Shape output;
  Shape::Dims size;             // merged dimensions of the input, outermost first; at least one
  Shape::Dims output_step;      // elements that the output advances per dimension; 0 where it is reduced
  std::int64_t per_output = 1;  // input elements that make one output element

  /// Fails for axes out of range or named twice, with TensorFlow's texts.
  static StatusOr<ReductionPlan> of(const Shape& input, const Tensor& axes, bool keep_dims);

  bool reduces_rows() const { return output_step.back() == 0; }

  /// Whether parts of the outermost dimension make outputs of their own.
  bool splits() const { return size.size() > 1 && output_step[0] != 0; }
  /// Input elements of one place of the outermost dimension.
  std::int64_t slice() const {
    std::int64_t n = 1;
    for (std::size_t d = 1; d < size.size(); ++d) n *= size[d];
    return n;
  }

  /// Calls row(input offset, output offset) for each innermost row of size.back() elements.
  template <class Row>
  void for_each_row(std::int64_t elements, Row&& row) const {
    for_each_row(0, elements, 0, row);
  }
  /// The same for input elements [begin, end), where the output's place of the first is known.
  template <class Row>
  void for_each_row(std::int64_t begin, std::int64_t end, std::int64_t to, Row&& row) const {
    const std::size_t outer = size.size() - 1;
    Shape::Dims at(outer, 0);
    for (std::int64_t from = begin; from < end; from += size.back()) {
      row(from, to);
      for (std::size_t d = outer; d-- > 0;) {
        to += output_step[d];
        if (++at[d] < size[d]) break;
        to -= output_step[d] * size[d];
        at[d] = 0;
      }
    }
  }
};

namespace detail {

/// Where a long row is cut in two.
template <class R>
std::int64_t half_of(std::int64_t n) {
  return n / 2 / R::lanes * R::lanes;
}

/// Folds a row in lanes, and long rows in halves, so that sums stay accurate and loops are independent.
template <class R, class A, class T>
A fold_row(const T* x, std::int64_t n) {
  constexpr std::int64_t lanes = R::lanes, longest = 2048;
  if (n > longest) {
    const std::int64_t left = half_of<R>(n);
    return R::join(fold_row<R, A>(x, left), fold_row<R, A>(x + left, n - left));
  }
  if (lanes > 8 && n < lanes) {
    A all = R::template start<A>();
    for (std::int64_t i = 0; i < n; ++i) all = R::join(all, R::template lift<A>(x[i]));
    return all;
  }
  A acc[lanes];
  std::fill_n(acc, lanes, R::template start<A>());
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t k = 0; k < lanes; ++k) acc[k] = R::join(acc[k], R::template lift<A>(x[i + k]));
  for (; i < n; ++i) acc[0] = R::join(acc[0], R::template lift<A>(x[i]));
  for (std::int64_t k = 1; k < lanes; ++k) acc[0] = R::join(acc[0], acc[k]);
  return acc[0];
}

/// The same halves of halves of a very long row, which several threads fold: the result does not depend on their number.
template <class R, class A, class T>
class LongRow {
 public:
  static A fold(const T* x, std::int64_t n) {
    if (n <= longest) return fold_row<R, A>(x, n);
    LongRow row;
    row.cut(x, n);
    in_parallel(static_cast<std::int64_t>(row.pieces_.size()), 0.15 * longest, Cut::fine, [&](std::int64_t first, std::int64_t last) {
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
        row.pieces_[i].folded = fold_row<R, A>(row.pieces_[i].x, row.pieces_[i].n);
    });
    return row.join(n);
  }

 private:
  static constexpr std::int64_t longest = 1 << 17;
  struct Piece {
    const T* x;
    std::int64_t n;
    A folded;
  };
  void cut(const T* x, std::int64_t n) {
    if (n <= longest) return void(pieces_.push_back({x, n, A()}));
    cut(x, half_of<R>(n));
    cut(x + half_of<R>(n), n - half_of<R>(n));
  }
  A join(std::int64_t n) {
    if (n <= longest) return pieces_[next_++].folded;
    const A left = join(half_of<R>(n));
    return R::join(left, join(n - half_of<R>(n)));
  }

  std::vector<Piece> pieces_;
  std::size_t next_ = 0;
};

}  // namespace detail

/// Accumulates into `out`, one A per output element. R says start (the neutral value), lift (of an element) and join.
template <class R, class A, class T>
void reduce_into(const T* x, std::int64_t elements, const ReductionPlan& plan, A* out) {
  std::fill_n(out, plan.output.elements(), R::template start<A>());
  const std::int64_t n = plan.size.back();
  const auto reduce_part = [&](std::int64_t begin, std::int64_t end, std::int64_t start) {
    if (plan.reduces_rows()) {
      plan.for_each_row(begin, end, start,
                        [&](std::int64_t from, std::int64_t to) { out[to] = R::join(out[to], detail::LongRow<R, A, T>::fold(x + from, n)); });
    } else {
      plan.for_each_row(begin, end, start, [&](std::int64_t from, std::int64_t to) {
        const T* in = x + from;
        A* acc = out + to;
        for (std::int64_t i = 0; i < n; ++i) acc[i] = R::join(acc[i], R::template lift<A>(in[i]));
      });
    }
  };
  if (!plan.splits() || elements == 0) return reduce_part(0, elements, 0);
  const std::int64_t slice = plan.slice();
  in_parallel(plan.size[0], 0.3 * static_cast<double>(slice), Cut::fine,
              [&](std::int64_t first, std::int64_t last) { reduce_part(first * slice, last * slice, first * plan.output_step[0]); });
}

/// A whole reduction kernel: accumulates as A and gives finish(accumulated, input elements per output).
template <class R, class A, class T, class Finish>
Status reduce(Call& call, const In<T>& x, const Tensor& axes, bool keep_dims, Finish finish) {
  TRY_ASSIGN(const ReductionPlan plan, ReductionPlan::of(x.shape(), axes, keep_dims));
  T* out = call.alloc<T>(0, plan.output);
  const std::int64_t n = plan.output.elements();
  if constexpr (std::is_same_v<A, T>) {
    reduce_into<R, A>(x.data(), x.size(), plan, out);
    for (std::int64_t i = 0; i < n; ++i) out[i] = finish(out[i], plan.per_output);
  } else {
    std::vector<A> acc(static_cast<std::size_t>(n));
    reduce_into<R, A>(x.data(), x.size(), plan, acc.data());
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(finish(acc[static_cast<std::size_t>(i)], plan.per_output));
  }
  return absl::OkStatus();
}

}  // namespace troupe
