// A step in progress: sent to all partitions at once, gathered, cleaned up.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/services.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// A step that was cut, partitioned and registered; reused by all steps of the same shape. When the last of them has ended and the session
/// has dropped it, the workers may forget their graphs.
struct CompiledStep {
  CompiledStep() = default;
  CompiledStep(const CompiledStep&) = delete;
  CompiledStep& operator=(const CompiledStep&) = delete;
  ~CompiledStep();

  struct Part {
    std::string task;
    Worker worker;
    std::string graph_handle;
    bool local = false;
  };
  std::string session_handle;
  std::vector<Part> parts;
  std::map<std::string, std::string> feed_keys;   // tensor name to rendezvous key
  std::map<std::string, std::string> fetch_keys;  // likewise
};

struct StepOrder {
  std::shared_ptr<const CompiledStep> compiled;
  std::int64_t step_id = 0;
  std::vector<NamedTensor> feeds;
  std::vector<std::string> fetches;
  Seldom<wire::RunOptions> options;
  bool partial = false;
  bool last = true;  // of a partial run's requests
};

/// One step, or partial run, from its first order to its end. Part of its session's state; all that it tells happens on the session's actor.
class SessionStep : public std::enable_shared_from_this<SessionStep> {
 public:
  /// The session, as its steps see it.
  class Host {
   public:
    /// Runs a part, and tells the step when it has arrived.
    virtual void run(const CompiledStep::Part& part, Parcel<RunGraphRequest> request, std::shared_ptr<SessionStep> step) = 0;
    virtual void step_over(std::int64_t step_id) = 0;

   protected:
    ~Host() = default;
  };
  using Answered = std::function<void(StatusOr<Parcel<RunStepResponse>>)>;

  explicit SessionStep(Host& host) : host_(host) {}

  /// The step's one order, or the next one of a partial run.
  void take(StepOrder& order, Answered answered);
  void cancel(const Status& reason);
  void arrived(const CompiledStep::Part& part, StatusOr<Parcel<RunGraphResponse>> response);

 private:
  Parcel<RunGraphRequest> request_for(const CompiledStep::Part& part, const StepOrder& order, bool partial) const;
  void send(const CompiledStep::Part& part, Parcel<RunGraphRequest> request);
  void gather(RunGraphResponse& response);
  void fail(Status status);
  void cancel_calls(const Status& reason) const;
  void answer();
  void finish();
  void clean_up() const;

  Host& host_;
  std::shared_ptr<const CompiledStep> compiled_;
  std::int64_t step_id_ = 0;
  bool over_ = false;
  bool local_is_clean_ = false;
  std::size_t running_ = 0, local_calls_ = 0;
  std::vector<Status> failures_;
  Status cancelled_because_;
  std::vector<std::pair<Worker, std::uint64_t>> calls_;
  Seldom<wire::RunMetadata> metadata_;

  // What the client waits for now.
  Answered answered_;
  bool last_ = false;
  Parcel<RunStepResponse> reply_;
};

}  // namespace troupe
