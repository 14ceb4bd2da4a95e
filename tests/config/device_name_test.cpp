// Device names: every form that TensorFlow 2.15's placer takes or refuses, and its texts for conflicts.
#include <troupe/config/device_name.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace troupe {
namespace {

DeviceName parsed(std::string_view text) {
  auto name = parse_device(text);
  EXPECT_TRUE(name.ok()) << text << ": " << name.status();
  return name.ok() ? *name : DeviceName{};
}

struct Form {
  const char* text;
  DeviceName name;
  const char* canonical;
};

TEST(DeviceName, TakesWhatTensorFlowTakes) {
  constexpr auto any = std::nullopt;
  constexpr int most = std::numeric_limits<int>::max();
  const Form forms[] = {
      {"", {}, ""},
      {"/", {}, ""},
      {"/job:ps/task:0", {"ps", any, 0, any, any}, "/job:ps/task:0"},
      {"/job:w/replica:0/task:1/device:CPU:0", {"w", 0, 1, "CPU", 0}, "/job:w/replica:0/task:1/device:CPU:0"},
      {"/cpu:0", {any, any, any, "CPU", 0}, "/device:CPU:0"},
      {"/CPU:0", {any, any, any, "CPU", 0}, "/device:CPU:0"},
      {"/gpu:1", {any, any, any, "GPU", 1}, "/device:GPU:1"},
      {"/GPU:*", {any, any, any, "GPU", any}, "/device:GPU:*"},
      {"/device:CPU:*", {any, any, any, "CPU", any}, "/device:CPU:*"},
      {"/device:CPU", {any, any, any, "CPU", any}, "/device:CPU:*"},
      {"/device:cpu:0", {any, any, any, "cpu", 0}, "/device:cpu:0"},
      {"/device:C_1:0", {any, any, any, "C_1", 0}, "/device:C_1:0"},
      {"/device:*:0", {any, any, any, any, 0}, ""},
      {"/device:*", {}, ""},
      {"/device:*:*", {}, ""},
      {"/job:*", {}, ""},
      {"/job:*/replica:*/task:*", {}, ""},
      {"/job:p_s9", {"p_s9", any, any, any, any}, "/job:p_s9"},
      {"/task:0/job:ps", {"ps", any, 0, any, any}, "/job:ps/task:0"},
      {"/job:ps/cpu:0/task:2", {"ps", any, 2, "CPU", 0}, "/job:ps/task:2/device:CPU:0"},
      {"/job:ps/job:worker", {"worker", any, any, any, any}, "/job:worker"},
      {"/job:ps/job:*", {}, ""},
      {"/gpu:1/cpu:0", {any, any, any, "CPU", 0}, "/device:CPU:0"},
      {"/device:GPU:1/device:CPU", {any, any, any, "CPU", any}, "/device:CPU:*"},
      {"/device:GPU:1/cpu:*", {any, any, any, "CPU", any}, "/device:CPU:*"},
      {"/task:00", {any, any, 0, any, any}, "/task:0"},
      {"/task:99999999999", {any, any, most, any, any}, "/task:2147483647"},
  };
  for (const Form& form : forms) {
    EXPECT_EQ(parsed(form.text), form.name) << form.text;
    EXPECT_EQ(to_string(form.name), form.canonical) << form.text;
  }
}

TEST(DeviceName, RefusesWhatTensorFlowRefuses) {
  for (const char* text : {"/cpu",
                           "/CPU",
                           "/Cpu:0",
                           "cpu:0",
                           "CPU:0",
                           "job:ps/task:0",
                           "garbage",
                           "/garbage",
                           "/xpu:0",
                           "/tpu:0",
                           "/TPU:0",
                           "/task:-1",
                           "/task:+0",
                           "/task:x",
                           "/task:",
                           "/task:*0",
                           "/task:0:1",
                           "/replica:",
                           "/job:",
                           "/job:ps/",
                           "//job:ps",
                           "/job:ps//task:0",
                           "/job:1ps",
                           "/job:_ps",
                           "/job:p-s",
                           "/job:p.s",
                           "/job:ps /task:0",
                           "/job:**",
                           "/job:*ps",
                           "/device:",
                           "/device:CPU:",
                           "/device:CPU:0x",
                           "/device:CPU:0:1",
                           "/device:CPU:0/",
                           "/device:C-PU:0",
                           "/device:1CPU:0",
                           "/device:**:0",
                           "/device:*0",
                           "/device:CPU:*0",
                           "/cpu:",
                           " /cpu:0",
                           "/cpu:0 ",
                           "localhost/cpu:0",
                           "/job:ps/task:0/cpu"}) {
    auto name = parse_device(text);
    ASSERT_FALSE(name.ok()) << text;
    EXPECT_EQ(name.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(text_of(name.status()), fmt::format("Malformed device specification '{}'", text));
  }
}

TEST(DeviceName, RefusesAnEmbeddedNul) { EXPECT_FALSE(parse_device(std::string_view("/cpu:0\0", 7)).ok()); }

TEST(DeviceName, PrintsTasksAndDevices) {
  EXPECT_EQ(task_name("ps", 3), "/job:ps/replica:0/task:3");
  EXPECT_EQ(device_name("ps", 3, "CPU", 0), "/job:ps/replica:0/task:3/device:CPU:0");
  EXPECT_EQ(to_string(parsed(device_name("w", 1, "GPU", 2))), device_name("w", 1, "GPU", 2));
}

TEST(DeviceName, KnowsCompleteNames) {
  EXPECT_TRUE(is_complete(parsed("/job:w/replica:0/task:1/device:CPU:0")));
  for (const char* text : {"", "/replica:0/task:1/cpu:0", "/job:w/task:1/cpu:0", "/job:w/replica:0/cpu:0", "/job:w/replica:0/task:1",
                           "/job:w/replica:0/task:1/device:CPU:*", "/job:w/replica:0/task:1/device:*:0"})
    EXPECT_FALSE(is_complete(parsed(text))) << text;
}

TEST(DeviceName, MatchesEveryPartThatIsSet) {
  DeviceName full = parsed("/job:w/replica:0/task:1/device:CPU:0");
  for (const char* text : {"", "/job:w", "/task:1", "/cpu:0", "/device:*:0", "/job:w/replica:0/task:1/device:CPU:0"})
    EXPECT_TRUE(matches(parsed(text), full)) << text;
  for (const char* text : {"/job:ps", "/replica:1", "/task:0", "/gpu:0", "/cpu:1", "/device:cpu:0", "/device:*:1"})
    EXPECT_FALSE(matches(parsed(text), full)) << text;
  EXPECT_FALSE(matches(parsed("/job:w/task:1"), parsed("/job:w"))) << "a part that is not set matches no value";
}

TEST(DeviceName, ComparesAddressSpaces) {
  DeviceName cpu = parsed("/job:w/replica:0/task:1/device:CPU:0");
  EXPECT_TRUE(same_address_space(cpu, parsed("/job:w/replica:0/task:1/device:GPU:3")));
  EXPECT_FALSE(same_address_space(cpu, parsed("/job:w/replica:0/task:2/device:CPU:0")));
  EXPECT_FALSE(same_address_space(cpu, parsed("/job:ps/replica:0/task:1/device:CPU:0")));
  EXPECT_FALSE(same_address_space(cpu, parsed("/job:w/replica:1/task:1")));
  EXPECT_FALSE(same_address_space(parsed("/cpu:0"), parsed("/cpu:0"))) << "partial names are in no known task";
}

struct Merge {
  const char* base;
  const char* over;
  const char* hard;
  const char* soft;
};

/// The name, or the text of the error.
std::string merged(const Merge& row, bool allow_soft) {
  auto name = merge(parsed(row.base), parsed(row.over), allow_soft);
  return name.ok() ? to_string(*name) : text_of(name.status());
}

TEST(DeviceName, MergesWithTensorFlowsTexts) {
  const std::string why = "Cannot merge devices with incompatible ";
  const std::string jobs = why + "jobs: '/job:worker' and '/job:ps'";
  const std::string tasks = why + "tasks: '/job:ps/task:1' and '/job:ps/task:0'";
  const std::string replicas = why + "replicas: '/replica:1' and '/replica:0'";
  const std::string types = why + "types: '/device:GPU:0' and '/device:CPU:0'";
  const std::string wide_types = why + "types: '/device:GPU:*' and '/device:CPU:*'";
  const std::string ids = why + "ids: '/device:CPU:1' and '/device:CPU:0'";
  const std::string hidden_ids = why + "ids: '/device:CPU:1' and ''";
  const std::string adopted_ids = why + "ids: '/device:GPU:1' and '/device:GPU:0'";
  const std::string far_ids = why + "ids: '/job:ps/replica:0/task:0/device:CPU:1' and '/job:ps/device:CPU:0'";
  const std::string far_types = why + "types: '/job:ps/task:0/device:CPU:1' and '/job:ps/device:GPU:0'";
  const Merge rows[] = {
      {"", "", "", ""},
      {"/job:ps", "/task:0/cpu:0", "/job:ps/task:0/device:CPU:0", "/job:ps/task:0/device:CPU:0"},
      {"/cpu:*", "/cpu:0", "/device:CPU:0", "/device:CPU:0"},
      {"/cpu:0", "/cpu:*", "/device:CPU:0", "/device:CPU:0"},
      {"/job:worker", "/job:ps", jobs.c_str(), jobs.c_str()},
      {"/task:1", "/job:ps/task:0", tasks.c_str(), tasks.c_str()},
      {"/replica:1", "/replica:0", replicas.c_str(), replicas.c_str()},
      {"/gpu:0", "/cpu:0", types.c_str(), ""},
      {"/device:GPU", "/device:CPU", wide_types.c_str(), ""},
      {"/cpu:1", "/cpu:0", ids.c_str(), "/device:CPU:*"},
      {"/cpu:1", "/device:*:0", hidden_ids.c_str(), "/device:CPU:*"},
      {"/device:*:1", "/gpu:0", adopted_ids.c_str(), "/device:GPU:*"},
      {"/replica:0/task:0/cpu:1", "/job:ps/cpu:0", far_ids.c_str(), "/job:ps/replica:0/task:0/device:CPU:*"},
      {"/task:0/cpu:1", "/job:ps/gpu:0", far_types.c_str(), "/job:ps/task:0"},
  };
  for (const Merge& row : rows) {
    EXPECT_EQ(merged(row, false), row.hard) << row.base << " and " << row.over;
    EXPECT_EQ(merged(row, true), row.soft) << row.base << " and " << row.over;
  }
}

TEST(DeviceName, KeepsItsLocalPartUnderAnotherTask) {
  EXPECT_EQ(local_part("/job:ps/replica:0/task:3/device:CPU:1"), "/device:CPU:1");
  EXPECT_EQ(local_part("/job:ps/task:3"), "");
  EXPECT_EQ(rename_task("/job:local/replica:0/task:0/device:GPU:0", "/job:worker/replica:0/task:7"), "/job:worker/replica:0/task:7/device:GPU:0");
}

}  // namespace
}  // namespace troupe
