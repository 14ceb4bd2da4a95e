// Native messages to and from bytes, by type: what gateway and peer share.
#pragma once

#include <troupe/actors/services.hpp>
#include <troupe/messaging/proto_bytes.hpp>
#include <troupe/messaging/step_codec.hpp>

namespace troupe {

template <class T>
StatusOr<T> decode(const grpc::ByteBuffer& bytes) {
  if constexpr (std::is_same_v<T, RunStepRequest>) return decode_run_step(bytes);
  else if constexpr (std::is_same_v<T, RunStepResponse>) return decode_run_step_response(bytes);
  else if constexpr (std::is_same_v<T, RunGraphRequest>) return decode_run_graph(bytes);
  else if constexpr (std::is_same_v<T, RunGraphResponse>) return decode_run_graph_response(bytes);
  else if constexpr (std::is_same_v<T, RecvTensorRequest>) return decode_recv_tensor(bytes);
  else if constexpr (std::is_same_v<T, RecvTensorResponse>) return decode_recv_tensor_response(bytes);
  else return parsed<T>(bytes);
}

template <class T>
grpc::ByteBuffer bytes_of(const T& message) {
  if constexpr (std::is_base_of_v<google::protobuf::MessageLite, T>) return serialize(message);
  else return encode(message);
}

/// "/tensorflow.WorkerService/RunGraph"
std::string method_path(const char* service, const char* name);

}  // namespace troupe
