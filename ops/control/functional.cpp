// Functions called at run time: calls, conditionals and loops that were not lowered, such as those in functions of datasets.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/waiting.hpp>

namespace troupe {
namespace {

/// What a condition says: a scalar by its value, anything else by whether it has elements.
StatusOr<bool> truth_of(const Tensor& value) {
  if (value.rank() != 0) return value.size() > 0;
  bool truth = false;
  const bool known = visit_dtype(joined<reals, types<bool>>{}, value.dtype(), [&]<class T>() { truth = value.item<T>() != T(0); });
  if (known) return truth;
  if (value.dtype() == DType::string) return !value.item<std::string>().empty();
  return invalid("{} cannot be converted to a boolean", name_of(value.dtype()));
}

std::vector<Tensor> tensors_of(const List& list) {
  std::vector<Tensor> all;
  for (int i = 0; i < list.size(); ++i) all.push_back(list[i]);
  return all;
}

Status set_outputs(Call& call, std::vector<Tensor> results) {
  if (static_cast<int>(results.size()) != call.outputs())
    return invalid("A function gave {} results where {} were expected", results.size(), call.outputs());
  for (std::size_t i = 0; i < results.size(); ++i) call.set(static_cast<int>(i), std::move(results[i]));
  return absl::OkStatus();
}

void call_into_outputs(Call& call, Step& step, const wire::NameAttrList& f, std::vector<Tensor> arguments, Done done) {
  step.call_function(f, std::move(arguments), [&call, done = std::move(done)](StatusOr<std::vector<Tensor>> results) {
    done(results.ok() ? set_outputs(call, *std::move(results)) : results.status());
  });
}

/// A loop under way. Functions often answer at once, so it turns in a plain loop instead of calling itself deeper and deeper.
class RunningLoop : public std::enable_shared_from_this<RunningLoop> {
 public:
  RunningLoop(Call& call, Step& step, const wire::NameAttrList& test, const wire::NameAttrList& body, std::vector<Tensor> variables, Done done)
      : call_(call), step_(step), test_(test), body_(body), variables_(std::move(variables)), done_(std::move(done)) {}

  void turn() {
    if (turning_) return;
    turning_ = true;
    auto alive = shared_from_this();
    while (answered_ && !over_) {
      answered_ = false;
      if (testing_) ask(test_, [this](std::vector<Tensor> r) { tested(r); });
      else ask(body_, [this](std::vector<Tensor> r) { stepped(std::move(r)); });
    }
    turning_ = false;
    if (!over_) return;
    Done done = std::move(done_);
    done(status_.ok() ? set_outputs(call_, std::move(variables_)) : status_);
  }

 private:
  void ask(const wire::NameAttrList& f, std::function<void(std::vector<Tensor>)> use) {
    step_.call_function(f, variables_, [self = shared_from_this(), use = std::move(use)](StatusOr<std::vector<Tensor>> results) {
      if (results.ok()) use(*std::move(results));
      else self->end(results.status());
      self->answered_ = true;
      self->turn();
    });
  }
  void tested(const std::vector<Tensor>& results) {
    if (results.size() != 1) return end(invalid("Expected a single scalar return value, got {} tensors.", results.size()));
    auto go_on = truth_of(results[0]);
    if (!go_on.ok() || !*go_on) return end(go_on.status());
    testing_ = false;
  }
  void stepped(std::vector<Tensor> results) {
    if (results.size() != variables_.size())
      return end(invalid("While loop body returned {} arguments. Expected: {}", results.size(), variables_.size()));
    if (step_.cancellation && step_.cancellation->cancelled()) return end(cancelled("Loop execution was cancelled."));
    variables_ = std::move(results);
    testing_ = true;
  }
  void end(Status status) {
    status_ = std::move(status);
    over_ = true;
  }

  Call& call_;
  Step& step_;
  const wire::NameAttrList& test_;
  const wire::NameAttrList& body_;
  std::vector<Tensor> variables_;
  Done done_;
  Status status_;
  bool testing_ = true, answered_ = true, over_ = false, turning_ = false;
};

/// A loop over a range of numbers.
class RunningFor : public std::enable_shared_from_this<RunningFor> {
 public:
  RunningFor(Call& call, Step& step, const wire::NameAttrList& body, std::int32_t start, std::int32_t limit, std::int32_t delta,
             std::vector<Tensor> state, Done done)
      : call_(call), step_(step), body_(body), at_(start), limit_(limit), delta_(delta), state_(std::move(state)), done_(std::move(done)) {}

  void turn() {
    if (turning_) return;
    turning_ = true;
    auto alive = shared_from_this();
    while (answered_ && status_.ok() && in_range()) {
      answered_ = false;
      std::vector<Tensor> arguments{Tensor::scalar<std::int32_t>(static_cast<std::int32_t>(at_))};
      arguments.insert(arguments.end(), state_.begin(), state_.end());
      step_.call_function(body_, std::move(arguments), [self = alive](StatusOr<std::vector<Tensor>> results) {
        self->stepped(std::move(results));
        self->turn();
      });
    }
    turning_ = false;
    if (!answered_) return;
    Done done = std::move(done_);
    done(status_.ok() ? set_outputs(call_, std::move(state_)) : status_);
  }

 private:
  bool in_range() const { return delta_ > 0 ? at_ < limit_ : at_ > limit_; }
  void stepped(StatusOr<std::vector<Tensor>> results) {
    answered_ = true;
    at_ += delta_;
    if (!results.ok()) status_ = results.status();
    else if (results->size() != state_.size()) status_ = invalid("For loop body returned {} arguments. Expected: {}", results->size(), state_.size());
    else state_ = *std::move(results);
  }

  Call& call_;
  Step& step_;
  const wire::NameAttrList& body_;
  std::int64_t at_, limit_, delta_;
  std::vector<Tensor> state_;
  Done done_;
  Status status_;
  bool answered_ = true, turning_ = false;
};

/// A partial name that fits a device means it; "/cpu:0" is the older way to write "/device:CPU:0".
bool means_device(std::string target, std::string_view device) {
  for (const std::string_view older : {"/cpu:", "/CPU:"})
    if (const auto at = target.find(older); at != std::string::npos) target.replace(at, older.size(), "/device:CPU:");
  return device.ends_with(target);
}

}  // namespace

void add_functional(Registry& ops) {
  ops.add({"PartitionedCall", "StatefulPartitionedCall"}, [](Call& call, Step& step, List args, Attr<"f", wire::NameAttrList> f, Done done) {
    call_into_outputs(call, step, *f, tensors_of(args), std::move(done));
  });
  ops.add("RemoteCall", [](Call& call, Step& step, Scalar<std::string> target, List args, Attr<"f", wire::NameAttrList> f, Done done) {
    if (!means_device(*target, step.device))
      return done(unimplemented("RemoteCall from {} to {}: only functions on the caller's own device can be called", step.device, *target));
    call_into_outputs(call, step, *f, tensors_of(args), std::move(done));
  });
  ops.add({"If", "StatelessIf"}, [](Call& call, Step& step, Any cond, List args, Attr<"then_branch", wire::NameAttrList> then_branch,
                                    Attr<"else_branch", wire::NameAttrList> else_branch, Done done) {
    auto taken = truth_of(cond.tensor);
    if (!taken.ok()) return done(taken.status());
    call_into_outputs(call, step, *taken ? *then_branch : *else_branch, tensors_of(args), std::move(done));
  });
  ops.add({"Case", "StatelessCase"},
          [](Call& call, Step& step, Scalar<std::int32_t> index, List args, Attr<"branches", std::vector<wire::NameAttrList>> branches, Done done) {
            if (branches->empty()) return done(invalid("There are no branches"));
            const auto last = static_cast<std::int32_t>(branches->size()) - 1;
            const std::int32_t chosen = *index < 0 || *index > last ? last : *index;
            call_into_outputs(call, step, (*branches)[static_cast<std::size_t>(chosen)], tensors_of(args), std::move(done));
          });
  ops.add({"While", "StatelessWhile"},
          [](Call& call, Step& step, List args, Attr<"cond", wire::NameAttrList> test, Attr<"body", wire::NameAttrList> body, Done done) {
            std::make_shared<RunningLoop>(call, step, *test, *body, tensors_of(args), std::move(done))->turn();
          });
  ops.add("For", [](Call& call, Step& step, Scalar<std::int32_t> start, Scalar<std::int32_t> limit, Scalar<std::int32_t> delta, List args,
                    Attr<"body", wire::NameAttrList> body, Done done) {
    if ((*delta > 0 && *start > *limit) || (*delta < 0 && *start < *limit) || *delta == 0)
      return done(invalid("Invalid start/limit/delta: {} {} {}", *start, *limit, *delta));
    std::make_shared<RunningFor>(call, step, *body, *start, *limit, *delta, tensors_of(args), std::move(done))->turn();
  });
  ops.add("SymbolicGradient",
          [](Call&, Attr<"f", wire::NameAttrList> f) { return unimplemented("The gradient of function {} cannot be made at run time", f->name()); });

  ops.add("ToBool", [](Call& call, Any value) -> Status {
    TRY_ASSIGN(const bool truth, truth_of(value.tensor));
    call.set_scalar(0, truth);
    return absl::OkStatus();
  });
}

}  // namespace troupe
