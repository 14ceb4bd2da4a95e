// Compilation and calling of functions.
#include <troupe/actors/functions.hpp>

#include <troupe/actors/body_names.hpp>
#include <troupe/ops/definitions.hpp>
#include <troupe/ops/function_body.hpp>
#include <troupe/ops/function_fingerprint.hpp>
#include <troupe/ops/graph_function.hpp>
#include <troupe/ops/lowering.hpp>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <map>

namespace troupe {
namespace {

/// Attributes are a map, whose order may differ between equal ones.
std::string in_order(const google::protobuf::Message& message) {
  std::string text;
  google::protobuf::io::StringOutputStream stream(&text);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return text;
}

std::string key_of(const LibraryPtr& library, const wire::NameAttrList& function) {
  return fmt::format("{}|{}|{}", static_cast<const void*>(library.get()), function.name(), in_order(function));
}

/// What functions are made of. Each body is looked at once: functions that call themselves have no other end.
class Bodies {
 public:
  explicit Bodies(const FunctionLibrary& library) : library_(library) {}

  void print(Fingerprint& print, const std::string& name) {
    const auto* definition = find(name);
    if (!definition) return print.add_text(name);
    const auto [place, first] = seen_.try_emplace(name, seen_.size());
    if (!first) return print.add_number(place->second);
    Level level(*this);
    for (const auto& argument : definition->signature().input_arg()) print.add_text(argument.name());
    for (const auto& node : definition->node_def()) {
      print.add_text(node.name());
      print.add_text(library_.find(node.op()) ? std::string() : node.op());
      if (library_.find(node.op())) this->print(print, node.op());
      for (const auto& input : node.input()) print.add_text(input);
      const std::map<std::string, wire::AttrValue> attributes(node.attr().begin(), node.attr().end());
      for (const auto& [key, value] : attributes) {
        print.add_text(key);
        add_attribute(print, value);
      }
    }
    const std::map<std::string, std::string> results(definition->ret().begin(), definition->ret().end());
    for (const auto& [key, value] : results) print.add_text(value);
  }

  /// The first op in it with a state of its own; empty: there is none.
  std::string stateful_op(const std::string& name) {
    const auto* definition = find(name);
    if (!definition || !seen_.try_emplace(name, seen_.size()).second) return {};
    Level level(*this);
    for (const auto& node : definition->node_def()) {
      std::vector<std::string> inner;
      if (library_.find(node.op())) inner.push_back(node.op());
      for (const auto& [key, value] : node.attr()) {
        if (value.has_func()) inner.push_back(value.func().name());
        for (const auto& function : value.list().func()) inner.push_back(function.name());
      }
      for (const std::string& function : inner)
        if (std::string found = stateful_op(function); !found.empty()) return found;
      const wire::OpDef* op = inner.empty() && node.op() != "Assert" ? find_op(node.op()) : nullptr;
      if (op && op->is_stateful() && node.op().find("Dataset") == std::string::npos) return node.op();
    }
    return {};
  }

 private:
  static constexpr int deepest = 32;
  struct Level {
    explicit Level(Bodies& bodies) : depth(bodies.depth_) { ++depth; }
    ~Level() { --depth; }
    int& depth;
  };

  const wire::FunctionDef* find(const std::string& name) const { return depth_ < deepest ? library_.find(name) : nullptr; }
  /// With the bodies of functions instead of their names.
  void add_attribute(Fingerprint& print, const wire::AttrValue& value) {
    if (value.has_func()) return this->print(print, value.func().name());
    for (const auto& function : value.list().func()) this->print(print, function.name());
    if (value.list().func().empty()) print.add_text(in_order(value));
  }

  const FunctionLibrary& library_;
  std::map<std::string, std::size_t> seen_;
  int depth_ = 0;
};

/// Holds its library, whose address makes the key unique.
class Kept final : public KeptFunction, public HasFingerprint {
 public:
  Kept(std::shared_ptr<FunctionRunner> runner, LibraryPtr library, const wire::NameAttrList& function, std::string device)
      : runner_(std::move(runner)), library_(std::move(library)), function_(function), device_(std::move(device)), key_(key_of(library_, function)) {}
  const std::string& key() const override { return key_; }
  StatusOr<std::shared_ptr<FunctionInstance>> instantiate() const override { return runner_->instantiate(library_, function_, device_); }
  std::uint64_t fingerprint() const override {
    Fingerprint print;
    Bodies(*library_).print(print, function_.name());
    return print.value();
  }
  std::string stateful_op() const override { return Bodies(*library_).stateful_op(function_.name()); }
  const FunctionLibrary& library() const override { return *library_; }

 private:
  std::shared_ptr<FunctionRunner> runner_;
  LibraryPtr library_;
  wire::NameAttrList function_;
  std::string device_, key_;
};

StatusOr<wire::GraphDef> graph_in(const wire::NameAttrList& function) {
  wire::GraphDef graph;
  if (!graph.ParseFromString(function.attr().at(graph_function_attr).s())) return invalid("Could not parse GraphDef");
  return graph;
}

StatusOr<std::shared_ptr<const KeptFunction>> keep_graph(std::shared_ptr<FunctionRunner> runner, const wire::NameAttrList& function,
                                                         const std::string& device) {
  TRY_ASSIGN(const wire::GraphDef graph, graph_in(function));
  return std::make_shared<Kept>(std::move(runner), std::make_shared<const FunctionLibrary>(graph.library()), function, device);
}

StatusOr<Graph> body_of(const LibraryPtr& library, const wire::NameAttrList& function) {
  if (is_graph(function)) {
    TRY_ASSIGN(const wire::GraphDef graph, graph_in(function));
    return Graph::from(graph, library);
  }
  const auto* definition = library ? library->find(function.name()) : nullptr;
  if (!definition) return not_found("Function {} is not defined.", function.name());
  return troupe::instantiate(*definition, function.attr(), library);
}

}  // namespace

class FunctionRunner::Instance final : public FunctionInstance {
 public:
  Instance(std::shared_ptr<FunctionRunner> runner, Compiled compiled, LibraryPtr library, std::string function)
      : runner_(std::move(runner)), compiled_(std::move(compiled)), library_(std::move(library)), function_(std::move(function)) {}
  void call(Step& step, Cancellation& cancellation, std::vector<Tensor> arguments, FunctionDone done) override {
    auto named = [library = library_, function = function_, done = std::move(done)](StatusOr<std::vector<Tensor>> results) {
      if (!results.ok()) return done(named_by_body(*library, function, results.status()));
      done(std::move(results));
    };
    runner_->run(compiled_.plan, step, &cancellation, std::move(arguments), std::move(named));
  }

 private:
  std::shared_ptr<FunctionRunner> runner_;
  Compiled compiled_;
  LibraryPtr library_;
  std::string function_;
};

void FunctionRunner::call(Execution& from, const wire::NameAttrList& function, std::vector<Tensor> arguments, FunctionDone done) {
  auto plan = compiled(from, function);
  if (!plan.ok()) return done(plan.status());
  run(*plan, from, from.cancellation, std::move(arguments), std::move(done), &from);
}

StatusOr<std::shared_ptr<const KeptFunction>> FunctionRunner::keep(Execution& from, const wire::NameAttrList& function) {
  if (is_graph(function)) return keep_graph(shared_from_this(), function, from.device);
  const LibraryPtr& library = from.plan().library();
  if (!library || !library->find(function.name())) return not_found("Function {} is not defined.", function.name());
  return std::make_shared<Kept>(shared_from_this(), library, function, from.device);
}

StatusOr<FunctionRunner::Compiled> FunctionRunner::compile(const LibraryPtr& library, const wire::NameAttrList& function, const std::string& device) {
  TRY_ASSIGN(Graph graph, body_of(library, function));
  TRY(lower_functions(graph));
  for (Node& node : graph.nodes()) node.device = device;
  Compiled made;
  TRY_ASSIGN(made.plan, Plan::compile(graph, all_kernels(), made.kernels));
  made.library = library;
  return made;
}

StatusOr<std::shared_ptr<FunctionInstance>> FunctionRunner::instantiate(const LibraryPtr& library, const wire::NameAttrList& function,
                                                                        const std::string& device) {
  TRY_ASSIGN(Compiled made, compile(library, function, device));
  return std::make_shared<Instance>(shared_from_this(), std::move(made), library, function.name());
}

StatusOr<std::shared_ptr<const Plan>> FunctionRunner::compiled(Execution& from, const wire::NameAttrList& function) {
  const LibraryPtr& library = from.plan().library();
  Compiled& known = compiled_[key_of(library, function)];
  if (!known.plan) {
    TRY_ASSIGN(known, compile(library, function, from.device));
  }
  return known.plan;
}

void FunctionRunner::run(const std::shared_ptr<const Plan>& plan, Step& from, Cancellation* cancellation, std::vector<Tensor> arguments,
                         FunctionDone done, Execution* caller) {
  auto nested = std::make_shared<Execution>(plan, hands_);
  nested->id = from.id;
  nested->device = from.device;
  nested->resources = from.resources;
  nested->rendezvous = from.rendezvous;
  nested->cancellation = cancellation;
  nested->set_functions(shared_from_this());
  if (caller) nested->join(*caller);
  nested->set_arguments(std::move(arguments));
  nested->run([nested = nested.get(), done = std::move(done)](Status status) {
    if (!status.ok()) return done(status);
    done(std::move(nested->results()));
  });
}

}  // namespace troupe
