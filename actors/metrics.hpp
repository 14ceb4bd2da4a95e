// A node's own metrics: every call is counted, and the counts are written now and then to an event file, and to a page for Prometheus.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/link.hpp>
#include <troupe/actors/tally.hpp>
#include <troupe/devices/pool.hpp>
#include <troupe/devices/staleness.hpp>
#include <troupe/messaging/grpc_server.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// Time to write.
struct Tick {};

using MetricsActor = caf::typed_actor<caf::reacts_to<Answered>, caf::reacts_to<Tick>>;

/// Owned by the composition root.
class Metrics {
 public:
  struct Options {
    std::string directory;
    std::chrono::milliseconds interval;
    std::vector<std::string> methods;  // short names, as the server numbers them
  };
  /// Fails where no file can be written. Files are written on the I/O pool.
  static StatusOr<std::unique_ptr<Metrics>> start(caf::actor_system& system, Pool& io, Options options, LinkCountersPtr links,
                                                  std::shared_ptr<Staleness> staleness);
  ~Metrics();

  /// The same call, counted when it is answered.
  std::shared_ptr<ServerCall> counted(std::shared_ptr<ServerCall> call) const;
  const MetricsActor& actor() const { return actor_; }
  /// Writes what is not written yet. Called once no actor runs any more.
  void finish();

 private:
  struct Book;
  Metrics() = default;

  std::shared_ptr<Book> book_;
  MetricsActor actor_;
};

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Answered)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Tick)
