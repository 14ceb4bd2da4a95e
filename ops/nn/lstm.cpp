// The arithmetic of a long short-term memory.
#include <troupe/ops/nn/lstm.hpp>

#include <troupe/ops/nn/gemm.hpp>

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

LstmStep lstm_forward(const LstmSizes& s, const LstmOptions& o, const LstmWeights& weights, const float* x, const float* cs_prev,
                      const float* h_prev) {
  const std::int64_t width = s.inputs + s.cells, gates = 4 * s.cells;
  std::vector<float> xh(static_cast<std::size_t>(s.batch * width)), g(static_cast<std::size_t>(s.batch * gates));
  for (std::int64_t b = 0; b < s.batch; ++b) {
    std::copy_n(x + b * s.inputs, s.inputs, xh.data() + b * width);
    std::copy_n(h_prev + b * s.cells, s.cells, xh.data() + b * width + s.inputs);
  }
  gemm<float>({s.batch, width, gates}, xh.data(), Side::plain, weights.w, Side::plain, g.data());
  LstmStep step(s.state());
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t c = 0; c < s.cells; ++c) {
      const auto at = static_cast<std::size_t>(b * s.cells + c);
      const auto gate = [&](std::int64_t part) { return g[static_cast<std::size_t>(b * gates + part + c)] + weights.b[part + c]; };
      const auto peep = [&](const float* w, float state) { return o.peephole ? w[c] * state : 0.0f; };
      const float before = cs_prev[at];
      step.i[at] = sigmoid(gate(s.at_input()) + peep(weights.wci, before));
      step.ci[at] = std::tanh(gate(s.at_candidate()));
      step.f[at] = sigmoid(gate(s.at_forget()) + o.forget_bias + peep(weights.wcf, before));
      step.cs[at] = step.ci[at] * step.i[at] + step.f[at] * before;
      if (o.cell_clip > 0) step.cs[at] = std::clamp(step.cs[at], -o.cell_clip, o.cell_clip);
      step.o[at] = sigmoid(gate(s.at_output()) + peep(weights.wco, step.cs[at]));
      step.co[at] = std::tanh(step.cs[at]);
      step.h[at] = step.o[at] * step.co[at];
    }
  return step;
}

LstmBack lstm_backward(const LstmSizes& s, bool peephole, const LstmWeights& weights, const LstmStep& step, const float* cs_prev,
                       const float* cs_gradient, const float* h_gradient, LstmGradients& sums) {
  LstmBack back{std::vector<float>(static_cast<std::size_t>(s.batch * 4 * s.cells)), std::vector<float>(static_cast<std::size_t>(s.state()))};
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t c = 0; c < s.cells; ++c) {
      const auto at = static_cast<std::size_t>(b * s.cells + c), cell = static_cast<std::size_t>(c);
      const float i = step.i[at], f = step.f[at], o = step.o[at], ci = step.ci[at], co = step.co[at], before = cs_prev[at];
      const float d_output = o * (1 - o) * h_gradient[at] * co;
      float d_state = (1 - co * co) * h_gradient[at] * o + cs_gradient[at];
      if (peephole) d_state += d_output * weights.wco[c];
      const float d_candidate = (1 - ci * ci) * d_state * i, d_forget = f * (1 - f) * d_state * before, d_input = i * (1 - i) * d_state * ci;
      float* gates = back.gates.data() + b * 4 * s.cells + c;
      gates[s.at_input()] = d_input;
      gates[s.at_candidate()] = d_candidate;
      gates[s.at_forget()] = d_forget;
      gates[s.at_output()] = d_output;
      back.cs_prev[at] = d_state * f;
      if (!peephole) continue;
      back.cs_prev[at] += d_input * weights.wci[c] + d_forget * weights.wcf[c];
      sums.wci[cell] += d_input * before;
      sums.wcf[cell] += d_forget * before;
      sums.wco[cell] += d_output * step.cs[at];
    }
  return back;
}

}  // namespace troupe
