// The time of day as TensorFlow's messages give it.
#pragma once

#include <chrono>
#include <cstdint>

namespace troupe {

/// Microseconds since the epoch.
inline std::int64_t now_micros() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace troupe
