// Splitting of kernels: parts are claimed by whoever is free, so nobody waits for a part that has not begun.
#include <troupe/ops/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

namespace troupe {
namespace {

/// A part must be worth the waking of a thread.
constexpr double worth_ns = 60'000;
/// So many parts a thread balance what other kernels and other processes do to it.
constexpr int fine_parts = 4;

thread_local Helpers* helpers = nullptr;

/// The parts of one call. Helpers that come late find none left and touch nothing but the counters.
struct Split {
  const std::function<void(std::int64_t, std::int64_t)>* part;
  std::int64_t count;
  int parts;
  std::atomic<int> next{0}, done{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;

  void work() {
    const HelpersScope alone(nullptr);
    for (int i = next.fetch_add(1); i < parts; i = next.fetch_add(1)) {
      try {
        (*part)(count * i / parts, count * (i + 1) / parts);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
      if (done.fetch_add(1) + 1 == parts) done.notify_all();
    }
  }
  void wait() const {
    // The last parts end shortly after each other, sooner than a thread wakes. Who yields meanwhile may be away for milliseconds.
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(60);
    while (done.load() < parts && std::chrono::steady_clock::now() < until) {
    }
    for (int seen = done.load(); seen < parts; seen = done.load()) done.wait(seen);
  }
};

}  // namespace

HelpersScope::HelpersScope(Helpers* here) : before_(std::exchange(helpers, here)) {}
HelpersScope::~HelpersScope() { helpers = before_; }

void in_parallel(std::int64_t count, double ns_each, Cut cut, const std::function<void(std::int64_t, std::int64_t)>& part) {
  const double most = std::min(static_cast<double>(count), static_cast<double>(count) * ns_each / worth_ns);
  const int threads = helpers ? helpers->threads() : 1;
  const int parts = threads < 2 ? 1 : static_cast<int>(std::min(most, static_cast<double>(cut == Cut::fine ? threads * fine_parts : threads)));
  if (parts < 2) {
    if (count > 0) part(0, count);
    return;
  }
  auto split = std::make_shared<Split>();
  split->part = &part;
  split->count = count;
  split->parts = parts;
  for (int i = 1; i < std::min(parts, threads); ++i) helpers->submit([split] { split->work(); });
  split->work();
  split->wait();
  if (split->failure) std::rethrow_exception(split->failure);
}

}  // namespace troupe
