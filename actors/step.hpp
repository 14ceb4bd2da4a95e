// A step in progress: sent to all partitions at once, gathered, cleaned up.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/services.hpp>

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
  wire::RunOptions options;
  bool partial = false;
  bool last = true;  // of a partial run's requests
};

/// Takes an order, or the several orders of a partial run; answers each. Ends after the last and tells its session.
using StepActor = caf::typed_actor<caf::replies_to<Parcel<StepOrder>>::with<Parcel<RunStepResponse>>, caf::reacts_to<CancelCall>>;

/// Says to a session that a step of it has ended.
struct StepOver {
  std::int64_t step_id = 0;
};
using StepWatcher = caf::typed_actor<caf::reacts_to<StepOver>>;

StepActor spawn_step(caf::actor_system& system, StepWatcher session);

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::StepOver)
