// A door to a master in another process.
#include <troupe/actors/embed/door.hpp>
#include <troupe/actors/embed/transport.hpp>
#include <troupe/actors/remote_master.hpp>

#include <memory>
#include <utility>

namespace troupe::embed {
namespace {

/// The transport of a door, which stays until its last event has come: longer than the door.
class Line final : public Resident, public std::enable_shared_from_this<Line> {
 public:
  explicit Line(std::shared_ptr<StageCore> stage) : stage_(std::move(stage)), transport_(stage_) {}

  Transport& transport() { return transport_; }
  /// Where the actors run.
  void close() {
    if (std::exchange(closing_, true)) return;
    transport_.close([self = shared_from_this()] { self->closed_ = true; });
  }
  void abandon() override {
    close();
    stage_->wind_up([this] { return closed_; });
  }

 private:
  std::shared_ptr<StageCore> stage_;
  StageTransport transport_;
  bool closing_ = false, closed_ = false;
};

class RemoteDoor final : public Door, public Resident {
 public:
  RemoteDoor(std::shared_ptr<StageCore> stage, const std::string& address)
      : stage_(std::move(stage)), address_(address), desk_(std::make_shared<Desk>(*stage_)), line_(std::make_shared<Line>(stage_)) {
    desk_->keeps = stage_;
    stage_->add(line_);
    master_ = spawn_remote_master(stage_->system(), line_->transport(), address_);
  }
  ~RemoteDoor() override {
    caf::anon_send_exit(master_, caf::exit_reason::user_shutdown);
    master_ = nullptr;
    stage_->post([line = std::move(line_)] { line->close(); });
  }
  void abandon() override {
    desk_->refuse(failed_precondition("The executor is gone"));
    desk_->waiting().drop_all();
  }

  const std::shared_ptr<Desk>& desk() const override { return desk_; }
  Master master() const override { return master_; }
  std::string target() const override { return "grpc://" + address_; }

 private:
  std::shared_ptr<StageCore> stage_;
  std::string address_;
  std::shared_ptr<Desk> desk_;
  std::shared_ptr<Line> line_;
  Master master_;
};

}  // namespace

std::shared_ptr<Door> open_remote_door(const std::shared_ptr<StageCore>& stage, const std::string& address) {
  auto door = std::make_shared<RemoteDoor>(stage, address);
  stage->add(door);
  return door;
}

}  // namespace troupe::embed
