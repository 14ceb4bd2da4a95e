// Runs of kernels, and their errors.
#include <troupe/devices/kernel_run.hpp>

namespace troupe {

Status out_of_memory(const OutOfMemory& e, const NodeFacts& node) {
  return resource_exhausted("OOM when allocating tensor with shape{} and type {} on {} by allocator cpu", e.shape, name_of(e.dtype), node.device);
}

Status run_kernel(const Kernel& kernel, Call& call) {
  try {
    return kernel.run(call);
  } catch (const OutOfMemory& e) {
    return out_of_memory(e, call.node());
  } catch (const std::exception& e) {
    return internal("{} failed: {}", call.node().op, e.what());
  }
}

Status told_by(const PlanNode& p, Status status) {
  // A text that names its node already, passed on by a Recv, gets the bare name of who passed it, as TensorFlow does.
  const bool passed_on = text_of(status).find("{{node ") != std::string::npos;
  if (p.indent > 0) status = prepend_text(std::string(static_cast<std::size_t>(p.indent), ' '), status);
  return append_text(status, passed_on ? fmt::format("\n\t [[{}]]", p.facts.name) : p.said);
}

}  // namespace troupe
