// Readers: they take names of files from a queue and give out their records one after another.
#pragma once

#include <troupe/ops/resources/queue.hpp>
#include <troupe/ops/resources/store.hpp>
#include <troupe/ops/resources/waiting.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// What a kind of reader finds in a unit of work.
class RecordStream {
 public:
  enum class Found { record, last_record, end };
  virtual ~RecordStream() = default;
  virtual Status start(const std::string& work) = 0;
  virtual StatusOr<Found> next(std::string& key, std::string& value) = 0;
  virtual void stop() {}
  /// Readers that open no files can be saved.
  virtual bool can_be_saved() const { return false; }
};

/// How far a reader is.
struct ReaderProgress {
  std::int64_t work_started = 0, work_finished = 0, records = 0;
  std::string work;

  bool at_work() const { return work_started != work_finished; }
  std::string encode() const;
  /// INVALID_ARGUMENT with TensorFlow's texts, which name the reader.
  static StatusOr<ReaderProgress> decode(const std::string& state, const std::string& reader);
};

struct KeysAndValues {
  std::vector<std::string> keys, values;
};

/// Touched only on its device's actor. Calls that read take turns.
class Reader final : public Resource, public std::enable_shared_from_this<Reader> {
 public:
  Reader(std::string name, std::unique_ptr<RecordStream> stream) : name_(std::move(name)), stream_(std::move(stream)) {}
  std::string describe() const override { return fmt::format("{} at \"{}\" after {} records", name_, progress_.work, progress_.records); }

  using Taker = std::function<void(KeysAndValues)>;
  /// Up to `count` records, fewer where a file ends; at least one.
  void read(Step& step, std::shared_ptr<Queue> queue, std::int64_t count, Taker take, Done done);
  void reset();
  StatusOr<std::string> save() const;
  /// A reader that cannot be restored is reset.
  Status restore(const std::string& state);
  std::int64_t records() const { return progress_.records; }
  std::int64_t work_finished() const { return progress_.work_finished; }

 private:
  struct Reading;
  void go_on(const std::shared_ptr<Reading>& reading);
  void advance(const std::shared_ptr<Reading>& reading);
  void take_work(const std::shared_ptr<Reading>& reading);
  Status start_work(const Tuple& element);
  void end(const std::shared_ptr<Reading>& reading, Status status);
  void settle();

  std::string name_;
  std::unique_ptr<RecordStream> stream_;
  ReaderProgress progress_;
  bool busy_ = false;
  WaitingLine waiting_;
};

template <>
struct resource_type<Reader> {
  static constexpr const char* name = "N10tensorflow15ReaderInterfaceE";
};

}  // namespace troupe
