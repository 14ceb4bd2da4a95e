// How tensors become values of a summary.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/audio/wav.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/summary/histogram.hpp>
#include <troupe/ops/summary/values.hpp>

#include <cmath>

namespace troupe {
namespace {

using Readable = joined<types<bool>, numbers>;

/// Calls f with the real part of each element as what it is; false when they are no numbers.
template <class F>
bool for_each_real(const Tensor& tensor, F&& f) {
  bool known = false;
  visit_dtype(Readable{}, tensor.dtype(), [&]<class T>() {
    known = true;
    for (const T& x : tensor.values<T>()) {
      if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) f(x.real());
      else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) f(static_cast<float>(x));
      else f(x);
    }
  });
  return known;
}

Status not_supported(const Tensor& tensor) { return unimplemented("SummaryFileWriter {} not supported.", name_of(tensor.dtype())); }

}  // namespace

StatusOr<std::vector<double>> as_doubles(const Tensor& tensor) {
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(tensor.size()));
  if (!for_each_real(tensor, [&](auto x) { all.push_back(static_cast<double>(x)); })) return not_supported(tensor);
  return all;
}

Status add_scalar(const Tensor& tensor, const std::string& tag, wire::Summary* summary) {
  if (tensor.size() < 1) return invalid("A scalar summary needs a value, got shape {}", tensor.shape());
  float value = 0;
  const Tensor first = tensor.reshaped(Shape{tensor.size()}).rows(0, 1);
  if (!for_each_real(first, [&](auto x) { value = static_cast<float>(x); })) return not_supported(tensor);
  auto* v = summary->add_value();
  v->set_tag(tag);
  v->set_simple_value(value);
  return absl::OkStatus();
}

Status add_histogram(const Tensor& tensor, const std::string& tag, const char* infinity, const std::string& where, wire::Summary* summary) {
  TRY_ASSIGN(const auto numbers, as_doubles(tensor));
  Histogram histogram;
  for (double x : numbers) {
    if (std::isnan(x)) return invalid("Nan in summary histogram for: {}", where);
    if (std::isinf(x)) return invalid("Infinity in {} for: {}", infinity, where);
    histogram.add(x);
  }
  auto* v = summary->add_value();
  v->set_tag(tag);
  histogram.to_proto(v->mutable_histo());
  return absl::OkStatus();
}

Status add_audio(const Tensor& audio, const std::string& tag, std::int64_t most, float rate, wire::Summary* summary) {
  if (audio.rank() < 2 || audio.rank() > 3) return invalid("Tensor must be 3-D or 2-D, got: {}", audio.shape());
  if (!(rate > 0)) return invalid("sample_rate must be > 0");
  const std::int64_t frames = audio.dim(1), channels = audio.rank() == 2 ? 1 : audio.dim(2);
  // Beyond 2^32 the encoder refuses; what a float can hold must not overflow before.
  const auto whole_rate = static_cast<std::uint64_t>(std::min(std::max(std::rint(rate), 1.0f), 1e18f));
  for (std::int64_t i = 0; i < std::min(most, audio.dim(0)); ++i) {
    if (frames > 0 && channels == 0) return invalid("audio is null");
    auto* v = summary->add_value();
    v->set_tag(most > 1 ? fmt::format("{}/audio/{}", tag, i) : tag + "/audio");
    auto* a = v->mutable_audio();
    a->set_sample_rate(rate);
    a->set_num_channels(channels);
    a->set_length_frames(frames);
    a->set_content_type("audio/wav");
    TRY_ASSIGN(*a->mutable_encoded_audio_string(), encode_wav(audio.data<float>() + i * frames * channels, whole_rate,
                                                              static_cast<std::uint64_t>(channels), static_cast<std::uint64_t>(frames)));
  }
  return absl::OkStatus();
}

void set_tensor(const Tensor& tensor, wire::TensorProto* proto) {
  if (tensor.dtype() != DType::string) return to_proto(tensor, proto);
  proto->set_dtype(wire::DT_STRING);
  to_proto(tensor.shape(), proto->mutable_tensor_shape());
  for (const std::string& text : tensor.values<std::string>()) proto->add_string_val(text);
}

}  // namespace troupe
