// Ops that write summaries to event files.
#include <troupe/wire/graph.pb.h>
#include <troupe/ops/containers/shared.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/summary/event_file.hpp>
#include <troupe/ops/summary/values.hpp>

namespace troupe {
namespace {

using Writer = Held<EventFile>;

Status create(Step& step, const ResourceHandle& handle, EventFile::Options options) {
  if (handle.type_name != resource_type<EventFile>::name) return step.resources->find<EventFile>(handle).status();
  return step.resources->find_or_create<EventFile>(handle.container, handle.name, [&] { return EventFile::open(std::move(options)); }).status();
}

/// Writes the summary that `add` makes.
template <class Add>
Status write_summary(const Writer& writer, std::int64_t step, Add&& add) {
  wire::Event event = event_at(step);
  TRY(add(event.mutable_summary()));
  return writer->write(event);
}

Status write_tensor(const Writer& writer, std::int64_t step, const Tensor& tensor, const std::string& tag, const std::string& metadata) {
  return write_summary(writer, step, [&](wire::Summary* summary) {
    auto* v = summary->add_value();
    set_tensor(tensor, v->mutable_tensor());
    v->set_tag(tag);
    if (!metadata.empty()) v->mutable_metadata()->ParseFromString(metadata);
    return absl::OkStatus();
  });
}

Status write_serialized(const Writer& writer, std::int64_t step, const In<std::string>& summaries) {
  wire::Event event = event_at(step);
  for (std::int64_t i = 0; i < summaries.size(); ++i)
    if (!event.mutable_summary()->MergeFromString(summaries[i]))
      return data_loss("Bad tf.compat.v1.Summary binary proto tensor string at index {}", i);
  return writer->write(event);
}

/// The elements that event files take; summaries of ops take one type more.
Status check_writable(const Tensor& tensor) {
  return tensor.dtype() == DType::bf16 ? unimplemented("SummaryFileWriter {} not supported.", name_of(tensor.dtype())) : absl::OkStatus();
}

struct MostImages {
  std::int32_t count = 3;
  static StatusOr<MostImages> make(Binding& binding) {
    TRY_ASSIGN(const auto most, binding.attr<std::int64_t>("max_images"));
    if (most >= (std::int64_t{1} << 31)) return invalid("max_images must be < 2^31");
    return MostImages{static_cast<std::int32_t>(most)};
  }
};

struct MostSounds {
  std::int64_t count = 3;
  static StatusOr<MostSounds> make(Binding& binding) {
    TRY_ASSIGN(const auto most, binding.attr<std::int64_t>("max_outputs"));
    if (most <= 0) return invalid("max_outputs must be > 0");
    return MostSounds{most};
  }
};

void register_value_writers(Registry& ops) {
  ops.add("WriteSummary", [](Call&, Writer writer, Scalar<std::int64_t> step, Any tensor, Scalar<std::string> tag, Scalar<std::string> metadata) {
    return write_tensor(writer, *step, tensor.tensor, *tag, *metadata);
  });
  ops.add("WriteRawProtoSummary",
          [](Call&, Writer writer, Scalar<std::int64_t> step, In<std::string> summaries) { return write_serialized(writer, *step, summaries); });
  ops.add("WriteScalarSummary", [](Call&, Writer writer, Scalar<std::int64_t> step, Scalar<std::string> tag, Any value) -> Status {
    TRY(check_writable(value.tensor));
    return write_summary(writer, *step, [&](wire::Summary* s) { return add_scalar(value.tensor, *tag, s); });
  });
  ops.add("WriteHistogramSummary", [](Call&, Writer writer, Scalar<std::int64_t> step, Scalar<std::string> tag, Any values) -> Status {
    TRY(check_writable(values.tensor));
    return write_summary(writer, *step, [&](wire::Summary* s) { return add_histogram(values.tensor, *tag, "summary histogram", *tag, s); });
  });
  ops.add("WriteImageSummary",
          [](Call&, Writer writer, Scalar<std::int64_t> step, Scalar<std::string> tag, Any images, In<std::uint8_t> bad_color,
             const MostImages& most) -> Status {
            if (bad_color.dims() != 1) return invalid("bad_color must be a vector, got shape {}", bad_color.shape());
            return write_summary(writer, *step, [&](wire::Summary* s) { return add_images(images.tensor, *tag, most.count, bad_color.tensor, s); });
          });
  ops.add("WriteAudioSummary",
          [](Call&, Writer writer, Scalar<std::int64_t> step, Scalar<std::string> tag, In<float> audio, Scalar<float> rate, const MostSounds& most) {
            return write_summary(writer, *step, [&](wire::Summary* s) { return add_audio(audio.tensor, *tag, most.count, *rate, s); });
          });
}

}  // namespace

void add_summary_writers(Registry& ops) {
  ops.add("SummaryWriter", [](Call& call, State<Exit> exit, Step& step) { exit->give<EventFile>(call, step); });
  ops.add("CreateSummaryFileWriter", [](Call&, Handle writer, Scalar<std::string> directory, Scalar<std::int32_t> most, Scalar<std::int32_t> millis,
                                        Scalar<std::string> suffix, Step& step) {
    return create(step, writer.handle, {*directory, *suffix, *most, std::chrono::milliseconds(*millis)});
  });
  ops.add("CreateSummaryDbWriter", [](Call&, Handle) { return unimplemented("Summaries are written to event files, not to databases"); });
  ops.add("FlushSummaryWriter", [](Call&, Writer writer) { return writer->flush(); });
  ops.add("CloseSummaryWriter", [](Call&, Handle writer, Step& step) -> Status {
    if (writer->type_name != resource_type<EventFile>::name) return step.resources->find<EventFile>(writer.handle).status();
    return step.resources->erase(writer->container, writer->name, resource_type<EventFile>::name);
  });
  register_value_writers(ops);
  ops.add("WriteGraphSummary", [](Call&, Writer writer, Scalar<std::int64_t> step, Scalar<std::string> graph) -> Status {
    if (!wire::GraphDef().ParseFromString(*graph)) return data_loss("Bad tf.GraphDef binary proto tensor string");
    wire::Event event = event_at(*step);
    event.set_graph_def(*graph);
    return writer->write(event);
  });
  ops.add("ImportEvent", [](Call&, Writer writer, Scalar<std::string> serialized) -> Status {
    wire::Event event;
    if (!event.ParseFromString(*serialized)) return data_loss("Bad tf.Event binary proto tensor string");
    return writer->write(event);
  });
}

}  // namespace troupe
