// Sending of events.
#include <troupe/messaging/event_listener.hpp>

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <chrono>

namespace troupe {
namespace {

constexpr std::chrono::seconds patience{10};

/// Waits for the one operation under way.
bool next(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.Next(&tag, &ok) && ok;
}

void drain(grpc::CompletionQueue& queue) {
  queue.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) {
  }
}

}  // namespace

Status send_events(const std::string& address, const std::vector<std::string>& events) {
  auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + patience);
  context.set_wait_for_ready(true);
  auto stream = stub.PrepareCall(&context, "/tensorflow.EventListener/SendEvents", &queue);
  stream->StartCall(nullptr);
  bool good = next(queue);
  for (const auto& event : events) {
    if (!good) break;
    grpc::Slice slice(event);
    stream->Write(grpc::ByteBuffer(&slice, 1), nullptr);
    good = next(queue);
  }
  if (good) {
    stream->WritesDone(nullptr);
    good = next(queue);
  }
  // Replies say what to watch from now on; there is nobody to heed them.
  for (grpc::ByteBuffer reply; good;) {
    stream->Read(&reply, nullptr);
    good = next(queue);
  }
  grpc::Status status;
  stream->Finish(&status, nullptr);
  next(queue);
  drain(queue);
  if (status.ok()) return absl::OkStatus();
  return failed_precondition("Failed to connect to gRPC channel at {} within a timeout of {} s: {}", address, patience.count(),
                             status.error_message());
}

}  // namespace troupe
