// Files through which a run is told.
#include <troupe/actors/lab/control.hpp>

#include <troupe/actors/lab/results.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

namespace troupe::lab {
namespace {

std::string presence_file(const std::string& folder) { return folder + "/running"; }
std::string mode_file(const std::string& folder) { return folder + "/set-mode"; }

/// 0 when nobody runs there.
pid_t runner_of(const std::string& folder) {
  const auto text = read_file(presence_file(folder));
  const auto pid = text.ok() ? static_cast<pid_t>(std::atol(text->c_str())) : 0;
  return pid > 0 && kill(pid, 0) == 0 ? pid : 0;
}

}  // namespace

StatusOr<Presence> Presence::announce(const std::string& folder) {
  if (const pid_t other = runner_of(folder); other && other != getpid()) return failed_precondition("process {} runs in {} already", other, folder);
  TRY(write_whole(presence_file(folder), fmt::format("{}\n", getpid())));
  (void)delete_file(mode_file(folder));
  return Presence(presence_file(folder));
}

Presence::~Presence() {
  if (!file_.empty()) (void)delete_file(file_);
}

Status ask_for_mode(const std::string& folder, const std::string& mode) {
  TRY(parse_mode(mode).status());
  if (!runner_of(folder)) return failed_precondition("no run is under way in {}", folder);
  return write_whole(mode_file(folder), mode);
}

std::optional<Mode> take_asked_mode(const std::string& folder) {
  const std::string file = mode_file(folder);
  if (!file_exists(file)) return std::nullopt;
  const auto text = read_file(file);
  (void)delete_file(file);
  const auto mode = parse_mode(text.ok() ? *text : "");
  return mode.ok() ? std::optional<Mode>(*mode) : std::nullopt;
}

}  // namespace troupe::lab
