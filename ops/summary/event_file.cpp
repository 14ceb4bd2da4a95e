// Writing of event files.
#include <troupe/ops/files/local_files.hpp>
#include <troupe/ops/summary/event_file.hpp>

#include <unistd.h>

#include <atomic>
#include <cmath>

namespace troupe {
namespace {

double wall_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::microseconds>(now).count()) / 1e6;
}

std::string host_name() {
  char name[256] = "localhost";
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// The process and a number make names unique within a second, too.
std::string file_name(const EventFile::Options& options) {
  static std::atomic<std::int64_t> next{0};
  const char* dot = options.suffix.starts_with('.') ? "" : ".";
  return join_path(options.directory, fmt::format("events.out.tfevents.{:010}.{}.{}.{}{}{}", static_cast<std::int64_t>(wall_time()), host_name(),
                                                  ::getpid(), next++, dot, options.suffix));
}

}  // namespace

wire::Event event_at(std::int64_t step) {
  wire::Event event;
  event.set_step(step);
  event.set_wall_time(wall_time());
  return event;
}

StatusOr<std::shared_ptr<EventFile>> EventFile::open(Options options) {
  if (!is_directory(options.directory)) {
    if (file_exists(options.directory)) return failed_precondition("Not a directory");
    TRY(make_directories(options.directory));
  }
  const std::string name = file_name(options);
  auto writer = RecordWriter::create(name);
  if (!writer.ok()) return append_text(writer.status(), "\n\tCould not initialize events writer.");
  auto file = std::make_shared<EventFile>(std::move(options), name, std::move(*writer));
  wire::Event version = event_at(0);
  version.set_wall_time(std::floor(version.wall_time()));
  version.set_file_version("brain.Event:2");
  version.mutable_source_metadata()->set_writer("tensorflow.core.util.events_writer");
  file->waiting_.push_back(version.SerializeAsString());
  TRY(file->flush());
  return file;
}

EventFile::EventFile(Options options, std::string name, RecordWriter writer)
    : options_(std::move(options)), name_(std::move(name)), writer_(std::move(writer)) {}

EventFile::~EventFile() { flush().IgnoreError(); }

Status EventFile::write(const wire::Event& event) {
  waiting_.push_back(event.SerializeAsString());
  const bool many = static_cast<std::int64_t>(waiting_.size()) > options_.most_waiting;
  return many || Clock::now() - flushed_ > options_.interval ? flush() : absl::OkStatus();
}

Status EventFile::flush() {
  Status status;
  for (const std::string& event : waiting_) status.Update(writer_.write(event));
  waiting_.clear();
  status.Update(writer_.flush());
  flushed_ = Clock::now();
  return status.ok() ? status : append_text(status, "\n\tCould not flush events file.");
}

}  // namespace troupe
