// The ops that read and write WAV files.
#include <troupe/ops/audio/wav.hpp>
#include <troupe/ops/kernel.hpp>

#include <limits>

namespace troupe {
namespace {

/// Frames and channels that are not in the file: silence, and the last channel again.
Status decode(Call& call, const In<std::string>& contents, std::int64_t channels, std::int64_t frames) {
  if (contents.dims() != 0) return invalid("contents must be scalar, got shape {}", contents.shape());
  if (contents[0].size() > std::numeric_limits<std::int32_t>::max()) return invalid("WAV contents are too large for int: {}", contents[0].size());
  TRY_ASSIGN(const Sound sound, decode_wav(contents[0]));
  if (frames == -1) frames = sound.frames;
  if (channels == -1) channels = sound.channels;
  TRY_ASSIGN(const Shape shape, Shape::checked(std::vector<std::int64_t>{frames, channels}));
  float* out = call.alloc<float>(0, shape);
  for (std::int64_t f = 0; f < frames; ++f)
    for (std::int64_t c = 0; c < channels; ++c)
      *out++ = f < sound.frames ? sound.samples[static_cast<std::size_t>(f * sound.channels + std::min<std::int64_t>(c, sound.channels - 1))] : 0.0f;
  call.set_scalar(1, static_cast<std::int32_t>(sound.rate));
  return absl::OkStatus();
}

Status encode(Call& call, const In<float>& audio, const In<std::int32_t>& rate) {
  if (audio.dims() != 2) return invalid("audio must be 2-dimensional{}", audio.shape());
  if (rate.dims() != 0) return invalid("Input sample_rate should be a scalar tensor, got {} instead.", rate.shape());
  TRY_ASSIGN(std::string file, encode_wav(audio.data(), static_cast<std::uint64_t>(static_cast<std::int64_t>(rate[0])),
                                          static_cast<std::uint64_t>(audio.dim(1)), static_cast<std::uint64_t>(audio.dim(0))));
  call.set_scalar(0, std::move(file));
  return absl::OkStatus();
}

}  // namespace

void add_wav_files(Registry& ops) {
  ops.add("DecodeWav", [](Call& call, In<std::string> contents, Attr<"desired_channels", std::int64_t> channels,
                          Attr<"desired_samples", std::int64_t> frames) { return decode(call, contents, *channels, *frames); });
  ops.add("EncodeWav", [](Call& call, In<float> audio, In<std::int32_t> rate) { return encode(call, audio, rate); });
  ops.cost({"DecodeWav"}, 50000);
}

}  // namespace troupe
