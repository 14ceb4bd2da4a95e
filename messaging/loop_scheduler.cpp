// Runs actors on threads that belong to somebody else.
#include <troupe/messaging/loop_scheduler.hpp>

#include <caf/actor_config.hpp>
#include <caf/all.hpp>
#include <caf/make_actor.hpp>
#include <caf/monitorable_actor.hpp>

#include <algorithm>
#include <cstdio>

namespace troupe {
namespace {

/// Messages an actor may take in one turn, and turns before a host looks at its events again: actors that never run out of
/// messages must not starve the rest.
constexpr std::size_t messages_per_turn = 300;
constexpr std::size_t turns_in_a_row = 500;

/// Where aout prints, without a thread.
class Printer final : public caf::monitorable_actor {
 public:
  explicit Printer(caf::actor_config& config) : caf::monitorable_actor(config) {
    print_.assign([](caf::add_atom, caf::actor_id, const std::string& text) { std::fputs(text.c_str(), stdout); });
  }
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) override { print_(element->content()); }

 private:
  caf::message_handler print_;
};

}  // namespace

/// Units in use and units whose thread has ended, which the next thread takes over.
struct LoopScheduler::Units {
  std::mutex mutex;
  std::vector<std::unique_ptr<LoopUnit>> all;
  std::vector<LoopUnit*> free;
};

namespace {

/// The units of this thread, one per scheduler it met; given back when the thread ends.
class ThreadUnits {
 public:
  struct Entry {
    LoopScheduler* scheduler;
    std::weak_ptr<LoopScheduler::Units> owner;  // tells a dead scheduler from a new one at its address
    LoopUnit* unit;
  };

  ~ThreadUnits() {
    for (Entry& entry : entries_) give_back(entry);
  }
  LoopUnit* find(const LoopScheduler* scheduler) const {
    for (const Entry& entry : entries_)
      if (entry.scheduler == scheduler && !entry.owner.expired()) return entry.unit;
    return nullptr;
  }
  void add(Entry entry) {
    std::erase_if(entries_, [](const Entry& e) { return e.owner.expired(); });
    entries_.push_back(std::move(entry));
  }

 private:
  static void give_back(Entry& entry) {
    auto owner = entry.owner.lock();
    if (!owner) return;
    std::lock_guard lock(owner->mutex);
    owner->free.push_back(entry.unit);
  }
  std::vector<Entry> entries_;
};

thread_local ThreadUnits this_thread_units;

}  // namespace

LoopUnit::LoopUnit(LoopScheduler& scheduler) : caf::execution_unit(&scheduler.system()), scheduler_(scheduler), ring_(256) {}

// CAF asks for calls from this unit's own jobs only, but an actor's context outlives its turn: any thread may come here.
void LoopUnit::exec_later(caf::resumable* job) { scheduler_.enqueue(job); }

void LoopUnit::push(caf::resumable* job) {
  if (tail_ - head_ == ring_.size()) {
    std::vector<caf::resumable*> larger(ring_.size() * 2);
    for (std::size_t i = head_; i != tail_; ++i) larger[i - head_] = ring_[i & (ring_.size() - 1)];
    tail_ -= head_;
    head_ = 0;
    ring_.swap(larger);
  }
  ring_[tail_++ & (ring_.size() - 1)] = job;
}

LoopScheduler::Scope::Scope(LoopScheduler& scheduler) : scheduler_(scheduler), unit_(scheduler.unit()), outermost_(!unit_.draining_) {
  unit_.draining_ = true;
}

LoopScheduler::Scope::~Scope() {
  if (!outermost_) return;
  scheduler_.drain(unit_);
  unit_.draining_ = false;
}

LoopScheduler::LoopScheduler(caf::actor_system& system)
    : caf::scheduler::abstract_coordinator(system),
      clock_([this](caf::actor_clock::time_point due) { arm(due); }),
      units_(std::make_shared<Units>()) {}

LoopScheduler::~LoopScheduler() = default;

caf::actor_system::module* LoopScheduler::make(caf::actor_system& system, caf::detail::type_list<>) { return new LoopScheduler(system); }

void LoopScheduler::init(caf::actor_system_config& config) {
  caf::scheduler::abstract_coordinator::init(config);
  max_throughput_ = std::min(max_throughput_, messages_per_turn);
}

void LoopScheduler::start() {
  caf::actor_config config;
  utility_actors_[printer_id] = caf::make_actor<Printer, caf::actor>(system().next_actor_id(), system().node(), &system(), config);
}

void LoopScheduler::stop() {
  {
    std::lock_guard lock(hosts_mutex_);
    hosts_.clear();
  }
  clock_.close();
  while (has_injected_.load(std::memory_order_acquire)) pump();
  utility_actors_[printer_id] = nullptr;
}

LoopUnit& LoopScheduler::unit() {
  if (LoopUnit* known = this_thread_units.find(this)) return *known;
  LoopUnit* unit = nullptr;
  {
    std::lock_guard lock(units_->mutex);
    if (units_->free.empty()) {
      units_->all.push_back(std::make_unique<LoopUnit>(*this));
      unit = units_->all.back().get();
    } else {
      unit = units_->free.back();
      units_->free.pop_back();
    }
  }
  this_thread_units.add({this, units_, unit});
  return *unit;
}

bool LoopScheduler::running_inline() const {
  const LoopUnit* unit = this_thread_units.find(this);
  return unit != nullptr && unit->draining_;
}

void LoopScheduler::drain(LoopUnit& unit) {
  for (std::size_t turn = 1; !unit.empty(); ++turn) {
    if (turn % turns_in_a_row == 0 && hand_over(unit)) return;
    caf::resumable* job = unit.pop();
    switch (job->resume(&unit, max_throughput_)) {
      case caf::resumable::resume_later: unit.push(job); break;
      case caf::resumable::done:
      case caf::resumable::awaiting_message: caf::intrusive_ptr_release(job); break;
      case caf::resumable::shutdown_execution_unit: break;
    }
  }
}

void LoopScheduler::run_brought(LoopUnit& unit) {
  while (!unit.empty()) {
    caf::resumable* job = unit.pop();
    switch (job->resume(&unit, max_throughput_)) {
      case caf::resumable::resume_later: inject(job); break;
      case caf::resumable::done:
      case caf::resumable::awaiting_message: caf::intrusive_ptr_release(job); break;
      case caf::resumable::shutdown_execution_unit: break;
    }
  }
}

bool LoopScheduler::hand_over(LoopUnit& unit) {
  {
    std::lock_guard lock(hosts_mutex_);
    if (hosts_.empty()) return false;
  }
  {
    std::lock_guard lock(injected_mutex_);
    while (!unit.empty()) injected_.push_back(unit.pop());
    has_injected_.store(true, std::memory_order_release);
  }
  unit.draining_ = false;
  wake_one();
  return true;
}

void LoopScheduler::enqueue(caf::resumable* job) {
  if (LoopUnit* unit = this_thread_units.find(this); unit != nullptr && unit->draining_) return unit->push(job);
  inject(job);
}

void LoopScheduler::inject(caf::resumable* job) {
  {
    std::lock_guard lock(injected_mutex_);
    injected_.push_back(job);
    has_injected_.store(true, std::memory_order_release);
  }
  wake_one();
}

void LoopScheduler::wake_one() {
  {
    std::lock_guard lock(hosts_mutex_);
    if (!hosts_.empty()) return hosts_[next_host_++ % hosts_.size()]->wake();
  }
  pump();
}

void LoopScheduler::pump() {
  if (!has_injected_.load(std::memory_order_acquire)) return;
  run_inline([this] {
    LoopUnit& mine = unit();
    std::lock_guard lock(injected_mutex_);
    for (caf::resumable* job : injected_) mine.push(job);
    injected_.clear();
    has_injected_.store(false, std::memory_order_release);
  });
}

void LoopScheduler::fire_timers() {
  run_inline([this] { clock_.fire(); });
}

void LoopScheduler::attach(LoopHost& host) {
  std::unique_lock attaching(attaching_mutex_);
  {
    std::lock_guard lock(hosts_mutex_);
    hosts_.push_back(&host);
  }
  clock_.open();
  attaching.unlock();
  if (has_injected_.load(std::memory_order_acquire)) wake_one();
}

void LoopScheduler::detach(LoopHost& host) {
  std::unique_lock attaching(attaching_mutex_);
  bool last = false;
  {
    std::lock_guard lock(hosts_mutex_);
    if (std::erase(hosts_, &host) == 0) return;
    last = hosts_.empty();
  }
  if (last) clock_.close();
  else clock_.open();
  attaching.unlock();
  if (has_injected_.load(std::memory_order_acquire)) wake_one();
}

void LoopScheduler::arm(caf::actor_clock::time_point due) {
  std::lock_guard lock(hosts_mutex_);
  if (!hosts_.empty()) hosts_.front()->arm(due);
}

}  // namespace troupe
