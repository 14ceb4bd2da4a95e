// Ops on readers, by handle and by reference.
#include <troupe/ops/containers/shared.hpp>
#include <troupe/ops/files/record_streams.hpp>
#include <troupe/ops/kernel.hpp>

#include <functional>

namespace troupe {
namespace {

StatusOr<std::int64_t> not_negative(Binding& binding, const char* name) {
  TRY_ASSIGN(const auto value, binding.attr<std::int64_t>(name));
  if (value < 0) return invalid("{} must be >= 0 not {}", name, value);
  return value;
}

/// A compression that is not known is none, as TensorFlow has it.
StatusOr<Compression> compression_of(Binding& binding, const char* name) {
  TRY_ASSIGN(const auto text, binding.attr<std::string>(name));
  const auto known = compression_named(text);
  return known.ok() ? *known : Compression::none;
}

/// What a reader's node declares.
struct Declaration {
  Exit exit;
  std::string title;  // what messages call it
  std::function<std::unique_ptr<RecordStream>()> stream;

  static StatusOr<Declaration> make(Binding& binding) {
    Declaration d;
    TRY_ASSIGN(d.exit, Exit::make_private(binding));
    std::string kind = binding.node().op();
    if (kind.ends_with("V2")) kind.resize(kind.size() - 2);
    d.title = fmt::format("{} '{}'", kind, binding.node().name());
    if (kind == "IdentityReader") d.stream = identity_stream;
    if (kind == "WholeFileReader") d.stream = whole_file_stream;
    if (kind == "TextLineReader") {
      TRY_ASSIGN(const auto skipped, not_negative(binding, "skip_header_lines"));
      d.stream = [skipped] { return line_stream(skipped); };
    }
    if (kind == "TFRecordReader") {
      TRY_ASSIGN(const auto compression, compression_of(binding, "compression_type"));
      d.stream = [compression] { return record_stream(compression); };
    }
    if (kind == "FixedLengthRecordReader") {
      TRY_ASSIGN(const auto layout, layout_of(binding));
      d.stream = [layout] { return fixed_length_stream(layout); };
    }
    return d;
  }

  static StatusOr<FixedLength> layout_of(Binding& binding) {
    FixedLength layout;
    TRY_ASSIGN(layout.header, not_negative(binding, "header_bytes"));
    TRY_ASSIGN(layout.record, not_negative(binding, "record_bytes"));
    TRY_ASSIGN(layout.footer, not_negative(binding, "footer_bytes"));
    TRY_ASSIGN(layout.hop, not_negative(binding, "hop_bytes"));
    // Only version 2 has it, so that TensorFlow can make none of version 1.
    if (!binding.find("encoding")) return not_found("No attr named 'encoding' in NodeDef:");
    TRY_ASSIGN(const auto encoding, binding.attr<std::string>("encoding"));
    if (encoding == "ZLIB") layout.compression = Compression::zlib;
    return layout;
  }
};

}  // namespace

void add_readers(Registry& ops) {
  ops.add({"IdentityReader", "IdentityReaderV2", "WholeFileReader", "WholeFileReaderV2", "TextLineReader", "TextLineReaderV2", "TFRecordReader",
           "TFRecordReaderV2", "FixedLengthRecordReader", "FixedLengthRecordReaderV2"},
          [](Call& call, Step& step, State<Declaration> d) {
            const auto make = [&]() -> StatusOr<std::shared_ptr<Reader>> { return std::make_shared<Reader>(d->title, d->stream()); };
            return d->exit.open<Reader>(call, step, make, [](const Reader&) { return absl::OkStatus(); });
          });

  ops.add({"ReaderRead", "ReaderReadV2"}, [](Call& call, Step& step, Shared<Reader> reader, Shared<Queue> queue, Done done) {
    const auto take = [&call](KeysAndValues found) {
      call.set_scalar(0, std::move(found.keys[0]));
      call.set_scalar(1, std::move(found.values[0]));
    };
    reader->read(step, queue.object, 1, take, std::move(done));
  });
  ops.add({"ReaderReadUpTo", "ReaderReadUpToV2"},
          [](Call& call, Step& step, Shared<Reader> reader, Shared<Queue> queue, In<std::int64_t> count, Done done) {
            if (count.size() < 1) return done(invalid("num_records must be scalar, but had shape: {}", count.shape()));
            if (count[0] < 0) return done(invalid("num_records must be >= 0 not {}", count[0]));
            const auto take = [&call](KeysAndValues found) {
              call.set(0, Tensor::vector(found.keys));
              call.set(1, Tensor::vector(found.values));
            };
            reader->read(step, queue.object, count[0], take, std::move(done));
          });

  ops.add({"ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2"},
          [](Call& call, Step&, Shared<Reader> reader) { call.set_scalar(0, reader->records()); });
  ops.add({"ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2"},
          [](Call& call, Step&, Shared<Reader> reader) { call.set_scalar(0, reader->work_finished()); });
  ops.add({"ReaderReset", "ReaderResetV2"}, [](Call&, Step&, Shared<Reader> reader) { reader->reset(); });
  ops.add({"ReaderSerializeState", "ReaderSerializeStateV2"}, [](Call& call, Step&, Shared<Reader> reader) -> Status {
    TRY_ASSIGN(std::string state, reader->save());
    call.set_scalar(0, std::move(state));
    return absl::OkStatus();
  });
  ops.add({"ReaderRestoreState", "ReaderRestoreStateV2"}, [](Call&, Step&, Shared<Reader> reader, In<std::string> state) -> Status {
    if (state.dims() != 0) return invalid("Reader state must be scalar, but had shape: {}", state.shape());
    return reader->restore(state[0]);
  });
}

}  // namespace troupe
