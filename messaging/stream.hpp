// A bidirectional gRPC stream between two nodes: what is written in one activation travels as one message.
#pragma once

#include <grpcpp/support/async_stream.h>
#include <troupe/messaging/slices.hpp>
#include <troupe/messaging/status.hpp>
#include <troupe/messaging/transport.hpp>

#include <deque>
#include <functional>
#include <memory>

namespace troupe {

/// One end of a stream. Belongs to its transport: all functions are called where events complete, or after the transport has stopped.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  enum class When {
    now,             // as soon as gRPC takes it
    activation_end,  // with all else that this activation writes
    along,           // with the next message, or a little later when there is none
  };
  /// Set before the stream is opened; called where events complete.
  std::function<void(grpc::ByteBuffer)> on_message;
  /// Called once, and nothing after it.
  std::function<void(Status)> on_closed;

  virtual ~Stream() = default;

  /// Where to write whole frames; then commit.
  SliceWriter& out() { return out_; }
  void commit(When when);
  /// From any thread: calls f where events complete.
  void post(std::function<void(Stream&)> f) {
    transport_.post([self = shared_from_this(), f = std::move(f)] { f(*self); });
  }
  /// Ends it: at a server after what was written, with the status; at a client at once.
  virtual void close(const Status& why) = 0;

 protected:
  /// The tag of one kind of operation; keeps the stream alive while one is under way.
  class Event final : public TransportEvent {
   public:
    Event(Stream& stream, void (Stream::*handler)(bool)) : TransportEvent(stream.transport_), stream_(stream), handler_(handler) {}
    void* begin() {
      alive_ = stream_.shared_from_this();
      home().began();
      return tag();
    }
    bool under_way() const { return alive_ != nullptr; }
    void complete(bool ok) override {
      Transport& transport = home();
      {
        const auto alive = std::move(alive_);
        (stream_.*handler_)(ok);
      }
      transport.ended();
    }

   private:
    Stream& stream_;
    void (Stream::*handler_)(bool);
    std::shared_ptr<Stream> alive_;
  };

  explicit Stream(Transport& transport) : transport_(transport) {}
  /// Starts to read and to write.
  void opened(grpc::internal::AsyncReaderInterface<grpc::ByteBuffer>& reader, grpc::internal::AsyncWriterInterface<grpc::ByteBuffer>& writer);
  /// No more writes; calls end() as soon as none is under way. With `drain`, what was committed is written first.
  void stop_writing(bool drain);
  /// The operation that ends a stream; on_ended follows.
  virtual void end() = 0;
  void on_ended(bool ok);
  void report_closed(Status status);

  Transport& transport_;
  Status closed_with_;
  Event ended_{*this, &Stream::on_ended};

 private:
  void read();
  void on_read(bool ok);
  void read_on();
  void on_written(bool ok);
  void flush();
  void flush_soon();

  SliceWriter out_;
  std::deque<grpc::ByteBuffer> queue_;
  grpc::ByteBuffer incoming_;
  grpc::internal::AsyncReaderInterface<grpc::ByteBuffer>* reader_ = nullptr;
  grpc::internal::AsyncWriterInterface<grpc::ByteBuffer>* writer_ = nullptr;
  Event read_{*this, &Stream::on_read}, written_{*this, &Stream::on_written};
  bool stopping_ = false, broken_ = false, ending_ = false, reported_ = false;
  bool flush_posted_ = false, timer_set_ = false;
  bool due_ = false;  // what is written may not wait for company
};

}  // namespace troupe
