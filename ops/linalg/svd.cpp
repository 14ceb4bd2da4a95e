// Decompositions into singular values and vectors.
#include <troupe/ops/linalg/matrices.hpp>
#include <troupe/ops/linalg/singular.hpp>

namespace troupe {

namespace {

template <class T>
Status svd(Call& call, const In<T>& x, bool vectors, bool full) {
  TRY_ASSIGN(auto m, Matrices::of(x.shape()));
  const std::int64_t inner = std::min(m.rows, m.columns), left = full ? m.rows : inner, right = full ? m.columns : inner;
  T* values = call.alloc<T>(0, m.with({inner}));
  T* u = call.alloc<T>(1, vectors ? m.with({m.rows, left}) : Shape{});
  T* v = call.alloc<T>(2, vectors ? m.with({m.columns, right}) : Shape{});
  if (!vectors) *u = *v = T(0);
  for (std::int64_t i = 0; i < m.count; ++i) {
    const auto s = singular(load_matrix(x.data() + i * m.size(), m.rows, m.columns), vectors, full);
    for (std::int64_t k = 0; k < inner; ++k) values[i * inner + k] = static_cast<T>(s.values[k]);
    if (!vectors) continue;
    store_matrix(s.u, u + i * m.rows * left);
    store_matrix(s.v, v + i * m.columns * right);
  }
  return absl::OkStatus();
}

}  // namespace

void add_svd(Registry& ops) {
  ops.add({"Svd", "BatchSvd"}, linalg_types{}, []<class T>(Call& call, In<T> x, Attr<"compute_uv", bool> vectors, Attr<"full_matrices", bool> full) {
    return svd(call, x, *vectors, *full);
  });
  ops.cost({"Svd", "BatchSvd"}, 500);
}

}  // namespace troupe
