// The worker's logic: sessions, graphs and their runs.
#pragma once

#include <troupe/actors/recent_ids.hpp>
#include <troupe/actors/worker.hpp>
#include <troupe/devices/plan.hpp>

#include <map>
#include <unordered_map>

namespace troupe {

/// A registered graph: one plan per device that has a part in it.
struct RegisteredGraph {
  struct Part {
    std::size_t device;
    std::string name;  // of the device, as the session names it
    std::shared_ptr<const Plan> plan;
  };
  std::vector<Part> parts;
  wire::GraphDef graph_def;                                  // for those who ask for partition graphs
  std::vector<std::pair<std::string, std::string>> watched;  // by device, serialised, for a debugger
};

struct WorkerSession {
  std::shared_ptr<const SessionFacts> facts;
  std::string master_task;
  std::uint64_t master_incarnation = 0;
  std::uint64_t next_graph = 0;
  std::map<std::string, std::shared_ptr<RegisteredGraph>> graphs;
  KernelCache kernels;
};

struct WorkerState {
  Worker::pointer self = nullptr;
  WorkerParts parts;
  std::unordered_map<std::string, std::shared_ptr<WorkerSession>> sessions;
  WorkerSession legacy;  // for those who never made a session
  RecentIds recent{100'000};
  std::map<std::string, std::int64_t> step_sequences;
  struct PartialRun {
    std::shared_ptr<RegisteredGraph> graph;
    std::vector<std::pair<std::size_t, std::uint64_t>> calls;  // to the devices
    bool over = false;
    Status status;
    std::vector<caf::typed_response_promise<Parcel<RunGraphResponse>>> waiting_for_end;
    Parcel<RunGraphResponse> last;
  };
  std::map<std::int64_t, std::shared_ptr<PartialRun>> partial_runs;
  std::unordered_map<std::uint64_t, std::shared_ptr<const PartialRun>> pieces;  // calls that are a part of a partial run

  Answer<wire::GetStatusResponse> get_status(const wire::GetStatusRequest&);
  Answer<wire::CreateWorkerSessionResponse> create_session(const wire::CreateWorkerSessionRequest& request);
  Answer<wire::DeleteWorkerSessionResponse> delete_session(const wire::DeleteWorkerSessionRequest& request);
  Answer<wire::RegisterGraphResponse> register_graph(const wire::RegisterGraphRequest& request);
  Answer<wire::DeregisterGraphResponse> deregister_graph(const wire::DeregisterGraphRequest& request);
  Answer<wire::RunGraphResponse> run_graph(Parcel<RunGraphRequest>& request);
  Answer<wire::CleanupGraphResponse> cleanup_graph(const wire::CleanupGraphRequest& request);
  Answer<wire::CleanupAllResponse> cleanup_all(const wire::CleanupAllRequest& request);
  Answer<wire::RecvTensorResponse> receive(Parcel<RecvTensorRequest>& request);
  Answer<wire::GetStepSequenceResponse> step_sequence(const wire::GetStepSequenceRequest& request);
  void cancel(const CancelCall& message);

 private:
  StatusOr<WorkerSession*> find_session(const std::string& handle, bool created);
  StatusOr<std::shared_ptr<RegisteredGraph>> compile(WorkerSession& session, const wire::GraphDef& graph_def, const wire::DebugOptions& debug);
  Answer<wire::RunGraphResponse> start(Parcel<RunGraphRequest>& request, WorkerSession& session, std::shared_ptr<RegisteredGraph> graph);
  Answer<wire::RunGraphResponse> run_partial(Parcel<RunGraphRequest>& request, WorkerSession& session, std::shared_ptr<RegisteredGraph> graph);
  static Parcel<RunPlan> run_of(const RegisteredGraph::Part& part, const WorkerSession& session, std::int64_t step);
  struct Gathering;
  void gathered(Gathering& run);
  void stop_partial(const PartialRun& run, const Status& reason);
  void forget_session(const SessionFacts& session);
  Status check_key(const std::string& key) const;
};

}  // namespace troupe
