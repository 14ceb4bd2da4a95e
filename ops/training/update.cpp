// The checks that training ops share, with TensorFlow's texts.
#include <troupe/ops/training/update.hpp>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace troupe {
namespace {

bool is_gradient(std::string_view name) { return name == "grad" || name == "delta" || name == "gradient"; }

bool flag(Binding& binding, const char* name, bool otherwise) {
  const auto* attr = binding.find(name);
  return attr ? attr->b() : otherwise;
}

StatusOr<std::shared_ptr<Variable>> slot_at(Call& call, int at, DType dtype) {
  TRY_ASSIGN(auto variable, detail::variable_at(call, at));
  if (!variable->initialized()) return detail::uninitialized(call, at, *variable);
  if (variable->snapshot().dtype() != dtype) return detail::wrong_dtype(call, at, dtype);
  // The executor's snapshot of a reference edge must not make the update copy.
  if (call.input_value(at).ref) call.input_value(at).tensor = Tensor();
  return variable;
}

bool is_one_of(std::string_view x, std::initializer_list<std::string_view> all) { return std::find(all.begin(), all.end(), x) != all.end(); }

/// The op without Resource, Sparse and Apply: its rule.
std::string_view rule_of(std::string_view op) {
  if (const auto at = op.find("Apply"); at != op.npos) op.remove_prefix(at + 5);
  return op;
}

/// What TensorFlow says of a number that is not as it must be.
struct Demand {
  std::string text;
  bool (*holds)(double, const UpdateLayout&) = [](double, const UpdateLayout&) { return true; };
};

std::string described(const std::string& name) {
  if (name == "l1" || name == "l2") return name + " regularization strength";
  if (name == "l2_shrinkage") return "l2 shrinkage regularization strength";
  return name;
}

/// Rules that look at the numbers themselves.
std::optional<Demand> demand_on_value(const UpdateLayout& layout, const std::string& name) {
  const auto rule = rule_of(layout.op);
  const bool ftrl = layout.indices >= 0 && is_one_of(rule, {"Ftrl", "FtrlV2"});
  if (!ftrl && rule != "ProximalAdagrad") return std::nullopt;
  if (name == "lr" && ftrl)
    return Demand{"lr is not a positive scalar (or zero if multiply_linear_by_lr is set): ",
                  [](double x, const UpdateLayout& l) { return x > 0 || (l.multiply_linear_by_lr && x >= 0); }};
  if (name == "lr") return Demand{"lr is not a positive scalar: ", [](double x, const UpdateLayout&) { return x > 0; }};
  if (name == "lr_power") return Demand{"lr_power is not a non-positive scalar: ", [](double x, const UpdateLayout&) { return x <= 0; }};
  return Demand{described(name) + " is not a non-negative scalar: ", [](double x, const UpdateLayout&) { return x >= 0; }};
}

Demand demand_on(const UpdateLayout& layout, const std::string& name) {
  if (auto demand = demand_on_value(layout, name)) return *demand;
  const auto rule = rule_of(layout.op);
  const bool sparse = layout.indices >= 0;
  if (name == "lr_power") return {"lr_power is not a scalar"};
  if (name == "alpha" && sparse) return {"lr is not a scalar: "};
  const bool spaced =
      sparse ? is_one_of(rule, {"Momentum", "KerasMomentum"}) : is_one_of(rule, {"Adam", "AdamWithAmsgrad", "AdaMax", "RMSProp", "CenteredRMSProp"});
  return {described(name) + (name == "lr" && spaced ? " is not a scalar : " : " is not a scalar: ")};
}

double as_double(const Tensor& t) {
  double x = 0;
  if (t.dtype() == DType::i64) return static_cast<double>(t.item<std::int64_t>());
  visit_dtype(floats{}, t.dtype(), [&]<class T>() { x = static_cast<double>(t.item<T>()); });
  return x;
}

Status check_numbers(Call& call, const UpdateLayout& layout, DType dtype) {
  for (int at : layout.numbers) {
    const std::string& name = layout.names[static_cast<std::size_t>(at)];
    const Tensor& t = call.in(at);
    if (t.dtype() != dtype && t.dtype() != DType::i64) return detail::wrong_dtype(call, at, dtype);
    // The one number whose rank is nobody's concern.
    const bool fits = name == "sign_decay" ? t.size() == 1 : t.rank() == 0;
    const Demand demand = demand_on(layout, name);
    if (!fits || !demand.holds(as_double(t), layout)) return invalid("{}{}", demand.text, t.shape());
  }
  return absl::OkStatus();
}

/// Under which name TensorFlow complains of a slot.
std::string_view complained_name(const UpdateLayout& layout, std::string_view name) {
  const auto rule = rule_of(layout.op);
  if (rule == "AdagradDA") return "accum";
  if (rule == "Adadelta" && layout.indices >= 0 && name == "accum") return "accum_grad";
  return name;
}

Status check_slot_shapes(const UpdateLayout& layout, const UpdateSlots& slots) {
  const auto shape_of = [&](std::size_t i) -> const Shape& { return slots.variables[i]->snapshot().shape(); };
  const Shape& shape = shape_of(0);
  for (std::size_t i = 1; i < slots.variables.size(); ++i) {
    if (shape_of(i) == shape) continue;
    const std::string& name = layout.names[static_cast<std::size_t>(layout.slots[i])];
    // The dense centered RMSProp shows the next slot's shape instead of mg's.
    const bool shows_next = name == "mg" && layout.indices < 0;
    return invalid("var and {} do not have the same shape{} {}", complained_name(layout, name), shape, shape_of(shows_next ? i + 1 : i));
  }
  return absl::OkStatus();
}

Status check_gradient(Call& call, const UpdateLayout& layout, const Shape& shape, DType dtype) {
  const Tensor& gradient = call.in(layout.gradient);
  if (gradient.dtype() != dtype) return detail::wrong_dtype(call, layout.gradient, dtype);
  if (gradient.shape() != shape)
    return invalid("var and {} do not have the same shape{} {}", layout.names[static_cast<std::size_t>(layout.gradient)], shape, gradient.shape());
  return absl::OkStatus();
}

Status check_rows(Call& call, const UpdateLayout& layout, DType dtype, UpdateSlots& slots) {
  const Shape& shape = slots.variables[0]->snapshot().shape();
  const Tensor& gradient = call.in(layout.gradient);
  const Tensor& indices = call.in(layout.indices);
  if (gradient.dtype() != dtype) return detail::wrong_dtype(call, layout.gradient, dtype);
  if (indices.rank() != 1) return invalid("indices must be one-dimensional");
  for (int d = 1; d < shape.rank(); ++d)
    if (d >= gradient.rank() || gradient.dim(d) != shape.dim(d)) return invalid("var and grad must match in dimension {}", d);
  if (gradient.rank() < 1 || gradient.dim(0) != indices.dim(0)) return invalid("grad must be the same size as indices in the first dimension.");
  slots.row_size = shape.elements(1, shape.rank());
  if (gradient.size() != indices.dim(0) * slots.row_size) return invalid("var and grad must match in dimension {}", shape.rank());
  const Dims rows = as_dims(indices);
  slots.rows.assign(rows.begin(), rows.end());
  for (std::size_t i = 0; i < slots.rows.size(); ++i) {
    if (slots.rows[i] < 0 || slots.rows[i] >= shape.dim(0)) {
      if (rule_of(layout.op) == "KerasMomentum") return invalid("indices[{}] = {} is not in [0, {})", i, slots.rows[i], shape.dim(0));
      return invalid("Index {} at offset {} in indices is out of range", slots.rows[i], i);
    }
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<UpdateLayout> UpdateLayout::make(Binding& binding) {
  UpdateLayout layout;
  layout.op = binding.node().op();
  for (int i = 0; i < binding.op().input_arg_size(); ++i) {
    const auto& arg = binding.op().input_arg(i);
    layout.names.push_back(arg.name());
    if (arg.is_ref() || static_cast<DType>(arg.type()) == DType::resource) layout.slots.push_back(i);
    else if (is_gradient(arg.name())) layout.gradient = i;
    else if (arg.name() == "indices") layout.indices = i;
    else layout.numbers.push_back(i);
  }
  if (layout.slots.empty() || layout.gradient < 0) return internal("{} is no training op", layout.op);
  layout.use_nesterov = flag(binding, "use_nesterov", false);
  layout.update_slots = flag(binding, "update_slots", true);
  layout.multiply_linear_by_lr = flag(binding, "multiply_linear_by_lr", false);
  return layout;
}

StatusOr<UpdateSlots> UpdateSlots::check(Call& call, const UpdateLayout& layout, DType dtype) {
  UpdateSlots slots;
  for (int at : layout.slots) {
    TRY_ASSIGN(auto variable, slot_at(call, at, dtype));
    slots.variables.push_back(std::move(variable));
  }
  if (layout.indices < 0) {
    TRY(check_numbers(call, layout, dtype));
    TRY(check_slot_shapes(layout, slots));
    TRY(check_gradient(call, layout, slots.variables[0]->snapshot().shape(), dtype));
  } else {
    TRY(check_slot_shapes(layout, slots));
    if (slots.variables[0]->snapshot().rank() < 1) return invalid("var must be at least 1 dimensional");
    TRY(check_numbers(call, layout, dtype));
    TRY(check_rows(call, layout, dtype, slots));
  }
  return slots;
}

}  // namespace troupe
