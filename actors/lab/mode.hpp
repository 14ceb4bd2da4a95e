// The ways in which updates of several workers reach the shards.
#pragma once

#include <troupe/messaging/status.hpp>

#include <string>
#include <string_view>

namespace troupe::lab {

enum class Rule { async, sync, ssp, automatic };

/// `async`, `async(aware)`, `sync`, `sync+2`, `ssp(3)`, `auto` (finds its backups), `auto(ssp)` (finds its bound).
struct Mode {
  Rule rule = Rule::async;
  bool aware = false;   // async: the staler a gradient, the smaller its step
  int backups = 0;      // sync: so many of the workers need not be waited for
  int bound = 0;        // ssp: so many clocks a worker may be ahead of the slowest
  bool adapts = false;  // ssp: the bound is found
  friend bool operator==(const Mode&, const Mode&) = default;
};

StatusOr<Mode> parse_mode(std::string_view text);
std::string name_of(const Mode& mode);
/// Refuses what so many workers cannot do: more backups than workers, for one.
Status check_mode(const Mode& mode, int workers);

}  // namespace troupe::lab
