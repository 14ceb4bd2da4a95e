// Device names as TensorFlow writes them: parsing, printing, matching and merging of full and partial specifications.
#pragma once

#include <troupe/messaging/status.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// A full or partial device name; an absent part is unconstrained. A plain value.
struct DeviceName {
  std::optional<std::string> job;
  std::optional<int> replica;
  std::optional<int> task;
  std::optional<std::string> type;
  std::optional<int> id;

  friend bool operator==(const DeviceName&, const DeviceName&) = default;
};

/// Reads `/job:J/replica:R/task:T/device:TYPE:ID`, any part of it in any order, `*` for "any", and the older `/cpu:0`,
/// `/GPU:1`. As in TensorFlow a repeated part replaces the earlier one, and "" and "/" constrain nothing. A number
/// beyond int becomes the largest int, which no device has.
StatusOr<DeviceName> parse_device(std::string_view text);

/// The canonical text: only the parts that are set, `/device:CPU:*` for a type alone. As in TensorFlow's texts an id
/// without a type is not shown.
std::string to_string(const DeviceName& name);

/// `/job:J/replica:0/task:T`.
std::string task_name(std::string_view job, int task);

/// `/job:J/replica:0/task:T/device:TYPE:ID`.
std::string device_name(std::string_view job, int task, std::string_view type, int id);

/// `/device:TYPE:ID` of a full name: what names a device within its task.
std::string_view local_part(std::string_view device);

/// The same device under another name of its task.
std::string rename_task(std::string_view device, std::string_view task);

/// A letter, then letters, digits and underscores: what may stand for a job or a device type in a device name.
bool is_valid_name(std::string_view text);

/// All five parts are set.
bool is_complete(const DeviceName& name);

/// Every part that `spec` sets is set alike in `full`.
bool matches(const DeviceName& spec, const DeviceName& full);

/// Both say job, replica and task, and say the same.
bool same_address_space(const DeviceName& a, const DeviceName& b);

/// What satisfies both `base` and `over`. Where they conflict the text is TensorFlow's, with `base` named first; with
/// `allow_soft` a conflict of types drops type and id, a conflict of ids drops the id; job, replica and task never give
/// way.
StatusOr<DeviceName> merge(const DeviceName& base, const DeviceName& over, bool allow_soft = false);

}  // namespace troupe
