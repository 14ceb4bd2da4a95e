// The ops that TensorFlow's own tests build graphs of: facts, labels, sleep, failures to order.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/step_host.hpp>

#include <absl/synchronization/notification.h>

namespace troupe {
namespace {

std::string label_of(const Binding& binding) {
  const auto* attr = binding.find("_kernel");
  return attr ? attr->s() : std::string();
}

Status no_such_label(const Binding& binding, const char* kernels) {
  const std::string label = label_of(binding), attrs = label.empty() ? "" : fmt::format("_kernel=\"{}\"", label);
  return invalid(
      "No OpKernel was registered to support Op '{}' used by {{{{node {}}}}} with these attrs: [{}]\nRegistered devices: [CPU]\n"
      "Registered kernels:\n{}\n\t [[{}]]",
      binding.node().op(), binding.node().name(), attrs, kernels, binding.node().name());
}

StatusOr<Kernel> says(std::string text) {
  Kernel kernel;
  kernel.run = [text = std::move(text)](Call& call) {
    call.set_scalar<std::string>(0, text);
    return absl::OkStatus();
  };
  return kernel;
}

StatusOr<Kernel> required_label(Binding& binding) {
  const std::string label = label_of(binding);
  if (label != "overload_1" && label != "overload_2")
    return no_such_label(binding, "  device='CPU'; label='overload_1'\n  device='CPU'; label='overload_2'\n");
  return says("My label is: " + label);
}

StatusOr<Kernel> fact(Binding& binding) {
  const std::string label = label_of(binding);
  if (label.empty()) return says("0! == 1");
  if (label == "Sergey" || label == "sergey") return says("Sergey Brin and Batman have never been seen at the same place at the same time.");
  return no_such_label(binding,
                       "  device='CPU'\n  device='CPU'; label='Sergey'\n  device='DEFAULT'\n  device='GPU'\n  device='CPU'; label='sergey'\n");
}

/// Waits that long away from the device's actor; a step that is cancelled does not wait to the end.
void sleep(Step& step, std::int64_t seconds, Done done) {
  StepHost* host = host_of(step);
  if (seconds <= 0 || host == nullptr) return done(absl::OkStatus());
  if (step.cancellation->cancelled()) return done(step.cancellation->reason());
  auto cancelled = std::make_shared<absl::Notification>();
  const auto token = step.cancellation->on_cancel([cancelled] { cancelled->Notify(); });
  host->run_blocking([cancelled, seconds] { cancelled->WaitForNotificationWithTimeout(absl::Seconds(seconds)); },
                     [&step, cancelled, token, done = std::move(done)] {
                       if (cancelled->HasBeenNotified()) return done(step.cancellation->reason());
                       step.cancellation->forget(token);
                       done(absl::OkStatus());
                     });
}

Status check_seconds(const Any& seconds) {
  return seconds->rank() == 0 ? absl::OkStatus() : invalid("Expected argument 0 to be a scalar. Received{}", describe(seconds.tensor));
}

}  // namespace

void add_test_ops(Registry& ops) {
  ops.factory("ConstructionFails", {}, [](Binding&) -> StatusOr<Kernel> { return invalid("Failure during construction."); });
  ops.factory("KernelLabelRequired", {}, required_label);
  ops.factory("Fact", {}, fact);
  ops.add("DevicePlacementOp", [](Call& call, Step& step) { call.set_scalar<std::string>(0, step.device); });
  ops.add("DtypeWithDefaultOp", [](Call& call, Any x) { call.set_scalar<std::string>(0, std::string(name_of(x->dtype()))); });
  ops.add("TestAttr", types<float>{}, []<class T>(Call& call, Gives<T>) { call.set_scalar<T>(0, T(1)); });
  ops.add("HostConst", [](Call& call, Attr<"value", Tensor> value, Attr<"dtype", DType> dtype) -> Status {
    if (value->dtype() != dtype) return invalid("Type mismatch between value ({}) and dtype ({})", name_of(value->dtype()), name_of(dtype));
    call.set(0, *value);
    return absl::OkStatus();
  });
  ops.add("SyncDevice", [](Call&) {});
  ops.add("IsTensorFloat32Enabled", [](Call& call) { call.set_scalar(0, true); });
  // Handles name what they stand for; none of them holds it.
  ops.add("IsResourceHandleRefCounting", [](Call& call, Any) { call.set_scalar(0, false); });
  ops.add("MakeWeakResourceHandle", [](Call& call, Any handle) { call.set(0, handle.tensor); });
  ops.add("CustomAggregator", [](Call& call, Any x) { call.set(0, x.tensor); });
  ops.add("FileSystemSetConfiguration", [](Call&, Any scheme, Any key, Any value) -> Status {
    if (scheme->rank() != 0) return invalid("scheme must be scalar, got shape {}", scheme->shape());
    if (key->rank() != 0) return invalid("key must be scalar, got shape {}", key->shape());
    if (value->rank() != 0) return invalid("value must be scalar, got shape {}", scheme->shape());
    const auto& text = scheme->item<std::string>();
    if (text.empty() || text == "file") return unimplemented("SetOption");
    return unimplemented("File system scheme '{}' not found to set configuration", text);
  });
  ops.add("SleepOp", [](Call&, Any seconds, Step& step, Done done) {
    if (Status status = check_seconds(seconds); !status.ok()) return done(status);
    sleep(step, seconds->item<std::int32_t>(), std::move(done));
  });
  ops.add("SleepIdentityOp", [](Call& call, Any seconds, Any x, Step& step, Done done) {
    if (Status status = check_seconds(seconds); !status.ok()) return done(status);
    call.set(0, x.tensor);
    sleep(step, seconds->item<std::int32_t>(), std::move(done));
  });
}

}  // namespace troupe
