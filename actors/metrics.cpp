// Counting of calls on their way through the server, and the file that the counts go to.
#include <troupe/actors/metrics.hpp>

#include <troupe/actors/exposition.hpp>
#include <troupe/ops/files/local_files.hpp>
#include <troupe/ops/summary/event_file.hpp>

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <future>

namespace troupe {
namespace {

using Clock = std::chrono::steady_clock;

class CountedCall final : public ServerCall {
 public:
  CountedCall(std::shared_ptr<ServerCall> call, MetricsActor metrics)
      : ServerCall(call->method), call_(std::move(call)), metrics_(std::move(metrics)) {
    request.Swap(&call_->request);
    counts_.method = method;
    counts_.received = request.Length();
  }
  ~CountedCall() override { call_->on_cancelled = nullptr; }

  /// Once somebody holds it.
  void listen(const std::shared_ptr<CountedCall>& self) {
    call_->on_cancelled = [weak = std::weak_ptr(self)] {
      if (auto alive = weak.lock(); alive && alive->on_cancelled) alive->on_cancelled();
    };
  }

  void reply(grpc::ByteBuffer response) override {
    count(false, response.Length());
    call_->reply(std::move(response));
  }
  void reply_failure(grpc::ByteBuffer response) override {
    count(true, response.Length());
    call_->reply(std::move(response));
  }
  void fail(const Status& status) override {
    count(true, 0);
    call_->fail(status);
  }
  std::string peer() const override { return call_->peer(); }
  std::optional<std::chrono::milliseconds> time_left() const override { return call_->time_left(); }

 private:
  void count(bool failed, std::size_t sent) {
    counts_.failed = failed;
    counts_.sent = sent;
    counts_.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    caf::anon_send(metrics_, counts_);
  }

  std::shared_ptr<ServerCall> call_;
  MetricsActor metrics_;
  Answered counts_;
  Clock::time_point began_ = Clock::now();
};

double resident_bytes() {
  long long pages = 0, resident = 0;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "r"), &std::fclose);
  if (!file || std::fscanf(file.get(), "%lld %lld", &pages, &resident) != 2) return 0;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void add_links(const LinkCounters& counters, wire::Summary& summary) {
  const auto add = [&](const char* name, const std::atomic<std::int64_t>& count) {
    add_number(std::string("links/") + name, static_cast<double>(count.load()), summary);
  };
  add("runs_sent", counters.runs_sent);
  add("runs_served", counters.runs_served);
  add("tensors_asked", counters.asked);
  add("tensors_pushed", counters.pushed);
  add("tensors_taken", counters.taken);
  add("tensors_dropped", counters.dropped);
}

}  // namespace

/// The actor's, until there are no actors any more. The file is one job's at a time.
struct Metrics::Book {
  Book(Tally t, LinkCountersPtr l, std::shared_ptr<Staleness> s, std::shared_ptr<EventFile> f, std::string p)
      : tally(std::move(t)), links(std::move(l)), staleness(std::move(s)), file(std::move(f)), page(std::move(p)) {}

  wire::Event next_event() {
    wire::Event event = event_at(reports++);
    *event.mutable_summary() = tally.report();
    add_links(*links, *event.mutable_summary());
    return event;
  }
  void write(wire::Event event) {
    add_number("node/resident_bytes", resident_bytes(), *event.mutable_summary());
    const auto counts = staleness->counts();
    Status status = write_page(exposition(event.summary(), counts));
    add_staleness(counts, *event.mutable_summary());
    status.Update(file->write(event));
    status.Update(file->flush());
    if (!status.ok()) spdlog::warn("Metrics were not written: {}", text_of(status));
  }
  /// Whoever reads it finds a whole page.
  Status write_page(const std::string& text) const {
    TRY(write_file(page + ".new", text));
    std::error_code error;
    std::filesystem::rename(page + ".new", page, error);
    return error ? errno_status(page, error.value()) : absl::OkStatus();
  }
  bool writing() const { return job.valid() && job.wait_for(std::chrono::seconds(0)) != std::future_status::ready; }

  Tally tally;
  LinkCountersPtr links;
  std::shared_ptr<Staleness> staleness;
  std::shared_ptr<EventFile> file;
  std::string page;
  std::int64_t reports = 0;
  std::shared_future<void> job;

  static MetricsActor::behavior_type behavior(MetricsActor::pointer self, std::shared_ptr<Book> book, Pool* io, std::chrono::milliseconds interval) {
    self->delayed_send(self, interval, Tick{});
    return {
        [book](const Answered& call) { book->tally.add(call); },
        [self, book, io, interval](Tick) {
          self->delayed_send(self, interval, Tick{});
          if (book->writing()) return;  // a slow disk: what is counted now is in the next report
          auto job = std::make_shared<std::packaged_task<void()>>([book, event = book->next_event()] { book->write(event); });
          book->job = job->get_future().share();
          io->submit([job] { (*job)(); });
        },
    };
  }
};

StatusOr<std::unique_ptr<Metrics>> Metrics::start(caf::actor_system& system, Pool& io, Options options, LinkCountersPtr links,
                                                  std::shared_ptr<Staleness> staleness) {
  TRY_ASSIGN(auto file, EventFile::open({options.directory, ".troupe", 0, std::chrono::milliseconds(0)}));
  auto metrics = std::unique_ptr<Metrics>(new Metrics);
  metrics->book_ = std::make_shared<Book>(Tally(std::move(options.methods)), std::move(links), std::move(staleness), std::move(file),
                                          options.directory + "/metrics.prom");
  metrics->actor_ = system.spawn(&Book::behavior, metrics->book_, &io, options.interval);
  return metrics;
}

Metrics::~Metrics() = default;

std::shared_ptr<ServerCall> Metrics::counted(std::shared_ptr<ServerCall> call) const {
  auto made = std::make_shared<CountedCall>(std::move(call), actor_);
  made->listen(made);
  return made;
}

void Metrics::finish() {
  if (book_->job.valid()) book_->job.wait();
  book_->write(book_->next_event());
}

}  // namespace troupe
