// The saved form of a reader's progress: TensorFlow's ReaderBaseState.
#include <troupe/ops/resources/reader.hpp>

#include <absl/strings/escaping.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

namespace troupe {
namespace {

namespace pb = google::protobuf;
using Wire = pb::internal::WireFormatLite;
enum Field { started = 1, finished = 2, records = 3, work = 4 };

bool parse(const std::string& state, ReaderProgress& progress) {
  pb::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(state.data()), static_cast<int>(state.size()));
  while (const std::uint32_t tag = in.ReadTag()) {
    const int field = Wire::GetTagFieldNumber(tag);
    const bool number = Wire::GetTagWireType(tag) == Wire::WIRETYPE_VARINT && field >= started && field <= records;
    const bool text = Wire::GetTagWireType(tag) == Wire::WIRETYPE_LENGTH_DELIMITED && field == work;
    if (number) {
      pb::uint64 value = 0;
      if (!in.ReadVarint64(&value)) return false;
      (field == started ? progress.work_started : field == finished ? progress.work_finished : progress.records) = static_cast<std::int64_t>(value);
    } else if (text) {
      std::uint32_t size = 0;
      if (!in.ReadVarint32(&size) || !in.ReadString(&progress.work, static_cast<int>(size))) return false;
    } else if (!Wire::SkipField(&in, tag)) {
      return false;
    }
  }
  return in.ConsumedEntireMessage();
}

std::string debug_text(const ReaderProgress& p) {
  std::string text;
  if (p.work_started != 0) text += fmt::format("work_started: {}\n", p.work_started);
  if (p.work_finished != 0) text += fmt::format("work_finished: {}\n", p.work_finished);
  if (p.records != 0) text += fmt::format("num_records_produced: {}\n", p.records);
  if (!p.work.empty()) text += fmt::format("current_work: \"{}\"\n", absl::CEscape(p.work));
  return text;
}

}  // namespace

std::string ReaderProgress::encode() const {
  std::string state;
  {
    pb::io::StringOutputStream bytes(&state);
    pb::io::CodedOutputStream out(&bytes);
    if (work_started != 0) Wire::WriteInt64(started, work_started, &out);
    if (work_finished != 0) Wire::WriteInt64(finished, work_finished, &out);
    if (records != 0) Wire::WriteInt64(Field::records, records, &out);
    if (!work.empty()) Wire::WriteBytes(Field::work, work, &out);
  }
  return state;
}

StatusOr<ReaderProgress> ReaderProgress::decode(const std::string& state, const std::string& reader) {
  ReaderProgress progress;
  if (!parse(state, progress)) return invalid("Could not parse state for {}: {}", reader, absl::CEscape(state));
  if (progress.work_started < 0 || progress.work_finished < 0 || progress.records < 0)
    return invalid("Unexpected negative value when restoring in {}: {}", reader, debug_text(progress));
  if (progress.work_started > progress.work_finished)
    return invalid("Inconsistent work started vs. finished when restoring in {}: {}", reader, debug_text(progress));
  return progress;
}

}  // namespace troupe
