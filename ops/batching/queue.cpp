// Batches are closed when they are full or old enough, and served as many at a time as there are threads for it in TensorFlow.
#include <troupe/ops/batching/queue.hpp>
#include <troupe/ops/resources/rows.hpp>

namespace troupe {

Status check_limits(const BatchLimits& limits) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < limits.allowed_sizes.size(); ++i) {
    const std::int64_t size = limits.allowed_sizes[i];
    if (i > 0 && size <= last) return invalid("allowed_batch_sizes entries must be monotonically increasing");
    if (!limits.split_large && i + 1 == limits.allowed_sizes.size() && size != limits.largest)
      return invalid("final entry in allowed_batch_sizes must equal max_batch_size{}",
                     limits.may_split ? " when enable_large_batch_splitting is False" : "");
    last = size;
  }
  return absl::OkStatus();
}

void BatchQueue::put(const std::string& name, std::unique_ptr<BatchTask> task) {
  if (task->rows > limits_.largest)
    return task->done(invalid("Task size {} is larger than maximum input batch size {}", task->rows, limits_.largest));
  Cancellation* cancellation = task->step->cancellation;
  if (cancellation && cancellation->cancelled()) return task->done(cancellation->reason());
  if (auto found = open_.find(name); found != open_.end() && found->second->rows + task->rows > limits_.largest) close(name);
  auto& gathering = open_[name];
  const bool fresh = !gathering;
  if (fresh) {
    if (std::ssize(full_) >= limits_.most_waiting) {
      open_.erase(name);
      return task->done(unavailable("The batch scheduling queue to which this task was submitted is full"));
    }
    gathering = std::make_shared<Gathering>();
    gathering->until = std::chrono::steady_clock::now() + std::chrono::microseconds(limits_.timeout_micros);
  }
  auto here = gathering;
  if (cancellation)
    task->token = cancellation->on_cancel([self = shared_from_this(), name, here, task = task.get(), cancellation] {
      auto place = std::find_if(here->tasks.begin(), here->tasks.end(), [task](const auto& t) { return t.get() == task; });
      if (place == here->tasks.end()) return;
      const auto owned = std::move(*place);
      here->tasks.erase(place);
      here->rows -= owned->rows;
      if (here->tasks.empty()) self->forget(name, here);
      owned->done(cancellation->reason());
    });
  here->rows += task->rows;
  StepHost* host = host_of(*task->step);
  here->tasks.push_back(std::move(task));
  if (here->rows >= limits_.largest || !host) return close(name);
  if (!fresh) return;
  host->run_blocking(
      [over = here->over, until = here->until] {
        over->WaitForNotificationWithTimeout(absl::FromChrono(std::max(until - std::chrono::steady_clock::now(), {})));
      },
      [self = shared_from_this(), name, here] {
        if (auto found = self->open_.find(name); found != self->open_.end() && found->second == here) self->close(name);
      });
}

void BatchQueue::forget(const std::string& name, const std::shared_ptr<Gathering>& gathering) {
  auto found = open_.find(name);
  if (found == open_.end() || found->second != gathering) return;
  open_.erase(found);
  gathering->over->Notify();
}

void BatchQueue::close(const std::string& name) {
  auto gathering = open_.extract(name).mapped();
  gathering->over->Notify();
  full_.push_back(std::move(gathering));
  serve();
}

void BatchQueue::serve() {
  while (serving_ < limits_.threads && !full_.empty()) {
    auto gathering = full_.front();
    full_.pop_front();
    Batch batch = std::exchange(gathering->tasks, {});
    for (const auto& task : batch)
      if (task->step->cancellation) task->step->cancellation->forget(task->token);
    if (batch.empty()) continue;
    ++serving_;
    serve_(std::move(batch), [self = shared_from_this()] {
      --self->serving_;
      self->serve();
    });
  }
}

std::int64_t rows_of(const Batch& batch) {
  std::int64_t rows = 0;
  for (const auto& task : batch) rows += task->rows;
  return rows;
}

std::int64_t padded_size(const BatchLimits& limits, std::int64_t rows) {
  for (std::int64_t size : limits.allowed_sizes)
    if (size >= rows) return size;
  return rows;
}

Tensor rows_between(const Tensor& t, std::int64_t begin, std::int64_t end) {
  const std::int64_t row = t.dim(0) == 0 ? 0 : t.size() / t.dim(0);
  Dims dims;
  for (std::int64_t d : t.shape().dims()) dims.push_back(d);
  dims[0] = end - begin;
  Tensor rows(t.dtype(), Shape(dims));
  copy_elements(t, begin * row, rows, 0, (end - begin) * row);
  return rows;
}

StatusOr<std::vector<Tensor>> joined_inputs(const Batch& batch, std::int64_t padded_rows) {
  std::vector<Tensor> all;
  const std::int64_t rows = std::max(padded_rows, rows_of(batch));
  for (std::size_t i = 0; i < batch[0]->inputs.size(); ++i) {
    const Tensor& first = batch[0]->inputs[i];
    Dims dims;
    for (std::int64_t d : first.shape().dims()) dims.push_back(d);
    dims[0] = rows;
    Tensor joined(first.dtype(), Shape(dims));
    const std::int64_t row = rows == 0 ? 0 : joined.size() / rows;
    std::int64_t at = 0;
    for (const auto& task : batch) {
      const Tensor& part = task->inputs[i];
      const auto number = &task - batch.data();
      if (part.dtype() != first.dtype())
        return invalid("Types of inputs to a batch differ: {} and {}", name_of(first.dtype()), name_of(part.dtype()));
      if (part.rank() != first.rank())
        return invalid("Ranks of all input tensors should match: shape[0] = {} vs. shape[{}] = {}", first.shape(), number, part.shape());
      for (int d = 1; d < part.rank(); ++d)
        if (part.dim(d) != first.dim(d))
          return invalid("Dimensions of inputs should match: shape[0] = {} vs. shape[{}] = {}", first.shape(), number, part.shape());
      copy_elements(part, 0, joined, at, part.size());
      at += part.size();
    }
    // TensorFlow fills up with the first row.
    for (; at < rows * row; at += row) copy_elements(joined, 0, joined, at, row);
    all.push_back(std::move(joined));
  }
  return all;
}

}  // namespace troupe
