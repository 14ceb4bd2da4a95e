// Isotonic regression: the non-increasing sequence nearest to each row.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>

#include <vector>

namespace troupe {

namespace {

/// A run of values that share their mean.
struct Run {
  double sum;
  std::int64_t count;
  double mean() const { return sum / static_cast<double>(count); }
};

template <class T, class Out>
Status regress(Call& call, const In<T>& x) {
  Out* out = call.alloc<Out>(0, x.shape());
  std::int32_t* segments = call.alloc<std::int32_t>(1, x.shape());
  const std::int64_t n = x.dims() == 0 ? 1 : x.dim(x.dims() - 1);
  for (std::int64_t row = 0; row < x.size(); row += n) {
    std::vector<Run> runs;
    for (std::int64_t i = 0; i < n; ++i) {
      runs.push_back({static_cast<double>(x[row + i]), 1});
      // A mean above its predecessor's breaks the order: both become one run.
      while (runs.size() > 1 && runs[runs.size() - 2].mean() < runs.back().mean()) {
        const Run last = runs.back();
        runs.pop_back();
        runs.back().sum += last.sum;
        runs.back().count += last.count;
      }
    }
    std::int64_t at = row;
    for (std::size_t k = 0; k < runs.size(); ++k)
      for (std::int64_t i = 0; i < runs[k].count; ++i, ++at) {
        out[at] = static_cast<Out>(runs[k].mean());
        segments[at] = static_cast<std::int32_t>(k);
      }
  }
  return absl::OkStatus();
}

template <class T, class Out>
void one_kernel(Registry& ops) {
  ops.add("IsotonicRegression", On<"T", types<T>>{}, On<"output_dtype", types<Out>>{},
          []<class U, class V>(Call& call, In<U> x, Gives<V>) { return regress<U, V>(call, x); });
}

}  // namespace

void add_isotonic(Registry& ops) {
  one_kernel<half, half>(ops);
  one_kernel<bfloat16, bfloat16>(ops);
  one_kernel<float, float>(ops);
  one_kernel<double, double>(ops);
  one_kernel<std::int8_t, float>(ops);
  one_kernel<std::int16_t, float>(ops);
  one_kernel<std::int32_t, double>(ops);
  one_kernel<std::int64_t, double>(ops);
}

}  // namespace troupe
