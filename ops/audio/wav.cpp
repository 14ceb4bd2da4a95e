// The WAV format, written and read.
#include <troupe/ops/audio/wav.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace troupe {
namespace {

constexpr std::uint64_t header_size = 44;

template <class Int>
void append(std::string& out, std::uint64_t value) {
  for (std::size_t i = 0; i < sizeof(Int); ++i) out += static_cast<char>(value >> (8 * i));
}

std::uint64_t as_sample(float value) {
  // A NaN becomes the lowest sample, as the reference's min and max make it.
  const float scaled = std::round(value * 32768.0f);
  const float clipped = scaled > -32768.0f ? std::min(scaled, 32767.0f) : -32768.0f;
  return static_cast<std::uint16_t>(static_cast<std::int16_t>(clipped));
}

}  // namespace

StatusOr<std::string> encode_wav(const float* samples, std::uint64_t rate, std::uint64_t channels, std::uint64_t frames) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (rate == 0 || rate > most) return invalid("sample_rate must be in (0, 2^32), got: {}", rate);
  if (channels == 0 || channels > 0xffff) return invalid("num_channels must be in (0, 2^16), got: {}", channels);
  if (frames > most || header_size + frames * channels * 2 > most) return invalid("Provided channels and frames cannot be encoded as a WAV.");
  const std::uint64_t data = frames * channels * 2;
  std::string out;
  out.reserve(header_size + data);
  out += "RIFF";
  append<std::uint32_t>(out, header_size + data - 8);
  out += "WAVEfmt ";
  append<std::uint32_t>(out, 16);
  append<std::uint16_t>(out, 1);  // PCM
  append<std::uint16_t>(out, channels);
  append<std::uint32_t>(out, rate);
  append<std::uint32_t>(out, rate * 2 * channels);
  append<std::uint16_t>(out, 2 * channels);
  append<std::uint16_t>(out, 16);
  out += "data";
  append<std::uint32_t>(out, data);
  for (std::uint64_t i = 0; i < frames * channels; ++i) append<std::uint16_t>(out, as_sample(samples[i]));
  return out;
}

namespace {

/// Reads a file from the front.
class WavReader {
 public:
  explicit WavReader(const std::string& file) : file_(file) {}
  bool at_end() const { return at_ >= file_.size(); }

  Status skip(std::uint64_t n) {
    if (at_ > file_.size()) return invalid("Initial offset is outside data range: {}", at_);
    if (n > file_.size() - at_) return invalid("Data too short when trying to read string");
    at_ += n;
    return absl::OkStatus();
  }
  /// Moves on by bytes that need not be there.
  void skip_unchecked(std::uint64_t n) { at_ += n; }
  StatusOr<std::string> text(std::uint64_t n) {
    const std::uint64_t from = at_;
    TRY(skip(n));
    return file_.substr(from, n);
  }
  Status expect(const char* wanted) {
    TRY_ASSIGN(const std::string found, text(4));
    return found == wanted ? absl::OkStatus() : invalid("Header mismatch: Expected {} but found {}", wanted, found);
  }
  template <class Int>
  StatusOr<Int> number() {
    const std::uint64_t from = at_;
    TRY(skip(sizeof(Int)));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Int); ++i) value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(file_[from + i])) << (8 * i);
    return static_cast<Int>(value);
  }
  /// True when there are so many more bytes.
  bool has(std::uint64_t n) const { return at_ <= file_.size() && n <= file_.size() - at_; }

 private:
  const std::string& file_;
  std::uint64_t at_ = 0;
};

/// Chunks that may stand before the format.
bool may_precede_format(const std::string& chunk) {
  for (const char* known : {"JUNK", "bext", "iXML", "qlty", "mext", "levl", "link", "axml"})
    if (chunk == known) return true;
  return false;
}

Status read_format(WavReader& reader, Sound& sound) {
  TRY_ASSIGN(const auto size, reader.number<std::uint32_t>());
  if (size != 16 && size != 18) return invalid("Bad format chunk size for WAV: Expected 16 or 18, but got{}", size);
  TRY_ASSIGN(const auto format, reader.number<std::uint16_t>());
  if (format != 1) return invalid("Bad audio format for WAV: Expected 1 (PCM), but got{}", format);
  TRY_ASSIGN(sound.channels, reader.number<std::uint16_t>());
  if (sound.channels < 1) return invalid("Bad number of channels for WAV: Expected at least 1, but got {}", sound.channels);
  TRY_ASSIGN(sound.rate, reader.number<std::uint32_t>());
  TRY_ASSIGN(const auto bytes_per_second, reader.number<std::uint32_t>());
  TRY_ASSIGN(const auto bytes_per_frame, reader.number<std::uint16_t>());
  TRY_ASSIGN(const auto bits, reader.number<std::uint16_t>());
  if (bits != 16) return invalid("Can only read 16-bit WAV files, but received {}", bits);
  const std::uint32_t wanted_frame = (static_cast<std::uint32_t>(bits) * sound.channels + 7) / 8;
  if (bytes_per_frame != wanted_frame) return invalid("Bad bytes per sample in WAV header: Expected {} but got {}", wanted_frame, bytes_per_frame);
  const std::uint32_t wanted_second = bytes_per_frame * sound.rate;
  if (bytes_per_second != wanted_second)
    return invalid("Bad bytes per second in WAV header: Expected {} but got {} (sample_rate={}, bytes_per_sample={})", wanted_second,
                   bytes_per_second, sound.rate, bytes_per_frame);
  if (size == 18) reader.skip_unchecked(2);
  return absl::OkStatus();
}

Status read_samples(WavReader& reader, std::uint32_t size, Sound& sound) {
  sound.frames = size / (2u * sound.channels);
  const std::uint64_t count = static_cast<std::uint64_t>(sound.frames) * sound.channels;
  if (!reader.has(2 * count)) return invalid("Data too short when trying to read string");
  sound.samples.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    TRY_ASSIGN(const auto sample, reader.number<std::int16_t>());
    sound.samples.push_back(static_cast<float>(sample) * (1.0f / 32768));
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<Sound> decode_wav(const std::string& file) {
  WavReader reader(file);
  Sound sound;
  TRY(reader.expect("RIFF"));
  TRY(reader.number<std::uint32_t>().status());
  TRY(reader.expect("WAVE"));
  TRY_ASSIGN(std::string chunk, reader.text(4));
  while (chunk != "fmt ") {
    if (!may_precede_format(chunk)) return invalid("Unexpected field {}", chunk);
    TRY_ASSIGN(const auto size, reader.number<std::uint32_t>());
    TRY(reader.skip(size));
    TRY_ASSIGN(chunk, reader.text(4));
  }
  TRY(read_format(reader, sound));
  bool found = false;
  while (!reader.at_end()) {
    TRY_ASSIGN(chunk, reader.text(4));
    TRY_ASSIGN(const auto size, reader.number<std::uint32_t>());
    constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
    if (size > most) return invalid("WAV data chunk '{}' is too large: {} bytes, but the limit is {}", chunk, size, most);
    if (chunk != "data") {
      reader.skip_unchecked(size);
      continue;
    }
    if (std::exchange(found, true)) return invalid("More than one data chunk found in WAV");
    TRY(read_samples(reader, size, sound));
  }
  if (!found) return invalid("No data chunk found in WAV");
  return sound;
}

}  // namespace troupe
