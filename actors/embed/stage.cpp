// Actors on a strand of somebody's executor.
#include <troupe/actors/embed/stage.hpp>

#include <omp.h>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <caf/all.hpp>
#include <troupe/actors/embed/desk.hpp>
#include <troupe/devices/float_mode.hpp>

#include <algorithm>

namespace troupe::embed {
namespace asio = boost::asio;
namespace {

/// Lives in the executor's context and hears of its end before anything in it ends.
class EndOfContext final : public asio::execution_context::service {
 public:
  using key_type = EndOfContext;
  static asio::execution_context::id id;
  explicit EndOfContext(asio::execution_context& context) : asio::execution_context::service(context) {}

  void add(std::weak_ptr<StageCore> stage) {
    std::lock_guard lock(mutex_);
    std::erase_if(stages_, [](const auto& known) { return known.expired(); });
    stages_.push_back(std::move(stage));
  }

 private:
  void shutdown() override {
    std::vector<std::weak_ptr<StageCore>> stages;
    {
      std::lock_guard lock(mutex_);
      stages.swap(stages_);
    }
    for (const auto& known : stages)
      if (auto stage = known.lock()) stage->abandon();
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<StageCore>> stages_;
};

asio::execution_context::id EndOfContext::id;

}  // namespace

Manners::Manners() : float_mode_(float_mode()), threads_(omp_get_max_threads()) {
  flush_denormals();
  if (threads_ != 1) omp_set_num_threads(1);
}

Manners::~Manners() {
  set_float_mode(float_mode_);
  if (threads_ != 1) omp_set_num_threads(threads_);
}

struct StageCore::Config final : caf::actor_system_config {
  explicit Config(StageCore& s) : stage(s) { load<LoopScheduler>(); }
  StageCore& stage;
};

StageCore* StageCore::of(caf::actor_system& system) {
  auto* config = dynamic_cast<const Config*>(&system.config());
  return config ? &config->stage : nullptr;
}

std::shared_ptr<StageCore> StageCore::make(asio::any_io_executor executor) {
  std::shared_ptr<StageCore> core(new StageCore(std::move(executor)));
  // After the strand and the timer, so that it ends before them.
  asio::use_service<EndOfContext>(asio::query(core->executor_, asio::execution::context)).add(core);
  core->scheduler().attach(*core);
  return core;
}

StageCore::StageCore(asio::any_io_executor executor)
    : executor_(std::move(executor)),
      config_(std::make_unique<Config>(*this)),
      system_(std::make_unique<caf::actor_system>(*config_)),
      strand_(asio::make_strand(executor_)),
      timer_(*strand_) {
  system_->await_actors_before_shutdown(false);
  caf::logger::set_current_actor_system(nullptr);  // CAF would note for its log, which nobody reads, which actor runs
  desk_ = std::make_shared<Desk>(*this);
}

StageCore::~StageCore() {
  alive_.store(false);
  scheduler().detach(*this);
  desk_->waiting().fail_all(unavailable("The stage is gone"));
  desk_->end_actors();  // without a host they end on this thread
  desk_.reset();
}

void StageCore::post(std::function<void()> f) {
  {
    std::lock_guard lock(life_mutex_);
    if (!wound_up_) {
      posted_.push_back(std::move(f));
      if (!strand_) more_posted_.notify_one();
      else if (posted_.size() == 1) asio::post(*strand_, [self = shared_from_this()] { self->take_posted(); });
      return;
    }
  }
  perform_orphaned(std::move(f));
}

void StageCore::take_posted() {
  std::deque<std::function<void()>> all;
  {
    std::lock_guard lock(life_mutex_);
    all.swap(posted_);
  }
  for (auto& f : all) perform(f);
}

void StageCore::wake() {
  if (wake_pending_.exchange(true, std::memory_order_acq_rel)) return;
  std::lock_guard lock(life_mutex_);
  if (!strand_) return;
  asio::post(*strand_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->wake_pending_.store(false, std::memory_order_release);
    const Manners manners;
    self->scheduler().pump();
  });
}

void StageCore::arm(caf::actor_clock::time_point due) {
  auto set = [due](StageCore& self) {
    self.clock_due_ = std::min(self.clock_due_, due);
    self.set_timer();
  };
  std::lock_guard lock(life_mutex_);
  if (!strand_) return;
  if (strand_->running_in_this_thread()) return set(*this);
  asio::post(*strand_, [weak = weak_from_this(), set] {
    if (auto self = weak.lock()) set(*self);
  });
}

void StageCore::post_after(const void* owner, std::chrono::nanoseconds delay, std::function<void()> f) {
  timed_.emplace(Clock::now() + std::chrono::duration_cast<Clock::duration>(delay), Timed{owner, std::move(f)});
  set_timer();
}

void StageCore::drop_timers(const void* owner) {
  std::erase_if(timed_, [&](const auto& entry) { return entry.second.owner == owner; });
  set_timer();
}

/// Asks for a tick at the earliest due time; none keeps the executor busy when nothing is due.
void StageCore::set_timer() {
  if (!timer_) return;
  const auto due = timed_.empty() ? clock_due_ : std::min(clock_due_, timed_.begin()->first);
  if (due == timer_set_) return;
  timer_set_ = due;
  if (due == Clock::time_point::max()) return (void)timer_->cancel();
  timer_->expires_at(due);
  timer_->async_wait([weak = weak_from_this()](boost::system::error_code failed) {
    if (failed) return;
    if (auto self = weak.lock()) self->tick();
  });
}

void StageCore::tick() {
  timer_set_ = Clock::time_point::max();
  const auto now = Clock::now();
  std::vector<std::function<void()>> ready;
  const auto end = timed_.upper_bound(now);
  for (auto i = timed_.begin(); i != end; i = timed_.erase(i)) ready.push_back(std::move(i->second.f));
  if (clock_due_ <= now) {
    clock_due_ = Clock::time_point::max();
    const Manners manners;
    scheduler().fire_timers();
  }
  for (auto& f : ready) perform(f);
  set_timer();
}

void StageCore::aside(std::function<void()> work, std::function<void()> then) {
  ++asides_;
  auto thread = std::make_shared<std::thread>();
  auto begin = std::make_shared<std::mutex>();  // the thread knows itself before it ends
  std::lock_guard lock(*begin);
  *thread = std::thread([self = shared_from_this(), thread, begin, work = std::move(work), then = std::move(then)]() mutable {
    work();
    std::lock_guard wait(*begin);
    StageCore& stage = *self;
    stage.post([self = std::move(self), thread = std::move(thread), then = std::move(then)] {
      thread->join();
      --self->asides_;
      then();
    });
  });
}

void StageCore::add(std::weak_ptr<Resident> resident) {
  std::lock_guard lock(life_mutex_);
  std::erase_if(residents_, [](const auto& known) { return known.expired(); });
  residents_.push_back(std::move(resident));
}

void StageCore::abandon() {
  alive_.store(false, std::memory_order_release);
  scheduler().detach(*this);
  std::vector<std::weak_ptr<Resident>> known;
  std::multimap<Clock::time_point, Timed> timed;
  {
    std::lock_guard lock(life_mutex_);
    timer_.reset();
    strand_.reset();
    timed.swap(timed_);
    known.swap(residents_);
  }
  std::vector<std::shared_ptr<Resident>> residents;
  for (const auto& one : known)
    if (auto resident = one.lock()) residents.push_back(std::move(resident));
  for (const auto& resident : residents) resident->abandon();
  wind_up([this] { return asides_ == 0; });
  desk_->waiting().drop_all();
  for (;;) {
    std::function<void()> f;
    {
      std::lock_guard lock(life_mutex_);
      wound_up_ = posted_.empty();
      if (wound_up_) return;
      f = std::move(posted_.front());
      posted_.pop_front();
    }
    perform_orphaned(std::move(f));
  }
}

void StageCore::wind_up(const std::function<bool()>& over) {
  while (!over()) {
    std::function<void()> f;
    {
      std::unique_lock lock(life_mutex_);
      more_posted_.wait(lock, [this] { return !posted_.empty(); });
      f = std::move(posted_.front());
      posted_.pop_front();
    }
    perform_orphaned(std::move(f));
  }
}

Stage::Stage(executor_type executor) : core_(StageCore::make(std::move(executor))) {}
Stage::~Stage() = default;
Stage::Stage(Stage&&) noexcept = default;
Stage& Stage::operator=(Stage&&) noexcept = default;
Stage::executor_type Stage::get_executor() const { return core_->executor(); }
caf::actor_system& Stage::system() const { return core_->system(); }

}  // namespace troupe::embed
