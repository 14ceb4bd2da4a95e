// Compilation and calling of functions.
#include <troupe/actors/functions.hpp>

#include <troupe/ops/function_body.hpp>
#include <troupe/ops/lowering.hpp>

namespace troupe {

Execution::CallFunction FunctionRunner::caller() {
  return [self = shared_from_this()](Execution& from, const wire::NameAttrList& function, std::vector<Tensor> arguments, FunctionDone done) {
    self->call(from, function, std::move(arguments), std::move(done));
  };
}

StatusOr<std::shared_ptr<const Plan>> FunctionRunner::compile(Execution& from, const wire::NameAttrList& function) {
  const LibraryPtr& library = from.plan().library();
  const std::string key = fmt::format("{}|{}|{}", static_cast<const void*>(library.get()), function.name(), function.SerializeAsString());
  Compiled& compiled = compiled_[key];
  if (compiled.plan) return compiled.plan;
  const auto* definition = library ? library->find(function.name()) : nullptr;
  if (!definition) return not_found("Function {} is not defined.", function.name());
  TRY_ASSIGN(Graph graph, instantiate(*definition, function.attr(), library));
  TRY(lower_functions(graph));
  for (Node& node : graph.nodes()) node.device = from.device;
  TRY_ASSIGN(compiled.plan, Plan::compile(graph, all_kernels(), compiled.kernels));
  compiled.library = library;
  return compiled.plan;
}

void FunctionRunner::call(Execution& from, const wire::NameAttrList& function, std::vector<Tensor> arguments, FunctionDone done) {
  auto plan = compile(from, function);
  if (!plan.ok()) return done(plan.status());
  auto nested = std::make_shared<Execution>(*plan, hands_);
  nested->id = from.id;
  nested->device = from.device;
  nested->default_container = from.default_container;
  nested->resources = from.resources;
  nested->rendezvous = from.rendezvous;
  nested->cancellation = from.cancellation;
  nested->set_function_caller(caller());
  nested->set_arguments(std::move(arguments));
  nested->run([nested = nested.get(), done = std::move(done)](Status status) {
    if (!status.ok()) return done(status);
    done(std::move(nested->results()));
  });
}

}  // namespace troupe
