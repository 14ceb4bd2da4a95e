// The half of a link's end that takes what the other node pushes.
#pragma once

#include <troupe/actors/inbox.hpp>
#include <troupe/messaging/link_codec.hpp>
#include <troupe/messaging/shared_memory.hpp>

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace troupe {

/// Part of the state of an actor that hears a link; used by that alone.
class LinkConsumer {
 public:
  LinkConsumer(Inbox inbox, LinkCountersPtr counters) : inbox_(std::move(inbox)), counters_(std::move(counters)) {}

  /// The link stands, and the other side has said who it is.
  void open(std::shared_ptr<Stream> stream, LinkHello hello);
  /// How errors that come over the link are told.
  void tell_with(std::function<Status(const Status&)> noted) { noted_ = std::move(noted); }
  /// If the other side seems to be on this machine it is asked to prove that, and to bring its memory.
  void share_memory();
  void closed(const Status& why);

  bool comes_from_here(std::uint64_t incarnation) const;
  /// Asks the inbox; the other side hears of it where it does not push to this task yet. False where the link has ended.
  bool take(FetchTensors message);
  bool wants(const FetchTensors& message) const;
  void forget_session(const std::string& session);

  void handle(const LinkBrought&);
  void handle(LinkPush& frame);
  void handle(const LinkAbort& frame);
  /// A message has been handled to its end.
  void deliver();

 private:
  struct Want {
    std::shared_ptr<const std::string> session;
    std::string task;
  };

  bool find_place(LinkPush& frame);

  Inbox inbox_;
  LinkCountersPtr counters_;
  std::uint64_t number_ = next_call_number();  // by which the inbox knows the other side
  std::function<Status(const Status&)> noted_ = [](const Status& status) { return status; };
  std::shared_ptr<Stream> stream_;  // while it stands
  LinkHello other_;
  std::map<std::uint64_t, Want> wants_;
  std::uint64_t last_want_ = 0;
  std::vector<PushedTensor> pushed_;      // since deliver()
  std::shared_ptr<SharedReader> memory_;  // of the other side, where it is on this machine
  Descriptor invited_to_;                 // where it is to bring it
  Invitation invitation_;
};

}  // namespace troupe
