// Outgoing calls and streams over a loop's completion queue.
#include <troupe/messaging/grpc_client.hpp>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <troupe/messaging/grpc_status.hpp>

#include <climits>

namespace troupe {
namespace {

constexpr int max_backoff_ms = 1000;
constexpr int min_backoff_ms = 100;

std::shared_ptr<grpc::Channel> connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(INT_MAX);
  arguments.SetMaxSendMessageSize(INT_MAX);
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, max_metadata_bytes);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, max_frame_bytes);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, min_backoff_ms);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, max_backoff_ms);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, max_backoff_ms);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

std::string json_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\', out += c;
    else if (c == '\n') out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else out += c;
  }
  return out += '"';
}

/// TensorFlow's coordinator finds the failed task in this note.
std::string remote_note(const Status& status, const std::string& target, const std::string& method, const std::string& peer) {
  const std::string description = peer.empty() ? "Failed to pick subchannel" : "Error received from peer " + peer;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return fmt::format(
      "\nAdditional GRPC error information from remote target {} while calling {}:\n:"
      "{{\"created\":\"@{}.{:09}\",\"description\":{},\"grpc_message\":{},\"grpc_status\":{}}}",
      target, method, ns / 1000000000, ns % 1000000000, json_quoted(description), json_quoted(text_of(status)), static_cast<int>(status.code()));
}

/// Deletes itself when the reply has come and the caller has let go.
class Call final : public ClientCall, public TransportEvent, public TransportCancellable, public std::enable_shared_from_this<Call> {
 public:
  Call(Transport& transport, std::string method, std::string target, OnReply done)
      : TransportEvent(transport), transport_(transport), method_(std::move(method)), target_(std::move(target)), done_(std::move(done)) {}

  void start(const std::shared_ptr<grpc::Channel>& channel, const grpc::ByteBuffer& request, std::optional<std::chrono::milliseconds> deadline,
             bool wait_for_ready) {
    if (deadline) context_.set_deadline(std::chrono::system_clock::now() + *deadline);
    context_.set_wait_for_ready(wait_for_ready);
    Transport::Operation operation(transport_);
    if (!operation) return std::exchange(done_, nullptr)(make_status(Code::kCancelled, "The transport has stopped"));
    self_ = shared_from_this();
    transport_.track(*this);
    transport_.began();
    reader_ = grpc::GenericStub(channel).PrepareUnaryCall(&context_, method_, request, &transport_.queue());
    reader_->StartCall();
    reader_->Finish(&response_, &status_, tag());
  }

  void cancel() override { context_.TryCancel(); }

  void complete(bool) override {
    const auto self = std::move(self_);
    transport_.untrack(*this);
    report(std::exchange(done_, nullptr));
    transport_.ended();
  }

 private:
  void report(const OnReply& done) {
    if (status_.ok()) return done(std::move(response_));
    Status failure = from_grpc(status_);
    if (!target_.empty()) failure = append_text(failure, remote_note(failure, target_, method_, context_.peer()));
    done(std::move(failure));
  }

  Transport& transport_;
  std::string method_, target_;
  OnReply done_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader_;
  grpc::ByteBuffer response_;
  grpc::Status status_;
  std::shared_ptr<Call> self_;
};

class OutgoingStream final : public Channel::Outgoing, public TransportCancellable {
 public:
  OutgoingStream(Transport& transport, std::shared_ptr<grpc::Channel> channel, std::string method)
      : Outgoing(transport), channel_(std::move(channel)), method_(std::move(method)) {}

  void start() override {
    const Transport::Operation operation(transport_);
    if (!operation) return report_closed(make_status(Code::kCancelled, "The transport has stopped"));
    transport_.track(*this);
    stream_ = grpc::GenericStub(channel_).PrepareCall(&context_, method_, &transport_.queue());
    stream_->StartCall(started_.begin());
  }
  void cancel() override { context_.TryCancel(); }
  void close(const Status&) override { context_.TryCancel(); }

 private:
  void on_started(bool ok) {
    if (ok) opened(*stream_, *stream_);
    else stop_writing(false);
  }
  void end() override { stream_->Finish(&status_, finished_.begin()); }
  void on_finished(bool) {
    transport_.untrack(*this);
    report_closed(status_.ok() ? unavailable("The peer has closed the link") : from_grpc(status_));
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::string method_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  grpc::Status status_;
  Event started_{*this, static_cast<void (Stream::*)(bool)>(&OutgoingStream::on_started)};
  Event finished_{*this, static_cast<void (Stream::*)(bool)>(&OutgoingStream::on_finished)};
};

}  // namespace

Channel::Channel(std::string address, Transport& transport, std::string target)
    : address_(std::move(address)), target_(std::move(target)), transport_(&transport), channel_(connect(address_)) {}

Channel::~Channel() = default;
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;

std::shared_ptr<ClientCall> Channel::call(const std::string& method, grpc::ByteBuffer request, std::optional<std::chrono::milliseconds> deadline,
                                          bool wait_for_ready, OnReply done) {
  auto call = std::make_shared<Call>(*transport_, method, target_, std::move(done));
  call->start(channel_, request, deadline, wait_for_ready);
  return call;
}

std::shared_ptr<Channel::Outgoing> Channel::stream(const std::string& method) {
  return std::make_shared<OutgoingStream>(*transport_, channel_, method);
}

Status Channel::noted(const Status& status, const std::string& method, const std::string& peer) const {
  return target_.empty() ? status : append_text(status, remote_note(status, target_, method, peer));
}

}  // namespace troupe
