// Logging of the program.
#include <troupe/actors/logging.hpp>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace troupe {

void set_up_logging(LogLevel level) {
  static constexpr spdlog::level::level_enum levels[] = {spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                                                         spdlog::level::warn,  spdlog::level::err,   spdlog::level::critical};
  spdlog::set_default_logger(spdlog::stderr_color_mt("troupe"));
  spdlog::set_pattern("%Y-%m-%d %H:%M:%S.%f %^%l%$ %v");
  spdlog::set_level(levels[static_cast<int>(level)]);
  spdlog::flush_on(spdlog::level::info);
}

}  // namespace troupe
