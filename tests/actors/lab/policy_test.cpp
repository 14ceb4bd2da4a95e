// The update policy: what each mode does with gradients, and that none is lost or applied twice, whatever happens.
#include <troupe/actors/lab/policy.hpp>
#include <troupe/actors/lab/random.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace troupe::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Numbers = std::vector<std::int64_t>;

Mode mode(const char* text) { return parse_mode(text).value(); }

/// Workers that compute as soon as they may.
class Policy : public ::testing::Test {
 protected:
  void begin(const char* text, int workers) {
    policy_ = std::make_unique<UpdatePolicy>(mode(text), workers);
    started_.assign(static_cast<std::size_t>(workers), -1);
    for (int w = 0; w < workers; ++w) take(policy_->join(w, 0));
  }
  /// The worker's gradient, from the parameters as they were at its start.
  std::int64_t compute(int worker) {
    EXPECT_TRUE(policy_->computed(next_, worker).ok());
    pushes_[next_] = {next_, worker, started_[static_cast<std::size_t>(worker)]};
    return next_++;
  }
  Decision arrive(std::int64_t number) {
    auto decision = policy_->arrive(pushes_.at(number), ++now_);
    EXPECT_TRUE(decision.ok()) << decision.status();
    return take(*std::move(decision));
  }
  Decision take(Decision d) {
    for (const Start& s : d.starts) started_[static_cast<std::size_t>(s.worker)] = policy_->version();
    for (const Update& u : d.updates)
      for (auto number : u.gradients) EXPECT_TRUE(applied_.insert(number).second) << number << " was applied twice";
    EXPECT_TRUE(policy_->check().ok()) << policy_->check();
    return d;
  }
  static std::vector<int> workers_of(const Decision& d) {
    std::vector<int> all;
    for (const Start& s : d.starts) all.push_back(s.worker);
    return all;
  }

  std::unique_ptr<UpdatePolicy> policy_;
  std::vector<std::int64_t> started_;
  std::map<std::int64_t, Push> pushes_;
  std::set<std::int64_t> applied_;
  std::int64_t next_ = 0;
  double now_ = 0;
};

TEST_F(Policy, AsyncAppliesOnArrival) {
  begin("async", 2);
  const auto a = compute(0), b = compute(1);
  const Decision first = arrive(b), second = arrive(a);
  EXPECT_EQ(first.updates.at(0).gradients, Numbers{b});
  EXPECT_EQ(first.updates.at(0).staleness, 0);
  EXPECT_THAT(workers_of(first), ElementsAre(1));
  EXPECT_EQ(second.updates.at(0).staleness, 1);
  EXPECT_EQ(second.updates.at(0).scale, 1);
}

TEST_F(Policy, AwareOfStalenessTheRateIsDividedByIt) {
  begin("async(aware)", 3);
  const auto a = compute(0), b = compute(1), c = compute(2);
  EXPECT_EQ(arrive(a).updates.at(0).scale, 1);
  EXPECT_EQ(arrive(b).updates.at(0).scale, 1);
  EXPECT_EQ(arrive(c).updates.at(0).scale, 0.5);
}

TEST_F(Policy, SyncWaitsForAllAndBlamesTheLast) {
  begin("sync", 3);
  const auto a = compute(0), b = compute(1), c = compute(2);
  EXPECT_THAT(arrive(c).starts, IsEmpty());
  EXPECT_THAT(arrive(a).updates, IsEmpty());
  const Decision last = arrive(b);
  EXPECT_EQ(last.updates.at(0).gradients, (Numbers{a, b, c}));
  EXPECT_THAT(workers_of(last), ElementsAre(0, 1, 2));
  EXPECT_EQ(last.starts[2].waited, 2);
  EXPECT_EQ(last.starts[2].waited_for, 1);
  EXPECT_EQ(last.starts[1].waited_for, -1);
}

TEST_F(Policy, BackupsAreDroppedAndStartAnew) {
  begin("sync+1", 3);
  const auto a = compute(0), b = compute(1), c = compute(2);
  arrive(a);
  EXPECT_EQ(arrive(b).updates.size(), 1u);
  const Decision late = arrive(c);
  EXPECT_EQ(late.dropped, Numbers{c});
  EXPECT_THAT(workers_of(late), ElementsAre(2));
  EXPECT_EQ(policy_->counts().dropped, 1);
}

TEST_F(Policy, SspHoldsBackWhoIsTooFarAhead) {
  begin("ssp(1)", 2);
  compute(1);
  EXPECT_THAT(workers_of(arrive(compute(0))), ElementsAre(0));
  EXPECT_THAT(workers_of(arrive(compute(0))), IsEmpty());
  const Decision freed = arrive(0);
  EXPECT_THAT(workers_of(freed), ElementsAre(0, 1));
  EXPECT_EQ(freed.starts[0].waited_for, 1);
  EXPECT_EQ(policy_->furthest_lead(), 1);
}

TEST_F(Policy, SspDoesNotWaitForTheDead) {
  begin("ssp(0)", 2);
  EXPECT_THAT(workers_of(arrive(compute(0))), IsEmpty());
  EXPECT_THAT(workers_of(take(policy_->leave(1, ++now_))), ElementsAre(0));
}

TEST_F(Policy, SyncWaitsForTheDeadUntilTheyReturn) {
  begin("sync", 2);
  const auto lost = compute(1);
  ASSERT_TRUE(policy_->lose(lost).ok());
  take(policy_->leave(1, ++now_));
  EXPECT_THAT(arrive(compute(0)).updates, IsEmpty());
  EXPECT_THAT(policy_->missing(), ElementsAre(1));
  EXPECT_THAT(workers_of(take(policy_->join(1, ++now_))), ElementsAre(1));
  EXPECT_EQ(arrive(compute(1)).updates.size(), 1u);
  EXPECT_EQ(policy_->counts().lost, 1);
}

TEST_F(Policy, WhatWasSentBeforeACrashCountsOnce) {
  begin("async", 2);
  const auto sent = compute(0);
  take(policy_->leave(0, ++now_));
  take(policy_->join(0, ++now_));
  const auto fresh = compute(0);
  EXPECT_THAT(workers_of(arrive(sent)), IsEmpty()) << "its worker computes already";
  EXPECT_THAT(workers_of(arrive(fresh)), ElementsAre(0));
  EXPECT_FALSE(policy_->arrive(pushes_.at(sent), ++now_).ok());
}

TEST_F(Policy, HeldGradientsAreAppliedWhenTheModeNoLongerHolds) {
  begin("sync", 3);
  const auto a = compute(0), b = compute(1);
  compute(2);
  arrive(a);
  arrive(b);
  const Decision switched = take(policy_->switch_to(mode("async"), ++now_));
  EXPECT_EQ(switched.updates.size(), 2u);
  EXPECT_THAT(workers_of(switched), ElementsAre(0, 1));
  EXPECT_EQ(arrive(2).updates.size(), 1u);
  EXPECT_EQ(policy_->counts().applied, 3);
}

TEST_F(Policy, FewerBackupsMayCompleteARound) {
  begin("sync", 3);
  arrive(compute(0));
  arrive(compute(1));
  EXPECT_EQ(take(policy_->switch_to(mode("sync+1"), ++now_)).updates.size(), 1u);
}

TEST_F(Policy, SyncDropsWhatWasBegunAsynchronously) {
  begin("async", 2);
  const auto a = compute(0), b = compute(1);
  take(policy_->switch_to(mode("sync"), ++now_));
  EXPECT_EQ(arrive(a).dropped, Numbers{a});
  EXPECT_EQ(arrive(b).dropped, Numbers{b});
  arrive(compute(0));
  EXPECT_EQ(arrive(compute(1)).updates.size(), 1u);
}

TEST_F(Policy, AutoLearnsToLeaveOutTheSlowOne) {
  begin("auto", 4);
  take(policy_->switch_to(mode("sync"), 0));
  take(policy_->switch_to(mode("auto"), 0));
  // Worker 3 takes ten times as long; the others are alike.
  std::map<std::int64_t, double> due;
  auto begin_all = [&](const Decision& d) {
    for (const Start& s : d.starts) due[compute(s.worker)] = now_ + (s.worker == 3 ? 10.0 : 1.0);
  };
  for (int w = 0; w < 4; ++w) due[compute(w)] = w == 3 ? 10.0 : 1.0;
  for (int i = 0; i < 200; ++i) {
    const auto soonest = std::min_element(due.begin(), due.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto number = soonest->first;
    now_ = soonest->second;
    due.erase(soonest);
    auto decision = policy_->arrive(pushes_.at(number), now_);
    ASSERT_TRUE(decision.ok());
    begin_all(take(*std::move(decision)));
  }
  EXPECT_EQ(policy_->backups(), 1);
}

/// Under times that vary, workers wait less with a larger bound; with one that is always slow, no bound helps.
TEST_F(Policy, AutoFindsABoundThatHelps) {
  for (const bool one_is_slow : {false, true}) {
    now_ = 0;
    begin("auto(ssp)", 4);
    std::map<std::int64_t, double> due;
    Random random({7});
    auto takes = [&](int worker) { return one_is_slow ? (worker == 3 ? 5.0 : 1.0) : 0.2 + 1.6 * random.unit(); };
    auto begin_all = [&](const Decision& d) {
      for (const Start& s : d.starts) due[compute(s.worker)] = now_ + takes(s.worker);
    };
    for (int w = 0; w < 4; ++w) due[compute(w)] = takes(w);
    int largest = 0;
    for (int i = 0; i < 8000; ++i) {
      const auto soonest = std::min_element(due.begin(), due.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      const auto number = soonest->first;
      now_ = soonest->second;
      due.erase(soonest);
      auto decision = policy_->arrive(pushes_.at(number), now_);
      ASSERT_TRUE(decision.ok());
      begin_all(take(*std::move(decision)));
      largest = std::max(largest, policy_->bound());
    }
    if (one_is_slow) EXPECT_LT(largest, 8);
    else EXPECT_GT(largest, 2);
  }
}

/// Everything that can happen, at random: switches of mode, crashes, returns, arrivals in any order.
TEST_F(Policy, NothingIsLostOrAppliedTwiceWhateverHappens) {
  const std::vector<const char*> modes{"async", "async(aware)", "sync", "sync+1", "sync+3", "ssp(0)", "ssp(2)", "auto", "auto(ssp)"};
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random({seed});
    begin("async", 5);
    applied_.clear();
    std::set<std::int64_t> under_way;
    std::set<int> computing{0, 1, 2, 3, 4}, gone;
    auto follow = [&](const Decision& d) {
      for (const Start& s : d.starts) EXPECT_TRUE(computing.insert(s.worker).second) << s.worker << " was started twice";
    };
    for (int i = 0; i < 600; ++i) {
      const auto what = random.below(20);
      if (what == 0) {
        follow(take(policy_->switch_to(mode(modes[random.below(modes.size())]), ++now_)));
      } else if (what == 1 && gone.size() < 4) {
        const int worker = static_cast<int>(random.below(5));
        if (!gone.insert(worker).second) continue;
        computing.erase(worker);
        follow(take(policy_->leave(worker, ++now_)));
      } else if (what == 2 && !gone.empty()) {
        const int worker = *gone.begin();
        gone.erase(gone.begin());
        follow(take(policy_->join(worker, ++now_)));
      } else if (what < 11 && !computing.empty()) {
        auto worker = computing.begin();
        std::advance(worker, static_cast<std::ptrdiff_t>(random.below(computing.size())));
        under_way.insert(compute(*worker));
        computing.erase(worker);
      } else if (!under_way.empty()) {
        auto number = under_way.begin();
        std::advance(number, static_cast<std::ptrdiff_t>(random.below(under_way.size())));
        const auto arriving = *number;
        under_way.erase(number);
        follow(arrive(arriving));
      }
    }
    const Counts& c = policy_->counts();
    EXPECT_GT(c.applied, 50);
    EXPECT_EQ(c.applied, static_cast<std::int64_t>(applied_.size()));
    EXPECT_EQ(c.computed, c.applied + c.dropped + c.lost + policy_->in_flight());
  }
}

TEST(Modes, ReadWhatTheyWrite) {
  for (const char* text : {"async", "async(aware)", "sync", "sync+4", "ssp(0)", "ssp(12)", "auto", "auto(ssp)"}) EXPECT_EQ(name_of(mode(text)), text);
  for (const char* text : {"", "asynch", "sync+", "sync+x", "ssp", "ssp()", "ssp(-1)", "sync+-2"}) EXPECT_FALSE(parse_mode(text).ok()) << text;
  EXPECT_FALSE(check_mode(mode("sync+4"), 4).ok());
  EXPECT_TRUE(check_mode(mode("sync+3"), 4).ok());
}

}  // namespace
}  // namespace troupe::lab
