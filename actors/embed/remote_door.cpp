// A door to a master in another process.
#include <troupe/actors/embed/door.hpp>
#include <troupe/actors/embed/transport.hpp>
#include <troupe/actors/remote_master.hpp>

namespace troupe::embed {
namespace {

class RemoteDoor final : public Door, public Resident {
 public:
  RemoteDoor(std::shared_ptr<StageCore> stage, const std::string& address)
      : stage_(std::move(stage)), address_(address), desk_(std::make_shared<Desk>(*stage_)), transport_(std::make_shared<StageTransport>(stage_)) {
    desk_->keeps = stage_;
    master_ = spawn_remote_master(stage_->system(), *transport_, address_);
  }
  ~RemoteDoor() override {
    caf::anon_send_exit(master_, caf::exit_reason::user_shutdown);
    master_ = nullptr;
    // Keeps what it needs until the last event has come.
    if (stage_->alive()) stage_->post([transport = transport_] { transport->close([transport] {}); });
    else transport_->close_and_wait();
  }
  void abandon() override {
    desk_->refuse(failed_precondition("The executor is gone"));
    desk_->waiting().drop_all();
    transport_->close_and_wait();
  }

  const std::shared_ptr<Desk>& desk() const override { return desk_; }
  Master master() const override { return master_; }
  std::string target() const override { return "grpc://" + address_; }

 private:
  std::shared_ptr<StageCore> stage_;
  std::string address_;
  std::shared_ptr<Desk> desk_;
  std::shared_ptr<StageTransport> transport_;
  Master master_;
};

}  // namespace

std::shared_ptr<Door> open_remote_door(const std::shared_ptr<StageCore>& stage, const std::string& address) {
  auto door = std::make_shared<RemoteDoor>(stage, address);
  stage->add(door);
  return door;
}

}  // namespace troupe::embed
