// Invocations of different steps computed as one: handed to one of them, or given to a function whose results are taken apart again.
#include <troupe/ops/batching/queue.hpp>
#include <troupe/ops/state/resource_name.hpp>

namespace troupe {
namespace {

/// What a node says of its queue.
struct Queue {
  ResourceName where;
  BatchLimits limits;
  std::string name;
  std::vector<std::string> givers;  // of the inputs

  static StatusOr<Queue> make(Binding& binding) {
    Queue queue;
    TRY_ASSIGN(queue.where, ResourceName::make(binding));
    TRY_ASSIGN(queue.limits.threads, binding.attr<std::int64_t>("num_batch_threads"));
    TRY_ASSIGN(queue.limits.largest, binding.attr<std::int64_t>("max_batch_size"));
    TRY_ASSIGN(queue.limits.timeout_micros, binding.attr<std::int64_t>("batch_timeout_micros"));
    TRY_ASSIGN(queue.limits.most_waiting, binding.attr<std::int64_t>("max_enqueued_batches"));
    TRY_ASSIGN(queue.limits.allowed_sizes, binding.attr<std::vector<std::int64_t>>("allowed_batch_sizes"));
    TRY_ASSIGN(queue.name, binding.attr<std::string>("batching_queue"));
    queue.limits.may_split = binding.find("enable_large_batch_splitting") != nullptr;
    if (queue.limits.may_split) {
      TRY_ASSIGN(queue.limits.split_large, binding.attr<bool>("enable_large_batch_splitting"));
    }
    for (const auto& input : binding.node().input()) queue.givers.push_back(input.substr(0, input.find(':')));
    TRY(check_limits(queue.limits));
    queue.limits.threads = std::max<std::int64_t>(1, queue.limits.threads);
    return queue;
  }

  std::shared_ptr<BatchQueue> open(Step& step, BatchQueue::Serve serve) const {
    const std::string& container = step.resources->container_or_default(where.container);
    if (auto found = step.resources->find<BatchQueue>(container, where.name); found.ok()) return *found;
    auto made = std::make_shared<BatchQueue>(limits, std::move(serve));
    step.resources->put(container, where.name, resource_type<BatchQueue>::name, made);
    return made;
  }
};

std::string listed(const Queue& queue, const List& inputs) {
  std::string text = "Below are the input tensors: \n";
  for (int i = 0; i < inputs.size(); ++i)
    text += fmt::format(" - {} has shape {}\n", static_cast<std::size_t>(i) < queue.givers.size() ? queue.givers[static_cast<std::size_t>(i)] : "",
                        inputs[i].shape());
  return text;
}

StatusOr<std::unique_ptr<BatchTask>> task_of(Call& call, Step& step, const Queue& queue, const List& inputs) {
  if (const auto& l = queue.limits; l.split_large && !l.allowed_sizes.empty() && l.allowed_sizes.back() > l.largest)
    return invalid(
        "When enable_large_batch_splitting is true, input_batch_size_limit must be greater than or equal to max_execution_batch_size.1{}{}",
        l.largest, l.allowed_sizes.back());
  auto task = std::make_unique<BatchTask>();
  task->call = &call;
  task->step = &step;
  for (int i = 0; i < inputs.size(); ++i) {
    if (inputs[i].rank() == 0) return invalid("Batching input tensors must have at least one dimension.\n{}", listed(queue, inputs));
    if (inputs[i].dim(0) != inputs[0].dim(0))
      return invalid("Batching input tensors supplied in a given op invocation must have equal 0th-dimension size.\n{}", listed(queue, inputs));
    task->inputs.push_back(inputs[i]);
  }
  task->rows = task->inputs.empty() ? 0 : task->inputs[0].dim(0);
  return task;
}

void finish(Batch& batch, const Status& status) {
  for (auto& task : batch) task->done(status);
}

/// The last one of a batch gets everything, and an index of who is where; the others get nothing.
void hand_over(const BatchLimits& limits, ResourceStore& store, Batch batch) {
  auto joined = joined_inputs(batch, padded_size(limits, rows_of(batch)));
  if (!joined.ok()) return finish(batch, joined.status());
  std::vector<std::int64_t> ids;
  for (const auto& task : batch) {
    ids.push_back(static_cast<std::int64_t>(store.next_number()));
    const int n = static_cast<int>(task->inputs.size());
    for (int i = 0; i < n; ++i) task->call->set(i, rows_between(task->inputs[static_cast<std::size_t>(i)], 0, 0));
    task->call->set(n, Tensor(DType::i64, Shape{0, 3}));
    task->call->set_scalar<std::int64_t>(n + 1, ids.back());
  }
  BatchTask& last = *batch.back();
  const int n = static_cast<int>(last.inputs.size());
  for (int i = 0; i < n; ++i) last.call->set(i, std::move((*joined)[static_cast<std::size_t>(i)]));
  auto* index = last.call->alloc<std::int64_t>(n, Shape{static_cast<std::int64_t>(batch.size()), 3});
  std::int64_t at = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    *index++ = ids[i];
    *index++ = at;
    *index++ = at += batch[i]->rows;
  }
  finish(batch, absl::OkStatus());
}

Status take_apart(Batch& batch, std::int64_t rows, const std::vector<Tensor>& results) {
  if (static_cast<int>(results.size()) != batch[0]->call->outputs())
    return internal("A batched function gave {} results where {} are wanted", results.size(), batch[0]->call->outputs());
  for (const Tensor& result : results) {
    if (result.rank() == 0) return failed_precondition("Batched output tensor has 0 dimensions");
    if (result.dim(0) != rows)
      return failed_precondition("Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input tensors");
  }
  std::int64_t at = 0;
  for (const auto& task : batch) {
    for (std::size_t i = 0; i < results.size(); ++i) task->call->set(static_cast<int>(i), rows_between(results[i], at, at + task->rows));
    at += task->rows;
  }
  return absl::OkStatus();
}

/// Runs a function in the step of one of those who wait.
void compute(const BatchLimits& limits, const wire::NameAttrList& function, int captured, Batch batch, std::function<void()> served) {
  const std::int64_t rows = padded_size(limits, rows_of(batch));
  auto joined = joined_inputs(batch, rows);
  if (!joined.ok()) {
    finish(batch, joined.status());
    return served();
  }
  BatchTask& last = *batch.back();
  const int given = static_cast<int>(last.inputs.size());
  std::vector<Tensor> arguments = *std::move(joined);
  for (int i = 0; i < captured; ++i) arguments.push_back(last.call->in(given + i));
  auto tasks = std::make_shared<Batch>(std::move(batch));
  last.step->call_function(function, std::move(arguments), [tasks, rows, served = std::move(served)](StatusOr<std::vector<Tensor>> results) {
    Batch batch = std::move(*tasks);
    finish(batch, results.ok() ? take_apart(batch, rows, *results) : results.status());
    served();
  });
}

}  // namespace

void add_batching(Registry& ops) {
  ops.add("Batch", [](Call& call, Step& step, List inputs, State<Queue> queue, Done done) {
    auto task = task_of(call, step, *queue, inputs);
    if (!task.ok()) return done(task.status());
    (*task)->done = std::move(done);
    auto serve = [limits = queue->limits, store = step.resources](Batch batch, const std::function<void()>& served) {
      hand_over(limits, *store, std::move(batch));
      served();
    };
    queue->open(step, serve)->put(queue->name, *std::move(task));
  });
  ops.add("BatchFunction", [](Call& call, Step& step, List inputs, List captured, Attr<"f", wire::NameAttrList> f,
                              Attr<"Tout", std::vector<DType>> types, State<Queue> queue, Done done) {
    auto task = task_of(call, step, *queue, inputs);
    if (!task.ok()) return done(task.status());
    if ((*task)->rows == 0) {  // TensorFlow does not ask the function then
      for (std::size_t i = 0; i < types->size(); ++i) call.set(static_cast<int>(i), Tensor((*types)[i], Shape{0}));
      return done(absl::OkStatus());
    }
    (*task)->done = std::move(done);
    auto serve = [limits = queue->limits, f = *f, n = captured.size()](Batch batch, std::function<void()> served) {
      compute(limits, f, n, std::move(batch), std::move(served));
    };
    queue->open(step, serve)->put(queue->name, *std::move(task));
  });
}

}  // namespace troupe
