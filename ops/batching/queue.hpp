// Where invocations of different steps wait to be served as one batch.
#pragma once

#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/store.hpp>
#include <troupe/ops/step_host.hpp>

#include <absl/synchronization/notification.h>

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// One invocation. Its call and step live until it is done.
struct BatchTask {
  Call* call;
  Step* step;
  Done done;
  std::vector<Tensor> inputs;  // all with as many rows
  std::int64_t rows = 0;
  Cancellation::Token token = 0;
};
using Batch = std::vector<std::unique_ptr<BatchTask>>;

struct BatchLimits {
  std::int64_t largest = 0, timeout_micros = 0, most_waiting = 0, threads = 1;
  std::vector<std::int64_t> allowed_sizes;
  bool may_split = false;  // whether large ones can be asked to be split
  bool split_large = false;
};
Status check_limits(const BatchLimits& limits);

/// Touched only on its device's actor.
class BatchQueue final : public Resource, public std::enable_shared_from_this<BatchQueue> {
 public:
  /// Serves a batch, then says so.
  using Serve = std::function<void(Batch, std::function<void()> served)>;

  BatchQueue(BatchLimits limits, Serve serve) : limits_(std::move(limits)), serve_(std::move(serve)) {}
  std::string describe() const override { return fmt::format("batching queue, {} batches waiting", open_.size() + full_.size()); }
  const BatchLimits& limits() const { return limits_; }

  /// Puts an invocation into the batch that is being gathered under a name; it is done when that has been served, or its step is cancelled.
  void put(const std::string& name, std::unique_ptr<BatchTask> task);

 private:
  struct Gathering {
    Batch tasks;
    std::int64_t rows = 0;
    std::chrono::steady_clock::time_point until;
    std::shared_ptr<absl::Notification> over = std::make_shared<absl::Notification>();
  };
  /// Nobody waits for a batch any more whose invocations have all been cancelled.
  void forget(const std::string& name, const std::shared_ptr<Gathering>& gathering);
  void close(const std::string& name);
  void serve();

  BatchLimits limits_;
  Serve serve_;
  std::map<std::string, std::shared_ptr<Gathering>> open_;
  std::list<std::shared_ptr<Gathering>> full_;
  std::int64_t serving_ = 0;
};

template <>
struct resource_type<BatchQueue> {
  static constexpr const char* name = "N10tensorflow13BatchResourceE";
};

/// The rows of all tasks one after another, per input; filled up with rows of the first to a size that is allowed.
StatusOr<std::vector<Tensor>> joined_inputs(const Batch& batch, std::int64_t padded_rows);
std::int64_t rows_of(const Batch& batch);
/// The smallest size that is allowed and has room.
std::int64_t padded_size(const BatchLimits& limits, std::int64_t rows);
/// Rows `begin` to `end` of a tensor.
Tensor rows_between(const Tensor& t, std::int64_t begin, std::int64_t end);

}  // namespace troupe
