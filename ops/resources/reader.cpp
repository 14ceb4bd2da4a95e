// Reading of records from files that a queue names.
#include <troupe/ops/resources/reader.hpp>

namespace troupe {

/// A call under way.
struct Reader::Reading {
  Step* step;
  std::shared_ptr<Queue> queue;
  std::int64_t count;
  Taker take;
  Done done;
  KeysAndValues found;
  Tuple element;
  bool running = false, again = false;
};

void Reader::read(Step& step, std::shared_ptr<Queue> queue, std::int64_t count, Taker take, Done done) {
  const auto& types = queue->facts().types;
  if (types.size() != 1) return done(invalid("Expected single component queue"));
  if (types[0] != DType::string) return done(invalid("Expected queue with single string component"));
  auto reading = std::make_shared<Reading>(Reading{&step, std::move(queue), count, std::move(take), std::move(done), {}, {}});
  auto attempt = [this](Status&) {
    if (busy_) return WaitingLine::Progress::none;
    busy_ = true;
    return WaitingLine::Progress::complete;
  };
  auto begin = [self = shared_from_this(), reading](const Status& status) {
    if (!status.ok()) return reading->done(status);
    self->go_on(reading);
  };
  waiting_.join(&step, "Dequeue operation was cancelled", std::move(attempt), std::move(begin), [self = shared_from_this()] { self->settle(); });
  settle();
}

/// The queue may answer at once, again and again: a loop, so that empty files do not pile up on the stack.
void Reader::go_on(const std::shared_ptr<Reading>& reading) {
  if (reading->running) {
    reading->again = true;
    return;
  }
  reading->running = true;
  do {
    reading->again = false;
    advance(reading);
  } while (reading->again);
  reading->running = false;
}

void Reader::advance(const std::shared_ptr<Reading>& reading) {
  KeysAndValues& found = reading->found;
  const auto enough = [&] { return static_cast<std::int64_t>(found.keys.size()) >= reading->count; };
  while (!enough() && progress_.at_work()) {
    std::string key, value;
    const auto next = stream_->next(key, value);
    if (!next.ok()) return end(reading, next.status());
    if (*next != RecordStream::Found::end) {
      found.keys.push_back(std::move(key));
      found.values.push_back(std::move(value));
      ++progress_.records;
    }
    if (*next != RecordStream::Found::record) {
      stream_->stop();
      progress_.work_finished = progress_.work_started;
      if (!found.keys.empty()) return end(reading, absl::OkStatus());
    }
  }
  if (enough()) return end(reading, absl::OkStatus());
  take_work(reading);
}

void Reader::take_work(const std::shared_ptr<Reading>& reading) {
  reading->queue->dequeue(
      *reading->step, [reading](Tuple element) { reading->element = std::move(element); },
      [self = shared_from_this(), reading](Status status) {
        if (status.ok()) status = self->start_work(reading->element);
        if (!status.ok()) return self->end(reading, status);
        self->go_on(reading);
      });
}

Status Reader::start_work(const Tuple& element) {
  if (element.size() != 1 || element[0].dtype() != DType::string || element[0].size() != 1)
    return invalid("Expected to dequeue a one-element string tensor");
  progress_.work = element[0].item<std::string>();
  TRY(stream_->start(progress_.work));
  ++progress_.work_started;
  return absl::OkStatus();
}

void Reader::end(const std::shared_ptr<Reading>& reading, Status status) {
  if (status.ok()) reading->take(std::move(reading->found));
  busy_ = false;
  Done done = std::move(reading->done);
  const auto self = shared_from_this();
  done(std::move(status));
  settle();
}

void Reader::settle() {
  Endings endings;
  waiting_.serve(endings);
  endings.tell();
}

void Reader::reset() {
  stream_->stop();
  progress_ = {};
}

StatusOr<std::string> Reader::save() const {
  if (!stream_->can_be_saved()) return unimplemented("Reader SerializeState");
  return progress_.encode();
}

Status Reader::restore(const std::string& state) {
  reset();
  if (!stream_->can_be_saved()) return unimplemented("Reader RestoreState");
  TRY_ASSIGN(progress_, ReaderProgress::decode(state, name_));
  return absl::OkStatus();
}

}  // namespace troupe
