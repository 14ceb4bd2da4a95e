// The hot codecs against protobuf's own reading and writing of the same messages.
#include <gtest/gtest.h>
#include <malloc.h>
#include <troupe/wire/master.pb.h>
#include <troupe/messaging/proto_bytes.hpp>
#include <troupe/messaging/step_codec.hpp>
#include <troupe/messaging/tensor_codec.hpp>

#include <numeric>
#include <random>

#include "bytes.hpp"

namespace troupe {
namespace {

Tensor ramp(std::int64_t n) {
  Tensor t(DType::f32, Shape{n});
  std::iota(t.mutable_data<float>(), t.mutable_data<float>() + n, 0.0f);
  return t;
}

Tensor strings() { return Tensor::vector<std::string>({"x", "", std::string(300, 'y')}); }

void add_feed(wire::RunStepRequest& proto, const std::string& name, const Tensor& tensor) {
  auto* feed = proto.add_feed();
  feed->set_name(name);
  to_proto(tensor, feed->mutable_tensor());
}

wire::RunStepRequest sample_request() {
  wire::RunStepRequest proto;
  proto.set_session_handle("0123456789abcdef");
  add_feed(proto, "x:0", ramp(5000));
  add_feed(proto, "scalar:0", Tensor::scalar<std::int64_t>(-7));
  add_feed(proto, "s:0", strings());
  add_feed(proto, "empty:0", Tensor(DType::f64, Shape{0, 3}));
  auto* typed = proto.add_feed();
  typed->set_name("typed:0");
  typed->mutable_tensor()->set_dtype(wire::DT_INT32);
  typed->mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(4);
  typed->mutable_tensor()->add_int_val(3);
  typed->mutable_tensor()->add_int_val(-1);
  proto.add_fetch("y:0");
  proto.add_fetch("z:0");
  proto.add_target("train");
  proto.mutable_options()->set_timeout_in_ms(1234);
  proto.set_partial_run_handle("0");
  proto.set_store_errors_in_response_body(true);
  proto.set_request_id(-99);
  return proto;
}

void expect_same(const Tensor& a, const Tensor& b) {
  wire::TensorProto pa, pb;
  to_proto(a, &pa);
  to_proto(b, &pb);
  EXPECT_EQ(pa.SerializeAsString(), pb.SerializeAsString());
}

void expect_sample(const RunStepRequest& r) {
  EXPECT_EQ(r.session_handle, "0123456789abcdef");
  ASSERT_EQ(r.feeds.size(), 5u);
  EXPECT_EQ(r.feeds[0].name, "x:0");
  expect_same(r.feeds[0].tensor, ramp(5000));
  expect_same(r.feeds[1].tensor, Tensor::scalar<std::int64_t>(-7));
  expect_same(r.feeds[2].tensor, strings());
  expect_same(r.feeds[3].tensor, Tensor(DType::f64, Shape{0, 3}));
  expect_same(r.feeds[4].tensor, Tensor::vector<std::int32_t>({3, -1, -1, -1}));
  EXPECT_EQ(r.fetches, (std::vector<std::string>{"y:0", "z:0"}));
  EXPECT_EQ(r.targets, (std::vector<std::string>{"train"}));
  EXPECT_EQ(r.options->timeout_in_ms(), 1234);
  EXPECT_EQ(r.partial_run_handle, "0");
  EXPECT_TRUE(r.store_errors_in_response_body);
  EXPECT_EQ(r.request_id, -99);
}

TEST(StepCodec, ReadsWhatProtobufWroteHoweverItIsCut) {
  const std::string bytes = sample_request().SerializeAsString();
  for (std::size_t piece :
       {bytes.size(), std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{64}, std::size_t{4096}, std::size_t{16384}}) {
    SCOPED_TRACE(piece);
    auto decoded = decode_run_step(in_pieces(bytes, piece));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    expect_sample(*decoded);
  }
}

TEST(StepCodec, MakesNoPartsThatSayNothing) {
  wire::RunStepRequest proto;
  proto.mutable_options();
  proto.set_request_id(5);
  const auto decoded = decode_run_step(in_pieces(proto.SerializeAsString(), 1));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_TRUE(decoded->options.untouched());
  EXPECT_EQ(decoded->options->timeout_in_ms(), 0);
  EXPECT_EQ(decoded->request_id, 5);
}

TEST(StepCodec, SkipsFieldsItDoesNotKnow) {
  std::string bytes = sample_request().SerializeAsString();
  const std::string unknown(
      "\xA2\x06\x02hi\xA8\x06\x05\xB1\x06"
      "12345678\xBD\x06"
      "1234\xC3\x06\x08\x01\xC4\x06",
      30);
  auto decoded = decode_run_step(in_pieces(unknown + bytes + unknown, 5));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  expect_sample(*decoded);
}

TEST(StepCodec, MergesATensorThatComesInTwoPartsAsProtobufDoes) {
  wire::NamedTensorProto first, second;
  first.set_name("x:0");
  first.mutable_tensor()->set_dtype(wire::DT_FLOAT);
  first.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(1);
  second.mutable_tensor()->add_float_val(2.5f);
  const std::string feed = first.SerializeAsString() + second.SerializeAsString();
  auto decoded = decode_run_step(in_one(std::string("\x12") + static_cast<char>(feed.size()) + feed));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->feeds.at(0).name, "x:0");
  EXPECT_EQ(decoded->feeds.at(0).tensor.item<float>(), 2.5f);
}

/// The bytes in one slice, placed so that the named content is aligned, or is not.
grpc::ByteBuffer placed(const std::string& bytes, const std::string& content_start, std::size_t misalignment, const char** at) {
  const std::size_t offset = bytes.find(content_start);
  auto* memory = static_cast<char*>(std::aligned_alloc(64, (bytes.size() + 191) / 64 * 64));
  char* start = memory + (64 - offset % 64) % 64 + misalignment;
  std::memcpy(start, bytes.data(), bytes.size());
  *at = start + offset;
  grpc::Slice slice(
      start, bytes.size(), [](void* m) { std::free(m); }, memory);
  return grpc::ByteBuffer(&slice, 1);
}

std::string start_of(const Tensor& t) { return std::string(static_cast<const char*>(t.raw()), 64); }

TEST(StepCodec, AlignedContentBecomesTheTensorsMemory) {
  wire::RunStepRequest proto;
  add_feed(proto, "x:0", ramp(5000));
  const char* at = nullptr;
  Tensor kept;
  {
    const auto buffer = placed(proto.SerializeAsString(), start_of(ramp(5000)), 0, &at);
    auto decoded = decode_run_step(buffer);
    ASSERT_TRUE(decoded.ok());
    kept = decoded->feeds.at(0).tensor;
  }
  EXPECT_EQ(kept.raw(), at);
  EXPECT_FALSE(kept.unique());  // nobody may write into received memory
  expect_same(kept, ramp(5000));
}

TEST(StepCodec, MisalignedContentIsCopied) {
  wire::RunStepRequest proto;
  add_feed(proto, "x:0", ramp(5000));
  const char* at = nullptr;
  const auto buffer = placed(proto.SerializeAsString(), start_of(ramp(5000)), 2, &at);
  auto decoded = decode_run_step(buffer);
  ASSERT_TRUE(decoded.ok());
  const Tensor& tensor = decoded->feeds.at(0).tensor;
  EXPECT_NE(tensor.raw(), at);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.raw()) % Tensor::alignment, 0u);
  expect_same(tensor, ramp(5000));
}

std::size_t allocated() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(StepCodec, SixtyFourMegabytesComeInAndGoOutWithoutACopy) {
  constexpr std::size_t megabyte = 1 << 20;
  RunStepRequest request;
  const Tensor large = ramp(16 * megabyte);
  request.feeds.push_back({"x:0", large});
  const char* at = nullptr;
  const auto buffer = placed(flat(encode(request)), start_of(large), 0, &at);

  const std::size_t before = allocated();
  auto decoded = decode_run_step(buffer);
  ASSERT_TRUE(decoded.ok());
  RunStepResponse response;
  response.tensors.push_back({"y:0", decoded->feeds.at(0).tensor});
  const auto reply = encode(response);
  EXPECT_LT(allocated(), before + megabyte);

  EXPECT_EQ(decoded->feeds.at(0).tensor.raw(), at);
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(reply.Dump(&slices).ok());
  EXPECT_TRUE(std::any_of(slices.begin(), slices.end(), [&](const auto& s) { return reinterpret_cast<const char*>(s.begin()) == at; }));
}

TEST(StepCodec, AnEncodedTensorOutlivesItsOwner) {
  grpc::ByteBuffer bytes;
  {
    RunStepResponse response;
    response.tensors.push_back({"y:0", ramp(100000)});
    bytes = encode(response);
  }
  auto decoded = decode_run_step_response(bytes);
  ASSERT_TRUE(decoded.ok());
  expect_same(decoded->tensors.at(0).tensor, ramp(100000));
}

TEST(StepCodec, ReceivedBoolsAreZeroOrOne) {
  wire::RunStepRequest proto;
  auto* tensor = proto.add_feed()->mutable_tensor();
  tensor->set_dtype(wire::DT_BOOL);
  tensor->mutable_tensor_shape()->add_dim()->set_size(3);
  tensor->set_tensor_content(std::string("\0\2\xFF", 3));
  auto decoded = decode_run_step(in_one(proto));
  ASSERT_TRUE(decoded.ok());
  const auto* bytes = decoded->feeds.at(0).tensor.data<char>();
  EXPECT_EQ(std::string(bytes, 3), std::string("\0\1\1", 3));
}

TEST(StepCodec, TruncatedRequestsAreRefused) {
  const std::string bytes = sample_request().SerializeAsString();
  int refused = 0;
  for (std::size_t n = 0; n < bytes.size(); n = n < 300 || n > bytes.size() - 300 ? n + 1 : n + 97) {
    wire::RunStepRequest proto;
    const std::string cut = bytes.substr(0, n);
    auto decoded = decode_run_step(in_pieces(cut, 11));
    if (proto.ParseFromString(cut)) continue;
    ++refused;
    ASSERT_FALSE(decoded.ok()) << n;
    EXPECT_EQ(decoded.status(), internal("Unable to parse request"));
  }
  EXPECT_GT(refused, 100);
}

TEST(StepCodec, DamagedRequestsAreReadAsProtobufReadsThemOrRefused) {
  auto small = sample_request();
  small.mutable_feed()->DeleteSubrange(0, 1);
  const std::string good = small.SerializeAsString();
  std::mt19937 random(7);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (round % 3 == 0) std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random() % 24); });
    wire::RunStepRequest proto;
    auto decoded = decode_run_step(in_pieces(bytes, 1 + random() % 50));
    (void)decode_run_graph(in_one(bytes));
    (void)decode_run_step_response(in_one(bytes));
    (void)decode_run_graph_response(in_one(bytes));
    (void)decode_recv_tensor(in_one(bytes));
    (void)decode_recv_tensor_response(in_one(bytes));
    if (decoded.ok()) {
      ++accepted;
      ASSERT_TRUE(proto.ParseFromString(bytes));
      EXPECT_EQ(decoded->session_handle, proto.session_handle());
      EXPECT_EQ(decoded->feeds.size(), static_cast<std::size_t>(proto.feed_size()));
      EXPECT_EQ(decoded->request_id, proto.request_id());
    } else {
      ++refused;
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
}

TEST(StepCodec, ContentThatDoesNotFitItsShapeIsRefusedWithAReason) {
  wire::RunStepRequest proto;
  add_feed(proto, "x:0", ramp(4));
  proto.mutable_feed(0)->mutable_tensor()->mutable_tensor_shape()->mutable_dim(0)->set_size(std::int64_t{1} << 62);
  auto decoded = decode_run_step(in_one(proto));
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.status().code(), Code::kInvalidArgument);
  EXPECT_NE(text_of(decoded.status()).find("got 16"), std::string::npos) << decoded.status();
}

TEST(StepCodec, TextThatIsNotUtf8IsRefusedAsProtobufRefusesIt) {
  EXPECT_EQ(decode_run_step(in_one("\x0A\x02\xC3\x28")).status(), internal("Unable to parse request"));
}

TEST(StepCodec, WritesARunStepResponseByteForByteAsProtobufDoes) {
  RunStepResponse response;
  response.tensors = {{"a:0", ramp(3)}, {"b:0", ramp(3000)}, {"s:0", strings()}, {"", Tensor::scalar(true)}, {"e", Tensor(DType::i32, Shape{2, 0})}};
  response.metadata.edit().mutable_step_stats()->add_dev_stats()->set_device("/cpu:0");
  response.status = out_of_range("End of sequence");
  wire::RunStepResponse proto;
  for (const auto& named : response.tensors) {
    auto* t = proto.add_tensor();
    t->set_name(named.name);
    to_proto(named.tensor, t->mutable_tensor());
  }
  *proto.mutable_metadata() = *response.metadata;
  proto.set_status_code(wire::error::OUT_OF_RANGE);
  proto.set_status_error_message("End of sequence");
  EXPECT_EQ(flat(encode(response)), proto.SerializeAsString());
  auto back = decode_run_step_response(encode(response));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->status, response.status);
  EXPECT_EQ(back->tensors.size(), 5u);
}

TEST(StepCodec, AnEmptyRunStepResponseStillHasMetadata) { EXPECT_EQ(flat(encode(RunStepResponse())), std::string("\x12\0", 2)); }

TEST(StepCodec, RunStepRequestsGoThereAndBack) {
  auto decoded = decode_run_step(in_one(sample_request()));
  ASSERT_TRUE(decoded.ok());
  auto again = decode_run_step(encode(*decoded));
  ASSERT_TRUE(again.ok());
  expect_sample(*again);
}

TEST(StepCodec, RunGraphIsTheWireMessage) {
  RunGraphRequest request{"session", true, "graph", -5, {}, {{"key", ramp(2000)}}, {"k1", "k2"}, true, true, true, 77};
  request.options.edit().set_record_timeline(true);
  wire::RunGraphRequest proto;
  ASSERT_TRUE(parse(encode(request), &proto));
  EXPECT_EQ(proto.session_handle(), "session");
  EXPECT_EQ(proto.graph_handle(), "graph");
  EXPECT_EQ(proto.step_id(), -5);
  EXPECT_TRUE(proto.create_worker_session_called() && proto.is_partial() && proto.is_last_partial_run() && proto.store_errors_in_response_body());
  EXPECT_EQ(proto.request_id(), 77);
  EXPECT_TRUE(proto.exec_opts().record_timeline());
  ASSERT_EQ(proto.recv_key_size(), 2);
  auto back = decode_run_graph(serialize(proto));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(flat(encode(*back)), flat(encode(request)));
}

TEST(StepCodec, RunGraphResponsesHaveACostGraph) {
  EXPECT_EQ(flat(encode(RunGraphResponse())), std::string("\x1A\0", 2));
  RunGraphResponse response;
  response.received.push_back({"key", ramp(10)});
  response.step_stats.edit().add_dev_stats()->set_device("d");
  response.partition_graphs.emplace_back().add_node()->set_name("n");
  response.status = aborted("gone");
  auto back = decode_run_graph_response(encode(response));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->status, aborted("gone"));
  EXPECT_EQ(back->step_stats->dev_stats(0).device(), "d");
  EXPECT_EQ(back->partition_graphs.at(0).node(0).name(), "n");
  expect_same(back->received.at(0).tensor, ramp(10));
}

TEST(StepCodec, RecvTensorRequestsGoThereAndBack) {
  wire::RecvTensorRequest proto;
  proto.set_step_id(-3);
  proto.set_rendezvous_key("a;1;b;e;0:0");
  proto.set_dma_ok(true);
  proto.mutable_client_locality()->set_bus_id(3);
  proto.set_request_id(8);
  auto decoded = decode_recv_tensor(in_pieces(proto.SerializeAsString(), 3));
  ASSERT_TRUE(decoded.ok());
  proto.clear_client_locality();
  EXPECT_EQ(flat(encode(*decoded)), proto.SerializeAsString());
}

TEST(StepCodec, RecvTensorResponsesAreWrittenAsTensorFlowWritesThem) {
  const auto bytes = [](const RecvTensorResponse& r) { return flat(encode(r)); };
  EXPECT_EQ(bytes({Tensor::scalar(1.0f), false, 0}), std::string("\x0A\x08\x08\x01\x22\x04\0\0\x80\x3F", 10));
  EXPECT_EQ(bytes({Tensor::vector<std::int8_t>({5}), false, 3}), std::string("\x18\x03\x0A\x0B\x08\x06\x12\x04\x12\x02\x08\x01\x22\x01\x05", 15));
  EXPECT_EQ(bytes({Tensor(), true, 0}), std::string("\x10\x01\x0A\x08\x08\x01\x12\x02\x12\0\x22\0", 12));
}

TEST(StepCodec, RecvTensorResponsesGoThereAndBack) {
  for (const Tensor& tensor : {ramp(100), ramp(5000), strings(), Tensor::scalar(complex128(1, 2)), Tensor(DType::f32, Shape{0})}) {
    auto back = decode_recv_tensor_response(encode(RecvTensorResponse{tensor, false, 12}));
    ASSERT_TRUE(back.ok()) << back.status();
    expect_same(back->tensor, tensor);
    EXPECT_EQ(back->send_start_micros, 12);
    wire::RecvTensorResponse proto;
    ASSERT_TRUE(parse(encode(RecvTensorResponse{tensor, false, 12}), &proto));
    auto read = tensor_from_proto(proto.tensor());
    ASSERT_TRUE(read.ok());
    expect_same(*read, tensor);
  }
  auto dead = decode_recv_tensor_response(in_one("\x10\x01"));
  ASSERT_TRUE(dead.ok());
  EXPECT_TRUE(dead->is_dead);
  EXPECT_FALSE(decode_recv_tensor_response(in_one("\x18\x01")).ok());
}

TEST(ProtoBytes, ParsesAcrossSlicesAndRefusesGarbage) {
  const auto proto = sample_request();
  auto back = parsed<wire::RunStepRequest>(in_pieces(proto.SerializeAsString(), 13));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->SerializeAsString(), flat(serialize(proto)));
  EXPECT_EQ(parsed<wire::RunStepRequest>(in_one("\x0A\x7F")).status(), internal("Unable to parse request"));
  EXPECT_TRUE(parsed<wire::RunStepRequest>(grpc::ByteBuffer()).ok());
}

}  // namespace
}  // namespace troupe
