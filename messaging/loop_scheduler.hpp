// Runs actors on threads that belong to somebody else: a gRPC loop, an Asio service, or whoever has the work.
#pragma once

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <troupe/messaging/loop_clock.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace troupe {

class LoopScheduler;

/// A thread, or several, that offer to run actors. Both functions are called from any thread and must not block or run actors.
class LoopHost {
 public:
  virtual ~LoopHost() = default;
  /// Asks for LoopScheduler::pump() soon, on a thread of the host.
  virtual void wake() = 0;
  /// Asks for LoopScheduler::fire_timers() at the given time; an earlier one replaces a later one.
  virtual void arm(caf::actor_clock::time_point due) = 0;
};

/// Where actors of one thread queue up. Lives as long as the system, since actors remember it.
class LoopUnit final : public caf::execution_unit {
 public:
  explicit LoopUnit(LoopScheduler& scheduler);
  void exec_later(caf::resumable* job) override;

 private:
  friend class LoopScheduler;
  void push(caf::resumable* job);
  caf::resumable* pop() { return ring_[head_++ & (ring_.size() - 1)]; }
  bool empty() const { return head_ == tail_; }

  LoopScheduler& scheduler_;
  std::vector<caf::resumable*> ring_;
  std::size_t head_ = 0, tail_ = 0;
  bool draining_ = false;
};

/// A CAF scheduler without threads, loaded with `config.load<LoopScheduler>()`. Thread safe.
///
/// While a host is attached, work that comes from threads outside of run_inline is handed to a host. While none is (before
/// the loop starts, after it has ended, in tests) the thread that brings the work does it at once.
class LoopScheduler final : public caf::scheduler::abstract_coordinator {
 public:
  explicit LoopScheduler(caf::actor_system& system);
  ~LoopScheduler() override;

  /// The scheduler of a system whose configuration loaded it.
  static LoopScheduler& of(caf::actor_system& system) { return static_cast<LoopScheduler&>(system.scheduler()); }

  /// Runs f and then, on this thread, every actor it made ready, to the end. Inside of itself it only runs f. Work without
  /// end goes to a host after some ten thousand turns.
  template <class F>
  void run_inline(F&& f) {
    Scope scope(*this);
    f();
  }
  /// Runs `send`, and the actor that it makes ready on this thread too, where that is allowed: waking a host would take longer than most
  /// turns. What that actor makes ready in turn goes to a host. For actors whose turns share nothing with hosts but messages.
  template <class F>
  void bring(F&& send) {
    LoopUnit* mine = runs_anywhere_.load(std::memory_order_relaxed) ? &unit() : nullptr;
    if (!mine || mine->draining_) return send();
    mine->draining_ = true;
    send();
    mine->draining_ = false;
    run_brought(*mine);
  }
  /// Allows bring() to do so, from here on. Not for hosts that promise their service which threads its actors run on.
  void run_anywhere() { runs_anywhere_.store(true, std::memory_order_relaxed); }
  /// Whether this thread is inside run_inline: whoever it makes ready runs before run_inline returns.
  bool running_inline() const;

  /// Runs what other threads handed over, and every actor made ready by it. For hosts; harmless elsewhere.
  void pump();
  /// Sends the messages whose time has come, and runs who receives them.
  void fire_timers();

  /// From here on the host may be woken and armed; several hosts share the work.
  void attach(LoopHost& host);
  /// When it returns, the host is not called any more. The last one's remaining work is done on this thread, and its timers
  /// are dropped: without a host there is no time.
  void detach(LoopHost& host);

  // What CAF asks of a scheduler.
  bool detaches_utility_actors() const override { return false; }
  LoopClock& clock() noexcept override { return clock_; }
  void init(caf::actor_system_config& config) override;
  void start() override;
  void stop() override;
  void enqueue(caf::resumable* job) override;
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);

  struct Units;

 private:
  friend class LoopUnit;
  class Scope {
   public:
    explicit Scope(LoopScheduler& scheduler);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LoopScheduler& scheduler_;
    LoopUnit& unit_;
    bool outermost_;
  };

  LoopUnit& unit();
  void drain(LoopUnit& unit);
  void run_brought(LoopUnit& unit);
  void inject(caf::resumable* job);
  bool hand_over(LoopUnit& unit);
  void wake_one();
  void arm(caf::actor_clock::time_point due);

  LoopClock clock_;
  std::mutex attaching_mutex_;  // hosts come and go one at a time
  std::mutex hosts_mutex_;      // held while a host is called, so that detach can wait for it
  std::vector<LoopHost*> hosts_;
  std::size_t next_host_ = 0;
  std::mutex injected_mutex_;
  std::vector<caf::resumable*> injected_;
  std::atomic<bool> has_injected_{false}, runs_anywhere_{false};
  std::shared_ptr<Units> units_;
};

}  // namespace troupe
