// What both ends of a link share: the messages that a stream's events become, and counters.
#pragma once

#include <caf/all.hpp>
#include <troupe/messaging/messages.hpp>
#include <troupe/messaging/stream.hpp>

#include <atomic>
#include <memory>
#include <string>

namespace troupe {

/// A message has come in on the link.
struct LinkArrived {
  Parcel<grpc::ByteBuffer> message;
};
/// The link has ended; nothing comes after this.
struct LinkClosed {
  Status why;
};

/// Lets an actor hear what happens on a stream.
template <class Handle>
void listen(Stream& stream, Handle listener) {
  stream.on_message = [listener](grpc::ByteBuffer message) { caf::anon_send(listener, LinkArrived{pack<grpc::ByteBuffer>(std::move(message))}); };
  stream.on_closed = [listener](Status why) { caf::anon_send(listener, LinkClosed{std::move(why)}); };
}

/// What went over a node's links so far, and what is held now. Any thread may read it.
struct LinkCounters {
  std::atomic<std::int64_t> runs_sent{0}, runs_served{0};  // RunGraph by link
  std::atomic<std::int64_t> asked{0};                      // tensors fetched by RecvTensor calls
  std::atomic<std::int64_t> pushed{0}, taken{0}, dropped{0};
  std::atomic<std::int64_t> shared{0};            // of those pushed, through shared memory
  std::atomic<std::int64_t> unclaimed{0};         // pushed to us and not taken yet
  std::atomic<std::int64_t> kept{0};              // made here and not handed over yet
  std::atomic<std::int64_t> wants{0};             // sessions' tasks that are pushed to
  std::atomic<std::int64_t> links{0}, guests{0};  // open now: dialled, and accepted
};
using LinkCountersPtr = std::shared_ptr<LinkCounters>;

/// The counters as JSON.
std::string to_json(const LinkCounters& counters);

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::LinkArrived)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::LinkClosed)
