// A task of a cluster inside a service: its actors run on the service's executor.
#pragma once

#include <boost/asio/async_result.hpp>
#include <troupe/actors/embed/stage.hpp>
#include <troupe/config/cluster.hpp>
#include <troupe/messaging/status.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe::embed {

class NodeCore;

struct NodeSetup {
  Task task{"local", 0};
  /// The tasks it knows, itself among them or not. A task whose address a node of the same stage serves is asked directly, all others
  /// over gRPC.
  Cluster cluster;
  /// Where to listen, "host:port"; port 0 picks a free one. None: the node does not listen, and starts no gRPC for that.
  std::vector<std::string> listen;
  /// Threads for kernels that take long. None: they run on the service's executor like everything else.
  int compute_threads = 0;
  /// Threads for kernels that wait for files, started by the first of them.
  int io_threads = 1;
};

/// A cluster whose tasks all live on one stage, under addresses that no wire has: local_cluster({{"ps", 2}, {"worker", 3}}). Clusters
/// of different names may share a stage.
Cluster local_cluster(const std::map<std::string, int>& tasks_by_job, const std::string& name = "");

/// Start and stop are Asio operations that complete with `void(absl::Status)` on the handler's executor, by default the stage's. All
/// functions may be called from any thread of the executor, but not two at a time. A stopped node may be started again, and is new then.
///
/// While it listens, a node keeps the executor busy (io_context::run does not return) until it is stopped. Letting go of a Node that
/// runs stops it without grace, in the background; the stage's inside lives until that is done.
class Node {
 public:
  Node(const Stage& stage, NodeSetup setup);
  ~Node();
  Node(Node&&) noexcept;
  Node& operator=(Node&&) noexcept;

  /// FAILED_PRECONDITION when it is not stopped, ALREADY_EXISTS when another node of the stage serves its address, UNAVAILABLE when it
  /// cannot listen, INVALID_ARGUMENT for an address that is none.
  template <class Token>
  auto async_start(Token&& token) {
    return initiate([core = core_](Done done) { start(core, std::move(done)); }, std::forward<Token>(token));
  }
  /// Takes no new work, gives steps so long to finish, cancels the rest, which get UNAVAILABLE, and ends all actors. FAILED_PRECONDITION
  /// when it is not running. Not to be cancelled.
  template <class Token>
  auto async_stop(std::chrono::milliseconds grace, Token&& token) {
    return initiate([core = core_, grace](Done done) { stop(core, grace, std::move(done)); }, std::forward<Token>(token));
  }

  bool running() const;
  /// "/job:worker/replica:0/task:0"
  std::string task() const;
  /// The port it listens on, and "grpc://localhost:port"; 0 and "" while it does not listen.
  int port() const;
  std::string target() const;

  const std::shared_ptr<NodeCore>& core() const { return core_; }

 private:
  using Done = std::function<void(Status)>;
  static void start(const std::shared_ptr<NodeCore>& core, Done done);
  static void stop(const std::shared_ptr<NodeCore>& core, std::chrono::milliseconds grace, Done done);
  static std::shared_ptr<StageCore> stage_of(const std::shared_ptr<NodeCore>& core);
  template <class Begin, class Token>
  auto initiate(Begin begin, Token&& token);

  std::shared_ptr<NodeCore> core_;
};

}  // namespace troupe::embed

#include <troupe/actors/embed/node_operation.hpp>
