// A gateway behind a gRPC server.
#include <troupe/actors/serving.hpp>

#include <troupe/messaging/link_codec.hpp>

#include <algorithm>
#include <thread>

namespace troupe {
namespace {

/// How long a node that stops still answers calls, to say that it stops.
constexpr std::chrono::milliseconds farewell{100};

}  // namespace

std::unique_ptr<GrpcServer> serve(Transport& transport, Gateway gateway, CallFilter filter) {
  return std::make_unique<GrpcServer>(
      transport, gateway_methods(),
      [gateway, filter = std::move(filter)](std::shared_ptr<ServerCall> call) {
        caf::anon_send(gateway, Incoming{filter ? filter(std::move(call)) : std::move(call)});
      },
      link_path, [gateway](std::shared_ptr<Stream> stream) { caf::anon_send(gateway, IncomingLink{std::move(stream)}); });
}

void close_after(Transport& transport, const Gateway& gateway, const Status& reason, std::chrono::milliseconds grace) {
  caf::anon_send(gateway, Close{reason, false});
  transport.post_after(grace, [gateway, reason] { caf::anon_send(gateway, Close{reason, true}); });
}

void shut_down(GrpcServer& server, std::chrono::milliseconds grace) {
  // A call that comes while gRPC shuts down gets its CANCELLED, which no session takes for a restart: for a moment calls are still
  // accepted and hear the reason from the gateway, so that whoever runs step after step knows.
  std::this_thread::sleep_for(std::min(grace, farewell));
  server.shutdown(grace + std::chrono::seconds(1));
}

}  // namespace troupe
