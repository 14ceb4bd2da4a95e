// Protobuf messages to and from gRPC's byte buffers.
#include <troupe/messaging/proto_bytes.hpp>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

namespace troupe {

bool parse(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message) {
  message->Clear();
  if (!bytes.Valid()) return true;
  // The reader only refers to the buffer, but asks for it as mutable.
  grpc::ByteBuffer shared(bytes);
  grpc::ProtoBufferReader reader(&shared);
  return reader.status().ok() && message->ParseFromZeroCopyStream(&reader);
}

grpc::ByteBuffer serialize(const google::protobuf::MessageLite& message) {
  const std::size_t size = message.ByteSizeLong();
  grpc::Slice slice(size);
  message.SerializeWithCachedSizesToArray(const_cast<std::uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace troupe
