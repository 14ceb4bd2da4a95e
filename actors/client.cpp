// Requests of a blocking client.
#include <troupe/actors/client.hpp>

#include <troupe/actors/blocking_call.hpp>
#include <troupe/messaging/proto_bytes.hpp>
#include <troupe/messaging/tensor_codec.hpp>

namespace troupe {

ClientSession::ClientSession() = default;

StatusOr<std::unique_ptr<ClientSession>> ClientSession::open(const std::string& address, const wire::GraphDef& graph,
                                                             const wire::ConfigProto& config) {
  auto session = std::unique_ptr<ClientSession>(new ClientSession);
  session->channel_ = dial(address);
  wire::CreateSessionRequest request;
  *request.mutable_graph_def() = graph;
  *request.mutable_config() = config;
  request.set_target("grpc://" + address);
  wire::CreateSessionResponse response;
  TRY(session->call("CreateSession", request, &response));
  session->handle_ = response.session_handle();
  return session;
}

ClientSession::~ClientSession() {
  if (handle_.empty()) return;
  wire::CloseSessionRequest request;
  request.set_session_handle(handle_);
  wire::CloseSessionResponse response;
  (void)call("CloseSession", request, &response);
}

Status ClientSession::call(const std::string& method, const google::protobuf::MessageLite& request, google::protobuf::MessageLite* response) {
  TRY_ASSIGN(const auto reply,
             blocking_call(channel_, "/tensorflow.MasterService/" + method, serialize(request), std::chrono::minutes(1), /*wait_for_peer=*/true));
  if (!parse(reply, response)) return internal("Malformed reply to {}", method);
  return absl::OkStatus();
}

StatusOr<std::vector<Tensor>> ClientSession::run(const std::map<std::string, Tensor>& feeds, const std::vector<std::string>& fetches,
                                                 const std::vector<std::string>& targets) {
  wire::RunStepRequest request;
  request.set_session_handle(handle_);
  for (const auto& [name, tensor] : feeds) {
    auto* feed = request.add_feed();
    feed->set_name(name);
    to_proto(tensor, feed->mutable_tensor());
  }
  for (const auto& fetch : fetches) request.add_fetch(fetch);
  for (const auto& target : targets) request.add_target(target);
  wire::RunStepResponse response;
  TRY(call("RunStep", request, &response));
  std::vector<Tensor> values(fetches.size());
  for (const auto& named : response.tensor())
    for (std::size_t i = 0; i < fetches.size(); ++i)
      if (fetches[i] == named.name()) {
        TRY_ASSIGN(values[i], tensor_from_proto(named.tensor()));
      }
  return values;
}

}  // namespace troupe
