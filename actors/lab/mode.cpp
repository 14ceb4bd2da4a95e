// Names of update modes.
#include <troupe/actors/lab/mode.hpp>

#include <charconv>

namespace troupe::lab {
namespace {

bool parse_number(std::string_view text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

}  // namespace

StatusOr<Mode> parse_mode(std::string_view text) {
  if (text == "async") return Mode{Rule::async};
  if (text == "async(aware)") return Mode{Rule::async, true};
  if (text == "sync") return Mode{Rule::sync};
  if (text == "auto") return Mode{Rule::automatic};
  Mode mode;
  if (text == "auto(ssp)") {
    mode.rule = Rule::ssp;
    mode.adapts = true;
    return mode;
  }
  if (text.starts_with("sync+") && parse_number(text.substr(5), mode.backups)) {
    mode.rule = Rule::sync;
    return mode;
  }
  if (text.starts_with("ssp(") && text.ends_with(")") && parse_number(text.substr(4, text.size() - 5), mode.bound)) {
    mode.rule = Rule::ssp;
    return mode;
  }
  return invalid("unknown mode '{}'; there are async, async(aware), sync, sync+b, ssp(s), auto and auto(ssp)", text);
}

std::string name_of(const Mode& mode) {
  switch (mode.rule) {
    case Rule::async: return mode.aware ? "async(aware)" : "async";
    case Rule::sync: return mode.backups ? fmt::format("sync+{}", mode.backups) : "sync";
    case Rule::ssp: return mode.adapts ? "auto(ssp)" : fmt::format("ssp({})", mode.bound);
    case Rule::automatic: return "auto";
  }
  return "";
}

Status check_mode(const Mode& mode, int workers) {
  if (mode.rule == Rule::sync && mode.backups >= workers)
    return invalid("{} of {} workers leaves none to wait for; b is at most {}", name_of(mode), workers, workers - 1);
  return absl::OkStatus();
}

}  // namespace troupe::lab
