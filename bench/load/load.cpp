// Many client sessions at once from one thread: TensorFlow's Python client would be busier than the server that it measures.
#include <troupe/wire/master.pb.h>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <troupe/messaging/proto_bytes.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace troupe {
namespace {

using Clock = std::chrono::steady_clock;

template <class M>
M read(const grpc::ByteBuffer& bytes) {
  auto message = parsed<M>(bytes);
  if (!message.ok()) throw std::runtime_error("a reply cannot be read");
  return *std::move(message);
}

wire::NodeDef& add_node(wire::GraphDef& graph, const char* name, const char* op) {
  auto& node = *graph.add_node();
  node.set_name(name);
  node.set_op(op);
  return node;
}

void set_scalar(wire::TensorProto& tensor, float value) {
  tensor.set_dtype(wire::DT_FLOAT);
  tensor.mutable_tensor_shape();
  tensor.add_float_val(value);
}

/// y = x + 1
wire::GraphDef sum_graph() {
  wire::GraphDef graph;
  graph.mutable_versions()->set_producer(1645);
  auto& x = *add_node(graph, "x", "Placeholder").mutable_attr();
  x["dtype"].set_type(wire::DT_FLOAT);
  x["shape"].mutable_shape();
  auto& one = *add_node(graph, "one", "Const").mutable_attr();
  one["dtype"].set_type(wire::DT_FLOAT);
  set_scalar(*one["value"].mutable_tensor(), 1);
  auto& y = add_node(graph, "y", "AddV2");
  y.add_input("x");
  y.add_input("one");
  (*y.mutable_attr())["T"].set_type(wire::DT_FLOAT);
  return graph;
}

float scalar_in(const wire::TensorProto& tensor) {
  if (tensor.float_val_size() > 0) return tensor.float_val(0);
  float value = 0;
  if (tensor.tensor_content().size() == sizeof value) tensor.tensor_content().copy(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}

class Clients {
 public:
  Clients(const std::string& address, int sessions) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = std::make_unique<grpc::GenericStub>(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    wire::CreateSessionRequest request;
    *request.mutable_graph_def() = sum_graph();
    for (int i = 0; i < sessions; ++i) handles_.push_back(ask<wire::CreateSessionResponse>("CreateSession", request).session_handle());
  }

  ~Clients() {
    while (under_way_ > 0) next();
    for (const auto& handle : handles_) {
      wire::CloseSessionRequest request;
      request.set_session_handle(handle);
      ask<wire::CloseSessionResponse>("CloseSession", request);
    }
  }

  /// Seconds of every step, while all sessions have one under way. TensorFlow's server takes a run for a repeated one now and then; that is asked
  /// for again, as part of its step.
  std::vector<double> run(int steps) {
    std::vector<double> took;
    int started = 0;
    steps_.clear();
    for (const auto& handle : handles_) {
      steps_.push_back(std::make_unique<Step>(handle, static_cast<float>(steps_.size())));
      if (started++ < steps) start(*steps_.back());
    }
    while (static_cast<int>(took.size()) < steps) {
      auto& step = *static_cast<Step*>(next());
      if (step.was_refused()) {
        ++refused_;
        begin(step, "RunStep", step.request);
        continue;
      }
      took.push_back(std::chrono::duration<double>(Clock::now() - step.begun).count());
      step.check();
      if (started++ < steps) start(step);
    }
    return took;
  }

  /// How many runs were refused as repeated.
  int refused() const { return refused_; }

 private:
  struct Call {
    std::unique_ptr<grpc::ClientContext> context;
    std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
    grpc::ByteBuffer reply;
    grpc::Status status;
  };

  struct Step : Call {
    Step(const std::string& handle, float fed) : x(fed) {
      request.set_session_handle(handle);
      auto& feed = *request.add_feed();
      feed.set_name("x:0");
      set_scalar(*feed.mutable_tensor(), x);
      request.add_fetch("y:0");
    }
    bool was_refused() const {
      return status.error_code() == grpc::StatusCode::ABORTED && status.error_message().find("was received twice") != std::string::npos;
    }
    void check() const {
      if (!status.ok()) throw std::runtime_error(status.error_message());
      const auto answer = read<wire::RunStepResponse>(reply);
      if (answer.tensor_size() != 1 || scalar_in(answer.tensor(0).tensor()) != x + 1) throw std::runtime_error("a wrong sum");
    }
    wire::RunStepRequest request;
    float x;
    Clock::time_point begun;
  };

  void begin(Call& call, const std::string& method, const google::protobuf::Message& request) {
    call.context = std::make_unique<grpc::ClientContext>();
    call.context->set_wait_for_ready(true);
    call.reader = stub_->PrepareUnaryCall(call.context.get(), "/tensorflow.MasterService/" + method, serialize(request), &queue_);
    call.reader->StartCall();
    call.reader->Finish(&call.reply, &call.status, &call);
    ++under_way_;
  }

  void start(Step& step) {
    step.begun = Clock::now();
    begin(step, "RunStep", step.request);
  }

  void* next() {
    void* tag = nullptr;
    bool ok = false;
    if (!queue_.Next(&tag, &ok)) throw std::runtime_error("the queue has ended");
    --under_way_;
    return tag;
  }

  template <class Response>
  Response ask(const std::string& method, const google::protobuf::Message& request) {
    Call call;
    begin(call, method, request);
    next();
    if (!call.status.ok()) throw std::runtime_error(method + ": " + call.status.error_message());
    return read<Response>(call.reply);
  }

  grpc::CompletionQueue queue_;
  int under_way_ = 0, refused_ = 0;
  std::vector<std::unique_ptr<Step>> steps_;
  std::unique_ptr<grpc::GenericStub> stub_;
  std::vector<std::string> handles_;
};

}  // namespace
}  // namespace troupe

/// For every line on the standard input, a number of steps, a line: steps per second, the median and the 99th percentile of a step's seconds, and
/// how many runs were refused so far.
int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s HOST:PORT SESSIONS\n", argv[0]);
    return 2;
  }
  try {
    troupe::Clients clients(argv[1], std::atoi(argv[2]));
    for (int steps = 0; std::scanf("%d", &steps) == 1 && steps > 0;) {
      const auto begin = troupe::Clock::now();
      auto took = clients.run(steps);
      const double seconds = std::chrono::duration<double>(troupe::Clock::now() - begin).count();
      std::sort(took.begin(), took.end());
      std::printf("%.6g %.6g %.6g %d\n", steps / seconds, took[took.size() / 2], took[took.size() * 99 / 100], clients.refused());
      std::fflush(stdout);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[1], e.what());
    return 1;
  }
}
