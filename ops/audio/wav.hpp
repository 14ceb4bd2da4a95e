// Sound as WAV files in memory.
#pragma once

#include <troupe/messaging/status.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// Samples of 16 bits out of floats in [-1, 1]; the channels of a frame stand together.
StatusOr<std::string> encode_wav(const float* samples, std::uint64_t rate, std::uint64_t channels, std::uint64_t frames);

struct Sound {
  std::vector<float> samples;  // the channels of a frame stand together
  std::uint32_t frames = 0, rate = 0;
  std::uint16_t channels = 0;
};
/// Of files with samples of 16 bits; refuses others with TensorFlow's texts.
StatusOr<Sound> decode_wav(const std::string& file);

}  // namespace troupe
