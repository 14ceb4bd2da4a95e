// One run of a plan: values flow along edges, nodes run when their inputs are there.
#pragma once

#include <troupe/wire/step_stats.pb.h>
#include <troupe/devices/cuts.hpp>
#include <troupe/devices/frame.hpp>
#include <troupe/devices/plan.hpp>
#include <troupe/devices/ready_queue.hpp>
#include <troupe/devices/staleness.hpp>
#include <troupe/ops/step.hpp>
#include <troupe/ops/step_host.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace troupe {

/// How an execution reaches other threads and the other runs of its device. All may be empty: then it is alone and runs where run() was called.
struct Hands {
  /// Runs a job on the compute pool (or, for blocking ones, the I/O pool).
  std::function<void(std::function<void()>, Place)> offload;
  /// Runs a job on the device's actor; called from any thread.
  std::function<void(std::function<void()>)> back;
  /// Kernels expected to take longer than this many nanoseconds are worth a hand-off while others could run beside them, and while none could:
  /// then it only lets the device's thread answer others meanwhile, or splits the kernel.
  float worth_ns = 100'000, worth_alone_ns = 250'000;
  std::shared_ptr<Cuts> cuts;
};

class Execution;

/// Knows how to make and run the functions that a run's kernels name.
class Functions {
 public:
  virtual ~Functions() = default;
  virtual void call(Execution& from, const wire::NameAttrList& function, std::vector<Tensor> arguments, FunctionDone done) = 0;
  virtual StatusOr<std::shared_ptr<const KeptFunction>> keep(Execution& from, const wire::NameAttrList& function) = 0;
};

/// Belongs to its device's actor, which alone calls it. Keeps itself alive until it is done.
class Execution final : public Step, public StepHost, public std::enable_shared_from_this<Execution> {
 public:
  using Finished = std::function<void(Status)>;

  Execution(std::shared_ptr<const Plan> plan, std::shared_ptr<const Hands> hands);
  /// Alone.
  explicit Execution(std::shared_ptr<const Plan> plan) : Execution(std::move(plan), std::make_shared<const Hands>()) {}
  ~Execution() override;

  void set_arguments(std::vector<Tensor> arguments) { arguments_ = std::move(arguments); }
  std::vector<Tensor>& results() { return results_; }
  /// Collects start and end of every node.
  void record(wire::DeviceStepStats* stats) { stats_ = stats; }
  void set_functions(std::shared_ptr<Functions> functions) { functions_ = std::move(functions); }

  /// Makes this run part of another one's step, whose function it is.
  void join(Execution& caller) {
    unit_ = caller.unit_;
    sight_ = caller.sight_;
    flushes_ = caller.flushes_;
  }
  /// Tells the metrics what it reads, updates and waits for.
  void watch(std::shared_ptr<StepSight> sight) { sight_ = std::move(sight); }

  /// References that are fetched are read when they are reached, not at the end of the run: later feeds may depend on them.
  void fetch_at_once() { fetch_at_once_ = true; }

  /// What its kernels send and want goes on its way whenever there is nothing more to do for now. For runs whose rendezvous lives as long as
  /// they have not finished; that of a function which outlives its step does not.
  void flush_when_idle() { flushes_ = true; }

  /// Starts; `finished` is called once, possibly before run returns.
  void run(Finished finished);
  /// Ends the run with this reason as soon as what is under way has answered.
  void stop(Status reason);
  /// Names of nodes that wait, for those who ask what a step waits for.
  std::vector<std::string> waiting() const;

  void call_function(const wire::NameAttrList& function, std::vector<Tensor> arguments, FunctionDone done) override {
    functions_->call(*this, function, std::move(arguments), std::move(done));
  }
  StatusOr<std::shared_ptr<const KeptFunction>> keep_function(const wire::NameAttrList& function) override {
    if (!functions_) return unimplemented("Function {} cannot be kept here", function.name());
    return functions_->keep(*this, function);
  }
  void run_blocking(std::function<void()> work, std::function<void()> after) override;
  const Plan& plan() const { return *plan_; }

 private:
  struct Ready {
    Iteration* at;  // lives at least as long as one of its nodes is ready or under way
    int node;
    bool dead;
  };
  struct Waiting;

  void loop();
  void process(const Ready& ready);
  void pass_dead(const Ready& ready, const PlanNode& p, std::span<Value> inputs);
  bool held_back(const Ready& ready, const PlanNode& p, std::span<Value> inputs);
  void resume_updates();
  void take_cut();
  void tell(const PlanNode& p, std::span<Value> inputs);
  static const char* waited_for(const PlanNode& p);
  Status fetch_references(const PlanNode& p, std::span<Value> inputs);
  void run_kernel_node(const Ready& ready, const PlanNode& p, std::span<Value> inputs);
  void run_here(const Ready& ready, const PlanNode& p, std::span<Value> inputs);
  void run_elsewhere(const Ready& ready, const PlanNode& p, std::span<Value> inputs, std::int64_t elements);
  void start_waiting(const Ready& ready, const PlanNode& p, std::span<Value> inputs);
  void complete(Waiting* waiting, Status status);
  Status steer(const PlanNode& p, std::span<Value> inputs, std::span<Value> outputs);
  void finish_node(const Ready& ready, const PlanNode& p, Status status, std::span<Value> inputs, std::span<Value> outputs);
  void fail(const PlanNode& p, Status status);
  void end_with(Status status);

  void propagate(const Ready& ready, const PlanNode& p, std::span<Value> outputs, bool dead);
  static void note_dead_exit(Iteration& at, int node);
  void deliver(const PlanNode& from, Iteration& to, std::span<Value> outputs, bool dead);
  void deliver_to_merge(const PlanNode& from, const PlanEdge& edge, Iteration& to, Value* value, bool dead);
  void enter(const Ready& ready, const PlanNode& p, std::span<Value> outputs, bool dead);
  void next_iteration(const Ready& ready, const PlanNode& p, std::span<Value> outputs);
  Frame& start_frame(Iteration& from, int index);
  Iteration& start_iteration(Frame& frame);
  void grow(Frame& frame);
  void node_done(Iteration& iteration);
  void settle(Frame& frame);
  void end_frame(Frame& frame);
  void start_next(Frame& frame);
  Waiting* hold(const Ready& ready, const PlanNode& p, std::span<Value> inputs);
  void note(const NodeFacts& node, const std::string& operands, std::int64_t started, std::span<const Value> outputs);

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<const Hands> hands_;
  Finished finished_;
  Status status_;
  std::shared_ptr<Functions> functions_;
  std::vector<Tensor> arguments_, results_;
  wire::DeviceStepStats* stats_ = nullptr;

  ReadyQueue<Ready> ready_;
  Frame root_;
  std::vector<std::unique_ptr<Frame>> frames_, ended_;  // ended ones serve again
  std::vector<std::unique_ptr<Waiting>> waiting_;
  std::vector<Value> outputs_;  // of the node that runs here now
  int under_way_ = 0;           // kernels that have not answered
  int elsewhere_ = 0;           // those of them that run on other threads
  bool looping_ = false;
  bool fetch_at_once_ = false;
  bool flushes_ = false;
  std::vector<Ready> last_;  // fetches of references: they show what the run has done to them

  std::shared_ptr<Unit> unit_;
  std::shared_ptr<StepSight> sight_;
  std::vector<Ready> held_updates_, held_reads_;
  bool cutting_ = false;
};

}  // namespace troupe
