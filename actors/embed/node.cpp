// A node's way from start to stop.
#include <troupe/actors/embed/node.hpp>

#include <troupe/actors/embed/node_core.hpp>
#include <troupe/config/device_name.hpp>

namespace troupe::embed {
namespace {

constexpr const char* local_prefix = "stage:";

}  // namespace

Cluster local_cluster(const std::map<std::string, int>& tasks_by_job, const std::string& name) {
  Cluster cluster;
  for (const auto& [job, count] : tasks_by_job)
    for (int i = 0; i < count; ++i) cluster.jobs[job][i] = fmt::format("{}{}/{}/{}", local_prefix, name, job, i);
  return cluster;
}

NodeCore::NodeCore(std::shared_ptr<StageCore> stage, NodeSetup setup)
    : stage_(std::move(stage)), setup_(std::move(setup)), task_(task_name(setup_.task.job, setup_.task.index)) {
  const std::string* known = setup_.cluster.find(setup_.task.job, setup_.task.index);
  address_ = known ? *known : fmt::format("{}/{}/{}", local_prefix, setup_.task.job, setup_.task.index);
  desk_ = std::make_shared<Desk>(*stage_);
  desk_->keeps = stage_;
  desk_->refuse(failed_precondition("{} is not running", task_));
}

NodeCore::~NodeCore() = default;

StageTransport& NodeCore::transport() {
  if (!transport_) transport_ = std::make_unique<StageTransport>(stage_);
  return *transport_;
}

Master NodeCore::master() const {
  std::lock_guard lock(master_mutex_);
  return master_;
}

void NodeCore::set_master(Master master) {
  std::lock_guard lock(master_mutex_);
  master_ = std::move(master);
}

Company::MakePeer NodeCore::roads(Company& company) {
  return [this, &company](const std::string& name, const std::string& address) {
    auto far = [this, &company, name, address]() -> PeerActor {
      if (address.starts_with(local_prefix)) return {};
      return company.keep(spawn_peer(stage_->system(), transport(), name, address, company.link_host()));
    };
    return spawn_neighbour(stage_->system(), stage_->neighbours(), name, address, far);
  };
}

void NodeCore::start(Done done) {
  if (state_.load() != State::stopped) return done(failed_precondition("{} is not stopped", task_));
  auto& neighbours = stage_->neighbours()->by_address;
  if (neighbours.contains(address_)) return done(already_exists("Another node of this stage serves {}", address_));
  state_.store(State::starting);
  company_ = std::make_unique<Company>(stage_->system(), Company::Setup{setup_.task, setup_.cluster, setup_.compute_threads, setup_.io_threads},
                                       [this](Company& company) { return roads(company); });
  neighbours[address_] = {company_->worker(), company_->device()};
  if (setup_.listen.empty()) return listened(absl::OkStatus(), std::move(done));
  work_.emplace(stage_->executor());
  gateway_ = company_->open_gateway();
  server_ = serve(transport(), gateway_, nullptr);
  auto result = std::make_shared<Status>();
  auto port = std::make_shared<int>(0);
  stage_->aside([this, result, port] { *result = server_->listen(setup_.listen, port.get()); },
                [self = shared_from_this(), result, port, done = std::move(done)]() mutable {
                  self->port_.store(*port);
                  self->listened(*result, std::move(done));
                });
}

void NodeCore::listened(const Status& status, Done done) {
  if (!status.ok()) {
    stopped_ = [done = std::move(done), status](const Status&) { done(status); };
    alive_ = shared_from_this();
    state_.store(State::stopping);
    return close_transport();
  }
  set_master(company_->master());
  state_.store(State::running);
  desk_->refuse(absl::OkStatus());
  done(absl::OkStatus());
  if (let_go_) let_go();
}

void NodeCore::stop(std::chrono::milliseconds grace, Done done) {
  if (state_.load() != State::running) return done(failed_precondition("{} is not running", task_));
  state_.store(State::stopping);
  alive_ = shared_from_this();
  if (!work_ && stage_->alive()) work_.emplace(stage_->executor());
  stopped_ = std::move(done);
  grace_ = grace;
  requests_over_ = false;
  const Status reason = unavailable("{} is shutting down.", task_);
  desk_->refuse(reason);
  if (server_) close_after(transport(), gateway_, reason, grace);
  stage_->post_after(this, grace, [this] { cancel_rest(); });
  desk_->waiting().when_none([self = shared_from_this()] { self->stage_->post([self] { self->requests_over(); }); });
}

/// The grace is over: steps are cancelled; whoever does not answer to that is answered for.
void NodeCore::cancel_rest() {
  desk_->waiting().give_up_all(desk_->refusal());
  stage_->post([self = shared_from_this()] { self->desk_->waiting().fail_all(self->desk_->refusal()); });
}

void NodeCore::requests_over() {
  if (std::exchange(requests_over_, true)) return;
  stage_->drop_timers(this);
  if (!server_) return close_transport();
  stage_->aside([this] { shut_down(*server_, grace_); }, [this] { close_transport(); });
}

void NodeCore::close_transport() {
  if (!transport_) return end_actors();
  server_.reset();
  transport_->close([this] { end_actors(); });
}

void NodeCore::end_actors() {
  stage_->neighbours()->by_address.erase(address_);
  set_master({});
  company_->dismiss();
  gateway_ = nullptr;
  // The actors end when this activation does.
  stage_->post([self = shared_from_this()] {
    if (!self->company_->has_threads()) return self->ended();
    self->stage_->aside([company = self->company_.get()] { company->join_threads(); }, [self] { self->ended(); });
  });
}

void NodeCore::ended() {
  company_.reset();
  transport_.reset();
  work_.reset();
  port_.store(0);
  desk_->refuse(failed_precondition("{} is not running", task_));
  state_.store(State::stopped);
  const auto self = std::move(alive_);
  if (auto stopped = std::exchange(stopped_, nullptr)) stopped(absl::OkStatus());
}

void NodeCore::let_go() {
  let_go_ = true;
  if (running()) stop(std::chrono::milliseconds(0), [](const Status&) {});
}

// The way is the same as with an executor, walked on this thread and without timers. A start that is under way ends first.
void NodeCore::abandon() {
  stage_->wind_up([this] { return state_.load() != State::starting; });
  if (state_.load() == State::stopped) return;
  const bool ran = running();
  state_.store(State::stopping);
  alive_ = shared_from_this();
  stopped_ = nullptr;
  desk_->refuse(failed_precondition("The executor is gone"));
  if (gateway_) caf::anon_send(gateway_, Close{unavailable("{} is shutting down.", task_), true});
  desk_->waiting().drop_all();  // a node that waits for the last answer goes on by this
  if (ran) {
    grace_ = std::chrono::milliseconds(0);
    requests_over_ = false;
    stage_->post([self = shared_from_this()] { self->requests_over(); });
  }
  stage_->wind_up([this] { return state_.load() == State::stopped; });
}

Device NodeCore::device(const std::string& name) const {
  if (!company_) return {};
  auto spec = parse_device(name);
  if (!spec.ok() || !spec->job || !spec->task) return {};
  const std::string* address = setup_.cluster.find(*spec->job, *spec->task);
  if (task_name(*spec->job, *spec->task) == task_) address = &address_;
  if (!address) return {};
  auto found = stage_->neighbours()->by_address.find(*address);
  return found == stage_->neighbours()->by_address.end() ? Device() : found->second.device;
}

Node::Node(const Stage& stage, NodeSetup setup) : core_(std::make_shared<NodeCore>(stage.core(), std::move(setup))) { stage.core()->add(core_); }
Node::~Node() {
  if (core_ && core_->stage()->alive()) core_->stage()->post([core = core_] { core->let_go(); });
}
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(Node&& other) noexcept {
  std::swap(core_, other.core_);
  return *this;
}
bool Node::running() const { return core_->running(); }
std::string Node::task() const { return core_->task(); }
int Node::port() const { return core_->port(); }
std::string Node::target() const { return port() == 0 ? "" : fmt::format("grpc://localhost:{}", port()); }

void Node::start(const std::shared_ptr<NodeCore>& core, Done done) {
  core->stage()->run([core, done = std::move(done)]() mutable { core->start(std::move(done)); });
}
void Node::stop(const std::shared_ptr<NodeCore>& core, std::chrono::milliseconds grace, Done done) {
  core->stage()->run([core, grace, done = std::move(done)]() mutable { core->stop(grace, std::move(done)); });
}
std::shared_ptr<StageCore> Node::stage_of(const std::shared_ptr<NodeCore>& core) { return core->stage(); }

}  // namespace troupe::embed
