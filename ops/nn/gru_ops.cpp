// One step of a gated recurrent unit over a batch, and its gradient, in float.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/gemm.hpp>

#include <cmath>
#include <initializer_list>
#include <vector>

namespace troupe {
namespace {

struct GruSizes {
  std::int64_t batch, inputs, cells;
  std::int64_t width() const { return inputs + cells; }
  Shape state() const { return {batch, cells}; }
};

struct GruInputs {
  In<float> x, h_prev, w_ru, w_c, b_ru, b_c;
};

Status check_rank(const char* name, const In<float>& t, int rank) {
  return t.dims() == rank ? absl::OkStatus() : invalid("Rank of {} must be {}, got {}", name, rank, t.dims());
}

Status check_state(const char* name, const In<float>& t, const GruSizes& s) {
  if (t.dim(0) != s.batch) return invalid("{}.dims(0) != batch_size: {} vs. {}", name, t.dim(0), s.batch);
  if (t.dim(1) != s.cells) return invalid("{}.dims(1) != cell_size: {} vs. {}", name, t.dim(1), s.cells);
  return absl::OkStatus();
}

StatusOr<GruSizes> check(const GruInputs& in) {
  TRY(check_rank("x", in.x, 2));
  TRY(check_rank("h_prev", in.h_prev, 2));
  const GruSizes s{in.x.dim(0), in.x.dim(1), in.h_prev.dim(1)};
  TRY(check_state("h_prev", in.h_prev, s));
  TRY(check_rank("w_ru_", in.w_ru, 2));
  if (in.w_ru.dim(0) != s.width()) return invalid("w_ru.dim_size(0) != input_size + cell_size: {} vs. {}", in.w_ru.dim(0), s.width());
  if (in.w_ru.dim(1) != 2 * s.cells) return invalid("w_ru.dim_size(1) != cell_size * 2: {} vs. {}", in.w_ru.dim(1), 2 * s.cells);
  TRY(check_rank("w_c", in.w_c, 2));
  if (in.w_c.dim(0) != s.width()) return invalid("w_c.dim_size(0) != input_size + cell_size: {} vs. {}", in.w_c.dim(0), s.width());
  if (in.w_c.dim(1) != s.cells) return invalid("w_c.dim_size(1) != cell_size: {} vs. {}", in.w_c.dim(1), s.cells);
  TRY(check_rank("b_ru", in.b_ru, 1));
  if (in.b_ru.dim(0) != 2 * s.cells) return invalid("b_ru.dim_size(0) != cell_size * 2: {} vs. {}", in.b_ru.dim(0), 2 * s.cells);
  TRY(check_rank("b_c", in.b_c, 1));
  if (in.b_c.dim(0) != s.cells) return invalid("b_c.dim_size(0) != cell_size: {} vs. {}", in.b_c.dim(0), s.cells);
  return s;
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

/// Rows of x with rows of h behind them.
std::vector<float> beside(const GruSizes& s, const float* x, const float* h) {
  std::vector<float> both;
  both.reserve(static_cast<std::size_t>(s.batch * s.width()));
  for (std::int64_t b = 0; b < s.batch; ++b) {
    both.insert(both.end(), x + b * s.inputs, x + (b + 1) * s.inputs);
    both.insert(both.end(), h + b * s.cells, h + (b + 1) * s.cells);
  }
  return both;
}

void forward(Call& call, const GruSizes& s, const GruInputs& in) {
  float *r = call.alloc<float>(0, s.state()), *u = call.alloc<float>(1, s.state());
  float *c = call.alloc<float>(2, s.state()), *h = call.alloc<float>(3, s.state());
  if (s.batch * s.cells == 0) return;
  std::vector<float> gates(static_cast<std::size_t>(s.batch * 2 * s.cells)), candidate(static_cast<std::size_t>(s.batch * s.cells)), kept(candidate);
  gemm<float>({s.batch, s.width(), 2 * s.cells}, beside(s, in.x.data(), in.h_prev.data()).data(), Side::plain, in.w_ru.data(), Side::plain,
              gates.data());
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t k = 0; k < s.cells; ++k) {
      const std::int64_t at = b * s.cells + k;
      const float* row = gates.data() + b * 2 * s.cells;
      r[at] = sigmoid(row[k] + in.b_ru[k]);
      u[at] = sigmoid(row[s.cells + k] + in.b_ru[s.cells + k]);
      kept[static_cast<std::size_t>(at)] = in.h_prev[at] * r[at];
    }
  gemm<float>({s.batch, s.width(), s.cells}, beside(s, in.x.data(), kept.data()).data(), Side::plain, in.w_c.data(), Side::plain, candidate.data());
  for (std::int64_t at = 0; at < s.batch * s.cells; ++at) {
    c[at] = std::tanh(candidate[static_cast<std::size_t>(at)] + in.b_c[at % s.cells]);
    h[at] = u[at] * (in.h_prev[at] - c[at]) + c[at];
  }
}

void backward(Call& call, const GruSizes& s, const GruInputs& in, const float* r, const float* u, const float* c, const float* d_h) {
  float *d_x = call.alloc<float>(0, in.x.shape()), *d_h_prev = call.alloc<float>(1, s.state());
  float *d_c_bar = call.alloc<float>(2, s.state()), *d_gates = call.alloc<float>(3, Shape{s.batch, 2 * s.cells});
  for (std::int64_t at = 0; at < s.batch * s.cells; ++at) d_c_bar[at] = d_h[at] * (1 - u[at]) * (1 - c[at] * c[at]);
  std::vector<float> from_c(static_cast<std::size_t>(s.batch * s.width())), from_gates(from_c);
  if (from_c.empty()) return;
  if (s.cells > 0) gemm<float>({s.batch, s.cells, s.width()}, d_c_bar, Side::plain, in.w_c.data(), Side::transposed, from_c.data());
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t k = 0; k < s.cells; ++k) {
      const std::int64_t at = b * s.cells + k;
      const float d_kept = from_c[static_cast<std::size_t>(b * s.width() + s.inputs + k)];
      d_gates[b * 2 * s.cells + k] = d_kept * in.h_prev[at] * r[at] * (1 - r[at]);
      d_gates[b * 2 * s.cells + s.cells + k] = d_h[at] * (in.h_prev[at] - c[at]) * u[at] * (1 - u[at]);
    }
  if (s.cells > 0) gemm<float>({s.batch, 2 * s.cells, s.width()}, d_gates, Side::plain, in.w_ru.data(), Side::transposed, from_gates.data());
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const float *first = from_gates.data() + b * s.width(), *second = from_c.data() + b * s.width();
    for (std::int64_t k = 0; k < s.inputs; ++k) d_x[b * s.inputs + k] = first[k] + second[k];
    for (std::int64_t k = 0; k < s.cells; ++k) {
      const std::int64_t at = b * s.cells + k;
      d_h_prev[at] = first[s.inputs + k] + second[s.inputs + k] * r[at] + d_h[at] * u[at];
    }
  }
}

}  // namespace

void add_gru_ops(Registry& ops) {
  using F = In<float>;
  ops.add("GRUBlockCell", On<"T", types<float>>{},
          []<class T>(Call& call, In<T> x, In<T> h_prev, In<T> w_ru, In<T> w_c, In<T> b_ru, In<T> b_c) -> Status {
            const GruInputs in{x, h_prev, w_ru, w_c, b_ru, b_c};
            TRY_ASSIGN(const GruSizes s, check(in));
            forward(call, s, in);
            return absl::OkStatus();
          });
  ops.add(
      "GRUBlockCellGrad", On<"T", types<float>>{},
      []<class T>(Call& call, In<T> x, In<T> h_prev, In<T> w_ru, In<T> w_c, In<T> b_ru, In<T> b_c, In<T> r, In<T> u, In<T> c, In<T> d_h) -> Status {
        const GruInputs in{x, h_prev, w_ru, w_c, b_ru, b_c};
        TRY_ASSIGN(const GruSizes s, check(in));
        // The third is called by another's name in the message.
        const std::pair<const char*, const F*> ranks[] = {{"r", &r}, {"u", &u}, {"w_c", &c}, {"d_h", &d_h}};
        const char* names[] = {"r", "u", "c", "d_h"};
        for (int i = 0; i < 4; ++i) {
          TRY(check_rank(ranks[i].first, *ranks[i].second, 2));
          TRY(check_state(names[i], *ranks[i].second, s));
        }
        backward(call, s, in, r.data(), u.data(), c.data(), d_h.data());
        return absl::OkStatus();
      });
  ops.cost({"GRUBlockCell", "GRUBlockCellGrad"}, 200);
}

}  // namespace troupe
