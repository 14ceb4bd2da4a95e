// The inside of a node: its company on a stage, its server, and the way from start to stop.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <troupe/actors/company.hpp>
#include <troupe/actors/embed/desk.hpp>
#include <troupe/actors/embed/door.hpp>
#include <troupe/actors/embed/node.hpp>
#include <troupe/actors/embed/transport.hpp>
#include <troupe/actors/serving.hpp>

#include <optional>

namespace troupe::embed {

/// All but the constructor runs where the stage's actors run, unless it says otherwise.
class NodeCore final : public Door, public Resident, public std::enable_shared_from_this<NodeCore> {
 public:
  using Done = std::function<void(Status)>;
  NodeCore(std::shared_ptr<StageCore> stage, NodeSetup setup);
  ~NodeCore() override;

  const std::shared_ptr<StageCore>& stage() const { return stage_; }
  const std::string& task() const { return task_; }
  /// Any thread.
  bool running() const { return state_.load() == State::running; }
  int port() const { return port_.load(); }

  void start(Done done);
  void stop(std::chrono::milliseconds grace, Done done);
  /// Nobody holds the node any more: it stops as soon as it can.
  void let_go();
  void abandon() override;

  const std::shared_ptr<Desk>& desk() const override { return desk_; }
  Master master() const override;
  std::string target() const override { return "grpc://" + address_; }
  /// The device that holds a resource, by the device's name; none where it is in another process.
  Device device(const std::string& name) const override;

 private:
  enum class State { stopped, starting, running, stopping };
  Company::MakePeer roads(Company& company);
  StageTransport& transport();
  void set_master(Master master);
  void listened(const Status& status, Done done);
  void cancel_rest();
  void requests_over();
  void close_transport();
  void end_actors();
  void ended();

  std::shared_ptr<StageCore> stage_;
  NodeSetup setup_;
  std::string task_, address_;
  std::shared_ptr<Desk> desk_;
  std::atomic<State> state_{State::stopped};
  std::atomic<int> port_{0};
  std::unique_ptr<Company> company_;
  mutable std::mutex master_mutex_;
  Master master_;
  std::unique_ptr<StageTransport> transport_;
  std::unique_ptr<GrpcServer> server_;
  Gateway gateway_;
  std::optional<boost::asio::executor_work_guard<boost::asio::any_io_executor>> work_;  // while it listens, or stops
  std::chrono::milliseconds grace_{0};
  bool requests_over_ = false, let_go_ = false;
  Done stopped_;
  std::shared_ptr<NodeCore> alive_;  // while it stops
};

}  // namespace troupe::embed
