// What travels between actors: small structs by value, bulk in counted parcels.
#pragma once

#include <troupe/wire/run_options.pb.h>
#include <troupe/wire/step_stats.pb.h>
#include <troupe/wire/worker.pb.h>
#include <caf/allowed_unsafe_message_type.hpp>
#include <troupe/messaging/seldom.hpp>
#include <troupe/messaging/tensor.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// A counted handle to one message's content, so that passing it on never copies it. The last receiver may move from it.
/// A request's `call` is the number under which it can be cancelled (CancelCall); 0 where nobody will.
template <class T>
struct Parcel {
  std::shared_ptr<T> content;
  std::uint64_t call = 0;
  T& operator*() const { return *content; }
  T* operator->() const { return content.get(); }
};
template <class T, class... A>
Parcel<T> pack(A&&... args) {
  return {std::make_shared<T>(std::forward<A>(args)...), 0};
}

/// The one who asked under this number no longer wants the answer.
struct CancelCall {
  std::uint64_t call = 0;
  Status reason;
};

/// A number that no other call of this process has.
std::uint64_t next_call_number();
/// A number by which a receiver knows a repeated request, whoever sends it: random, never 0.
std::int64_t random_request_id();

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// The hot messages have tensors instead of TensorProtos; field for field they are the wire messages of the same name.

struct RunStepRequest {
  std::string session_handle;
  std::vector<NamedTensor> feeds;
  std::vector<std::string> fetches, targets;
  Seldom<wire::RunOptions> options;
  std::string partial_run_handle;
  bool store_errors_in_response_body = false;
  std::int64_t request_id = 0;
};
struct RunStepResponse {
  std::vector<NamedTensor> tensors;
  Seldom<wire::RunMetadata> metadata;
  Status status;  // travels in the body where the request asked for that
};

struct RunGraphRequest {
  std::string session_handle;
  bool create_worker_session_called = false;
  std::string graph_handle;
  std::int64_t step_id = 0;
  Seldom<wire::ExecutorOpts> options;
  std::vector<NamedTensor> sends;  // by rendezvous key
  std::vector<std::string> receive_keys;
  bool is_partial = false, is_last_partial_run = false;
  bool store_errors_in_response_body = false;
  std::int64_t request_id = 0;
};
struct RunGraphResponse {
  std::vector<NamedTensor> received;  // by rendezvous key
  Seldom<wire::StepStats> step_stats;
  Seldom<wire::CostGraphDef> cost_graph;
  std::vector<wire::GraphDef> partition_graphs;
  Status status;
  bool left_nothing = false;  // within a process: there is nothing of the step to clean up
};

struct RecvTensorRequest {
  std::int64_t step_id = 0;
  std::string rendezvous_key;
  bool dma_ok = false;
  std::int64_t request_id = 0;
};
struct RecvTensorResponse {
  Tensor tensor;
  bool is_dead = false;
  std::int64_t send_start_micros = 0;
};

}  // namespace troupe

namespace caf {
template <class T>
struct allowed_unsafe_message_type<troupe::Parcel<T>> : std::true_type {};
template <>
struct allowed_unsafe_message_type<troupe::CancelCall> : std::true_type {};
}  // namespace caf
