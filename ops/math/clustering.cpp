// Clustering: first centers for k-means, and the centers nearest to points.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/random/draws.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <vector>

namespace troupe {
namespace {

using Points = ConstMatrixMap<float>;
using Distances = Eigen::VectorXf;

/// Half the squared distance of every point to one of them, from half the squared norms.
Distances to_point(const Points& points, const Distances& norms, std::int64_t at) {
  return (norms - points * points.row(at).transpose()).array() + norms(at);
}

/// Picks points one after another, the likelier the farther they are from those already picked (k-means++).
class Seeding {
 public:
  Seeding(const Points& points, std::int64_t seed, std::int64_t retries)
      : points_(points),
        norms_(0.5 * points.rowwise().squaredNorm()),
        nearest_(Distances::Constant(points.rows(), std::numeric_limits<float>::infinity())),
        sums_(points.rows()),
        retries_(retries),
        draws_(Philox::seeded(static_cast<std::uint64_t>(seed), 0)) {}

  std::int64_t next() {
    if (!picked_.empty()) std::partial_sum(nearest_.data(), nearest_.data() + nearest_.size(), sums_.data());
    std::int64_t best = 0;
    Distances best_nearest = nearest_;
    float best_potential = std::numeric_limits<float>::infinity();
    for (std::int64_t i = 0; i <= retries_; ++i) {
      const std::int64_t at = draw();
      Distances nearest = nearest_.cwiseMin(to_point(points_, norms_, at));
      const float potential = nearest.sum();
      if (retries_ > 0 && !(potential < best_potential)) continue;
      best_potential = potential;
      best = at;
      best_nearest.swap(nearest);
    }
    nearest_.swap(best_nearest);
    picked_.insert(best);
    return best;
  }

 private:
  std::int64_t uniform() { return static_cast<std::int64_t>(draws_.below(static_cast<std::uint64_t>(points_.rows()))); }

  std::int64_t draw() {
    // Distances that are all zero, not finite or mere rounding may never lead to a new point.
    constexpr int most_tries = 100000;
    if (picked_.empty()) return uniform();
    const float total = sums_(points_.rows() - 1);
    const bool usable = total > 0 && std::isfinite(total);
    for (int tries = 0;; ++tries) {
      std::int64_t at = 0;
      if (usable && tries < most_tries) {
        at = std::upper_bound(sums_.data(), sums_.data() + sums_.size(), draws_.unit() * total) - sums_.data();
        at = std::min<std::int64_t>(at, points_.rows() - 1);
      } else {
        at = uniform();
      }
      if (!picked_.contains(at)) return at;
    }
  }

  Points points_;
  Distances norms_, nearest_, sums_;
  std::int64_t retries_;
  Draws draws_;
  std::unordered_set<std::int64_t> picked_;
};

Status pick_centers(Call& call, In<float> points, In<std::int64_t> count, In<std::int64_t> seed, In<std::int64_t> retries) {
  if (points.dims() != 2) return invalid("Input points should be a matrix.");
  if (count.dims() != 0) return invalid("Input num_to_sample should be a scalar.");
  if (seed.dims() != 0) return invalid("Input seed should be a scalar.");
  if (retries.dims() != 0) return invalid("Input num_retries_per_sample should be a scalar.");
  const std::int64_t n = points.dim(0), wanted = count[0];
  if (n <= 0) return invalid("Expected points.rows() > 0.");
  if (wanted <= 0) return invalid("Expected num_to_sample > 0.");
  if (wanted > n) return invalid("Expected num_to_sample <= points.rows(). {} vs {}.", wanted, n);
  const std::int64_t more = retries[0] >= 0 ? retries[0] : 2 + static_cast<std::int64_t>(std::log(static_cast<double>(wanted)));
  const Points all = points.matrix(1);
  MatrixMap<float> out(call.alloc<float>(0, Shape{wanted, points.dim(1)}), wanted, points.dim(1));
  Seeding seeding(all, seed[0], more);
  for (std::int64_t i = 0; i < wanted; ++i) out.row(i) = all.row(seeding.next());
  return absl::OkStatus();
}

/// The last state of a Markov chain over candidates that prefers far ones.
Status pick_by_chain(Call& call, In<float> distances, In<std::int64_t> seed) {
  if (distances.dims() != 1) return invalid("Input distances should be a vector.");
  if (seed.dims() != 0) return invalid("Input seed should be a scalar.");
  if (distances.size() == 0) return invalid("Expected distances_tensor.size() > 0.");
  Draws draws(Philox::seeded(static_cast<std::uint64_t>(seed[0]), 0));
  std::int64_t at = 0;
  for (std::int64_t i = 1; i < distances.size(); ++i)
    if (distances[i] > draws.unit() * distances[at]) at = i;
  call.set_scalar<std::int64_t>(0, at);
  return absl::OkStatus();
}

Status nearest_centers(Call& call, In<float> points, In<float> centers, In<std::int64_t> wanted) {
  if (points.dims() != 2) return invalid("Input points should be a matrix.");
  if (centers.dims() != 2) return invalid("Input centers should be a matrix.");
  if (wanted.dims() != 0) return invalid("Input k should be a scalar.");
  if (points.dim(0) <= 0) return invalid("Expected points.rows() > 0.");
  if (points.dim(1) != centers.dim(1)) return invalid("Expected point_dimensions == center_dimensions: {} vs {}.", points.dim(1), centers.dim(1));
  if (wanted[0] < 0) return invalid("Expected k >= 0.");
  const std::int64_t n = points.dim(0), m = centers.dim(0), k = std::min(m, wanted[0]);
  std::int64_t* indices = call.alloc<std::int64_t>(0, Shape{n, k});
  float* distances = call.alloc<float>(1, Shape{n, k});
  if (k == 0) return absl::OkStatus();

  constexpr std::int64_t points_at_once = 64;
  const Points all = points.matrix(1), targets = centers.matrix(1);
  const Distances norms = 0.5 * targets.rowwise().squaredNorm();
  std::vector<std::pair<float, std::int64_t>> row(static_cast<std::size_t>(m));
  for (std::int64_t first = 0; first < n; first += points_at_once) {
    const auto some = all.middleRows(first, std::min(points_at_once, n - first));
    const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> products = some * targets.transpose();
    const Distances halves = 0.5 * some.rowwise().squaredNorm();
    for (std::int64_t i = 0; i < some.rows(); ++i) {
      for (std::int64_t j = 0; j < m; ++j) row[static_cast<std::size_t>(j)] = {norms(j) - products(i, j), j};
      std::partial_sort(row.begin(), row.begin() + k, row.end());
      for (std::int64_t j = 0; j < k; ++j) {
        const auto& [half, center] = row[static_cast<std::size_t>(j)];
        *indices++ = center;
        *distances++ = static_cast<float>(2.0 * static_cast<double>(halves(i) + half));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

void add_clustering(Registry& ops) {
  ops.add("KmeansPlusPlusInitialization", [](Call& call, In<float> points, In<std::int64_t> count, In<std::int64_t> seed, In<std::int64_t> retries) {
    return pick_centers(call, points, count, seed, retries);
  });
  ops.add("KMC2ChainInitialization", [](Call& call, In<float> distances, In<std::int64_t> seed) { return pick_by_chain(call, distances, seed); });
  ops.add("NearestNeighbors",
          [](Call& call, In<float> points, In<float> centers, In<std::int64_t> wanted) { return nearest_centers(call, points, centers, wanted); });
  ops.cost({"KmeansPlusPlusInitialization", "NearestNeighbors"}, 100);
}

}  // namespace troupe
