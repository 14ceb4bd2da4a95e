// Many writers begin a sharded checkpoint at once, in a folder that none of them has yet.
#include <troupe/ops/checkpoint/bundle.hpp>

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

namespace troupe {
namespace {

TEST(BundleWriter, WritersOfOneFolderAllSucceed) {
  const std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "bundle_writer_test";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
  constexpr int writers = 8;
  for (int round = 0; round < 50; ++round) {
    std::array<Status, writers> results;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < writers; ++i) {
        threads.emplace_back(
            [&, i] { results[i] = bundle::make_place_for((root / fmt::format("round{}", round) / fmt::format("part{}", i)).string()); });
      }
    }
    for (const Status& result : results) EXPECT_TRUE(result.ok()) << result;
  }
  std::filesystem::remove_all(root);
}

TEST(BundleWriter, AFolderBelowAMissingOneIsNotMade) {
  const Status made = bundle::make_place_for(testing::TempDir() + "/no_such_folder/below/part");
  EXPECT_TRUE(absl::IsNotFound(made)) << made;
}

}  // namespace
}  // namespace troupe
