// Who is told to clean up after a step: all tasks but a local one that says that nothing is left.
#include <gtest/gtest.h>
#include <caf/all.hpp>
#include <troupe/actors/step.hpp>
#include <troupe/messaging/loop_scheduler.hpp>
#include <troupe/messaging/reply_port.hpp>

#include <optional>

namespace troupe {
namespace {

struct Config : caf::actor_system_config {
  Config() { load<LoopScheduler>(); }
};

/// A task that runs its part at once.
struct Task {
  bool leaves_nothing = false;
  int ran = 0, cleaned = 0;
};

class StepTest : public testing::Test, public SessionStep::Host {
 protected:
  void run(const CompiledStep::Part& part, Parcel<RunGraphRequest> request, std::shared_ptr<SessionStep> step) override {
    port.ask<Parcel<RunGraphResponse>>(
        part.worker, [&part, step](StatusOr<Parcel<RunGraphResponse>> response) { step->arrived(part, std::move(response)); }, std::move(request));
  }
  void step_over(std::int64_t step_id) override { EXPECT_EQ(step_id, 7); }

  Worker worker(Task& task) {
    return caf::actor_cast<Worker>(system.spawn([&task]() -> caf::behavior {
      return {[&task](Asked<wire::RunGraphRequest>&) {
                ++task.ran;
                auto reply = pack<RunGraphResponse>();
                reply->left_nothing = task.leaves_nothing;
                return reply;
              },
              [&task](Asked<wire::CleanupGraphRequest>&) {
                ++task.cleaned;
                return pack<wire::CleanupGraphResponse>();
              },
              [](Asked<wire::DeregisterGraphRequest>&) { return pack<wire::DeregisterGraphResponse>(); }};
    }));
  }
  /// Runs a step with a part on each task; the first is the local one.
  void run_on(std::vector<Task*> tasks) {
    auto compiled = std::make_shared<CompiledStep>();
    for (Task* task : tasks)
      compiled->parts.push_back({"/job:worker/task:" + std::to_string(compiled->parts.size()), worker(*task), "1", task == tasks.front()});
    StepOrder order;
    order.compiled = compiled;
    order.step_id = 7;
    std::optional<Status> ended;
    std::make_shared<SessionStep>(*this)->take(order, [&ended](const StatusOr<Parcel<RunStepResponse>>& reply) { ended = reply.status(); });
    ASSERT_TRUE(ended && ended->ok());
  }

  Config config;
  caf::actor_system system{config};
  ReplyPort port{system};
};

TEST_F(StepTest, ALocalTaskThatLeftNothingIsLeftAlone) {
  Task local{true}, far{false};
  run_on({&local, &far});
  EXPECT_EQ(local.ran, 1);
  EXPECT_EQ(local.cleaned, 0);
  EXPECT_EQ(far.cleaned, 1);
}

TEST_F(StepTest, ANeighbourThatLeftNothingDoesNotSpeakForTheLocalTask) {
  Task local{false}, neighbour{true};
  run_on({&local, &neighbour});
  EXPECT_EQ(neighbour.ran, 1);
  EXPECT_EQ(local.cleaned, 1);
  EXPECT_EQ(neighbour.cleaned, 1);
}

}  // namespace
}  // namespace troupe
