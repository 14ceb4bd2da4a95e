// What a plan costs per node: chains, fans and loops of scalar additions.
#include "graphs.hpp"

#include <benchmark/benchmark.h>

namespace troupe::bench {
namespace {

void per_node(benchmark::State& state, const wire::GraphDef& def, float x, float want, std::int64_t nodes) {
  Runner run(def);
  if (run(x) != want) return state.SkipWithError("wrong result");
  for (auto _ : state) benchmark::DoNotOptimize(run(x));
  state.SetItemsProcessed(state.iterations() * nodes);
}

void chain_of_adds(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  per_node(state, chain(n), 1, static_cast<float>(n + 1), n);
}
void fan_of_adds(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  per_node(state, fan(n), 1, static_cast<float>(n + n * (n - 1) / 2), n);
}
void loop_of_version_1(benchmark::State& state) {
  const auto n = static_cast<float>(state.range(0));
  per_node(state, counting_loop(), n, n, state.range(0));
}

BENCHMARK(chain_of_adds)->Arg(10)->Arg(1000)->Arg(10000);
BENCHMARK(fan_of_adds)->Arg(10)->Arg(1000);
BENCHMARK(loop_of_version_1)->Arg(1000);

}  // namespace
}  // namespace troupe::bench

BENCHMARK_MAIN();
