// What messages cost on their way from and to bytes.
#include <benchmark/benchmark.h>
#include <troupe/messaging/link_codec.hpp>
#include <troupe/messaging/step_codec.hpp>

namespace troupe::bench {
namespace {

RunStepRequest request_with(std::int64_t floats) {
  RunStepRequest request;
  request.session_handle = "0123456789abcdef";
  request.feeds.push_back({"Placeholder:0", Tensor::zeros(DType::f32, Shape{floats})});
  request.fetches = {"loss:0"};
  request.targets = {"train"};
  request.request_id = 42;
  return request;
}

void decode_step(benchmark::State& state) {
  const grpc::ByteBuffer bytes = encode(request_with(state.range(0)));
  for (auto _ : state) {
    auto request = decode_run_step(bytes);
    if (!request.ok() || request->feeds.size() != 1) return state.SkipWithError("a request was not read");
    benchmark::DoNotOptimize(request);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}

void encode_answer(benchmark::State& state) {
  RunStepResponse response;
  response.tensors.push_back({"loss:0", Tensor::zeros(DType::f32, Shape{state.range(0)})});
  for (auto _ : state) benchmark::DoNotOptimize(encode(response));
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}

/// Twenty tensors of one step in one message, written and read.
void link_message(benchmark::State& state) {
  constexpr int tensors = 20;
  const std::string key =
      "/job:ps/replica:0/task:0/device:CPU:0;0123456789abcdef;/job:worker/replica:0/task:0/device:CPU:0;edge_12_variable/read;0:0";
  RecvTensorResponse value;
  value.tensor = Tensor::zeros(DType::f32, Shape{state.range(0)});
  for (auto _ : state) {
    SliceWriter out;
    for (int i = 0; i < tensors; ++i) write_push(out, 1, 7, key, value, std::nullopt);
    auto frames = decode_link(out.finish());
    if (!frames.ok() || frames->size() != tensors) return state.SkipWithError("frames are missing");
  }
  state.SetItemsProcessed(state.iterations() * tensors);
}

BENCHMARK(decode_step)->ArgName("floats")->Arg(1)->Arg(10'000)->Arg(1 << 22);
BENCHMARK(encode_answer)->ArgName("floats")->Arg(1)->Arg(10'000)->Arg(1 << 22);
BENCHMARK(link_message)->ArgName("floats")->Arg(1)->Arg(10'000);

}  // namespace
}  // namespace troupe::bench
