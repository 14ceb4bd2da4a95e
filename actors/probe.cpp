// Questions to another task, outside of any loop.
#include <troupe/actors/probe.hpp>

#include <troupe/wire/worker.pb.h>
#include <troupe/actors/blocking_call.hpp>
#include <troupe/messaging/proto_bytes.hpp>
#include <troupe/messaging/shared_memory.hpp>

namespace troupe {

Status probe(const std::string& address, std::chrono::milliseconds patience) {
  return blocking_call(dial(address), "/tensorflow.WorkerService/GetStatus", serialize(wire::GetStatusRequest()), patience, false).status();
}

std::string road_to(const std::string& address, std::chrono::milliseconds patience) {
  const auto report = blocking_call(dial(address), "/troupe.Node/Report", serialize(wire::GetStatusRequest()), patience, false);
  if (report.status().code() == Code::kUnimplemented) return "a TensorFlow task: tensors are fetched one by one";
  if (!report.ok()) return "by which road is not known: " + text_of(report.status());
  std::vector<grpc::Slice> slices;
  std::string text;
  if (report->Valid() && report->Dump(&slices).ok())
    for (const auto& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  const std::string machine = machine_hint();
  const bool here = !machine.empty() && text.find(fmt::format("\"machine\": \"{}\"", machine)) != std::string::npos;
  return here ? "a Troupe node on this machine: by link, large tensors through shared memory" : "a Troupe node: by link";
}

}  // namespace troupe
