// Mutex ops.
#include <troupe/ops/containers/shared.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/mutex.hpp>
#include <troupe/ops/resources/tensor_list.hpp>

namespace troupe {

void add_mutexes(Registry& ops) {
  ops.add("MutexV2", [](Call& call, Step& step, State<Exit> exit) {
    return exit->open<Mutex>(
        call, step, []() -> StatusOr<std::shared_ptr<Mutex>> { return std::make_shared<Mutex>(); }, [](const Mutex&) { return absl::OkStatus(); });
  });
  ops.add("MutexLock", [](Call& call, Step& step, Shared<Mutex> mutex, Done done) {
    const auto take = [&call](std::shared_ptr<const MutexLock> lock) { call.set(0, Tensor::scalar<Variant>(Variant{std::move(lock)})); };
    mutex->lock(step, take, std::move(done));
  });
  ops.add("ConsumeMutexLock", [](Call&, Step&, Scalar<Variant> held) -> Status {
    const auto* lock = dynamic_cast<const MutexLock*>((*held).value.get());
    if (!lock) return invalid("Expected input to contain a SharedLockReleaser object, but saw variant: '{}'", show_variant(*held));
    lock->release();
    return absl::OkStatus();
  });
}

}  // namespace troupe
