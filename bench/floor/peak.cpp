// What all cores multiply and add at once when nothing has to be fetched: one tile each, whose operands stay in the first cache. Prints GFLOP/s.
#include <troupe/ops/nn/tiles.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <latch>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

/// The best of some short runs, in operations a nanosecond.
double peak_of_a_core(const troupe::Tiles<float>& tiles, std::latch& all_ready) {
  constexpr int inner = 128, repetitions = 20'000, runs = 5;
  const int rows = tiles.most_rows, columns = tiles.columns;
  std::vector<float> a(static_cast<std::size_t>(rows * inner), 1.0f), b(static_cast<std::size_t>(inner * columns), 1.0f);
  std::vector<float> c(static_cast<std::size_t>(rows * columns));
  const troupe::Tile<float> tile{a.data(), inner, 1, b.data(), columns, nullptr, c.data(), columns, inner, rows, columns, false};
  all_ready.arrive_and_wait();
  double best = 0;
  for (int run = 0; run < runs; ++run) {
    const auto begin = Clock::now();
    for (int i = 0; i < repetitions; ++i) tiles.compute(tile);
    const auto ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    best = std::max(best, 2.0 * rows * columns * inner * repetitions / ns);
  }
  return best;
}

}  // namespace

int main() {
  const auto* tiles = troupe::tiles<float>();
  if (!tiles) {
    std::fprintf(stderr, "this processor has no vectors for tiles\n");
    return 1;
  }
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::latch all_ready(cores);
  std::vector<double> peaks(cores);
  std::vector<std::thread> threads;
  for (double& peak : peaks) threads.emplace_back([&] { peak = peak_of_a_core(*tiles, all_ready); });
  for (auto& thread : threads) thread.join();
  double sum = 0;
  for (const double peak : peaks) sum += peak;
  std::printf("%.1f\n", sum);
}
