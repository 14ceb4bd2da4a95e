// Event files: what summary writers write and TensorBoard reads.
#pragma once

#include <troupe/wire/event.pb.h>
#include <troupe/ops/files/records.hpp>
#include <troupe/ops/resources/store.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// Touched only on its device's actor. Events wait until there are enough of them, or it is time, or somebody asks.
class EventFile final : public Resource {
 public:
  struct Options {
    std::string directory, suffix;
    std::int32_t most_waiting = 10;
    std::chrono::milliseconds interval{120000};
  };
  /// Makes the directory and a file in it that begins with the version of the format.
  static StatusOr<std::shared_ptr<EventFile>> open(Options options);
  EventFile(Options options, std::string name, RecordWriter writer);
  ~EventFile() override;
  std::string describe() const override { return fmt::format("event file {}, {} events wait", name_, waiting_.size()); }

  Status write(const wire::Event& event);
  Status flush();

 private:
  using Clock = std::chrono::steady_clock;
  Options options_;
  std::string name_;
  RecordWriter writer_;
  std::vector<std::string> waiting_;
  Clock::time_point flushed_ = Clock::now();
};

/// An event of this moment.
wire::Event event_at(std::int64_t step);

template <>
struct resource_type<EventFile> {
  static constexpr const char* name = "N10tensorflow22SummaryWriterInterfaceE";
};

}  // namespace troupe
