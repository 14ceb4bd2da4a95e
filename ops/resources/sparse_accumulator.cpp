// The arithmetic of sparse gradients: rows by index, each with the number of gradients that had it.
#include <troupe/ops/resources/accumulator.hpp>

#include <algorithm>

namespace troupe {
namespace {

Status check_parts(const Gradient& g) {
  if (g[0].rank() != 1) return invalid("Input indices should be vector but received shape: {}", g[0].shape());
  if (g[1].rank() == 0) return invalid("Values cannot be 0-dimensional.");
  if (g[1].dim(0) != g[0].dim(0)) return invalid("Expected {} non-empty input values, got {}", g[0].dim(0), g[1].dim(0));
  return absl::OkStatus();
}

Status check_declared(const Gradient& g, const PartialShape& shape) {
  if (g.size() > 2) {
    const auto given = g[2].values<std::int64_t>();
    if (shape.rank() > g[2].size()) return invalid("Shape mismatch: expected shape rank at least {}, got {}", shape.rank(), g[2].size());
    for (int i = 0; i < shape.rank(); ++i)
      if (shape.dim(i) != -1 && shape.dim(i) != given[static_cast<std::size_t>(i)])
        return invalid("Shape mismatch: expected shape dim {} to be {}, got {}", i, shape.dim(i), given[static_cast<std::size_t>(i)]);
  }
  if (shape.rank() <= 0 || shape.dim(0) == -1) return absl::OkStatus();
  const auto indices = g[0].values<std::int64_t>();
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i] >= shape.dim(0))
      return invalid("Shape mismatch: index of slice {} exceeded limits of shape; index is {} exceeded {}", i, indices[i], shape.dim(0));
  return absl::OkStatus();
}

class SparseSum final : public GradientSum {
 public:
  Status check(const Gradient& g, const PartialShape& shape, bool started) const override {
    TRY(check_parts(g));
    TRY(check_declared(g, shape));
    const Shape& values = g[1].shape();
    if (started) {
      if (values_.rank() != values.rank()) return invalid("Shape mismatch: expected values rank {}, got {}", values_.rank(), values.rank());
      for (int i = 1; i < values.rank(); ++i)
        if (values_.dim(i) != values.dim(i)) return wrong_dim(i, values_.dim(i), values.dim(i));
      return absl::OkStatus();
    }
    if (shape.rank() > values.rank()) return invalid("Shape mismatch: expected values rank at least {}, got {}", shape.rank(), values.rank());
    for (int i = 1; i < shape.rank(); ++i)
      if (shape.dim(i) != -1 && shape.dim(i) != values.dim(i)) return wrong_dim(i, shape.dim(i), values.dim(i));
    return absl::OkStatus();
  }

  void start(const Gradient& g) override {
    const auto indices = g[0].values<std::int64_t>();
    indices_.assign(indices.begin(), indices.end());
    values_ = g[1];
    counts_.assign(indices_.size(), 1);
  }

  /// Both sides are sorted by index.
  void add(const Gradient& g) override {
    const auto more = g[0].values<std::int64_t>();
    std::vector<std::int64_t> indices;
    std::vector<int> counts;
    struct Origin {
      std::int64_t old = -1, fresh = -1;
    };
    std::vector<Origin> origins;
    std::size_t i = 0, j = 0;
    while (i < indices_.size() || j < more.size()) {
      const bool take_old = i < indices_.size() && (j >= more.size() || indices_[i] <= more[j]);
      const bool take_new = j < more.size() && (i >= indices_.size() || more[j] <= indices_[i]);
      indices.push_back(take_old ? indices_[i] : more[j]);
      counts.push_back((take_old ? counts_[i] : 0) + (take_new ? 1 : 0));
      origins.push_back({take_old ? static_cast<std::int64_t>(i) : -1, take_new ? static_cast<std::int64_t>(j) : -1});
      i += take_old;
      j += take_new;
    }
    Shape shape = g[1].shape();
    shape.set_dim(0, static_cast<std::int64_t>(indices.size()));
    Tensor sum(values_.dtype(), shape);
    const std::int64_t width = shape.elements(1, shape.rank());
    visit_dtype(floats{}, values_.dtype(), [&]<class T>() {
      T* out = sum.mutable_data<T>();
      for (const Origin& o : origins) {
        const T* a = o.old < 0 ? nullptr : values_.data<T>() + o.old * width;
        const T* b = o.fresh < 0 ? nullptr : g[1].data<T>() + o.fresh * width;
        for (std::int64_t k = 0; k < width; ++k) *out++ = a && b ? b[k] + a[k] : a ? a[k] : b[k];
      }
    });
    indices_ = std::move(indices);
    counts_ = std::move(counts);
    values_ = std::move(sum);
  }

  Gradient take(const PartialShape& shape, std::int64_t, bool mean) override {
    if (mean) divide();
    std::vector<std::int64_t> dims(values_.shape().begin(), values_.shape().end());
    dims[0] = shape.rank() > 0 ? shape.dim(0) : -1;
    Gradient out{Tensor::vector(indices_), std::move(values_), Tensor::vector(dims)};
    values_ = Tensor();
    indices_.clear();
    counts_.clear();
    return out;
  }

 private:
  static Status wrong_dim(int i, std::int64_t wanted, std::int64_t given) {
    return invalid("Shape mismatch: expected values dim {} to be {}, got {}", i, wanted, given);
  }

  void divide() {
    if (!values_.unique()) values_ = values_.copy();
    const std::int64_t width = values_.shape().elements(1, values_.rank());
    visit_dtype(floats{}, values_.dtype(), [&]<class T>() {
      T* out = values_.mutable_data<T>();
      for (int count : counts_) {
        const T n = static_cast<T>(static_cast<float>(count));
        for (std::int64_t k = 0; k < width; ++k, ++out) *out = *out / n;
      }
    });
  }

  std::vector<std::int64_t> indices_;
  std::vector<int> counts_;
  Tensor values_;
};

}  // namespace

std::unique_ptr<GradientSum> sparse_sum() { return std::make_unique<SparseSum>(); }

}  // namespace troupe
