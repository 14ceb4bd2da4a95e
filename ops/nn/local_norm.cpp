// Local response normalisation across neighbouring channels, and its gradient.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/vector_functions.hpp>
#include <troupe/ops/parallel.hpp>

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

/// norms = bias + alpha * the sums of squares around each channel of a row.
void norms_of(const std::vector<float>& row, const Response& r, std::vector<float>& squares, std::vector<float>& norms) {
  const auto n = static_cast<std::int64_t>(row.size()), radius = std::min(r.radius, n);
  for (std::int64_t c = 0; c < n; ++c) squares[static_cast<std::size_t>(c)] = row[static_cast<std::size_t>(c)] * row[static_cast<std::size_t>(c)];
  std::fill(norms.begin(), norms.end(), 0.0f);
  for (std::int64_t away = -radius; away <= radius; ++away) {
    const float* from = squares.data() + away;
    float* to = norms.data();
    for (std::int64_t c = std::max<std::int64_t>(0, -away), end = std::min(n, n - away); c < end; ++c) to[c] += from[c];
  }
  for (float& norm : norms) norm = r.bias + r.alpha * norm;
}

/// norms become norms to the power of -beta.
void raise(std::vector<float>& norms, float beta) {
  const auto n = static_cast<std::int64_t>(norms.size());
  if (beta == 1.0f) {
    for (float& norm : norms) norm = 1 / norm;
  } else if (beta == 0.5f) {
    for (float& norm : norms) norm = 1 / std::sqrt(norm);
  } else {
    vector_functions<float>().log(norms.data(), norms.data(), n);
    for (float& norm : norms) norm *= -beta;
    vector_functions<float>().exp(norms.data(), norms.data(), n);
  }
}

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
  if (x.size() == 0) return absl::OkStatus();
  in_parallel(x.size() / depth, 5.0 * static_cast<double>(depth), [&](std::int64_t first, std::int64_t last) {
    std::vector<float> row(static_cast<std::size_t>(depth)), squares(row.size()), factors(row.size());
    for (std::int64_t i = first * depth; i < last * depth; i += depth) {
      load(x.data() + i, row);
      norms_of(row, r, squares, factors);
      raise(factors, r.beta);
      for (std::int64_t c = 0; c < depth; ++c) out[i + c] = static_cast<T>(row[static_cast<std::size_t>(c)] * factors[static_cast<std::size_t>(c)]);
    }
  });
  return absl::OkStatus();
}

template <class T>
Status gradient(Call& call, const In<T>& dy, const In<T>& x, const In<T>& y, const Response& r) {
  TRY(r.check());
  if (dy.dims() != 4 || x.dims() != 4) return invalid("inputs must be 4-dimensional");
  if (dy.shape() != x.shape() || x.shape() != y.shape()) return invalid("input_grads, input_image, and out_image should have the same shape");
  T* out = call.alloc<T>(0, x.shape());
  const std::int64_t depth = x.dim(3);
  if (x.size() == 0) return absl::OkStatus();
  in_parallel(x.size() / depth, 20.0 * static_cast<double>(depth), [&](std::int64_t first, std::int64_t last) {
    std::vector<float> row(static_cast<std::size_t>(depth)), result(row.size()), from(row.size()), result_of(row.size());
    for (std::int64_t i = first * depth; i < last * depth; i += depth) {
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
  });
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
  ops.cost({"LRN"}, 5);
  ops.cost({"LRNGrad"}, 30);
}

}  // namespace troupe
