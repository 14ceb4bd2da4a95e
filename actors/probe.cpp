// A GetStatus, outside of any loop.
#include <troupe/actors/probe.hpp>

#include <troupe/wire/worker.pb.h>
#include <troupe/actors/blocking_call.hpp>
#include <troupe/messaging/proto_bytes.hpp>

namespace troupe {

Status probe(const std::string& address, std::chrono::milliseconds patience) {
  return blocking_call(dial(address), "/tensorflow.WorkerService/GetStatus", serialize(wire::GetStatusRequest()), patience, false).status();
}

}  // namespace troupe
