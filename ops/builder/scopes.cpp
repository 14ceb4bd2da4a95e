// Scopes of names, devices, places and control dependencies.
#include <absl/strings/ascii.h>
#include <troupe/ops/builder/builder.hpp>

#include <algorithm>
#include <array>

namespace troupe::build {
namespace {

/// The four fields of a device's name, each as it stands in the full name; empty where not said.
struct DeviceFields {
  std::array<std::string, 4> parts;

  explicit DeviceFields(const std::string& name) {
    static constexpr std::array<std::string_view, 3> keys{"job:", "replica:", "task:"};
    for (std::size_t at = 0; at < name.size();) {
      const auto end = std::min(name.find('/', at), name.size());
      const std::string part = name.substr(at, end - at);
      at = end + 1;
      if (part.empty()) continue;
      const auto key = std::find_if(keys.begin(), keys.end(), [&](std::string_view k) { return part.starts_with(k); });
      if (key != keys.end()) parts[static_cast<std::size_t>(key - keys.begin())] = part;
      else parts[3] = part.starts_with("device:") ? part : "device:" + absl::AsciiStrToUpper(part);
    }
  }
};

}  // namespace

std::string merge_devices(const std::string& preferred, const std::string& fallback) {
  const DeviceFields a(preferred), b(fallback);
  std::string out;
  for (std::size_t i = 0; i < 4; ++i)
    if (const auto& part = a.parts[i].empty() ? b.parts[i] : a.parts[i]; !part.empty()) out += "/" + part;
  return out;
}

Builder::Scope Builder::scope(const std::string& name) {
  Scope before(this);
  if (name.empty()) context_.scope.clear();
  else context_.scope = name.ends_with('/') ? name : unique_name(name) + "/";
  return before;
}

Builder::Scope Builder::device(const std::string& name) {
  return device([name](const wire::NodeDef& node) { return merge_devices(node.device(), name); });
}

Builder::Scope Builder::device(DeviceFunction choose) {
  Scope before(this);
  context_.devices.push_back(std::move(choose));
  return before;
}

Builder::Scope Builder::after(const std::vector<Op>& ops) {
  Scope before(this);
  ControlGroup group{{}, std::make_shared<std::set<int>>()};
  for (const Op& op : ops) {
    if (op.valid() && op.builder == this) group.controls.push_back(op.node);
    else fail(invalid("A control dependency on an op that was not built here"));
  }
  context_.controls.push_back(std::move(group));
  return before;
}

Builder::Scope Builder::after_nothing() {
  Scope before(this);
  context_.controls.clear();
  return before;
}

Builder::Scope Builder::beside(Op op) {
  Scope before = beside(op.name());
  context_.beside_device = op.device();
  // Who sits beside somebody that sits beside a third, sits beside the third.
  if (op.valid())
    if (auto found = made(op.node).def.attr().find("_class"); found != made(op.node).def.attr().end()) {
      context_.beside.clear();
      for (const auto& place : found->second.list().s())
        if (place.starts_with("loc:@")) context_.beside.push_back(place.substr(5));
    }
  return before;
}

Builder::Scope Builder::beside(const std::string& name) {
  Scope before(this);
  context_.devices.clear();
  context_.beside_device.clear();
  context_.beside = {name};
  return before;
}

}  // namespace troupe::build
