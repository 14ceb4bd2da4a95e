// What Troupe nodes say to each other on their link: frames, many of them in a message.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <troupe/messaging/messages.hpp>
#include <troupe/messaging/slices.hpp>
#include <troupe/messaging/status.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

/// The stream's path; a node that speaks another version does not serve it, nor does TensorFlow.
inline constexpr const char* link_path = "/troupe.Link/V1";

/// The first frame from either side says who it is.
struct LinkHello {
  std::vector<std::uint64_t> incarnations;  // of its devices
  std::string machine;                      // a hint: equal where shared memory is worth a try
};
// From the node that has dialled, and the answer.
struct LinkRun {
  std::uint64_t call = 0;
  RunGraphRequest request;
};
struct LinkRan {
  std::uint64_t call = 0;
  RunGraphResponse response;
};
struct LinkCancel {
  std::uint64_t call = 0;
};
struct LinkCleanup {
  std::int64_t step = 0;
};

// From who has tensors for the other side, and from who wants them: each side may be both.
/// Where in shared memory a tensor's bytes are.
struct LinkPlace {
  std::uint64_t offset = 0, bytes = 0;
};
/// A tensor for whoever wants, or will want, it in the step. With a place, the tensor has no memory of its own yet.
struct LinkPush {
  std::uint64_t want = 0;
  std::int64_t step = 0;
  std::string key;
  RecvTensorResponse value;
  std::optional<LinkPlace> place;
};
/// Nothing more of this step will be pushed: the reason.
struct LinkAbort {
  std::int64_t step = 0;
  Status reason;
};

/// Push to me, as this number, what the session's steps make for the task: what is there, and all that comes.
struct LinkWant {
  std::uint64_t number = 0;
  std::string session, task;
};
struct LinkUnwant {
  std::uint64_t number = 0;
};

/// Bring your shared memory to this socket, with this secret.
struct LinkInvite {
  std::string socket, secret;
};
/// Our shared memory is at the socket.
struct LinkBrought {
  std::uint64_t yes = 1;
};
/// Your shared memory is here: use it.
struct LinkMapped {
  std::uint64_t yes = 1;
};
/// A place in shared memory is read and free.
struct LinkRelease {
  std::uint64_t offset = 0;
};

using LinkFrame = std::variant<LinkHello, LinkRan, LinkPush, LinkAbort, LinkRun, LinkCancel, LinkCleanup, LinkWant, LinkUnwant, LinkInvite,
                               LinkBrought, LinkMapped, LinkRelease>;

void write(SliceWriter& out, const LinkHello& frame);
void write(SliceWriter& out, std::uint64_t call, const RunGraphResponse& response);
void write_push(SliceWriter& out, std::uint64_t want, std::int64_t step, const std::string& key, const RecvTensorResponse& value,
                std::optional<LinkPlace> place = std::nullopt);
void write(SliceWriter& out, const LinkAbort& frame);
void write(SliceWriter& out, std::uint64_t call, const RunGraphRequest& request);
void write(SliceWriter& out, const LinkCancel& frame);
void write(SliceWriter& out, const LinkCleanup& frame);
void write(SliceWriter& out, const LinkWant& frame);
void write(SliceWriter& out, const LinkUnwant& frame);
void write(SliceWriter& out, const LinkInvite& frame);
void write(SliceWriter& out, const LinkBrought& frame);
void write(SliceWriter& out, const LinkMapped& frame);
void write(SliceWriter& out, const LinkRelease& frame);

/// All frames of a message in order. Frames of unknown kinds are left out.
StatusOr<std::vector<LinkFrame>> decode_link(const grpc::ByteBuffer& message);

}  // namespace troupe
