// The hot messages to and from their wire form: tensor bytes are neither parsed nor, where it can be avoided, copied.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <troupe/messaging/messages.hpp>
#include <troupe/messaging/slices.hpp>
#include <troupe/messaging/status.hpp>

namespace troupe {

// Decoders take the buffer by reference and leave it as it is. Raw content of plain types that lies in one slice, aligned for
// its type, becomes the tensor's memory and keeps the slice alive; otherwise it is copied once. Malformed bytes give INTERNAL
// "Unable to parse request", a tensor that cannot be (shape against content, dtype) gives the status of tensor_from_proto.
StatusOr<RunStepRequest> decode_run_step(const grpc::ByteBuffer& bytes);
StatusOr<RunStepResponse> decode_run_step_response(const grpc::ByteBuffer& bytes);
StatusOr<RunGraphRequest> decode_run_graph(const grpc::ByteBuffer& bytes);
StatusOr<RunGraphResponse> decode_run_graph_response(const grpc::ByteBuffer& bytes);
StatusOr<RecvTensorRequest> decode_recv_tensor(const grpc::ByteBuffer& bytes);
StatusOr<RecvTensorResponse> decode_recv_tensor_response(const grpc::ByteBuffer& bytes);

// Encoders refer to large tensors' memory instead of copying it; the buffer keeps it alive. An error status in a response
// goes into its body.
grpc::ByteBuffer encode(const RunStepRequest& request);
grpc::ByteBuffer encode(const RunStepResponse& response);
grpc::ByteBuffer encode(const RunGraphRequest& request);
grpc::ByteBuffer encode(const RunGraphResponse& response);
grpc::ByteBuffer encode(const RecvTensorRequest& request);
grpc::ByteBuffer encode(const RecvTensorResponse& response);

// The same as part of a larger message.
StatusOr<RunGraphRequest> decode_run_graph(SliceReader bytes);
StatusOr<RunGraphResponse> decode_run_graph_response(SliceReader bytes);
void write(SliceWriter& out, const RunGraphRequest& request);
void write(SliceWriter& out, const RunGraphResponse& response);

}  // namespace troupe
