// The do-nothing server: answers TensorFlow's master calls with empty valid replies from one thread and one completion queue.
#include <troupe/wire/master.pb.h>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace troupe {
namespace {

grpc::ByteBuffer bytes_of(const google::protobuf::Message& message) {
  grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

template <class M>
M parsed(const grpc::ByteBuffer& bytes) {
  grpc::Slice slice;
  M message;
  if (bytes.TrySingleSlice(&slice).ok() || bytes.DumpToSingleSlice(&slice).ok())
    message.ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
  return message;
}

/// What a call gets that asks for no tensor, or for zeros of a given size.
class Answers {
 public:
  explicit Answers(std::size_t bytes) : zeros_(bytes, '\0') {}

  grpc::ByteBuffer to(const std::string& method, const grpc::ByteBuffer& request) const {
    const std::string name = method.substr(method.rfind('/') + 1);
    if (name == "CreateSession") {
      wire::CreateSessionResponse reply;
      reply.set_session_handle("floor");
      reply.set_graph_version(1);
      return bytes_of(reply);
    }
    if (name == "ExtendSession") {
      wire::ExtendSessionResponse reply;
      reply.set_new_graph_version(parsed<wire::ExtendSessionRequest>(request).current_graph_version() + 1);
      return bytes_of(reply);
    }
    return name == "RunStep" ? run_step(request) : bytes_of(wire::CloseSessionResponse());
  }

 private:
  grpc::ByteBuffer run_step(const grpc::ByteBuffer& request) const {
    wire::RunStepResponse reply;
    // A large request is a feed: looking for its fetches would cost the copy that a floor must not have.
    if (!zeros_.empty() && request.Length() < 4096) {
      const auto step = parsed<wire::RunStepRequest>(request);
      for (const auto& fetch : step.fetch()) {
        auto& tensor = *reply.add_tensor();
        tensor.set_name(fetch);
        tensor.mutable_tensor()->set_dtype(wire::DT_FLOAT);
        if (zeros_.size() > 4) tensor.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(static_cast<std::int64_t>(zeros_.size() / 4));
        else tensor.mutable_tensor()->mutable_tensor_shape();
        tensor.mutable_tensor()->set_tensor_content(zeros_);
      }
    }
    return bytes_of(reply);
  }
  std::string zeros_;
};

class Floor {
 public:
  Floor(std::size_t answer_bytes, int spin_us) : answers_(answer_bytes), spin_(spin_us) {}

  int run() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.SetMaxReceiveMessageSize(-1).SetMaxSendMessageSize(-1);
    builder.AddListeningPort("localhost:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterAsyncGenericService(&service_);
    queue_ = builder.AddCompletionQueue();
    auto server = builder.BuildAndStart();
    if (!server) return 1;
    std::printf("grpc://localhost:%d\n", port);
    std::fflush(stdout);
    new Call(*this);
    for (void* tag = nullptr;;) {
      bool ok = false;
      if (!next(&tag, &ok)) return 0;
      static_cast<Call*>(tag)->proceed(ok);
    }
  }

 private:
  /// One RPC; deletes itself when it is answered.
  class Call {
   public:
    explicit Call(Floor& floor) : floor_(floor) { floor_.service_.RequestCall(&context_, &stream_, floor_.queue_.get(), floor_.queue_.get(), this); }
    void proceed(bool ok) {
      if (!ok || state_ == State::answered) {
        delete this;
      } else if (state_ == State::called) {
        new Call(floor_);
        state_ = State::read;
        stream_.Read(&request_, this);
      } else {
        state_ = State::answered;
        stream_.WriteAndFinish(floor_.answers_.to(context_.method(), request_), grpc::WriteOptions(), grpc::Status::OK, this);
      }
    }

   private:
    enum class State { called, read, answered };
    Floor& floor_;
    State state_ = State::called;
    grpc::GenericServerContext context_;
    grpc::GenericServerAsyncReaderWriter stream_{&context_};
    grpc::ByteBuffer request_;
  };

  bool next(void** tag, bool* ok) {
    using Clock = std::chrono::system_clock;
    for (const auto end = Clock::now() + std::chrono::microseconds(spin_); spin_ > 0 && Clock::now() < end;) {
      const auto got = queue_->AsyncNext(tag, ok, Clock::time_point::min());
      if (got != grpc::CompletionQueue::TIMEOUT) return got == grpc::CompletionQueue::GOT_EVENT;
    }
    return queue_->Next(tag, ok);
  }

  Answers answers_;
  int spin_;
  grpc::AsyncGenericService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
};

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  long answer_bytes = 0, spin_us = 300;
  for (int i = 1; i < argc; ++i) {
    if (std::sscanf(argv[i], "--answer_bytes=%ld", &answer_bytes) == 1 || std::sscanf(argv[i], "--spin_us=%ld", &spin_us) == 1) continue;
    std::fprintf(stderr, "usage: %s [--answer_bytes=N] [--spin_us=N]\n", argv[0]);
    return 2;
  }
  return troupe::Floor(static_cast<std::size_t>(answer_bytes), static_cast<int>(spin_us)).run();
}
