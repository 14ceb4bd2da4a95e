// Runs single kernels without a server: requests come on standard input, answers go to standard output.
//
// A request is a 4-byte size and that many bytes: a verb, then parts of a 1-byte kind, a 4-byte size and content (all little-endian).
//   run    n NodeDef, then its inputs in order: t TensorProto, s "node:output" of an earlier run, r name of a variable of the runner's
//          own, v TensorProto that the variable before it is set to; k (empty) keeps the outputs under the node's name
//   bind   n NodeDef: only looks whether there is a kernel
//   poll   n NodeDef of a run that was blocked
//   cancel cancels whatever is blocked and begins a new step
//   reset  forgets resources, kept outputs and bound kernels
//   list   all ops that have kernels, with their type constraints, as text
// An answer is a size, then: o and parts (t TensorProto, u no value), e and a 4-byte code and text, b when the kernel waits, l and text.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/definitions.hpp>
#include <troupe/ops/kernel.hpp>

#include <pmmintrin.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <optional>

namespace troupe {
namespace {

constexpr const char* device_name = "/job:localhost/replica:0/task:0/device:CPU:0";

struct Part {
  char kind;
  std::string_view content;
};

struct Request {
  std::string_view verb;
  std::vector<Part> parts;
};

std::uint32_t read_number(std::string_view bytes) {
  std::uint32_t n = 0;
  std::memcpy(&n, bytes.data(), 4);
  return n;
}

void append_number(std::string& out, std::uint32_t n) { out.append(reinterpret_cast<const char*>(&n), 4); }

void append_part(std::string& out, char kind, const std::string& content) {
  out.push_back(kind);
  append_number(out, static_cast<std::uint32_t>(content.size()));
  out.append(content);
}

std::optional<Part> take_part(std::string_view& bytes) {
  if (bytes.size() < 5) return std::nullopt;
  const std::size_t size = read_number(bytes.substr(1));
  if (bytes.size() - 5 < size) return std::nullopt;
  Part part{bytes[0], bytes.substr(5, size)};
  bytes.remove_prefix(5 + size);
  return part;
}

std::optional<Request> parse_request(std::string_view bytes) {
  auto verb = take_part(bytes);
  if (!verb || verb->kind != 'q') return std::nullopt;
  Request request{verb->content, {}};
  while (!bytes.empty()) {
    auto part = take_part(bytes);
    if (!part) return std::nullopt;
    request.parts.push_back(*part);
  }
  return request;
}

std::string answer_error(const Status& status) {
  std::string out = "e";
  append_number(out, static_cast<std::uint32_t>(status.code()));
  return out + text_of(status);
}

/// What one partition sends itself; a receiver that comes first waits.
class LocalRendezvous final : public Rendezvous {
 public:
  Status send(const std::string& key, Value value) override {
    if (auto waiting = waiting_.find(key); waiting != waiting_.end()) {
      auto receiver = std::move(waiting->second);
      waiting_.erase(waiting);
      receiver(std::move(value));
    } else {
      sent_[key].push_back(std::move(value));
    }
    return absl::OkStatus();
  }
  void receive(const std::string& key, Receiver receiver) override {
    auto sent = sent_.find(key);
    if (sent == sent_.end()) {
      waiting_.emplace(key, std::move(receiver));
      return;
    }
    Value value = std::move(sent->second.front());
    sent->second.pop_front();
    if (sent->second.empty()) sent_.erase(sent);
    receiver(std::move(value));
  }
  void abort(const Status& status) {
    for (auto waiting = std::exchange(waiting_, {}); auto& [key, receiver] : waiting) receiver(status);
  }

 private:
  std::map<std::string, std::deque<Value>> sent_;
  std::map<std::string, Receiver> waiting_;
};

class RunnerStep final : public Step {
 public:
  RunnerStep(std::int64_t number, ResourceStore* store) {
    id = number;
    device = device_name;
    resources = store;
    rendezvous = &rendezvous_;
    cancellation = &cancellation_;
  }
  void call_function(const wire::NameAttrList& function, std::vector<Tensor>, FunctionDone done) override {
    done(unimplemented("The op runner has no function {}", function.name()));
  }
  void cancel() {
    cancellation_.cancel(cancelled("Step was cancelled by an explicit call to `Session::Close()`."));
    rendezvous_.abort(cancelled("RecvAsync is cancelled."));
  }

 private:
  LocalRendezvous rendezvous_;
  Cancellation cancellation_;
};

struct BoundNode {
  NodeFacts facts;
  const wire::OpDef* op = nullptr;
  Signature signature;
  Kernel kernel;
};

/// One invocation; what a kernel that waits still points to.
struct Invocation {
  std::shared_ptr<BoundNode> node;
  std::shared_ptr<RunnerStep> step;
  std::vector<Value> inputs, outputs;
  std::optional<Call> call;
  std::optional<Status> result;
  bool keep = false;
};

class Runner {
 public:
  std::string answer(const Request& request) {
    if (request.verb == "run") return run(request);
    if (request.verb == "bind") return bind_only(request);
    if (request.verb == "poll") return poll(request);
    if (request.verb == "list") return list();
    if (request.verb == "cancel" || request.verb == "reset") {
      renew_step();
      if (request.verb == "reset") forget_all();
      return "o";
    }
    return answer_error(invalid("Unknown verb {}", request.verb));
  }

 private:
  void renew_step() {
    step_->cancel();
    step_ = std::make_shared<RunnerStep>(step_->id + 1, &store_);
  }

  void forget_all() {
    invocations_.clear();
    bound_.clear();
    kept_.clear();
    variables_.clear();
    store_.clear();
  }

  StatusOr<std::shared_ptr<BoundNode>> bind(std::string_view bytes) {
    auto& bound = bound_[std::string(bytes)];
    if (bound) return bound;
    wire::NodeDef node;
    if (!node.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return invalid("Not a NodeDef");
    auto made = std::make_shared<BoundNode>();
    made->op = find_op(node.op());
    if (!made->op) return not_found("Op type not registered '{}'", node.op());
    fill_defaults(&node, *made->op);
    TRY(validate_node(node, *made->op));
    node.set_device(device_name);
    TRY_ASSIGN(made->signature, resolve_signature(node, *made->op));
    made->facts = NodeFacts{node.name(), node.op(), node.device()};
    TRY_ASSIGN(made->kernel, all_kernels().bind(node, *made->op, made->signature));
    return bound = made;
  }

  StatusOr<Tensor> tensor_of(std::string_view bytes) {
    wire::TensorProto proto;
    if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return invalid("Not a TensorProto");
    return tensor_from_proto(proto);
  }

  StatusOr<Value> kept(std::string_view name) {
    auto found = kept_.find(std::string(name));
    if (found == kept_.end()) return not_found("Nothing is kept as {}", name);
    return found->second;
  }

  std::shared_ptr<Variable> own_variable(std::string_view name, DType dtype) {
    auto& variable = variables_[std::string(name)];
    if (!variable) variable = std::make_shared<Variable>(std::string(name), without_ref(dtype), PartialShape());
    return variable;
  }

  Status read_inputs(const Request& request, Invocation& invocation) {
    for (const Part& part : request.parts) {
      const auto at = invocation.inputs.size();
      if (part.kind == 't') {
        TRY_ASSIGN(Tensor tensor, tensor_of(part.content));
        invocation.inputs.emplace_back(std::move(tensor));
      } else if (part.kind == 's') {
        TRY_ASSIGN(Value value, kept(part.content));
        invocation.inputs.push_back(std::move(value));
      } else if (part.kind == 'r') {
        Value value;
        const auto& types = invocation.node->signature.inputs;
        value.ref = own_variable(part.content, at < types.size() ? types[at] : DType::f32);
        invocation.inputs.push_back(std::move(value));
      } else if (part.kind == 'v') {
        if (at == 0 || !invocation.inputs.back().ref) return invalid("A value without a variable");
        TRY_ASSIGN(Tensor tensor, tensor_of(part.content));
        invocation.inputs.back().ref->assign(std::move(tensor));
      } else if (part.kind == 'k') {
        invocation.keep = true;
      }
    }
    return absl::OkStatus();
  }

  Status check_inputs(Invocation& invocation) {
    const auto& types = invocation.node->signature.inputs;
    if (invocation.inputs.size() != types.size())
      return invalid("{} takes {} inputs, got {}", invocation.node->facts.op, types.size(), invocation.inputs.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      Value& value = invocation.inputs[i];
      if (value.dead) continue;
      if (value.ref) {
        if (value.ref->initialized()) {
          value.tensor = value.ref->snapshot();
        } else if (!invocation.node->op->allows_uninitialized_input()) {
          return failed_precondition("Attempting to use uninitialized value {}", value.ref->name());
        }
        if (!is_ref(types[i])) value.ref = nullptr;
      }
      if (value.tensor.valid() && value.tensor.dtype() != without_ref(types[i]))
        return invalid("Input {} of {} is {}, not {}", i, invocation.node->facts.name, name_of(value.tensor.dtype()), name_of(types[i]));
    }
    return absl::OkStatus();
  }

  /// As the executor: a failed allocation is an error of the step.
  static Status guarded(const std::function<Status()>& body) {
    try {
      return body();
    } catch (const OutOfMemory& e) {
      return resource_exhausted("OOM when allocating tensor with shape{} and type {} on {} by allocator cpu", e.shape, name_of(e.dtype), device_name);
    } catch (const std::bad_alloc&) {
      return resource_exhausted("OOM on {} by allocator cpu", device_name);
    }
  }

  void start(const std::shared_ptr<Invocation>& invocation) {
    Invocation& i = *invocation;
    i.outputs.resize(i.node->signature.outputs.size());
    i.call.emplace(i.node->facts, i.inputs, i.outputs, *i.step, Tag{});
    const Kernel& kernel = i.node->kernel;
    const Status status = guarded([&] {
      if (kernel.run) return kernel.run(*i.call);
      kernel.start(*i.call, [weak = std::weak_ptr(invocation)](Status done) {
        if (auto waiting = weak.lock()) waiting->result = std::move(done);
      });
      return absl::OkStatus();
    });
    if (kernel.run || !status.ok()) i.result = status;
  }

  std::string run(const Request& request) {
    if (request.parts.empty() || request.parts[0].kind != 'n') return answer_error(invalid("A run without a NodeDef"));
    auto invocation = std::make_shared<Invocation>();
    Status status;
    status = guarded([&]() -> Status {
      TRY_ASSIGN(invocation->node, bind(request.parts[0].content));
      invocation->step = step_;
      TRY(read_inputs(request, *invocation));
      return check_inputs(*invocation);
    });
    if (!status.ok()) return answer_error(status);
    start(invocation);
    if (!invocation->result) {
      invocations_[std::string(request.parts[0].content)] = invocation;
      return "b";
    }
    return finish(*invocation);
  }

  std::string poll(const Request& request) {
    auto found = request.parts.empty() ? invocations_.end() : invocations_.find(std::string(request.parts[0].content));
    if (found == invocations_.end()) return answer_error(not_found("No such run is blocked"));
    if (!found->second->result) return "b";
    auto invocation = std::move(found->second);
    invocations_.erase(found);
    return finish(*invocation);
  }

  std::string finish(Invocation& invocation) {
    if (!invocation.result->ok()) return answer_error(*invocation.result);
    std::string out = "o";
    const auto& types = invocation.node->signature.outputs;
    for (std::size_t i = 0; i < types.size(); ++i) {
      Value& value = invocation.outputs[i];
      if (is_ref(types[i]) && !value.ref && !value.dead && !invocation.inputs.empty()) value.ref = invocation.inputs[0].ref;
      if (invocation.keep) kept_[fmt::format("{}:{}", invocation.node->facts.name, i)] = value;
      const Tensor& tensor = value.ref ? value.ref->snapshot() : value.tensor;
      if (value.dead || !tensor.valid()) {
        append_part(out, 'u', "");
        continue;
      }
      if (tensor.dtype() != without_ref(types[i]))
        return answer_error(internal("Output {} is {}, not {}", i, name_of(tensor.dtype()), name_of(types[i])));
      wire::TensorProto proto;
      if (tensor.dtype() == DType::variant) {
        proto.set_dtype(wire::DT_VARIANT);
        to_proto(tensor.shape(), proto.mutable_tensor_shape());
      } else {
        to_proto(tensor, &proto);
      }
      append_part(out, 't', proto.SerializeAsString());
    }
    return out;
  }

  std::string bind_only(const Request& request) {
    if (request.parts.empty()) return answer_error(invalid("Nothing to bind"));
    auto bound = bind(request.parts[0].content);
    return bound.ok() ? "o" : answer_error(bound.status());
  }

  static std::string list() {
    std::string out = "l";
    for (const auto& [op, entries] : all_kernels().entries())
      for (const auto& entry : entries) {
        out += op;
        for (const auto& c : entry.constraints) out += fmt::format("\t{}={}", c.attr, static_cast<int>(c.type));
        out += '\n';
      }
    return out;
  }

  ResourceStore store_{"localhost"};
  std::shared_ptr<RunnerStep> step_ = std::make_shared<RunnerStep>(1, &store_);
  std::unordered_map<std::string, std::shared_ptr<BoundNode>> bound_;
  std::unordered_map<std::string, std::shared_ptr<Invocation>> invocations_;
  std::unordered_map<std::string, Value> kept_;
  std::unordered_map<std::string, std::shared_ptr<Variable>> variables_;
};

bool read_exactly(std::string& bytes, std::size_t size) {
  bytes.resize(size);
  return std::fread(bytes.data(), 1, size, stdin) == size;
}

int serve() {
  Runner runner;
  std::string bytes;
  while (read_exactly(bytes, 4)) {
    const std::uint32_t size = read_number(bytes);
    if (!read_exactly(bytes, size)) return 1;
    auto request = parse_request(bytes);
    const std::string body = request ? runner.answer(*request) : answer_error(invalid("Not a request"));
    std::string out;
    append_number(out, static_cast<std::uint32_t>(body.size()));
    out += body;
    std::fwrite(out.data(), 1, out.size(), stdout);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace troupe

int main() {
  // As in the threads that run kernels: numbers too small to be normal are zero.
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
  return troupe::serve();
}
