// The half of a link's end that pushes what this node's steps make.
#pragma once

#include <troupe/actors/rendezvous.hpp>
#include <troupe/messaging/link_codec.hpp>
#include <troupe/messaging/shared_memory.hpp>

#include <memory>

namespace troupe {

/// Part of the state of an actor that takes `Pushes`; used by that alone.
class LinkProducer {
 public:
  LinkProducer(RendezvousActor rendezvous, LinkCountersPtr counters) : rendezvous_(std::move(rendezvous)), counters_(std::move(counters)) {}

  /// The link stands: what is wanted over it goes to `self`.
  void open(std::shared_ptr<Stream> stream, const caf::strong_actor_ptr& self);
  void closed(const Status& why);

  void handle(LinkWant& frame);
  void handle(const LinkUnwant& frame);
  void handle(const LinkInvite& frame);
  void handle(const LinkMapped&) { mapped_ = memory_ != nullptr; }
  void handle(const LinkRelease& frame);

  void push(const PutTensors& message);
  void abort(const AbortStep& message);

 private:
  void push_one(const PutTensors& message, const KeyedTensor& tensor);
  std::optional<LinkPlace> place_of(const RecvTensorResponse& value);
  Pushes self() const;

  RendezvousActor rendezvous_;
  LinkCountersPtr counters_;
  std::shared_ptr<Stream> stream_;  // while it stands
  caf::weak_actor_ptr self_;
  std::unique_ptr<SharedWriter> memory_;
  bool mapped_ = false;
};

}  // namespace troupe
