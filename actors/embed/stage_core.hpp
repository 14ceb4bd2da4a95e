// The inside of a stage: CAF's scheduler on a strand of somebody's executor, one timer, and what must end with it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <caf/actor_system_config.hpp>
#include <troupe/actors/neighbour.hpp>
#include <troupe/messaging/loop_scheduler.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace troupe::embed {

class Desk;

/// Leaves the thread of the service as it was found: its treatment of denormal numbers, and OpenMP's number of threads.
class Manners {
 public:
  Manners();
  ~Manners();
  Manners(const Manners&) = delete;
  Manners& operator=(const Manners&) = delete;

 private:
  unsigned float_mode_;
  int threads_;
};

/// Somebody on the stage who must end before the executor's context does.
class Resident {
 public:
  virtual ~Resident() = default;
  /// The executor is gone. Ends everything on this thread, and may wait: see StageCore::wind_up.
  virtual void abandon() = 0;
};

class StageCore final : public std::enable_shared_from_this<StageCore>, private LoopHost {
 public:
  using Clock = std::chrono::steady_clock;

  static std::shared_ptr<StageCore> make(boost::asio::any_io_executor executor);
  ~StageCore() override;
  StageCore(const StageCore&) = delete;
  StageCore& operator=(const StageCore&) = delete;

  /// The stage on which an actor of this system plays, or null.
  static StageCore* of(caf::actor_system& system);

  const boost::asio::any_io_executor& executor() const { return executor_; }
  caf::actor_system& system() { return *system_; }
  LoopScheduler& scheduler() { return LoopScheduler::of(*system_); }
  /// False once the executor's context is destroyed.
  bool alive() const { return alive_.load(std::memory_order_acquire); }
  /// For requests to actors of the service.
  const std::shared_ptr<Desk>& desk() const { return desk_; }
  const std::shared_ptr<Neighbours>& neighbours() const { return neighbours_; }

  /// Runs f and the actors it makes ready where they run: now, if this thread may, else soon. From threads of the executor.
  template <class F>
  void run(F f) {
    if (!alive()) return perform_orphaned(std::move(f));
    if (strand_->running_in_this_thread()) return perform(f);
    boost::asio::dispatch(*strand_, [self = shared_from_this(), f = std::move(f)]() mutable { self->perform(f); });
  }
  /// The same from any thread, never now.
  void post(std::function<void()> f);
  /// Where the actors run: calls f there later, unless its owner drops it.
  void post_after(const void* owner, std::chrono::nanoseconds delay, std::function<void()> f);
  void drop_timers(const void* owner);
  /// Does work that may block on a thread for it alone, then calls `then` where the actors run.
  void aside(std::function<void()> work, std::function<void()> then);

  void add(std::weak_ptr<Resident> resident);
  /// The context of the executor ends.
  void abandon();
  /// For residents that are abandoned: does on this thread what is posted, and waits for more, until it is over.
  void wind_up(const std::function<bool()>& over);

 private:
  struct Config;
  explicit StageCore(boost::asio::any_io_executor executor);
  template <class F>
  void perform(F& f) {
    const Manners manners;
    scheduler().run_inline(f);
  }
  template <class F>
  void perform_orphaned(F f) {
    std::lock_guard lock(orphan_mutex_);
    perform(f);
  }
  void wake() override;
  void arm(caf::actor_clock::time_point due) override;
  void take_posted();
  void tick();
  void set_timer();

  boost::asio::any_io_executor executor_;
  std::unique_ptr<Config> config_;
  std::unique_ptr<caf::actor_system> system_;
  std::shared_ptr<Neighbours> neighbours_ = std::make_shared<Neighbours>();
  std::shared_ptr<Desk> desk_;
  std::atomic<bool> alive_{true};
  std::atomic<bool> wake_pending_{false};
  std::recursive_mutex orphan_mutex_;  // once there is no strand

  std::mutex life_mutex_;  // guards what follows; held while threads that are not the executor's use the strand
  std::optional<boost::asio::strand<boost::asio::any_io_executor>> strand_;
  std::deque<std::function<void()>> posted_;  // here, not in the executor, which forgets what it has when it ends
  std::condition_variable more_posted_;       // once there is no strand
  bool wound_up_ = false;
  std::vector<std::weak_ptr<Resident>> residents_;

  // Touched on the strand, and then by whoever winds up.
  int asides_ = 0;
  std::optional<boost::asio::steady_timer> timer_;
  struct Timed {
    const void* owner;
    std::function<void()> f;
  };
  std::multimap<Clock::time_point, Timed> timed_;
  Clock::time_point clock_due_ = Clock::time_point::max(), timer_set_ = Clock::time_point::max();
};

}  // namespace troupe::embed
