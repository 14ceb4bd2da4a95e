// Local response normalisation across neighbouring channels, and its gradient.
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace troupe {

namespace {

struct Response {
  std::int64_t radius;
  float bias, alpha, beta;

  Status check() const {
    if (radius < 0 || radius > std::numeric_limits<int>::max()) return invalid("depth_radius = {} larger than int max", radius);
    return absl::OkStatus();
  }
  /// bias + alpha * the sum of squares around a channel.
  float norm(const std::vector<float>& row, std::int64_t c) const {
    float sum = 0;
    for (std::int64_t k = std::max<std::int64_t>(0, c - radius), n = static_cast<std::int64_t>(row.size()); k < std::min(n, c + radius + 1); ++k)
      sum += row[static_cast<std::size_t>(k)] * row[static_cast<std::size_t>(k)];
    return bias + alpha * sum;
  }
};

template <class T>
void load(const T* from, std::vector<float>& row) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(from[i]);
}

template <class T>
Status normalise(Call& call, const In<T>& x, const Response& r) {
  TRY(r.check());
  if (x.dims() != 4) return invalid("in must be 4-dimensional");
  T* out = call.alloc<T>(0, x.shape());
  const std::int64_t depth = x.dim(3);
  std::vector<float> row(static_cast<std::size_t>(depth));
  for (std::int64_t i = 0; i < x.size(); i += depth) {
    load(x.data() + i, row);
    for (std::int64_t c = 0; c < depth; ++c) out[i + c] = static_cast<T>(row[static_cast<std::size_t>(c)] * std::pow(r.norm(row, c), -r.beta));
  }
  return absl::OkStatus();
}

template <class T>
Status gradient(Call& call, const In<T>& dy, const In<T>& x, const In<T>& y, const Response& r) {
  TRY(r.check());
  if (dy.dims() != 4 || x.dims() != 4) return invalid("inputs must be 4-dimensional");
  if (dy.shape() != x.shape() || x.shape() != y.shape()) return invalid("input_grads, input_image, and out_image should have the same shape");
  T* out = call.alloc<T>(0, x.shape());
  const std::int64_t depth = x.dim(3);
  std::vector<float> row(static_cast<std::size_t>(depth)), result(row.size()), from(row.size()), result_of(row.size());
  for (std::int64_t i = 0; i < x.size(); i += depth) {
    load(x.data() + i, row);
    load(dy.data() + i, from);
    load(y.data() + i, result_of);
    std::fill(result.begin(), result.end(), 0.0f);
    for (std::int64_t c = 0; c < depth; ++c) {
      const auto j = static_cast<std::size_t>(c);
      const float norm = r.norm(row, c), scale = std::pow(norm, -r.beta);
      for (std::int64_t k = std::max<std::int64_t>(0, c - r.radius); k < std::min(depth, c + r.radius + 1); ++k) {
        float d = -2 * r.alpha * r.beta * row[static_cast<std::size_t>(k)] * result_of[j] / norm;
        if (k == c) d += scale;
        result[static_cast<std::size_t>(k)] += d * from[j];
      }
    }
    std::transform(result.begin(), result.end(), out + i, [](float v) { return static_cast<T>(v); });
  }
  return absl::OkStatus();
}

}  // namespace

void add_local_norm(Registry& ops) {
  ops.add("LRN", types<half, float>{},
          []<class T>(Call& call, In<T> x, Attr<"depth_radius", std::int64_t> radius, Attr<"bias", float> bias, Attr<"alpha", float> alpha,
                      Attr<"beta", float> beta) {
            return normalise(call, x, {*radius, *bias, *alpha, *beta});
          });
  ops.add("LRNGrad", types<half, float>{},
          []<class T>(Call& call, In<T> dy, In<T> x, In<T> y, Attr<"depth_radius", std::int64_t> radius, Attr<"bias", float> bias,
                      Attr<"alpha", float> alpha, Attr<"beta", float> beta) {
            return gradient(call, dy, x, y, {*radius, *bias, *alpha, *beta});
          });
  ops.cost({"LRN", "LRNGrad"}, 60);
}

}  // namespace troupe
