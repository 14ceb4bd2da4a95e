// A door: what a session needs of the master it talks to, wherever that is.
#pragma once

#include <caf/all.hpp>
#include <troupe/actors/device.hpp>
#include <troupe/actors/embed/desk.hpp>
#include <troupe/actors/services.hpp>

#include <memory>
#include <string>

namespace troupe::embed {

class Door {
 public:
  virtual ~Door() = default;
  virtual const std::shared_ptr<Desk>& desk() const = 0;
  /// Any thread. None when the node has stopped.
  virtual Master master() const = 0;
  /// As a client would name it: "grpc://host:port".
  virtual std::string target() const = 0;
  /// Where the actors run: the device of this process that goes by this name, or none.
  virtual Device device(const std::string&) const { return {}; }
};

/// To a master in another process, "host:port", of Troupe or of TensorFlow.
std::shared_ptr<Door> open_remote_door(const std::shared_ptr<StageCore>& stage, const std::string& address);

}  // namespace troupe::embed
