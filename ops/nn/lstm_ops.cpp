// The ops of a long short-term memory: one step, and whole sequences, with gradients.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/gemm.hpp>
#include <troupe/ops/nn/lstm.hpp>

#include <algorithm>

namespace troupe {

namespace {

using LstmTypes = types<half, float>;

/// Inputs as floats; the kernels below do their arithmetic so.
template <class T>
std::vector<float> floats_of(const In<T>& x) {
  return {x.data(), x.data() + x.size()};
}
template <class T>
void put(Call& call, int output, const Shape& shape, const std::vector<float>& values) {
  T* out = call.alloc<T>(output, shape);
  std::transform(values.begin(), values.end(), out, [](float v) { return static_cast<T>(v); });
}

/// Weights and biases, converted.
struct Parameters {
  std::vector<float> w, wci, wcf, wco, b;
  LstmWeights weights() const { return {w.data(), wci.data(), wcf.data(), wco.data(), b.data()}; }
};

Status check_size(const char* name, int dim, const Shape& shape, std::int64_t expected) {
  if (shape[dim] == expected) return absl::OkStatus();
  return invalid("{}.dims({}) != {}: {} vs. {}", name, dim, dim == 0 ? "batch_size" : "cell_size", shape[dim], expected);
}

template <class T>
StatusOr<LstmSizes> check_state(std::int64_t batch, std::int64_t inputs, const In<T>& cs_prev, const In<T>& h_prev, const In<T>& w, const In<T>& wci,
                                const In<T>& wcf, const In<T>& wco, const In<T>& b, bool forget_second) {
  if (cs_prev.dims() != 2) return invalid("cs_prev must be 2D but is of shape {}", cs_prev.shape());
  if (h_prev.dims() != 2) return invalid("h_prev must be 2D but is of shape {}", h_prev.shape());
  const LstmSizes s{batch, inputs, cs_prev.dim(1), forget_second};
  TRY(check_size("cs_prev", 0, cs_prev.shape(), batch));
  TRY(check_size("h_prev", 0, h_prev.shape(), batch));
  TRY(check_size("h_prev", 1, h_prev.shape(), s.cells));
  if (w.dims() != 2) return invalid("w must be 2D but is of shape {}", w.shape());
  if (w.dim(0) != inputs + s.cells) return invalid("w.dim_size(0) != input_size + cell_size: {} vs. {}", w.dim(0), inputs + s.cells);
  if (w.dim(1) != 4 * s.cells) return invalid("w.dim_size(1) != cell_size * 4: {} vs. {}", w.dim(1), 4 * s.cells);
  const std::pair<const char*, const In<T>*> vectors[] = {{"wci", &wci}, {"wcf", &wcf}, {"wco", &wco}};
  for (const auto& [name, v] : vectors)
    if (v->dims() != 1 || v->dim(0) != s.cells) return invalid("{} must be a vector of {} but is of shape {}", name, s.cells, v->shape());
  if (b.dims() != 1) return invalid("b must be 1D but is of shape {}", b.shape());
  if (b.dim(0) != 4 * s.cells) return invalid("b.dim_size(0) != cell_size * 4: {} vs. {}", b.dim(0), 4 * s.cells);
  return s;
}

template <class T>
Parameters parameters(const In<T>& w, const In<T>& wci, const In<T>& wcf, const In<T>& wco, const In<T>& b) {
  return {floats_of(w), floats_of(wci), floats_of(wcf), floats_of(wco), floats_of(b)};
}

template <class T>
void put_step(Call& call, const Shape& shape, const LstmStep& step) {
  const std::vector<float>* parts[] = {&step.i, &step.cs, &step.f, &step.o, &step.ci, &step.co, &step.h};
  for (int k = 0; k < 7; ++k) put<T>(call, k, shape, *parts[k]);
}

void append(LstmStep& all, const LstmStep& step) {
  const auto join = [](std::vector<float>& to, const std::vector<float>& from) { to.insert(to.end(), from.begin(), from.end()); };
  join(all.i, step.i);
  join(all.cs, step.cs);
  join(all.f, step.f);
  join(all.o, step.o);
  join(all.ci, step.ci);
  join(all.co, step.co);
  join(all.h, step.h);
}

Status check_sequence(const In<std::int64_t>& length, const Shape& x) {
  if (length.dims() != 0) return invalid("seq_len_max must be a scalar, got {}", length.shape());
  if (x.rank() != 3) return invalid("x must be 3D");
  if (length[0] < 0 || length[0] > x[0]) return invalid("seq_len_max must be in [0, {}], got {}", x[0], length[0]);
  return absl::OkStatus();
}

template <class T>
Status sequence(Call& call, const In<std::int64_t>& length, const In<T>& x, const In<T>& cs_prev, const In<T>& h_prev, const Parameters& p,
                const LstmSizes& s, const LstmOptions& o) {
  LstmStep all, before;
  before.cs = floats_of(cs_prev);
  before.h = floats_of(h_prev);
  const auto input = floats_of(x);
  for (std::int64_t t = 0; t < x.dim(0); ++t) {
    if (t >= length[0]) {
      append(all, LstmStep(s.state()));
      continue;
    }
    LstmStep step = lstm_forward(s, o, p.weights(), input.data() + t * s.batch * s.inputs, before.cs.data(), before.h.data());
    append(all, step);
    before = std::move(step);
  }
  put_step<T>(call, Shape{x.dim(0), s.batch, s.cells}, all);
  return absl::OkStatus();
}

/// The step at time t, taken out of all.
LstmStep step_at(const LstmStep& all, std::int64_t t, std::int64_t n) {
  LstmStep step;
  const auto cut = [&](const std::vector<float>& from) { return std::vector<float>(from.begin() + t * n, from.begin() + (t + 1) * n); };
  step.i = cut(all.i);
  step.cs = cut(all.cs);
  step.f = cut(all.f);
  step.o = cut(all.o);
  step.ci = cut(all.ci);
  step.co = cut(all.co);
  step.h = cut(all.h);
  return step;
}

/// A sequence's inputs for its gradient, in floats.
struct Recorded {
  std::vector<float> x, cs_prev, h_prev, cs_gradient, h_gradient;
  LstmStep steps;
};

template <class T>
void sequence_gradient(Call& call, std::int64_t length, std::int64_t times, const LstmSizes& s, const Parameters& p, const Recorded& r,
                       bool peephole) {
  LstmGradients sums(s);
  const std::int64_t width = s.inputs + s.cells, gates = 4 * s.cells, n = s.state();
  std::vector<float> x_gradient(r.x.size()), cs_carry(static_cast<std::size_t>(n)), h_carry(cs_carry), xh(static_cast<std::size_t>(s.batch * width)),
      xh_gradient(xh);
  for (std::int64_t t = length; t-- > 0;) {
    const LstmStep step = step_at(r.steps, t, n);
    const float *cs_before = t == 0 ? r.cs_prev.data() : r.steps.cs.data() + (t - 1) * n,
                *h_before = t == 0 ? r.h_prev.data() : r.steps.h.data() + (t - 1) * n;
    for (std::int64_t k = 0; k < n; ++k) {
      cs_carry[static_cast<std::size_t>(k)] += r.cs_gradient[static_cast<std::size_t>(t * n + k)];
      h_carry[static_cast<std::size_t>(k)] += r.h_gradient[static_cast<std::size_t>(t * n + k)];
    }
    LstmBack back = lstm_backward(s, peephole, p.weights(), step, cs_before, cs_carry.data(), h_carry.data(), sums);
    cs_carry = std::move(back.cs_prev);
    gemm<float>({s.batch, gates, width}, back.gates.data(), Side::plain, p.w.data(), Side::transposed, xh_gradient.data());
    for (std::int64_t b = 0; b < s.batch; ++b) {
      std::copy_n(xh_gradient.data() + b * width, s.inputs, x_gradient.data() + (t * s.batch + b) * s.inputs);
      std::copy_n(xh_gradient.data() + b * width + s.inputs, s.cells, h_carry.data() + b * s.cells);
      std::copy_n(r.x.data() + (t * s.batch + b) * s.inputs, s.inputs, xh.data() + b * width);
      std::copy_n(h_before + b * s.cells, s.cells, xh.data() + b * width + s.inputs);
      for (std::int64_t g = 0; g < gates; ++g) sums.b[static_cast<std::size_t>(g)] += back.gates[static_cast<std::size_t>(b * gates + g)];
    }
    gemm<float>({width, s.batch, gates}, xh.data(), Side::transposed, back.gates.data(), Side::plain, sums.w.data(), true);
  }
  put<T>(call, 0, Shape{times, s.batch, s.inputs}, x_gradient);
  put<T>(call, 1, Shape{s.batch, s.cells}, cs_carry);
  put<T>(call, 2, Shape{s.batch, s.cells}, h_carry);
  put<T>(call, 3, Shape{width, gates}, sums.w);
  put<T>(call, 4, Shape{s.cells}, sums.wci);
  put<T>(call, 5, Shape{s.cells}, sums.wcf);
  put<T>(call, 6, Shape{s.cells}, sums.wco);
  put<T>(call, 7, Shape{gates}, sums.b);
}

template <class T>
void add_sequence_gradient(Registry& ops, const char* name, bool forget_second) {
  ops.add(name, types<T>{},
          [forget_second]<class U>(Call& call, In<std::int64_t> length, In<U> x, In<U> cs_prev, In<U> h_prev, In<U> w, In<U> wci, In<U> wcf,
                                   In<U> wco, In<U> b, In<U> i, In<U> cs, In<U> f, In<U> o, In<U> ci, In<U> co, In<U> h, In<U> cs_gradient,
                                   In<U> h_gradient, Attr<"use_peephole", bool> peephole) -> Status {
            TRY(check_sequence(length, x.shape()));
            TRY_ASSIGN(auto s, check_state(x.dim(1), x.dim(2), cs_prev, h_prev, w, wci, wcf, wco, b, forget_second));
            const Shape states{x.dim(0), s.batch, s.cells};
            for (const In<U>* each : {&i, &cs, &f, &o, &ci, &co, &h, &cs_gradient, &h_gradient})
              if (each->shape() != states) return invalid("Expected a tensor of shape {} but got {}", states, each->shape());
            Recorded r{floats_of(x), floats_of(cs_prev), floats_of(h_prev), floats_of(cs_gradient), floats_of(h_gradient), LstmStep()};
            r.steps.i = floats_of(i);
            r.steps.cs = floats_of(cs);
            r.steps.f = floats_of(f);
            r.steps.o = floats_of(o);
            r.steps.ci = floats_of(ci);
            r.steps.co = floats_of(co);
            r.steps.h = floats_of(h);
            sequence_gradient<U>(call, length[0], x.dim(0), s, parameters(w, wci, wcf, wco, b), r, *peephole);
            return absl::OkStatus();
          });
}

}  // namespace

void add_lstm_ops(Registry& ops) {
  ops.add("LSTMBlockCell", LstmTypes{},
          []<class T>(Call& call, In<T> x, In<T> cs_prev, In<T> h_prev, In<T> w, In<T> wci, In<T> wcf, In<T> wco, In<T> b,
                      Attr<"forget_bias", float> bias, Attr<"cell_clip", float> clip, Attr<"use_peephole", bool> peephole) -> Status {
            if (x.dims() != 2) return invalid("x must be 2D but is of shape {}", x.shape());
            TRY_ASSIGN(auto s, check_state(x.dim(0), x.dim(1), cs_prev, h_prev, w, wci, wcf, wco, b, false));
            const auto p = parameters(w, wci, wcf, wco, b);
            const auto input = floats_of(x), cs = floats_of(cs_prev), h = floats_of(h_prev);
            put_step<T>(call, Shape{s.batch, s.cells}, lstm_forward(s, {*bias, *clip, *peephole}, p.weights(), input.data(), cs.data(), h.data()));
            return absl::OkStatus();
          });
  ops.add("LSTMBlockCellGrad", LstmTypes{},
          []<class T>(Call& call, In<T> x, In<T> cs_prev, In<T> h_prev, In<T> w, In<T> wci, In<T> wcf, In<T> wco, In<T> b, In<T> i, In<T> cs, In<T> f,
                      In<T> o, In<T> ci, In<T> co, In<T> cs_gradient, In<T> h_gradient, Attr<"use_peephole", bool> peephole) -> Status {
            if (x.dims() != 2) return invalid("x must be 2D but is of shape {}", x.shape());
            TRY_ASSIGN(auto s, check_state(x.dim(0), x.dim(1), cs_prev, h_prev, w, wci, wcf, wco, b, false));
            const Shape state{s.batch, s.cells};
            for (const In<T>* each : {&i, &cs, &f, &o, &ci, &co, &cs_gradient, &h_gradient})
              if (each->shape() != state) return invalid("Expected a tensor of shape {} but got {}", state, each->shape());
            LstmStep step;
            step.i = floats_of(i);
            step.cs = floats_of(cs);
            step.f = floats_of(f);
            step.o = floats_of(o);
            step.ci = floats_of(ci);
            step.co = floats_of(co);
            LstmGradients sums(s);
            const auto p = parameters(w, wci, wcf, wco, b);
            const auto before = floats_of(cs_prev), cs_from = floats_of(cs_gradient), h_from = floats_of(h_gradient);
            const LstmBack back = lstm_backward(s, *peephole, p.weights(), step, before.data(), cs_from.data(), h_from.data(), sums);
            put<T>(call, 0, state, back.cs_prev);
            put<T>(call, 1, Shape{s.batch, 4 * s.cells}, back.gates);
            put<T>(call, 2, Shape{s.cells}, sums.wci);
            put<T>(call, 3, Shape{s.cells}, sums.wcf);
            put<T>(call, 4, Shape{s.cells}, sums.wco);
            return absl::OkStatus();
          });
  ops.add("BlockLSTM", LstmTypes{},
          []<class T>(Call& call, In<std::int64_t> length, In<T> x, In<T> cs_prev, In<T> h_prev, In<T> w, In<T> wci, In<T> wcf, In<T> wco, In<T> b,
                      Attr<"forget_bias", float> bias, Attr<"cell_clip", float> clip, Attr<"use_peephole", bool> peephole) -> Status {
            TRY(check_sequence(length, x.shape()));
            TRY_ASSIGN(auto s, check_state(x.dim(1), x.dim(2), cs_prev, h_prev, w, wci, wcf, wco, b, false));
            return sequence(call, length, x, cs_prev, h_prev, parameters(w, wci, wcf, wco, b), s, {*bias, *clip, *peephole});
          });
  ops.add("BlockLSTMV2", LstmTypes{},
          []<class T>(Call& call, In<std::int64_t> length, In<T> x, In<T> cs_prev, In<T> h_prev, In<T> w, In<T> wci, In<T> wcf, In<T> wco, In<T> b,
                      Attr<"cell_clip", float> clip, Attr<"use_peephole", bool> peephole) -> Status {
            TRY(check_sequence(length, x.shape()));
            TRY_ASSIGN(auto s, check_state(x.dim(1), x.dim(2), cs_prev, h_prev, w, wci, wcf, wco, b, true));
            return sequence(call, length, x, cs_prev, h_prev, parameters(w, wci, wcf, wco, b), s, {0, *clip, *peephole});
          });
  add_sequence_gradient<half>(ops, "BlockLSTMGrad", false);
  add_sequence_gradient<float>(ops, "BlockLSTMGrad", false);
  add_sequence_gradient<half>(ops, "BlockLSTMGradV2", true);
  add_sequence_gradient<float>(ops, "BlockLSTMGradV2", true);
  ops.cost({"LSTMBlockCell", "LSTMBlockCellGrad", "BlockLSTM", "BlockLSTMV2", "BlockLSTMGrad", "BlockLSTMGradV2"}, 200);
}

}  // namespace troupe
