// Kernels that are bound by arithmetic or memory, alone and split over the threads of a pool.
#include "graphs.hpp"

#include <troupe/devices/pool.hpp>

#include <benchmark/benchmark.h>

#include <future>

namespace troupe::bench {
namespace {

Tensor ones(Shape shape) {
  Tensor t(DType::f32, std::move(shape));
  std::fill_n(t.mutable_data<float>(), t.size(), 1.0f);
  return t;
}

/// Runs f on a thread of the pool, whose kernels may split themselves; here where there is none.
template <class F>
void run_on(Pool* pool, F f) {
  if (!pool) return f();
  std::promise<void> through;
  pool->submit([&] {
    f();
    through.set_value();
  });
  through.get_future().wait();
}

void measure(benchmark::State& state, const wire::GraphDef& def, const std::vector<Tensor>& inputs, int threads) {
  Runner run(def);
  std::unique_ptr<Pool> pool = threads > 1 ? std::make_unique<Pool>(threads, "bench") : nullptr;
  for (auto _ : state) run_on(pool.get(), [&] { benchmark::DoNotOptimize(run(inputs)); });
}

void matmul(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  measure(state, single("MatMul", 2), {ones(Shape{n, n}), ones(Shape{n, n})}, static_cast<int>(state.range(1)));
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(n * n * n), benchmark::Counter::kIsIterationInvariantRate);
}

void convolution(benchmark::State& state) {
  const std::int64_t channels = state.range(0), filters = 32, side = 28, batch = 64;
  const auto def = single("Conv2D", 2, [](wire::NodeDef& node) {
    auto& attr = *node.mutable_attr();
    for (int i = 0; i < 4; ++i) attr["strides"].mutable_list()->add_i(1);
    attr["padding"].set_s("SAME");
  });
  measure(state, def, {ones(Shape{batch, side, side, channels}), ones(Shape{5, 5, channels, filters})}, static_cast<int>(state.range(1)));
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(batch * side * side * 25 * channels * filters), benchmark::Counter::kIsIterationInvariantRate);
}

void element_wise(benchmark::State& state) {
  measure(state, single("AddV2", 2), {ones(Shape{state.range(0)}), ones(Shape{state.range(0)})}, 1);
  state.SetBytesProcessed(state.iterations() * state.range(0) * 12);
}

BENCHMARK(matmul)->ArgNames({"n", "threads"})->ArgsProduct({{32, 256, 1024}, {1, 2}})->UseRealTime();
BENCHMARK(convolution)->ArgNames({"channels", "threads"})->ArgsProduct({{1, 32}, {1, 2}})->UseRealTime();
BENCHMARK(element_wise)->ArgName("floats")->Arg(1000)->Arg(1 << 20);

}  // namespace
}  // namespace troupe::bench
