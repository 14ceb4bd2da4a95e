// How a gateway is served over gRPC, and how that ends.
#pragma once

#include <troupe/actors/gateway.hpp>
#include <troupe/messaging/grpc_server.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace troupe {

/// Sees every call before the gateway does, and may stand in for it.
using CallFilter = std::function<std::shared_ptr<ServerCall>(std::shared_ptr<ServerCall>)>;

/// All methods and links go to the gateway, once the server listens. `filter` may be empty.
std::unique_ptr<GrpcServer> serve(Transport& transport, Gateway gateway, CallFilter filter);

/// Begins the end of a gateway's calls: no new ones, and what is open after the grace is cancelled.
void close_after(Transport& transport, const Gateway& gateway, const Status& reason, std::chrono::milliseconds grace);

/// After close_after: lets callers hear the reason, then shuts down. Blocks for the time of open calls, at most grace and a second.
void shut_down(GrpcServer& server, std::chrono::milliseconds grace);

}  // namespace troupe
