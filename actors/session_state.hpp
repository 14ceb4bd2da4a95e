// The session's logic: opening, growing, compiling steps, running and closing.
#pragma once

#include <troupe/actors/plan/step_graph.hpp>
#include <troupe/actors/session.hpp>
#include <troupe/config/device_name.hpp>
#include <troupe/ops/graph.hpp>

#include <boost/container/flat_map.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace troupe {

using RunPromise = caf::typed_response_promise<Parcel<RunStepResponse>>;

struct SessionState : SessionStep::Host {
  Session::pointer self = nullptr;
  std::shared_ptr<const Surroundings> around;
  std::string handle;

  // -- opening
  wire::ConfigProto config;
  wire::GraphDef first_graph;
  std::string task;                                 // own, as the session names it
  std::vector<wire::DeviceAttributes> own_devices;  // likewise
  std::shared_ptr<const Peers> peers;
  std::map<std::string, Worker> tasks;  // all that take part, the own one included
  std::map<std::string, std::vector<wire::DeviceAttributes>> devices_of;
  std::set<std::string> unanswered;
  std::map<std::string, Status> silence;  // why a task has not answered
  std::chrono::steady_clock::time_point opened_at, last_complaint;
  caf::typed_response_promise<Parcel<wire::CreateSessionResponse>> opening;
  std::uint64_t opening_call = 0;
  bool open = false, ready = false;

  // -- the graph
  std::shared_ptr<FunctionLibrary> library = std::make_shared<FunctionLibrary>();
  std::optional<Graph> graph;
  std::int64_t version = 0;
  std::vector<wire::DeviceAttributes> devices;
  std::unordered_map<std::string, std::uint64_t> incarnations;
  std::uint64_t name_counter = 1;

  // -- steps
  struct Compilation {
    std::shared_ptr<CompiledStep> compiled;
    bool done = false;
    std::size_t left = 0;
    Status status;
    struct Waiting {
      std::uint64_t call;
      std::function<void(StatusOr<std::shared_ptr<const CompiledStep>>)> handler;
    };
    std::vector<Waiting> waiting;
  };
  using CompiledHandler = std::function<void(StatusOr<std::shared_ptr<const CompiledStep>>)>;
  std::unordered_map<std::string, std::shared_ptr<Compilation>> compilations;
  struct Running {
    std::shared_ptr<SessionStep> step;
    std::uint64_t call = 0;
  };
  boost::container::flat_map<std::int64_t, Running> running;
  struct Partial {
    std::shared_ptr<const CompiledStep> compiled;
    std::int64_t step_id = 0;
    std::set<std::string> feeds_left, fetches_left;
    bool started = false;
  };
  std::map<std::string, Partial> partials;
  std::uint64_t next_partial = 0;
  std::map<std::string, std::int64_t> debugged;  // runs of steps that a debugger was told of
  std::map<std::int64_t, wire::CallableOptions> callables;
  std::int64_t next_callable = 0;

  // -- closing
  bool closing = false, closed = false;
  std::vector<caf::typed_response_promise<Parcel<wire::CloseSessionResponse>>> close_promises;

  Answer<wire::CreateSessionResponse> create(Asked<wire::CreateSessionRequest>& request);
  Answer<wire::ExtendSessionResponse> extend(Asked<wire::ExtendSessionRequest>& request);
  Answer<wire::RunStepResponse> run(Parcel<RunStepRequest>& request);
  Answer<wire::PartialRunSetupResponse> set_up_partial(Asked<wire::PartialRunSetupRequest>& request);
  Answer<wire::MakeCallableResponse> make_callable(Asked<wire::MakeCallableRequest>& request);
  Answer<wire::RunCallableResponse> run_callable(Asked<wire::RunCallableRequest>& request);
  Answer<wire::ReleaseCallableResponse> release_callable(Asked<wire::ReleaseCallableRequest>& request);
  Answer<wire::ListDevicesResponse> list_devices() const;
  Answer<wire::CloseSessionResponse> close();
  void evict(const Evict& message);
  void cancel(const CancelCall& message);
  void run(const CompiledStep::Part& part, Parcel<RunGraphRequest> request, std::shared_ptr<SessionStep> step) override;
  void step_over(std::int64_t step_id) override;
  void ask_status(const std::string& task);

 private:
  Status join(const std::string& target);
  void heard_from(const std::string& task, const wire::GetStatusResponse& status);
  void not_heard_from(const std::string& task, const Status& why);
  void all_answered();
  void open_worker_sessions();
  void opened();
  void fail_opening(const Status& status);
  Status place_all(Graph& placed);
  const wire::DeviceAttributes& client_device() const { return own_devices.front(); }
  void compile(const StepShape& shape, const wire::DebugOptions& debug, std::uint64_t call, CompiledHandler handler);
  void register_parts(std::shared_ptr<Compilation> compilation, std::map<std::string, wire::GraphDef> parts, const wire::DebugOptions& debug);
  void registered(const std::shared_ptr<Compilation>& compilation);
  /// Goes on when a debugger, if there is one, knows of the run; its server may take long.
  void tell_debugger(const StepShape& shape, const wire::DebugOptions& debug, std::function<void(Status)> then);
  void start(std::shared_ptr<const CompiledStep> compiled, StepOrder& order, std::uint64_t call, SessionStep::Answered answered);
  void cancel_steps(const Status& reason);
  Answer<wire::RunStepResponse> run_partial(Parcel<RunStepRequest>& request);
  void give_up_compiling(const Status& reason);
  void finish_closing();
  Status ready_to_run() const;
};

std::int64_t random_step_id();

}  // namespace troupe
