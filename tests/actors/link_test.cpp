// Tensors pushed between nodes: who gets them, what waits, and that nothing is left behind. All on this thread, in order.
#include <gtest/gtest.h>
#include <caf/all.hpp>
#include <troupe/actors/inbox.hpp>
#include <troupe/messaging/caf_status.hpp>
#include <troupe/messaging/link_codec.hpp>
#include <troupe/messaging/loop_scheduler.hpp>
#include <troupe/messaging/reply_port.hpp>

#include <optional>

namespace troupe {
namespace {

struct Config : caf::actor_system_config {
  Config() { load<LoopScheduler>(); }
};

const std::string to_worker = "/job:ps/replica:0/task:0/device:CPU:0;00000000000000aa;/job:worker/replica:0/task:0/device:CPU:0;edge_1;0:0";
const std::string to_other = "/job:ps/replica:0/task:0/device:CPU:0;00000000000000aa;/job:worker/replica:0/task:1/device:CPU:0;edge_1;0:0";
const std::string worker = "/job:worker/replica:0/task:0";

/// What a linked node was told.
struct Heard {
  std::vector<PutTensors> messages;
  std::vector<KeyedTensor> tensors() const {
    std::vector<KeyedTensor> all;
    for (const PutTensors& message : messages) all.insert(all.end(), message.tensors.begin(), message.tensors.end());
    return all;
  }
  std::vector<AbortStep> aborts;
};

class LinkTest : public testing::Test {
 protected:
  using Reply = std::optional<StatusOr<Parcel<RecvTensorResponse>>>;

  Pushes guest(Heard& heard) {
    return system.spawn([&heard]() -> Pushes::behavior_type {
      return {[&heard](PutTensors& message) { heard.messages.push_back(message); }, [&heard](AbortStep& abort) { heard.aborts.push_back(abort); }};
    });
  }
  static Parcel<RecvTensorResponse> value(float number) {
    auto made = pack<RecvTensorResponse>();
    made->tensor = Tensor::scalar(number);
    return made;
  }
  void put(std::int64_t step, const std::string& key, float number) {
    caf::anon_send(rendezvous, PutTensors{step, session, {{key, value(number)}}, 0});
  }
  static Parcel<RecvTensorRequest> asking(std::int64_t step, const std::string& key, std::uint64_t call = 0) {
    auto request = pack<RecvTensorRequest>();
    request->step_id = step;
    request->rendezvous_key = key;
    request.call = call;
    return request;
  }
  /// Who takes is an actor of its own; its answers are told apart by their keys.
  std::shared_ptr<Reply> take(std::int64_t step, const std::string& key, std::uint64_t peer = 1) {
    auto reply = std::make_shared<Reply>();
    taker = system.spawn([reply]() -> Taker::behavior_type {
      return {[reply](TensorsCame& message) {
        ASSERT_EQ(message.tensors.size(), 1u);
        CameTensor& came = message.tensors.front();
        if (came.status.ok()) *reply = std::move(came.value);
        else *reply = came.status;
      }};
    });
    caf::anon_send(inbox, TakeTensors{{step, {key}, session, worker, taker}, peer});
    return reply;
  }
  std::shared_ptr<Reply> fetch(std::int64_t step, const std::string& key) {
    auto reply = std::make_shared<Reply>();
    port.ask<Parcel<RecvTensorResponse>>(
        rendezvous, [reply](StatusOr<Parcel<RecvTensorResponse>> r) { *reply = std::move(r); }, asking(step, key));
    return reply;
  }
  void arrive(std::int64_t step, const std::string& key, float number, std::uint64_t peer = 1) {
    caf::anon_send(inbox, PushedTensors{peer, {{step, session, key, value(number)}}});
  }
  static float number_in(const std::shared_ptr<Reply>& reply) { return (**reply).value()->tensor.item<float>(); }

  Config config;
  caf::actor_system system{config};
  LinkCountersPtr counters = std::make_shared<LinkCounters>();
  RendezvousActor rendezvous = spawn_rendezvous(system, counters);
  Inbox inbox = spawn_inbox(system, counters);
  Taker taker;  // the last one
  ReplyPort port{system};
  std::shared_ptr<const std::string> session = std::make_shared<const std::string>("00000000000000f0");

  ~LinkTest() override {
    caf::anon_send_exit(rendezvous, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(inbox, caf::exit_reason::user_shutdown);
  }
};

TEST_F(LinkTest, WhatIsWantedIsPushedAndTheRestIsKept) {
  Heard heard;
  caf::anon_send(rendezvous, WantPushes{*session, worker, 7, guest(heard)});
  put(1, to_worker, 1.0f);
  put(1, to_other, 2.0f);
  ASSERT_EQ(heard.tensors().size(), 1u);
  EXPECT_EQ(heard.tensors()[0].key, to_worker);
  EXPECT_EQ(heard.messages[0].want, 7u);
  EXPECT_EQ(counters->kept, 1);
  EXPECT_EQ(number_in(fetch(1, to_other)), 2.0f);
  EXPECT_EQ(counters->kept, 0);
}

TEST_F(LinkTest, AWantGetsWhatWasMadeBefore) {
  Heard heard;
  put(1, to_worker, 1.0f);
  put(2, to_worker, 2.0f);
  caf::anon_send(rendezvous, WantPushes{*session, worker, 7, guest(heard)});
  EXPECT_EQ(heard.tensors().size(), 2u);
  EXPECT_EQ(counters->kept, 0);
}

TEST_F(LinkTest, AnotherSessionsTensorsAreNotPushed) {
  Heard heard;
  caf::anon_send(rendezvous, WantPushes{"another", worker, 7, guest(heard)});
  put(1, to_worker, 1.0f);
  EXPECT_TRUE(heard.tensors().empty());
}

TEST_F(LinkTest, WhoseLinkBrokeLearnsThatAStepIsLost) {
  Heard first, second;
  auto broken = guest(first);
  caf::anon_send(rendezvous, WantPushes{*session, worker, 7, broken});
  put(1, to_worker, 1.0f);
  caf::anon_send(rendezvous, PushesLost{broken, unavailable("Socket closed")});
  EXPECT_EQ(counters->wants, 0);
  auto asked = fetch(1, to_worker);
  ASSERT_TRUE(asked->has_value());
  EXPECT_EQ((*asked)->status().code(), Code::kUnavailable);
  caf::anon_send(rendezvous, WantPushes{*session, worker, 1, guest(second)});
  ASSERT_EQ(second.aborts.size(), 1u);
  EXPECT_EQ(second.aborts[0].step, 1);
  EXPECT_EQ(second.aborts[0].reason.code(), Code::kUnavailable);
  put(2, to_worker, 2.0f);
  EXPECT_EQ(second.tensors().size(), 1u);
}

TEST_F(LinkTest, AFailedStepIsToldToThoseWhoWantIt) {
  Heard heard;
  caf::anon_send(rendezvous, WantPushes{*session, worker, 7, guest(heard)});
  caf::anon_send(rendezvous, AbortStep{1, invalid("no"), *session});
  ASSERT_EQ(heard.aborts.size(), 1u);
  caf::anon_send(rendezvous, ForgetStep{2});
  caf::anon_send(rendezvous, AbortStep{2, invalid("no"), *session});
  EXPECT_EQ(heard.aborts.size(), 1u) << "a step that was cleaned up concerns nobody";
}

TEST_F(LinkTest, AClosedSessionLeavesNothing) {
  Heard heard;
  caf::anon_send(rendezvous, WantPushes{*session, worker, 7, guest(heard)});
  put(1, to_other, 2.0f);
  arrive(1, to_worker, 1.0f);
  EXPECT_EQ(counters->kept + counters->unclaimed, 2);
  caf::anon_send(rendezvous, ForgetSession{*session});
  caf::anon_send(inbox, ForgetSession{*session});
  EXPECT_EQ(counters->kept + counters->unclaimed + counters->wants, 0);
}

TEST_F(LinkTest, ATensorAndItsTakerMeetInEitherOrder) {
  arrive(1, to_worker, 1.0f);
  EXPECT_EQ(number_in(take(1, to_worker)), 1.0f);
  auto early = take(2, to_worker);
  EXPECT_FALSE(early->has_value());
  arrive(2, to_worker, 2.0f);
  EXPECT_EQ(number_in(early), 2.0f);
  EXPECT_EQ(counters->taken, 2);
  EXPECT_EQ(counters->unclaimed, 0);
}

TEST_F(LinkTest, ATensorThatCleanUpOvertookIsDropped) {
  arrive(1, to_worker, 1.0f);
  caf::anon_send(inbox, ForgetStep{1});
  arrive(1, to_worker, 1.0f);
  EXPECT_EQ(counters->unclaimed, 0);
  EXPECT_EQ(counters->dropped, 2);
}

TEST_F(LinkTest, ALostPeerFailsItsTakersOnly) {
  auto one = take(1, to_worker, 1), two = take(1, to_other, 2);
  caf::anon_send(inbox, PeerLost{1, unavailable("Socket closed")});
  ASSERT_TRUE(one->has_value());
  EXPECT_EQ((*one)->status().code(), Code::kUnavailable);
  EXPECT_FALSE(two->has_value());
  caf::anon_send(inbox, PeerAborted{2, 1, invalid("no")});
  ASSERT_TRUE(two->has_value());
  EXPECT_EQ((*two)->status().code(), Code::kInvalidArgument);
  EXPECT_EQ((**take(1, to_other, 2)).status().code(), Code::kInvalidArgument) << "later ones too";
}

TEST_F(LinkTest, ACancelledTakerHearsNothingMoreAndItsTensorIsDroppedWithTheStep) {
  auto waiting = take(1, to_worker);
  caf::anon_send(inbox, CancelFetch{1, taker});
  arrive(1, to_worker, 1.0f);
  EXPECT_FALSE(waiting->has_value());
  EXPECT_EQ(counters->unclaimed, 1);
  caf::anon_send(inbox, ForgetStep{1});
  EXPECT_EQ(counters->unclaimed, 0);
}

TEST_F(LinkTest, WhatComesTogetherIsAnsweredTogether) {
  std::vector<std::size_t> sizes;
  taker = system.spawn([&sizes]() -> Taker::behavior_type { return {[&sizes](TensorsCame& message) { sizes.push_back(message.tensors.size()); }}; });
  caf::anon_send(inbox, TakeTensors{{1, {to_worker, to_other}, session, worker, taker}, 1});
  caf::anon_send(inbox, PushedTensors{1, {{1, session, to_worker, value(1.0f)}, {1, session, to_other, value(2.0f)}}});
  EXPECT_EQ(sizes, std::vector<std::size_t>{2});
}

TEST_F(LinkTest, WhatIsMadeTogetherIsPushedTogetherToEachWhoWantsIt) {
  Heard one, other;
  caf::anon_send(rendezvous, WantPushes{*session, worker, 7, guest(one)});
  caf::anon_send(rendezvous, WantPushes{*session, "/job:worker/replica:0/task:1", 8, guest(other)});
  caf::anon_send(rendezvous, PutTensors{1, session, {{to_worker, value(1.0f)}, {to_other, value(2.0f)}, {to_worker + "1", value(3.0f)}}, 0});
  ASSERT_EQ(one.messages.size(), 1u);
  EXPECT_EQ(one.tensors().size(), 2u);
  ASSERT_EQ(other.messages.size(), 1u);
  EXPECT_EQ(other.tensors().size(), 1u);
  EXPECT_EQ(counters->pushed, 3);
}

TEST_F(LinkTest, ALinkIsLentToThoseWhoLookForItsNode) {
  auto lender = system.spawn([]() -> Lender::behavior_type {
    return {[](Borrow&) {}, [](FetchTensors&) { return true; }, [](const ForgetSession&) {}};
  });
  const auto found = [&](std::uint64_t incarnation) {
    bool is = false;
    port.ask<LinkLent>(
        inbox, [&is](StatusOr<LinkLent> link) { is = link.ok() && link->by; }, FindLink{incarnation});
    return is;
  };
  EXPECT_FALSE(found(5));
  caf::anon_send(inbox, LinkLent{{4, 5}, lender});
  EXPECT_TRUE(found(5));
  EXPECT_FALSE(found(6));
  caf::anon_send(inbox, LinkTakenBack{lender});
  EXPECT_FALSE(found(5));
}

TEST(LinkCodec, FramesComeOutAsTheyWentIn) {
  SliceWriter out;
  RunGraphRequest plain;
  plain.session_handle = "00000000deadbeef";
  plain.graph_handle = "000000000000000a";
  plain.step_id = -5;
  plain.create_worker_session_called = plain.store_errors_in_response_body = true;
  RunGraphRequest odd = plain;
  odd.session_handle = "by name";
  odd.is_partial = true;
  RunGraphResponse failed;
  failed.status = aborted("why");
  RecvTensorResponse large;
  large.tensor = Tensor::zeros(DType::f32, Shape{100, 100});
  RecvTensorResponse dead;
  dead.is_dead = true;
  write(out, LinkHello{{1, ~0ull}});
  write(out, 3, plain);
  write(out, 4, odd);
  write(out, 5, failed);
  write_push(out, 6, -7, to_worker, large);
  write_push(out, 6, 8, to_other, dead);
  write(out, LinkAbort{9, as_derived(unavailable("gone"))});
  write(out, LinkCancel{10});
  write(out, LinkCleanup{-11});
  write(out, LinkWant{12, "session", worker});
  write(out, LinkUnwant{13});
  write_push(out, 6, 14, to_worker, large, LinkPlace{65536, 40000});
  write(out, LinkInvite{"socket", "secret"});
  write(out, LinkMapped{});
  write(out, LinkRelease{65536});
  write(out, LinkBrought{});
  auto frames = decode_link(out.finish());
  ASSERT_TRUE(frames.ok()) << frames.status();
  ASSERT_EQ(frames->size(), 16u);
  EXPECT_EQ(std::get<LinkHello>((*frames)[0]).incarnations, (std::vector<std::uint64_t>{1, ~0ull}));
  const auto& run = std::get<LinkRun>((*frames)[1]);
  EXPECT_EQ(run.call, 3u);
  EXPECT_EQ(run.request.session_handle, plain.session_handle);
  EXPECT_EQ(run.request.graph_handle, plain.graph_handle);
  EXPECT_EQ(run.request.step_id, -5);
  EXPECT_TRUE(run.request.create_worker_session_called && run.request.store_errors_in_response_body);
  EXPECT_EQ(std::get<LinkRun>((*frames)[2]).request.session_handle, "by name");
  EXPECT_TRUE(std::get<LinkRun>((*frames)[2]).request.is_partial);
  EXPECT_EQ(std::get<LinkRan>((*frames)[3]).response.status, failed.status);
  const auto& push = std::get<LinkPush>((*frames)[4]);
  EXPECT_EQ(push.step, -7);
  EXPECT_EQ(push.key, to_worker);
  EXPECT_EQ(push.value.tensor.shape(), large.tensor.shape());
  EXPECT_TRUE(std::get<LinkPush>((*frames)[5]).value.is_dead);
  EXPECT_TRUE(is_derived(std::get<LinkAbort>((*frames)[6]).reason));
  EXPECT_EQ(std::get<LinkCancel>((*frames)[7]).call, 10u);
  EXPECT_EQ(std::get<LinkCleanup>((*frames)[8]).step, -11);
  EXPECT_EQ(std::get<LinkWant>((*frames)[9]).task, worker);
  EXPECT_EQ(std::get<LinkUnwant>((*frames)[10]).number, 13u);
  const auto& placed = std::get<LinkPush>((*frames)[11]);
  ASSERT_TRUE(placed.place);
  EXPECT_EQ(placed.place->offset, 65536u);
  EXPECT_EQ(placed.value.tensor.shape(), large.tensor.shape());
  EXPECT_EQ(placed.value.tensor.raw(), nullptr);
  EXPECT_EQ(std::get<LinkInvite>((*frames)[12]).secret, "secret");
  EXPECT_EQ(std::get<LinkRelease>((*frames)[14]).offset, 65536u);
}

TEST(LinkCodec, EveryTruncationIsRefusedOrShorter) {
  SliceWriter out;
  RecvTensorResponse small;
  small.tensor = Tensor::scalar(1.0f);
  write_push(out, 6, 7, to_worker, small);
  write(out, LinkAbort{9, unavailable("gone")});
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(out.finish().Dump(&slices).ok());
  std::string bytes;
  for (const auto& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const grpc::Slice part(bytes.data(), size);
    auto frames = decode_link(grpc::ByteBuffer(&part, 1));
    if (frames.ok()) EXPECT_LT(frames->size(), 2u) << size;
  }
}

}  // namespace
}  // namespace troupe
