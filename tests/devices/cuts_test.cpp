// Cuts fall between units, and both come to their turn.
#include <troupe/devices/cuts.hpp>

#include <gtest/gtest.h>

#include <string>

namespace troupe {
namespace {

struct CutsTest : testing::Test {
  std::shared_ptr<Cuts> cuts = std::make_shared<Cuts>();
  std::string log;

  void update(Unit& unit, char name) {
    if (unit.may_update()) log += name;
    else
      cuts->resume_later([this, &unit, name] {
        unit.enter();
        update(unit, name);
        unit.leave();
      });
  }
  void cut() {
    cuts->request([this] { log += '|'; });
  }
};

TEST_F(CutsTest, NobodyWaitsWhereNoUnitIsHalfApplied) {
  Unit unit(cuts);
  unit.enter();
  cut();
  update(unit, 'a');
  update(unit, 'b');
  unit.leave();
  cut();
  EXPECT_EQ(log, "|ab|");
}

TEST_F(CutsTest, ACutWaitsForAUnitWhoseKernelsAreElsewhere) {
  Unit unit(cuts);
  unit.enter();
  update(unit, 'a');
  unit.enter();  // a kernel on the pool
  unit.leave();
  cut();
  EXPECT_EQ(log, "a");
  update(unit, 'b');
  unit.leave();
  EXPECT_EQ(log, "ab|");
}

TEST_F(CutsTest, UnitsThatHaveNotBegunLetACutThatWaitsGoFirst) {
  Unit first(cuts), second(cuts), third(cuts);
  first.enter();
  update(first, 'a');
  cut();
  cut();
  second.enter();
  update(second, 'x');
  second.leave();
  third.enter();
  update(third, 'y');
  third.leave();
  EXPECT_EQ(log, "a");
  update(first, 'b');
  first.leave();
  EXPECT_EQ(log, "ab||xy");
}

TEST_F(CutsTest, WhatACutMakesReadyComesAfterIt) {
  Unit unit(cuts);
  cuts->request([&] {
    unit.enter();
    log += '[';
    update(unit, 'a');
    unit.leave();
    log += ']';
  });
  EXPECT_EQ(log, "[]a");
}

TEST_F(CutsTest, AStepAsksForItsCutWhenNothingOfItRuns) {
  Unit unit(cuts);
  unit.enter();
  unit.when_idle([this] { cut(); });
  update(unit, 'a');
  unit.enter();
  unit.leave();
  EXPECT_EQ(log, "a");
  unit.leave();
  EXPECT_EQ(log, "a|");
  unit.enter();
  unit.leave();
  EXPECT_EQ(log, "a|") << "asked once";
}

TEST_F(CutsTest, AUnitEndsWithAWait) {
  Unit waiting(cuts);
  waiting.enter();
  update(waiting, 'a');
  waiting.leave();
  cut();
  waiting.enter();
  update(waiting, 'b');
  waiting.leave();
  EXPECT_EQ(log, "a|b");
}

}  // namespace
}  // namespace troupe
