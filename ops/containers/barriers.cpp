// Barrier ops.
#include <troupe/ops/containers/shared.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/barrier.hpp>

namespace troupe {
namespace {

struct Declaration {
  Exit exit;
  std::vector<DType> types;
  std::vector<PartialShape> shapes;

  static StatusOr<Declaration> make(Binding& binding) {
    Declaration d;
    TRY_ASSIGN(d.exit, Exit::make_private(binding));
    TRY_ASSIGN(d.types, binding.attr<std::vector<DType>>("component_types"));
    TRY_ASSIGN(d.shapes, binding.attr<std::vector<PartialShape>>("shapes"));
    if (d.shapes.size() != d.types.size()) return invalid("All of the component shapes must be specified");
    for (const PartialShape& shape : d.shapes)
      if (!shape.fully_known()) return invalid("Shape {} is not fully defined", shape);
    TRY_ASSIGN(const auto capacity, binding.attr<std::int64_t>("capacity"));
    if (capacity != -1)
      return invalid("Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to enforce a limited capacity.");
    return d;
  }
};

Status check_same(const Barrier& barrier, const Declaration& d) {
  const auto listed = [](const std::vector<DType>& types) {
    std::vector<std::string> names;
    for (DType t : types) names.push_back(name_of(t));
    return fmt::format("{}", fmt::join(names, ", "));
  };
  if (barrier.types() != d.types)
    return invalid("Shared barrier '{}' has component types {} but requested component types were {}", d.exit.where.name, listed(barrier.types()),
                   listed(d.types));
  const auto shown = [](const std::vector<PartialShape>& shapes) {
    std::string text;
    for (const PartialShape& shape : shapes) text += fmt::format("{}{}", text.empty() ? "" : ", ", shape);
    return text;
  };
  if (barrier.shapes() != d.shapes)
    return invalid("Shared barrier '{}' has component shapes [{}] but requested component shapes were [{}]", d.exit.where.name,
                   shown(barrier.shapes()), shown(d.shapes));
  return absl::OkStatus();
}

void insert_many(Call& call, Step& step, Barrier& barrier, const Tensor& keys, const Tensor& values, std::int64_t component, Done done) {
  if (component < 0 || component >= static_cast<std::int64_t>(barrier.types().size()))
    return done(invalid("The component ID is out of range {} > num_components (= {})", component, barrier.types().size()));
  const auto at = static_cast<std::size_t>(component);
  if (Status status = match_signature(call, {DType::string, values.dtype()}, {DType::string, barrier.types()[at]}, {}, {}); !status.ok())
    return done(status);
  if (keys.rank() != 1) return done(invalid("Keys must be a vector, but received shape {}", keys.shape()));
  if (values.rank() == 0) return done(invalid("Values must be at least a vector, but received shape {}", values.shape()));
  if (values.dim(0) != keys.size()) return done(invalid("Keys and values must have the same size {} vs. {}", keys.size(), values.dim(0)));
  barrier.insert_many(step, keys, at, values, std::move(done));
}

}  // namespace

void add_barriers(Registry& ops) {
  ops.add("Barrier", [](Call& call, Step& step, State<Declaration> d) {
    const auto make = [&]() -> StatusOr<std::shared_ptr<Barrier>> { return std::make_shared<Barrier>(d->exit.where.name, d->types, d->shapes); };
    return d->exit.open<Barrier>(call, step, make, [&](const Barrier& barrier) { return check_same(barrier, *d); });
  });
  ops.add("BarrierInsertMany",
          [](Call& call, Step& step, Shared<Barrier> barrier, In<std::string> keys, Any values, Attr<"component_index", std::int64_t> component,
             Done done) { insert_many(call, step, *barrier, keys.tensor, values.tensor, *component, std::move(done)); });
  ops.add("BarrierTakeMany", [](Call& call, Step& step, Shared<Barrier> barrier, In<std::int32_t> elements, Attr<"allow_small_batch", bool> small,
                                Attr<"component_types", std::vector<DType>> types, Attr<"timeout_ms", std::int64_t> timeout, Done done) {
    if (elements.tensor.rank() != 0) return done(invalid("num_elements must be a scalar."));
    const std::int32_t count = elements.tensor.item<std::int32_t>();
    if (*timeout != -1) return done(invalid("Timeout not supported yet."));
    if (count < 0) return done(invalid("Requested {} < 0 elements", count));
    std::vector<DType> wanted{DType::i64, DType::string}, have{DType::i64, DType::string};
    wanted.insert(wanted.end(), barrier->types().begin(), barrier->types().end());
    have.insert(have.end(), types->begin(), types->end());
    if (Status status = match_signature(call, {DType::i32}, {DType::i32}, have, wanted); !status.ok()) return done(status);
    const auto set = [&call](Tuple tuple) {
      for (std::size_t i = 0; i < tuple.size(); ++i) call.set(static_cast<int>(i), std::move(tuple[i]));
    };
    barrier->take_many(step, count, *small, set, std::move(done));
  });
  ops.add("BarrierClose", [](Call&, Step&, Shared<Barrier> barrier, Attr<"cancel_pending_enqueues", bool> cancel, Done done) {
    barrier->close(*cancel, std::move(done));
  });
  ops.add("BarrierReadySize",
          [](Call& call, Step&, Shared<Barrier> barrier) { call.set_scalar(0, static_cast<std::int32_t>(barrier->ready_size())); });
  ops.add("BarrierIncompleteSize",
          [](Call& call, Step&, Shared<Barrier> barrier) { call.set_scalar(0, static_cast<std::int32_t>(barrier->incomplete_size())); });
}

}  // namespace troupe
