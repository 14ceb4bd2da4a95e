// A call on a completion queue of its own.
#include <troupe/actors/blocking_call.hpp>

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

namespace troupe {

std::shared_ptr<grpc::Channel> dial(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

StatusOr<grpc::ByteBuffer> blocking_call(const std::shared_ptr<grpc::Channel>& channel, const std::string& method, const grpc::ByteBuffer& request,
                                         std::chrono::milliseconds patience, bool wait_for_peer) {
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + patience);
  context.set_wait_for_ready(wait_for_peer);
  auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
  call->StartCall();
  grpc::ByteBuffer reply;
  grpc::Status status;
  call->Finish(&reply, &status, &status);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  if (!status.ok()) return make_status(static_cast<Code>(status.error_code()), status.error_message());
  return reply;
}

}  // namespace troupe
