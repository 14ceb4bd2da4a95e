// Mutexes between steps: a lock is a value that somebody holds.
#pragma once

#include <troupe/messaging/handle.hpp>
#include <troupe/ops/resources/store.hpp>
#include <troupe/ops/resources/waiting.hpp>

#include <memory>

namespace troupe {

class Mutex;

/// Held by whoever has the variant; gives the mutex free when it is consumed or goes away.
class MutexLock final : public VariantValue {
 public:
  explicit MutexLock(std::shared_ptr<Mutex> mutex) : mutex_(std::move(mutex)) {}
  ~MutexLock() override { release(); }
  std::string type_name() const override { return "(anonymous namespace)::Mutex::LockReleaser"; }
  void release() const;

 private:
  mutable std::shared_ptr<Mutex> mutex_;
};

/// Touched only on its device's actor.
class Mutex final : public Resource, public std::enable_shared_from_this<Mutex> {
 public:
  std::string describe() const override { return fmt::format("mutex, {}, {} callers wait", locked_ ? "locked" : "free", waiting_.size()); }

  void lock(Step& step, std::function<void(std::shared_ptr<const MutexLock>)> take, Done done) {
    auto attempt = [this, take = std::move(take)](Status&) {
      if (locked_) return WaitingLine::Progress::none;
      locked_ = true;
      take(std::make_shared<MutexLock>(shared_from_this()));
      return WaitingLine::Progress::complete;
    };
    waiting_.join(&step, "Lock acquisition cancelled.", std::move(attempt), std::move(done), [self = shared_from_this()] { self->settle(); });
    settle();
  }
  void unlock() {
    locked_ = false;
    settle();
  }

 private:
  void settle() {
    Endings endings;
    waiting_.serve(endings);
    endings.tell();
  }

  bool locked_ = false;
  WaitingLine waiting_;
};

inline void MutexLock::release() const {
  if (auto mutex = std::exchange(mutex_, nullptr)) mutex->unlock();
}

template <>
struct resource_type<Mutex> {
  static constexpr const char* name = "N10tensorflow12_GLOBAL__N_15MutexE";
};

}  // namespace troupe
