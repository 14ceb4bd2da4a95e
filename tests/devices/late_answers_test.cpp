// Kernels that answer after their run has ended.
#include "plans.hpp"

#include <vector>

namespace troupe {
namespace {

struct CountingRendezvous final : Rendezvous {
  Status send(const std::string&, Value) override { return absl::OkStatus(); }
  void receive(const std::string&, Receiver) override {}
  void flush() override { ++flushed; }
  int flushed = 0;
};

using LateAnswers = Plans;

TEST_F(LateAnswers, FindTheWaysOfTheStepGone) {
  argument("x");
  argument("y");
  add("slow", "Neg", {"x"});
  add("bad", "AddV2", {"x", "y"});
  result("slow");
  result("bad");
  compile();
  std::vector<std::function<void()>> jobs;
  Hands hands;
  hands.worth_ns = hands.worth_alone_ns = 0;
  hands.offload = [&jobs](std::function<void()> job, Place) { jobs.push_back(std::move(job)); };
  hands.back = [](std::function<void()> job) { job(); };
  CountingRendezvous ways;
  auto execution = std::make_shared<Execution>(plan_, std::make_shared<const Hands>(hands));
  execution->resources = &store_;
  execution->rendezvous = &ways;
  execution->flush_when_idle();
  execution->set_arguments({Tensor::vector<float>({1, 2}), Tensor::vector<float>({1, 2, 3})});
  std::optional<Status> ended;
  execution->run([&ended](Status status) { ended = std::move(status); });
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(ways.flushed, 1);
  jobs[1]();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code(), Code::kInvalidArgument);
  const int flushed = ways.flushed;
  jobs[0]();
  EXPECT_EQ(ways.flushed, flushed);
}

TEST_F(LateAnswers, OfFunctionsThatOutliveTheirStepDoNotUseItsWays) {
  argument("x");
  add("y", "Neg", {"x"});
  result("y");
  compile();
  CountingRendezvous ways;
  auto execution = std::make_shared<Execution>(plan_);
  execution->resources = &store_;
  execution->rendezvous = &ways;
  execution->set_arguments({Tensor::scalar(1.0f)});
  execution->run([](const Status&) {});
  EXPECT_EQ(ways.flushed, 0);
}

}  // namespace
}  // namespace troupe
