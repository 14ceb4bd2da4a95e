// Byte buffers for tests: of given bytes, cut where a test wants them cut.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <string>
#include <vector>

namespace troupe {

inline std::string flat(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (buffer.Valid()) (void)buffer.Dump(&slices);
  std::string out;
  for (const auto& slice : slices) out.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return out;
}

/// Slices of `piece` bytes each; the last may be shorter.
inline grpc::ByteBuffer in_pieces(const std::string& bytes, std::size_t piece) {
  std::vector<grpc::Slice> slices;
  for (std::size_t at = 0; at < bytes.size(); at += piece) slices.emplace_back(bytes.data() + at, std::min(piece, bytes.size() - at));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

inline grpc::ByteBuffer in_one(const std::string& bytes) { return in_pieces(bytes, std::max<std::size_t>(bytes.size(), 1)); }
inline grpc::ByteBuffer in_one(const google::protobuf::MessageLite& message) { return in_one(message.SerializeAsString()); }

}  // namespace troupe
