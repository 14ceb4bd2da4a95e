// Requests, calls of functions and blocking work under way.
#include <troupe/ops/data/reading.hpp>

namespace troupe {

Poll Reading::attempt() {
  try {
    return attempt_(*this);
  } catch (const OutOfMemory& e) {
    return fail(
        resource_exhausted("OOM when allocating tensor with shape{} and type {} on {} by allocator cpu", e.shape, name_of(e.dtype), step_.device));
  } catch (const std::exception& e) {
    return fail(internal("Reading of a dataset failed: {}", e.what()));
  }
}

void Reading::wake() {
  again_ = true;
  if (turning_ || !attempt_) return;
  turning_ = true;
  auto alive = shared_from_this();
  Poll poll = Poll::waits;
  while (poll == Poll::waits && again_) {
    again_ = false;
    poll = attempt();
  }
  turning_ = false;
  if (poll == Poll::waits) return;
  Over over = std::move(over_);
  attempt_ = nullptr;
  over(poll, poll == Poll::failed ? status_ : absl::OkStatus());
}

void FunctionCall::start(Reading& reading, const Captured& function, Tuple arguments) {
  auto answer = answer_ = std::make_shared<Answer>();
  Step& step = reading.step();
  if (!instance_) {
    auto& kept = reading.instances()[function.function->key()];
    if (!kept) {
      auto made = function.function->instantiate();
      if (!made.ok()) return void(answer->value = made.status());
      kept = *std::move(made);
    }
    instance_ = kept;
  }
  Cancellation* outer = step.cancellation;
  Cancellation::Token token = 0;
  if (outer && outer->cancelled()) return void(answer->value = cancelled("Function was cancelled before it was started"));
  if (outer) token = outer->on_cancel([answer, outer] { answer->cancellation.cancel(outer->reason()); });
  arguments.insert(arguments.end(), function.values.begin(), function.values.end());
  instance_->call(step, answer->cancellation, std::move(arguments),
                  [answer, outer, token, reading = reading.shared_from_this()](StatusOr<Tuple> results) {
                    if (outer) outer->forget(token);
                    answer->value = std::move(results);
                    reading->wake();
                  });
}

Poll FunctionCall::take(Reading& reading, Tuple& results) {
  if (!answer_->value) return Poll::waits;
  auto answer = std::move(answer_);
  answer_ = nullptr;
  if (!answer->value->ok()) return reading.fail(answer->value->status());
  results = **std::move(answer->value);
  return Poll::ready;
}

void BlockingWork::start(Reading& reading, std::function<Status()> work) {
  auto answer = answer_ = std::make_shared<Answer>();
  auto* host = host_of(reading.step());
  if (!host) {
    answer->status = work();
    answer->over = true;
    return;
  }
  auto result = std::make_shared<Status>();
  host->run_blocking([result, work = std::move(work)] { *result = work(); },
                     [result, answer, reading = reading.shared_from_this()] {
                       answer->status = *result;
                       answer->over = true;
                       reading->wake();
                     });
}

Poll BlockingWork::take(Reading& reading) {
  if (!answer_->over) return Poll::waits;
  auto answer = std::move(answer_);
  answer_ = nullptr;
  return answer->status.ok() ? Poll::ready : reading.fail(answer->status);
}

}  // namespace troupe
