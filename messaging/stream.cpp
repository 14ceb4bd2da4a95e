// Reads and writes of a stream, one of each at a time.
#include <troupe/messaging/stream.hpp>

#include <utility>

namespace troupe {
namespace {

/// A message beyond this is closed and the next one begun: gRPC and the receiver work on one while the other is on its way.
constexpr std::size_t message_full_at = 32u << 20;
/// What may wait for company waits no longer than this.
constexpr std::chrono::milliseconds company_wait{5};

}  // namespace

void Stream::opened(grpc::internal::AsyncReaderInterface<grpc::ByteBuffer>& reader, grpc::internal::AsyncWriterInterface<grpc::ByteBuffer>& writer) {
  reader_ = &reader;
  writer_ = &writer;
  read();
  flush();
}

void Stream::commit(When when) {
  if (stopping_ || broken_) {
    out_ = {};
    return;
  }
  if (out_.size() >= message_full_at) queue_.push_back(out_.finish());
  due_ |= when != When::along;
  if (when == When::now) return flush();
  if (when == When::activation_end) return flush_soon();
  if (std::exchange(timer_set_, true)) return;
  transport_.post_after(company_wait, [self = shared_from_this()] {
    self->timer_set_ = false;
    self->due_ = true;
    self->flush();
  });
}

void Stream::flush_soon() {
  if (std::exchange(flush_posted_, true)) return;
  transport_.post([self = shared_from_this()] {
    self->flush_posted_ = false;
    self->flush();
  });
}

void Stream::flush() {
  if (writer_ == nullptr || broken_ || ending_ || written_.under_way()) return;
  if (queue_.empty() && !out_.empty() && (due_ || stopping_)) {
    queue_.push_back(out_.finish());
    due_ = false;
  }
  if (queue_.empty()) {
    if (stopping_) stop_writing(false);
    return;
  }
  const Transport::Operation operation(transport_);
  if (!operation) return;
  writer_->Write(queue_.front(), written_.begin());
  queue_.pop_front();
}

void Stream::on_written(bool ok) {
  if (!ok || broken_) return stop_writing(false);
  flush();
}

void Stream::read() {
  const Transport::Operation operation(transport_);
  if (operation) reader_->Read(&incoming_, read_.begin());
  else stop_writing(false);
}

void Stream::on_read(bool ok) {
  if (!ok) return stop_writing(false);
  grpc::ByteBuffer message;
  message.Swap(&incoming_);
  if (on_message) on_message(std::move(message));
  transport_.post([self = shared_from_this()] { self->read_on(); });
}

/// After what the message's activation has written: what gRPC has to say of what was read goes with it, which would be a packet of its own
/// where the next read is waiting already.
void Stream::read_on() {
  if (flush_posted_) flush();
  if (!broken_) read();
}

void Stream::stop_writing(bool drain) {
  stopping_ = true;
  if (drain && !broken_ && (!queue_.empty() || !out_.empty() || written_.under_way())) return flush();
  broken_ = true;
  queue_.clear();
  out_ = {};
  if (written_.under_way() || std::exchange(ending_, true)) return;
  const Transport::Operation operation(transport_);
  if (operation) end();
  else report_closed(make_status(Code::kCancelled, "The transport has stopped"));
}

void Stream::on_ended(bool) { report_closed(closed_with_); }

void Stream::report_closed(Status status) {
  if (std::exchange(reported_, true)) return;
  on_message = nullptr;
  if (auto closed = std::exchange(on_closed, nullptr)) closed(std::move(status));
}

}  // namespace troupe
