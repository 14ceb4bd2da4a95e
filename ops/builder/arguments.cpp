// Binding of inputs to the arguments of an op definition.
#include <troupe/ops/builder/arguments.hpp>

namespace troupe::build {
namespace {

using Arg = wire::OpDef::ArgDef;

class Binder {
 public:
  Binder(const wire::OpDef& op, wire::NodeDef& def) : op_(op), def_(def) {}

  Status take(const Arg& arg, const In& in) {
    const bool wants_list = !arg.number_attr().empty() || !arg.type_list_attr().empty();
    if (in.list && !wants_list) return invalid("Input '{}' of '{}' Op takes one tensor, not a list of {}", arg.name(), op_.name(), in.outs.size());
    if (!arg.number_attr().empty()) TRY(set_length(arg, in.outs.size()));
    if (!arg.type_list_attr().empty()) return set_types(arg, in);
    for (const Out& out : in.outs) TRY(check_type(arg, out));
    return absl::OkStatus();
  }

 private:
  wire::AttrValue& attr(const std::string& name) { return (*def_.mutable_attr())[name]; }

  Status set_length(const Arg& arg, std::size_t length) {
    const auto n = static_cast<std::int64_t>(length);
    if (def_.attr().contains(arg.number_attr()) && attr(arg.number_attr()).i() != n)
      return invalid("List argument '{}' to '{}' Op with length {} must match length {} of other arguments", arg.name(), op_.name(), n,
                     attr(arg.number_attr()).i());
    attr(arg.number_attr()).set_i(n);
    return absl::OkStatus();
  }

  Status set_types(const Arg& arg, const In& in) {
    const bool given = def_.attr().contains(arg.type_list_attr());
    auto* list = attr(arg.type_list_attr()).mutable_list();
    if (!given)
      for (const Out& out : in.outs) list->add_type(static_cast<wire::DataType>(out.dtype()));
    if (list->type_size() != static_cast<int>(in.outs.size()))
      return invalid("Input '{}' of '{}' Op is a list of {}, its types are {}", arg.name(), op_.name(), in.outs.size(), list->type_size());
    for (int i = 0; i < list->type_size(); ++i)
      if (static_cast<int>(list->type(i)) != static_cast<int>(in.outs[static_cast<std::size_t>(i)].dtype()))
        return invalid("Input '{}' of '{}' Op has type {} at {} that does not match expected type of {}.", arg.name(), op_.name(),
                       name_of(in.outs[static_cast<std::size_t>(i)].dtype()), i, name_of(static_cast<DType>(list->type(i))));
    return absl::OkStatus();
  }

  Status check_type(const Arg& arg, const Out& out) {
    const DType type = out.dtype();
    const auto& made = out.builder->made(out.node);
    if (arg.is_ref() && !is_ref(made.signature.outputs[static_cast<std::size_t>(out.index)]))
      return invalid("'{}' Op requires that input '{}' be a mutable tensor (e.g.: a ref variable), got {}", op_.name(), arg.name(), out.name());
    if (arg.type_attr().empty()) {
      if (static_cast<int>(arg.type()) == static_cast<int>(type)) return absl::OkStatus();
      return invalid("Input '{}' of '{}' Op has type {} that does not match expected type of {}.", arg.name(), op_.name(), name_of(type),
                     name_of(static_cast<DType>(arg.type())));
    }
    if (!def_.attr().contains(arg.type_attr())) {
      attr(arg.type_attr()).set_type(static_cast<wire::DataType>(type));
      first_with_[arg.type_attr()] = arg.name();
      return absl::OkStatus();
    }
    const auto expected = static_cast<DType>(attr(arg.type_attr()).type());
    if (expected == type) return absl::OkStatus();
    const auto& first = first_with_[arg.type_attr()];
    return invalid("Input '{}' of '{}' Op has type {} that does not match type {} of {}.", arg.name(), op_.name(), name_of(type), name_of(expected),
                   first.empty() ? fmt::format("attribute '{}'", arg.type_attr()) : fmt::format("argument '{}'", first));
  }

  const wire::OpDef& op_;
  wire::NodeDef& def_;
  std::unordered_map<std::string, std::string> first_with_;
};

}  // namespace

StatusOr<std::vector<Out>> bind_arguments(const wire::OpDef& op, const std::vector<In>& inputs, wire::NodeDef& def) {
  if (static_cast<int>(inputs.size()) != op.input_arg_size())
    return invalid("'{}' Op takes {} inputs, got {}", op.name(), op.input_arg_size(), inputs.size());
  Binder binder(op, def);
  std::vector<Out> flat;
  for (int i = 0; i < op.input_arg_size(); ++i) {
    const In& in = inputs[static_cast<std::size_t>(i)];
    TRY(binder.take(op.input_arg(i), in));
    flat.insert(flat.end(), in.outs.begin(), in.outs.end());
  }
  return flat;
}

}  // namespace troupe::build
