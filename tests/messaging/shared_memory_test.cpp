// Shared memory: places are used again, the reader sees what was put, and nobody but the one invited brings memory.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <troupe/messaging/shared_memory.hpp>

namespace troupe {
namespace {

TEST(SharedMemory, PlacesAreUsedAgainAndJoined) {
  auto writer = SharedWriter::create();
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::string small(100'000, 'a'), large(3'000'000, 'b');
  const auto one = (*writer)->put(small.data(), small.size()), two = (*writer)->put(small.data(), small.size());
  ASSERT_TRUE(one && two);
  EXPECT_NE(*one, *two);
  (*writer)->release(*one);
  EXPECT_EQ((*writer)->put(small.data(), small.size()), one);
  (*writer)->release(*two);
  (*writer)->release(*one);
  (*writer)->release(*one);  // known no more
  EXPECT_EQ((*writer)->put(large.data(), large.size()), std::optional<std::uint64_t>(0)) << "neighbours are joined";
}

TEST(SharedMemory, ComesToTheOneWhoInvitedIt) {
  auto writer = SharedWriter::create();
  ASSERT_TRUE(writer.ok()) << writer.status();
  auto invited = invite();
  ASSERT_TRUE(invited.ok()) << invited.status();
  EXPECT_FALSE(receive_memory(invited->first, invited->second).ok()) << "nobody has come yet, and nobody waits";
  EXPECT_TRUE(send_memory(invited->second, (*writer)->descriptor()).ok());
  auto reader = receive_memory(invited->first, invited->second);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const std::string text = "seen on the other side";
  const auto place = (*writer)->put(text.data(), text.size());
  ASSERT_TRUE(place);
  const void* seen = (*reader)->at(*place, text.size());
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(std::string(static_cast<const char*>(seen), text.size()), text);
  EXPECT_EQ((*reader)->at(std::uint64_t{1} << 33, 1), nullptr);
  EXPECT_EQ((*reader)->at(~std::uint64_t{0}, 16), nullptr);
  EXPECT_EQ((*reader)->at(0, std::size_t{1} << 40), nullptr);
  writer->reset();
  EXPECT_EQ(std::string(static_cast<const char*>(seen), text.size()), text) << "it outlives its writer";
}

TEST(SharedMemory, AWrongSecretIsRefused) {
  auto writer = SharedWriter::create();
  auto invited = invite();
  ASSERT_TRUE(writer.ok() && invited.ok());
  Invitation wrong = invited->second;
  wrong.secret[0] = wrong.secret[0] == '0' ? '1' : '0';
  EXPECT_TRUE(send_memory(wrong, (*writer)->descriptor()).ok());
  EXPECT_EQ(receive_memory(invited->first, invited->second).status().code(), Code::kPermissionDenied);
}

TEST(SharedMemory, MemoryThatMayShrinkIsRefused) {
  Descriptor loose(memfd_create("loose", MFD_CLOEXEC));
  EXPECT_FALSE(SharedReader::open(std::move(loose)).ok());
}

TEST(SharedMemory, NobodyThereIsAnError) { EXPECT_FALSE(send_memory({"troupe-nobody", std::string(32, '0')}, 0).ok()); }

}  // namespace
}  // namespace troupe
