// Resources of a device: what a step leaves in its own container goes with it, and nothing else does.
#include <troupe/ops/resources/store.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace troupe {
namespace {

struct Thing final : Resource {
  std::string describe() const override { return "a thing"; }
};

}  // namespace

template <>
struct resource_type<Thing> {
  static constexpr const char* name = "Thing";
};

namespace {

class Store : public testing::Test {
 protected:
  void put(const std::string& container) { store_.put(container, "x", "Thing", std::make_shared<Thing>()); }
  bool has(const std::string& container) const { return store_.find<Thing>(container, "x").ok(); }
  ResourceStore store_{"localhost"};
};

TEST_F(Store, LetsGoOfWhatAStepLeft) {
  put("localhost");
  put(container_of_step(7));
  put(container_of_step(8));
  store_.erase_step(7);
  EXPECT_FALSE(has(container_of_step(7)));
  EXPECT_TRUE(has(container_of_step(8)));
  EXPECT_TRUE(has("localhost"));
  store_.erase_step(8);
  EXPECT_FALSE(has(container_of_step(8)));
}

TEST_F(Store, KnowsStepsAgainAfterTheyWereErasedOtherwise) {
  put(container_of_step(7));
  store_.erase_container(container_of_step(7));
  store_.erase_step(7);
  put(container_of_step(9));
  put(container_of_step(9));
  store_.erase_step(9);
  EXPECT_FALSE(has(container_of_step(9)));
  put(container_of_step(9));
  store_.clear();
  put(container_of_step(9));
  store_.erase_step(9);
  EXPECT_FALSE(has(container_of_step(9)));
}

}  // namespace
}  // namespace troupe
