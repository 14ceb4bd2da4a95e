// Ops that make serialised summaries.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/summary/values.hpp>

#include <limits>
#include <unordered_set>

namespace troupe {
namespace {

Status give(Call& call, const wire::Summary& summary) {
  call.set_scalar(0, summary.SerializeAsString());
  return absl::OkStatus();
}

std::string only_tag(const Tensor& tags) { return tags.size() == 1 ? fmt::format(" (tag '{}')", tags.item<std::string>()) : ""; }

template <class T>
Status scalar_summary(Call& call, const In<std::string>& tags, const In<T>& values) {
  if (tags.shape() != values.shape())
    return invalid("tags and values are not the same shape: {} != {}{}", tags.shape(), values.shape(), only_tag(tags.tensor));
  wire::Summary summary;
  for (std::int64_t i = 0; i < tags.size(); ++i) {
    auto* v = summary.add_value();
    v->set_tag(tags[i]);
    v->set_simple_value(static_cast<float>(values[i]));
  }
  return give(call, summary);
}

Status merge_summaries(Call& call, const List& inputs) {
  wire::Summary merged;
  std::unordered_set<std::string> seen;
  for (int i = 0; i < inputs.size(); ++i)
    for (const std::string& bytes : inputs[i].values<std::string>()) {
      wire::Summary one;
      if (!one.ParseFromString(bytes)) return invalid("Could not parse one of the summary inputs");
      for (auto& v : *one.mutable_value()) {
        if (!v.tag().empty() && !seen.insert(v.tag()).second) return invalid("Duplicate tag {} found in summary inputs", v.tag());
        *merged.add_value() = std::move(v);
      }
    }
  return give(call, merged);
}

struct ImageOptions {
  std::int32_t most = 3;
  Tensor bad_color;

  static StatusOr<ImageOptions> make(Binding& binding) {
    ImageOptions o;
    TRY_ASSIGN(const auto most, binding.attr<std::int64_t>("max_images"));
    if (most >= (std::int64_t{1} << 31)) return invalid("max_images must be < 2^31");
    o.most = static_cast<std::int32_t>(most);
    TRY_ASSIGN(o.bad_color, binding.attr<Tensor>("bad_color"));
    if (o.bad_color.dtype() != DType::u8) return invalid("bad_color must be uint8, got {}", name_of(o.bad_color.dtype()));
    if (o.bad_color.rank() != 1) return invalid("bad_color must be a vector, got shape {}", o.bad_color.shape());
    return o;
  }
};

Status image_summary(Call& call, const In<std::string>& tag, const Tensor& images, const ImageOptions& o) {
  if (tag.dims() != 0) return invalid("Tags must be a scalar");
  wire::Summary summary;
  TRY(add_images(images, tag[0], o.most, o.bad_color, &summary));
  return give(call, summary);
}

/// The attributes of the ops on sound; the older one has the rate among them.
struct AudioOptions {
  std::int64_t most = 3;
  float rate = 0;

  static StatusOr<AudioOptions> make(Binding& binding) {
    AudioOptions o;
    TRY_ASSIGN(o.most, binding.attr<std::int64_t>("max_outputs"));
    if (o.most <= 0) return invalid("max_outputs must be > 0");
    if (binding.find("sample_rate")) {
      TRY_ASSIGN(o.rate, binding.attr<float>("sample_rate"));
    }
    return o;
  }
};

Status audio_summary(Call& call, const In<std::string>& tag, const In<float>& audio, std::int64_t most, float rate) {
  wire::Summary summary;
  TRY(add_audio(audio.tensor, tag[0], most, rate, &summary));
  return give(call, summary);
}

Status tensor_summary(Call& call, const In<std::string>& tag, const Tensor& tensor, const In<std::string>& metadata) {
  if (tag.dims() != 0) return invalid("tag must be scalar");
  if (metadata.dims() != 0) return invalid("serialized_summary_metadata must be scalar");
  wire::Summary summary;
  auto* v = summary.add_value();
  v->set_tag(tag[0]);
  set_tensor(tensor, v->mutable_tensor());
  v->mutable_metadata()->ParseFromString(metadata[0]);
  return give(call, summary);
}

}  // namespace

void add_summaries(Registry& ops) {
  ops.add("ScalarSummary", reals{}, []<class T>(Call& call, In<std::string> tags, In<T> values) { return scalar_summary(call, tags, values); });
  ops.add("HistogramSummary", reals{}, []<class T>(Call& call, In<std::string> tag, In<T> values) -> Status {
    if (tag.dims() != 0) return invalid("tags must be scalar");
    wire::Summary summary;
    TRY(add_histogram(values.tensor, tag[0], "Histogram", call.node().name, &summary));
    return give(call, summary);
  });
  ops.add("MergeSummary", [](Call& call, List inputs) { return merge_summaries(call, inputs); });
  ops.add("ImageSummary",
          [](Call& call, In<std::string> tag, Any images, const ImageOptions& o) { return image_summary(call, tag, images.tensor, o); });
  ops.add("AudioSummary", [](Call& call, In<std::string> tag, In<float> audio, const AudioOptions& o) -> Status {
    if (tag.dims() != 0) return invalid("Tag must be a scalar");
    return audio_summary(call, tag, audio, o.most, o.rate);
  });
  ops.add("AudioSummaryV2", [](Call& call, In<std::string> tag, In<float> audio, In<float> rate, const AudioOptions& o) -> Status {
    if (tag.dims() != 0) return invalid("Tag must be a scalar");
    if (rate.size() != 1) return invalid("sample_rate must be rank-0 or contain a single value");
    return audio_summary(call, tag, audio, o.most, rate[0]);
  });
  ops.add("TensorSummary", [](Call& call, Any tensor) {
    wire::Summary summary;
    auto* v = summary.add_value();
    v->set_node_name(call.node().name);
    set_tensor(tensor.tensor, v->mutable_tensor());
    return give(call, summary);
  });
  ops.add("TensorSummaryV2",
          [](Call& call, In<std::string> tag, Any tensor, In<std::string> metadata) { return tensor_summary(call, tag, tensor.tensor, metadata); });
  ops.cost({"ImageSummary", "AudioSummary", "AudioSummaryV2", "HistogramSummary"}, 20);
}

}  // namespace troupe
