// The gRPC server: one object per call, armed before the call comes and answered once.
#include <troupe/messaging/grpc_server.hpp>

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/async_unary_call.h>
#include <troupe/messaging/grpc_status.hpp>
#include <troupe/messaging/listen_address.hpp>
#include <troupe/messaging/poller.hpp>

#include <atomic>
#include <climits>

namespace troupe {
namespace {

/// Calls of a method that gRPC may accept before we see the first of them.
constexpr int armed_per_method = 4;
/// How often a free port that somebody else took first is chosen again.
constexpr int port_attempts = 16;

}  // namespace

/// The table as gRPC knows it, with the server it belongs to; calls keep it alive.
class GrpcServer::Methods final : public grpc::Service, public std::enable_shared_from_this<Methods> {
 public:
  Methods(Transport& transport, std::vector<std::string> paths, OnCall on_call, std::string stream_path, OnStream on_stream)
      : transport_(transport),
        paths_(std::move(paths)),
        on_call_(std::move(on_call)),
        stream_path_(std::move(stream_path)),
        on_stream_(std::move(on_stream)) {
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      AddMethod(new grpc::internal::RpcServiceMethod(paths_[i].c_str(), grpc::internal::RpcMethod::NORMAL_RPC, nullptr));
      MarkMethodAsync(static_cast<int>(i));  // otherwise gRPC starts threads for synchronous methods
    }
    if (stream_path_.empty()) return;
    AddMethod(new grpc::internal::RpcServiceMethod(stream_path_.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
    MarkMethodAsync(static_cast<int>(paths_.size()));
  }

  Transport& transport() { return transport_; }
  void deliver(std::shared_ptr<ServerCall> call) { on_call_(std::move(call)); }
  void deliver(std::shared_ptr<Stream> stream) { on_stream_(std::move(stream)); }
  void request(grpc::ServerContext* context, grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>* stream, void* tag) {
    RequestAsyncBidiStreaming(static_cast<int>(paths_.size()), context, stream, transport_.server_queue(), transport_.server_queue(), tag);
  }
  Status start(const std::vector<std::string>& addresses);
  void shutdown(std::chrono::milliseconds deadline);
  void request(int method, grpc::ServerContext* context, grpc::ByteBuffer* body, grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>* writer,
               void* tag) {
    RequestAsyncUnary(method, context, body, writer, transport_.server_queue(), transport_.server_queue(), tag);
  }

 private:
  Transport& transport_;
  std::vector<std::string> paths_;
  OnCall on_call_;
  std::string stream_path_;
  OnStream on_stream_;
  std::unique_ptr<grpc::Server> server_;
};

/// Counted by its outstanding gRPC operations and by the receiver's handle; the last one deletes it.
class GrpcServer::Call final : public ServerCall {
 public:
  static void arm(std::shared_ptr<Methods> methods, int method) {
    Transport::Operation operation(methods->transport());
    if (!operation) return;
    auto* call = new Call(methods, method);
    call->context_.AsyncNotifyWhenDone(call->done_.tag());
    methods->request(method, &call->context_, &call->request, &call->writer_, call->received_.tag());
  }

  void reply(grpc::ByteBuffer response) override { finish(response, grpc::Status::OK); }
  void fail(const Status& status) override { finish({}, to_grpc(status)); }
  std::string peer() const override { return context_.peer(); }
  std::optional<std::chrono::milliseconds> time_left() const override {
    const auto deadline = context_.deadline();
    if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
    return std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::system_clock::now());
  }

 private:
  struct Event final : TransportEvent {
    Event(Call& c, void (Call::*h)(bool)) : TransportEvent(c.methods_->transport()), call(c), handler(h) {}
    void complete(bool ok) override { (call.*handler)(ok); }
    Call& call;
    void (Call::*handler)(bool);
  };

  Call(std::shared_ptr<Methods> methods, int method) : ServerCall(method), methods_(std::move(methods)) { methods_->transport().began(); }

  void on_received(bool ok) {
    if (!ok) return release();  // the server shuts down; such a call never gets its done event
    arm(methods_, method);
    references_.fetch_add(1);  // the done event's; the arrival's own goes to the handle
    methods_->deliver(std::shared_ptr<ServerCall>(this, [this](ServerCall*) { let_go(); }));
  }

  void on_done(bool) {
    if (on_cancelled && context_.IsCancelled() && !answered_.load()) on_cancelled();
    on_cancelled = nullptr;
    release();
  }

  void on_finished(bool) { release(); }

  void finish(const grpc::ByteBuffer& response, const grpc::Status& status) {
    if (answered_.exchange(true)) return;
    Transport::Operation operation(methods_->transport());
    if (!operation) return;
    references_.fetch_add(1);
    if (status.ok()) writer_.Finish(response, status, finished_.tag());
    else writer_.FinishWithError(status, finished_.tag());
  }

  void let_go() {
    if (!answered_.load()) fail(internal("The call was dropped without an answer"));
    release();
  }

  void release() {
    if (references_.fetch_sub(1) != 1) return;
    Transport& transport = methods_->transport();
    delete this;
    transport.ended();
  }

  std::shared_ptr<Methods> methods_;
  grpc::ServerContext context_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer_{&context_};
  Event received_{*this, &Call::on_received}, done_{*this, &Call::on_done}, finished_{*this, &Call::on_finished};
  std::atomic<int> references_{1};
  std::atomic<bool> answered_{false};
};

/// A stream that a peer has opened, or may open yet.
class GrpcServer::Accepted final : public Stream {
 public:
  explicit Accepted(std::shared_ptr<Methods> methods) : Stream(methods->transport()), methods_(std::move(methods)) {}

  static void arm(std::shared_ptr<Methods> methods) {
    const Transport::Operation operation(methods->transport());
    if (!operation) return;
    auto stream = std::make_shared<Accepted>(methods);
    methods->request(&stream->context_, &stream->stream_, stream->received_.begin());
  }
  void close(const Status& why) override {
    if (why_.ok()) why_ = why;
    stop_writing(true);
  }

 private:
  void on_received(bool ok) {
    if (!ok) return;  // the server shuts down
    arm(methods_);
    methods_->deliver(shared_from_this());
    opened(stream_, stream_);
  }
  void end() override {
    closed_with_ = why_.ok() ? unavailable("The peer has closed the link") : why_;
    stream_.Finish(to_grpc(why_), ended_.begin());
  }

  std::shared_ptr<Methods> methods_;
  grpc::ServerContext context_;
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream_{&context_};
  Status why_;
  Event received_{*this, static_cast<void (Stream::*)(bool)>(&Accepted::on_received)};
};

Status GrpcServer::Methods::start(const std::vector<std::string>& addresses) {
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(INT_MAX);
  builder.SetMaxSendMessageSize(INT_MAX);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, max_metadata_bytes);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, max_frame_bytes);
  for (const std::string& address : addresses) builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  std::unique_ptr<grpc::ServerCompletionQueue> queue;
  if (auto* shared = transport_.server_queue()) share_queue(builder, *shared);
  else queue = builder.AddCompletionQueue();
  server_ = builder.BuildAndStart();
  if (!server_) {
    if (queue) discard_events(*queue);
    return unavailable("Could not start gRPC server on {}", fmt::join(addresses, ", "));
  }
  if (queue) transport_.adopt(std::move(queue));
  for (std::size_t method = 0; method < paths_.size(); ++method)
    for (int i = 0; i < armed_per_method; ++i) Call::arm(shared_from_this(), static_cast<int>(method));
  if (!stream_path_.empty())
    for (int i = 0; i < armed_per_method; ++i) Accepted::arm(shared_from_this());
  return absl::OkStatus();
}

void GrpcServer::Methods::shutdown(std::chrono::milliseconds deadline) {
  if (server_) server_->Shutdown(std::chrono::system_clock::now() + deadline);
}

GrpcServer::GrpcServer(Transport& transport, std::vector<std::string> methods, OnCall on_call, std::string stream, OnStream on_stream)
    : transport_(transport),
      paths_(std::move(methods)),
      on_call_(std::move(on_call)),
      stream_path_(std::move(stream)),
      on_stream_(std::move(on_stream)) {}

GrpcServer::~GrpcServer() { shutdown(std::chrono::milliseconds(0)); }

Status GrpcServer::listen(const std::vector<std::string>& addresses, int* port) {
  TRY(transport_.can_adopt());
  TRY_ASSIGN(const std::vector<ListenAddress> wanted, parse_listen_addresses(addresses));
  for (int attempt = 1;; ++attempt) {
    TRY_ASSIGN(const ListenChoice choice, choose_listen_addresses(wanted));
    auto methods = std::make_shared<Methods>(transport_, paths_, on_call_, stream_path_, on_stream_);  // gRPC takes each only once
    const Status started = methods->start(choice.addresses);
    if (started.ok()) {
      *port = choice.port;
      methods_ = std::move(methods);
      return started;
    }
    if (!choice.picked || attempt == port_attempts) return started;
  }
}

void GrpcServer::shutdown(std::chrono::milliseconds deadline) {
  if (methods_) methods_->shutdown(deadline);
}

}  // namespace troupe
