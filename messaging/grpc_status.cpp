// Statuses to and from gRPC's.
#include <troupe/messaging/grpc_status.hpp>

#include <troupe/wire/payloads.pb.h>

namespace troupe {
namespace {

constexpr std::size_t max_text = 3072;

std::string payloads_of(const Status& status) {
  wire::GrpcPayloadContainer container;
  status.ForEachPayload([&](absl::string_view key, const absl::Cord& value) {
    (*container.mutable_payloads())[std::string(key.data(), key.size())] = std::string(value);
  });
  return container.SerializeAsString();
}

}  // namespace

grpc::Status to_grpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  std::string text = text_of(status);
  if (text.size() > max_text) text = text.substr(0, max_text) + " ... [truncated]";
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), text, payloads_of(status));
}

Status from_grpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  auto code = static_cast<Code>(status.error_code());
  if (code == Code::kUnknown && status.error_message() == "Stream removed") code = Code::kUnavailable;
  Status made = make_status(code, status.error_message());
  wire::GrpcPayloadContainer container;
  if (container.ParseFromString(status.error_details()))
    for (const auto& [key, value] : container.payloads()) made.SetPayload(key, absl::Cord(value));
  return made;
}

}  // namespace troupe
