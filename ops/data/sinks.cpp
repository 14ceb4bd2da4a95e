// Whole datasets written to where they are needed: a file of records, a table.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/data/dataset.hpp>
#include <troupe/ops/files/records.hpp>
#include <troupe/ops/resources/table.hpp>

namespace troupe {
namespace {

/// Records on their way to a file, some at a time.
struct RecordSink {
  static constexpr std::size_t at_once = 256;
  SourcePtr source;
  std::string file;
  Compression compression;
  std::optional<RecordWriter> writer;
  std::vector<std::string> records;
  bool over = false;
  BlockingWork work;

  Status write() {
    if (!writer) {
      TRY_ASSIGN(RecordWriter made, RecordWriter::create(file, compression));
      writer.emplace(std::move(made));
    }
    for (const std::string& record : std::exchange(records, {})) TRY(writer->write(record));
    return over ? writer->close() : absl::OkStatus();
  }
};

Poll write_records(Reading& reading, const std::shared_ptr<RecordSink>& sink) {
  for (;;) {
    if (sink->work.started()) {
      if (const Poll poll = sink->work.take(reading); poll != Poll::ready || sink->over) return poll;
    }
    while (!sink->over && sink->records.size() < RecordSink::at_once) {
      Tuple element;
      const Poll poll = sink->source->next(reading, element);
      if (poll == Poll::waits || poll == Poll::failed) return poll;
      if (poll == Poll::end) sink->over = true;
      else sink->records.push_back(element[0].item<std::string>());
    }
    sink->work.start(reading, [sink] { return sink->write(); });
  }
}

struct Entries {
  SourcePtr source;
  std::vector<Tensor> keys, values;
};

Tensor one_after_another(const std::vector<Tensor>& parts, DType dtype) {
  std::int64_t n = 0, at = 0;
  for (const Tensor& part : parts) n += part.size();
  Tensor all(dtype, Shape{n});
  for (const Tensor& part : parts) {
    copy_elements(part, 0, all, at, part.size());
    at += part.size();
  }
  return all;
}

Poll gather(Reading& reading, Entries& entries) {
  for (;;) {
    Tuple element;
    if (const Poll poll = entries.source->next(reading, element); poll != Poll::ready) return poll;
    if (element[0].size() != element[1].size())
      return reading.fail(invalid("Keys and values of a table differ in number: {} and {}", element[0].size(), element[1].size()));
    entries.keys.push_back(std::move(element[0]));
    entries.values.push_back(std::move(element[1]));
  }
}

}  // namespace

void add_dataset_sinks(Registry& ops) {
  ops.add({"DatasetToTFRecord", "ExperimentalDatasetToTFRecord"},
          [](Call&, Step& step, DatasetIn input, Number<std::string> file, Number<std::string> type, Done done) {
            auto compression = compression_named(*type);
            if (!compression.ok()) return done(compression.status());
            const auto& facts = input->element;
            if (facts.types.size() != 1 || facts.types[0] != DType::string || !facts.shapes[0].compatible_with(Shape{}))
              return done(invalid("Unsupported dataset: its elements must be single strings"));
            auto sink = std::make_shared<RecordSink>();
            sink->source = input->open();
            sink->file = *file;
            sink->compression = *compression;
            auto attempt = [sink](Reading& reading) { return write_records(reading, sink); };
            Reading::start(step, std::make_shared<Instances>(), attempt, [done = std::move(done)](Poll, Status status) { done(std::move(status)); });
          });
  ops.add("InitializeTableFromDataset", [](Call& call, Step& step, Held<Table> table, DatasetIn input, Done done) {
    const TableFacts& facts = table->facts();
    const auto& types = input->element.types;
    if (!facts.initializable) return done(invalid("Table  {} is not initializable", call.node().name));
    if (types.size() != 2) return done(invalid("A table is filled from elements of two components, not {}", types.size()));
    if (types[0] != facts.key || types[1] != facts.value)
      return done(invalid("Key and value types of the table are {} and {}, those of the dataset {} and {}", name_of(facts.key), name_of(facts.value),
                          name_of(types[0]), name_of(types[1])));
    auto entries = std::make_shared<Entries>();
    entries->source = input->open();
    auto attempt = [entries](Reading& reading) { return gather(reading, *entries); };
    Reading::start(step, std::make_shared<Instances>(), attempt, [entries, table = table.object, done = std::move(done)](Poll, Status status) {
      const TableFacts& facts = table->facts();
      if (status.ok() && entries->keys.empty()) return done(out_of_range("end of iterator"));
      done(status.ok() ? table->initialize(one_after_another(entries->keys, facts.key), one_after_another(entries->values, facts.value)) : status);
    });
  });
}

}  // namespace troupe
