// The line before an iterator.
#include <troupe/ops/data/iterator.hpp>

namespace troupe {

void Pass::next(Step& step, Taker take) {
  Cancellation* cancellation = step.cancellation;
  if (cancellation && cancellation->cancelled()) return take(Poll::failed, cancelled("Operation was cancelled"), {});
  auto place = waiting_.insert(waiting_.end(), Asked{&step, std::move(take)});
  if (cancellation)
    place->token = cancellation->on_cancel([self = shared_from_this(), place] {
      Taker told = std::move(place->take);
      self->waiting_.erase(place);
      told(Poll::failed, cancelled("Operation was cancelled"), {});
    });
  serve();
}

void Pass::serve() {
  if (serving_) return;
  serving_ = true;
  auto alive = shared_from_this();
  while (!reading_ && !waiting_.empty()) {
    Asked asked = std::move(waiting_.front());
    waiting_.pop_front();
    if (asked.step->cancellation) asked.step->cancellation->forget(asked.token);
    read(std::move(asked));
  }
  serving_ = false;
}

void Pass::read(Asked asked) {
  reading_ = true;
  auto element = std::make_shared<Tuple>();
  auto attempt = [self = shared_from_this(), element](Reading& reading) { return self->attempt(reading, *element); };
  auto over = [self = shared_from_this(), element, take = std::move(asked.take)](Poll poll, Status status) {
    self->reading_ = false;
    if (poll == Poll::end) self->ended_ = true;
    else ++self->given_;
    take(poll, std::move(status), std::move(*element));
    self->serve();
  };
  Reading::start(*asked.step, instances_, std::move(attempt), std::move(over));
}

Poll Pass::attempt(Reading& reading, Tuple& element) {
  for (; left_out_ > 0; --left_out_) {
    const Poll poll = source_->next(reading, element);
    if (poll == Poll::waits) return poll;
    if (poll == Poll::end) break;
  }
  left_out_ = 0;
  return source_->next(reading, element);
}

Status DataIterator::start(const DatasetPtr& dataset) {
  TRY(check_types(facts_.types, dataset->element.types));
  TRY(check_shapes(facts_.shapes, dataset->element.shapes));
  pass_ = std::make_shared<Pass>(dataset);
  return absl::OkStatus();
}

void DataIterator::next(Step& step, Pass::Taker take) {
  if (!pass_)
    return take(
        Poll::failed,
        failed_precondition("GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for "
                            "this iterator before getting the next element."),
        {});
  auto pass = pass_;
  pass->next(step, std::move(take));
}

}  // namespace troupe
