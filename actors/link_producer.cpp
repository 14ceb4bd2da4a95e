// Pushes over a link.
#include <troupe/actors/link_producer.hpp>

namespace troupe {
namespace {

/// From here on a tensor is worth the way through shared memory.
constexpr std::size_t bulk_from = 16 * 1024;

/// A message of gRPC must stay below 2 GiB.
constexpr std::size_t message_limit = 2'000'000'000;

bool is_bulk(const RecvTensorResponse& value) {
  const DType dtype = value.tensor.dtype();
  return !value.is_dead && value.tensor.valid() && !is_object(dtype) && dtype != DType::boolean && value.tensor.bytes() >= bulk_from;
}

}  // namespace

Pushes LinkProducer::self() const { return caf::actor_cast<Pushes>(self_.lock()); }

void LinkProducer::open(std::shared_ptr<Stream> stream, const caf::strong_actor_ptr& self) {
  stream_ = std::move(stream);
  self_ = caf::actor_cast<caf::weak_actor_ptr>(self);
}

void LinkProducer::closed(const Status& why) {
  if (!stream_) return;
  stream_ = nullptr;
  memory_ = nullptr;
  mapped_ = false;
  caf::anon_send(rendezvous_, PushesLost{self(), why});
}

void LinkProducer::handle(LinkWant& frame) {
  if (!stream_) return;
  caf::anon_send(rendezvous_, WantPushes{std::move(frame.session), std::move(frame.task), frame.number, self()});
}

void LinkProducer::handle(const LinkUnwant& frame) {
  if (stream_) caf::anon_send(rendezvous_, UnwantPushes{frame.number, self()});
}

/// The other side is on this machine, it thinks: bring it memory where it says it waits.
void LinkProducer::handle(const LinkInvite& frame) {
  if (!stream_ || memory_) return;
  auto made = SharedWriter::create();
  if (!made.ok() || !send_memory({frame.socket, frame.secret}, (*made)->descriptor()).ok()) return;
  memory_ = *std::move(made);
  write(stream_->out(), LinkBrought{});
  stream_->commit(Stream::When::now);
}

void LinkProducer::handle(const LinkRelease& frame) {
  if (memory_) memory_->release(frame.offset);
}

std::optional<LinkPlace> LinkProducer::place_of(const RecvTensorResponse& value) {
  if (!mapped_ || !is_bulk(value)) return std::nullopt;
  const auto offset = memory_->put(value.tensor.raw(), value.tensor.bytes());
  if (!offset) return std::nullopt;
  return LinkPlace{*offset, value.tensor.bytes()};
}

void LinkProducer::push(const PutTensors& message) {
  if (!stream_) return;  // the rendezvous hears that they are lost
  for (const KeyedTensor& tensor : message.tensors) push_one(message, tensor);
  stream_->commit(Stream::When::activation_end);
}

void LinkProducer::push_one(const PutTensors& message, const KeyedTensor& keyed) {
  const Tensor& tensor = keyed.value->tensor;
  const auto place = place_of(*keyed.value);
  if (place) ++counters_->shared;
  else if (tensor.valid() && tensor.bytes() > message_limit)
    return abort({message.step, resource_exhausted("A tensor of {} bytes for {} is more than a message can carry", tensor.bytes(), keyed.key), ""});
  write_push(stream_->out(), message.want, message.step, keyed.key, *keyed.value, place);
}

void LinkProducer::abort(const AbortStep& message) {
  if (!stream_) return;
  write(stream_->out(), LinkAbort{message.step, message.reason});
  stream_->commit(Stream::When::activation_end);
}

}  // namespace troupe
