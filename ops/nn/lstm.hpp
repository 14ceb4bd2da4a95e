// One step of a long short-term memory over a batch, forwards and backwards, in float.
#pragma once

#include <cstdint>
#include <vector>

namespace troupe {

/// Sizes, and how the four gates follow each other in the columns of the weights.
struct LstmSizes {
  std::int64_t batch, inputs, cells;
  bool forget_second = false;  // gates are i, f, c, o rather than i, c, f, o

  std::int64_t at_input() const { return 0; }
  std::int64_t at_candidate() const { return (forget_second ? 2 : 1) * cells; }
  std::int64_t at_forget() const { return (forget_second ? 1 : 2) * cells; }
  std::int64_t at_output() const { return 3 * cells; }
  std::int64_t state() const { return batch * cells; }
};

struct LstmOptions {
  float forget_bias, cell_clip;
  bool peephole;
};

/// Weights: [inputs + cells, 4 * cells], peepholes and bias.
struct LstmWeights {
  const float *w, *wci, *wcf, *wco, *b;
};

/// What a step computes, each [batch, cells].
struct LstmStep {
  std::vector<float> i, cs, f, o, ci, co, h;
  explicit LstmStep(std::int64_t n = 0)
      : i(static_cast<std::size_t>(n)), cs(i.size()), f(i.size()), o(i.size()), ci(i.size()), co(i.size()), h(i.size()) {}
};

/// Sums over all steps of what the weights' gradients are.
struct LstmGradients {
  std::vector<float> w, wci, wcf, wco, b;
  explicit LstmGradients(const LstmSizes& s)
      : w(static_cast<std::size_t>((s.inputs + s.cells) * 4 * s.cells)),
        wci(static_cast<std::size_t>(s.cells)),
        wcf(wci.size()),
        wco(wci.size()),
        b(4 * wci.size()) {}
};

LstmStep lstm_forward(const LstmSizes& s, const LstmOptions& o, const LstmWeights& weights, const float* x, const float* cs_prev,
                      const float* h_prev);

/// Gradients of a step: of the gates [batch, 4 * cells] and of the state before. Peephole gradients are added up.
struct LstmBack {
  std::vector<float> gates, cs_prev;
};
LstmBack lstm_backward(const LstmSizes& s, bool peephole, const LstmWeights& weights, const LstmStep& step, const float* cs_prev,
                       const float* cs_gradient, const float* h_gradient, LstmGradients& sums);

}  // namespace troupe
