// Tensors that come over a link.
#include <troupe/actors/link_consumer.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

void LinkConsumer::open(std::shared_ptr<Stream> stream, LinkHello hello) {
  stream_ = std::move(stream);
  other_ = std::move(hello);
}

void LinkConsumer::share_memory() {
  if (memory_ || invited_to_.valid() || other_.machine.empty() || other_.machine != machine_hint()) return;
  auto invited = invite();
  if (!invited.ok()) return;
  invited_to_ = std::move(invited->first);
  invitation_ = std::move(invited->second);
  write(stream_->out(), LinkInvite{invitation_.socket, invitation_.secret});
  stream_->commit(Stream::When::now);
}

void LinkConsumer::closed(const Status& why) {
  stream_ = nullptr;
  other_ = {};
  memory_ = nullptr;
  invited_to_ = Descriptor();
  wants_.clear();
  caf::anon_send(inbox_, PeerLost{number_, noted_(why)});
}

bool LinkConsumer::comes_from_here(std::uint64_t incarnation) const {
  const auto& all = other_.incarnations;
  return stream_ && (incarnation == 0 || std::find(all.begin(), all.end(), incarnation) != all.end());
}

bool LinkConsumer::wants(const FetchTensors& message) const {
  return std::any_of(wants_.begin(), wants_.end(), [&](const auto& entry) {
    const Want& known = entry.second;
    return (known.session == message.session || *known.session == *message.session) && known.task == message.task;
  });
}

bool LinkConsumer::take(FetchTensors message) {
  if (!stream_) return false;
  if (!wants(message)) {
    wants_[++last_want_] = {message.session, message.task};
    write(stream_->out(), LinkWant{last_want_, *message.session, message.task});
    stream_->commit(Stream::When::activation_end);
  }
  caf::anon_send(inbox_, TakeTensors{std::move(message), number_});
  return true;
}

void LinkConsumer::forget_session(const std::string& session) {
  std::erase_if(wants_, [&](const auto& entry) {
    if (*entry.second.session != session) return false;
    write(stream_->out(), LinkUnwant{entry.first});
    stream_->commit(Stream::When::along);
    return true;
  });
}

void LinkConsumer::handle(const LinkBrought&) {
  auto received = receive_memory(invited_to_, invitation_);
  invited_to_ = Descriptor();
  if (!received.ok()) return;
  memory_ = *std::move(received);
  write(stream_->out(), LinkMapped{});
  stream_->commit(Stream::When::now);
}

/// The tensor where the other side has put it; released when nobody holds it any more.
bool LinkConsumer::find_place(LinkPush& frame) {
  const void* data = memory_ ? memory_->at(frame.place->offset, frame.place->bytes) : nullptr;
  if (data == nullptr) return false;
  // Whoever holds it last, on whatever thread: the other side hears of it while this link stands.
  auto release = [memory = memory_, link = std::weak_ptr<Stream>(stream_), offset = frame.place->offset] {
    const auto open = link.lock();
    if (!open) return;
    open->post([offset](Stream& to) {
      write(to.out(), LinkRelease{offset});
      to.commit(Stream::When::along);
    });
  };
  auto& tensor = frame.value.tensor;
  tensor = Tensor(tensor.dtype(), tensor.shape(), borrow_buffer(data, frame.place->bytes, std::move(release)));
  return true;
}

void LinkConsumer::handle(LinkPush& frame) {
  if (!stream_) return;
  if (frame.place && !find_place(frame)) return stream_->close(internal("A place outside of shared memory"));
  const auto want = wants_.find(frame.want);
  if (want == wants_.end()) return void(++counters_->dropped);
  pushed_.push_back({frame.step, want->second.session, std::move(frame.key), pack<RecvTensorResponse>(std::move(frame.value))});
}

void LinkConsumer::handle(const LinkAbort& frame) {
  deliver();
  caf::anon_send(inbox_, PeerAborted{number_, frame.step, noted_(frame.reason)});
}

void LinkConsumer::deliver() {
  if (!pushed_.empty()) caf::anon_send(inbox_, PushedTensors{number_, std::exchange(pushed_, {})});
}

}  // namespace troupe
