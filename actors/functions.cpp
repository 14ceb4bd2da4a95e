// Compilation and calling of functions.
#include <troupe/actors/functions.hpp>

#include <troupe/ops/function_body.hpp>
#include <troupe/ops/lowering.hpp>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace troupe {
namespace {

std::string key_of(const LibraryPtr& library, const wire::NameAttrList& function) {
  // Attributes are a map, whose order may differ between equal ones.
  std::string text;
  {
    google::protobuf::io::StringOutputStream stream(&text);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    function.SerializeToCodedStream(&coded);
  }
  return fmt::format("{}|{}|{}", static_cast<const void*>(library.get()), function.name(), text);
}

/// Holds its library, whose address makes the key unique.
class Kept final : public KeptFunction {
 public:
  Kept(std::shared_ptr<FunctionRunner> runner, LibraryPtr library, const wire::NameAttrList& function, std::string device)
      : runner_(std::move(runner)), library_(std::move(library)), function_(function), device_(std::move(device)), key_(key_of(library_, function)) {}
  const std::string& key() const override { return key_; }
  StatusOr<std::shared_ptr<FunctionInstance>> instantiate() const override { return runner_->instantiate(library_, function_, device_); }

 private:
  std::shared_ptr<FunctionRunner> runner_;
  LibraryPtr library_;
  wire::NameAttrList function_;
  std::string device_, key_;
};

}  // namespace

class FunctionRunner::Instance final : public FunctionInstance {
 public:
  Instance(std::shared_ptr<FunctionRunner> runner, Compiled compiled) : runner_(std::move(runner)), compiled_(std::move(compiled)) {}
  void call(Step& step, Cancellation& cancellation, std::vector<Tensor> arguments, FunctionDone done) override {
    runner_->run(compiled_.plan, step, &cancellation, std::move(arguments), std::move(done));
  }

 private:
  std::shared_ptr<FunctionRunner> runner_;
  Compiled compiled_;
};

void FunctionRunner::serve(Execution& execution) {
  auto self = shared_from_this();
  execution.set_function_caller([self](Execution& from, const wire::NameAttrList& function, std::vector<Tensor> arguments, FunctionDone done) {
    auto plan = self->compiled(from, function);
    if (!plan.ok()) return done(plan.status());
    self->run(*plan, from, from.cancellation, std::move(arguments), std::move(done), &from);
  });
  execution.set_function_keeper([self](Execution& from, const wire::NameAttrList& function) -> StatusOr<std::shared_ptr<const KeptFunction>> {
    const LibraryPtr& library = from.plan().library();
    if (!library || !library->find(function.name())) return not_found("Function {} is not defined.", function.name());
    return std::make_shared<Kept>(self, library, function, from.device);
  });
}

StatusOr<FunctionRunner::Compiled> FunctionRunner::compile(const LibraryPtr& library, const wire::NameAttrList& function, const std::string& device) {
  const auto* definition = library ? library->find(function.name()) : nullptr;
  if (!definition) return not_found("Function {} is not defined.", function.name());
  TRY_ASSIGN(Graph graph, troupe::instantiate(*definition, function.attr(), library));
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
  return std::make_shared<Instance>(shared_from_this(), std::move(made));
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
  nested->default_container = from.default_container;
  nested->resources = from.resources;
  nested->rendezvous = from.rendezvous;
  nested->cancellation = cancellation;
  serve(*nested);
  if (caller) nested->join(*caller);
  nested->set_arguments(std::move(arguments));
  nested->run([nested = nested.get(), done = std::move(done)](Status status) {
    if (!status.ok()) return done(status);
    done(std::move(nested->results()));
  });
}

}  // namespace troupe
