// The largest elements of rows, and whether a target is among the k largest.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>

#include <cmath>
#include <limits>
#include <numeric>

namespace troupe {
namespace {

/// The first k of the row's positions, by value from the largest, then by position.
template <class T>
void largest(const T* row, std::vector<std::int32_t>& order, std::int64_t k) {
  std::iota(order.begin(), order.end(), 0);
  const auto before = [row](std::int32_t a, std::int32_t b) { return row[a] > row[b] || (!(row[a] < row[b]) && a < b); };
  if (k == 1) std::swap(order.front(), *std::min_element(order.begin(), order.end(), before));
  // A partial sort stays within its range whatever the comparison says of NaN.
  else std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
}

template <class T>
Status top_k(Call& call, In<T> x, std::int64_t k, DType index_type) {
  if (k < 0) return invalid("Need k >= 0, got {}", k);
  if (x.dims() < 1) return invalid("input must be >= 1-D, got shape {}", x.shape());
  const std::int64_t columns = x.dim(x.dims() - 1), rows = x.shape().elements(0, x.dims() - 1);
  if (columns < k) return invalid("input must have at least k columns. Had {}, needed {}", columns, k);
  if (columns > std::numeric_limits<std::int32_t>::max()) return invalid("input has too many columns: {}", columns);
  Shape shape = x.shape();
  shape.set_dim(x.dims() - 1, k);
  T* values = call.alloc<T>(0, shape);
  call.alloc(1, index_type, shape);
  if (k == 0) return absl::OkStatus();
  std::vector<std::int32_t> order(static_cast<std::size_t>(columns));
  by_index(index_type, [&]<class I>() {
    I* indices = call.out(1).mutable_data<I>();
    for (std::int64_t r = 0; r < rows; ++r) {
      const T* row = x.data() + r * columns;
      largest(row, order, k);
      for (std::int64_t i = 0; i < k; ++i) {
        *values++ = row[order[static_cast<std::size_t>(i)]];
        *indices++ = static_cast<I>(order[static_cast<std::size_t>(i)]);
      }
    }
  });
  return absl::OkStatus();
}

bool in_top(const float* row, std::int64_t classes, std::int64_t target, std::int64_t k) {
  if (target < 0 || target >= classes || !std::isfinite(row[target])) return false;
  std::int64_t better = 0;
  for (std::int64_t i = 0; i < classes && better < k; ++i) {
    if (!std::isfinite(row[i])) return false;
    if (row[i] > row[target]) ++better;
  }
  return better < k;
}

Status in_top_k(Call& call, const Tensor& predictions, const Tensor& targets, std::int64_t k) {
  if (predictions.rank() != 2) return invalid("predictions must be 2-dimensional");
  if (targets.rank() != 1) return invalid("targets must be 1-dimensional");
  if (predictions.dim(0) != targets.dim(0))
    return invalid("First dimension of predictions {} must match length of targets {}", predictions.dim(0), targets.dim(0));
  bool* out = call.alloc<bool>(0, targets.shape());
  const std::int64_t classes = predictions.dim(1);
  by_index(targets.dtype(), [&]<class I>() {
    for (std::int64_t i = 0; i < targets.size(); ++i)
      out[i] = in_top(predictions.data<float>() + i * classes, classes, static_cast<std::int64_t>(targets.data<I>()[i]), k);
  });
  return absl::OkStatus();
}

}  // namespace

void add_top_k(Registry& ops) {
  ops.add("TopK", reals{}, []<class T>(Call& call, In<T> x, Attr<"k", std::int64_t> k) { return top_k<T>(call, x, k, DType::i32); });
  ops.add("TopKV2", reals{}, []<class T>(Call& call, In<T> x, Any k, Attr<"index_type", DType> index_type) -> Status {
    if (k->rank() != 0) return invalid("k must be scalar, got shape {}", k->shape());
    return top_k<T>(call, x, as_integer(k.tensor), index_type);
  });
  // A machine without vector units of its own finds them exactly; the largest of the last dimension are all that is offered.
  ops.add("ApproxTopK", types<half, bfloat16, float>{},
          []<class T>(Call& call, In<T> x, Attr<"k", std::int64_t> k, Attr<"reduction_dimension", std::int64_t> dimension,
                      Attr<"is_max_k", bool> most) -> Status {
            if (*dimension != -1 || !*most) return invalid("ApproxTopK of dimension {} with is_max_k={} is not supported on CPU", *dimension, *most);
            return top_k<T>(call, x, k, DType::i32);
          });
  add_for(ops, "InTopK", {},
          [](Call& call, Any predictions, Any targets, Attr<"k", std::int64_t> k) { return in_top_k(call, predictions.tensor, targets.tensor, k); });
  add_for(ops, "InTopKV2", {}, [](Call& call, Any predictions, Any targets, Any k) -> Status {
    if (k->rank() != 0) return invalid("k must be 0-D, got shape {}", k->shape());
    return in_top_k(call, predictions.tensor, targets.tensor, as_integer(k.tensor));
  });
  ops.cost({"TopK", "TopKV2", "ApproxTopK"}, 10);
}

}  // namespace troupe
