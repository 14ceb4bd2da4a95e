// How a run that is under way is told to change its mode, from another process.
#pragma once

#include <troupe/actors/lab/mode.hpp>

#include <optional>
#include <string>

namespace troupe::lab {

/// While it lives, its folder says which process runs there. Another one is refused meanwhile.
class Presence {
 public:
  static StatusOr<Presence> announce(const std::string& folder);
  Presence(Presence&& other) noexcept : file_(std::exchange(other.file_, {})) {}
  Presence& operator=(Presence&&) = delete;
  ~Presence();

 private:
  explicit Presence(std::string file) : file_(std::move(file)) {}
  std::string file_;
};

/// Refused when no run is under way there.
Status ask_for_mode(const std::string& folder, const std::string& mode);
/// What was asked for since the last time.
std::optional<Mode> take_asked_mode(const std::string& folder);

}  // namespace troupe::lab
