// Accumulator ops.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/containers/shared.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/accumulator.hpp>

namespace troupe {
namespace {

struct Declaration {
  Exit exit;
  AccumulatorFacts facts;

  static StatusOr<Declaration> make(Binding& binding) {
    Declaration d;
    TRY_ASSIGN(d.exit, Exit::make_private(binding));
    TRY_ASSIGN(d.facts.dtype, binding.attr<DType>("dtype"));
    TRY_ASSIGN(d.facts.shape, binding.attr<PartialShape>("shape"));
    TRY_ASSIGN(const auto reduction, binding.attr<std::string>("reduction_type"));
    d.facts.mean = reduction == "MEAN";
    d.facts.sparse = binding.node().op() == "SparseConditionalAccumulator";
    return d;
  }
};

Status open(Call& call, Step& step, Declaration& d) {
  const auto make = [&]() -> StatusOr<std::shared_ptr<Accumulator>> {
    AccumulatorFacts facts = d.facts;
    facts.name = d.exit.where.name;
    return std::make_shared<Accumulator>(facts);
  };
  return d.exit.open<Accumulator>(call, step, make, [](const Accumulator&) { return absl::OkStatus(); });
}

Status check_dtype(Call& call, const Accumulator& accumulator, DType given, const std::vector<DType>& before, const std::vector<DType>& after) {
  const auto types = [&](DType dtype) {
    std::vector<DType> all = before;
    all.push_back(dtype);
    all.insert(all.end(), after.begin(), after.end());
    return all;
  };
  return match_signature(call, types(given), types(accumulator.facts().dtype), {}, {});
}

void take(Call& call, Step& step, Accumulator& accumulator, const Tensor& required, DType dtype, Done done) {
  if (accumulator.facts().sparse != (call.outputs() == 3))
    return done(invalid("The accumulator is {}sparse", accumulator.facts().sparse ? "" : "not "));
  if (dtype != accumulator.facts().dtype) return done(match_signature(call, {DType::i32}, {DType::i32}, {dtype}, {accumulator.facts().dtype}));
  if (required.rank() != 0) return done(invalid("Argument num_required must be scalar, but had bad shape {}", required.shape()));
  const auto set = [&call](Gradient gradient) {
    for (std::size_t i = 0; i < gradient.size(); ++i) call.set(static_cast<int>(i), std::move(gradient[i]));
  };
  accumulator.take(step, required.item<std::int32_t>(), set, std::move(done));
}

}  // namespace

void add_accumulators(Registry& ops) {
  add_for(ops, {"ConditionalAccumulator", "SparseConditionalAccumulator", "ResourceConditionalAccumulator"},
          {{"dtype", list_of(types<half, float, double>{})}}, [](Call& call, Step& step, State<Declaration> d) { return open(call, step, *d); });

  ops.add({"AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient"},
          [](Call& call, Step&, Shared<Accumulator> accumulator, In<std::int64_t> local_step, Any gradient) -> Status {
            TRY(check_dtype(call, *accumulator, gradient->dtype(), {DType::i64}, {}));
            if (accumulator->facts().sparse) return invalid("The accumulator is sparse");
            if (local_step.dims() != 0) return invalid("Argument local_step must be scalar, but had bad shape {}", local_step.shape());
            return accumulator->apply(local_step[0], {gradient.tensor});
          });
  ops.add("SparseAccumulatorApplyGradient",
          [](Call& call, Step&, Shared<Accumulator> accumulator, In<std::int64_t> local_step, In<std::int64_t> indices, Any values,
             In<std::int64_t> shape, Attr<"has_known_shape", bool> known) -> Status {
            TRY(check_dtype(call, *accumulator, values->dtype(), {DType::i64, DType::i64}, {DType::i64}));
            if (!accumulator->facts().sparse) return invalid("The accumulator is not sparse");
            if (local_step.dims() != 0) return invalid("Argument local_step must be scalar, but had bad shape {}", local_step.shape());
            Gradient gradient{indices.tensor, values.tensor};
            if (*known) gradient.push_back(shape.tensor);
            return accumulator->apply(local_step[0], gradient);
          });
  ops.add({"AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient", "SparseAccumulatorTakeGradient"},
          [](Call& call, Step& step, Shared<Accumulator> accumulator, In<std::int32_t> required, Attr<"dtype", DType> dtype, Done done) {
            take(call, step, *accumulator, required.tensor, *dtype, std::move(done));
          });
  ops.add({"AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep"},
          [](Call&, Step&, Shared<Accumulator> accumulator, In<std::int64_t> step) -> Status {
            if (step.dims() != 0) return invalid("Argument num_accumulated must be scalar, but had bad shape {}", step.shape());
            accumulator->set_step(step[0]);
            return absl::OkStatus();
          });
  ops.add({"AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated"},
          [](Call& call, Step&, Shared<Accumulator> accumulator) { call.set_scalar(0, static_cast<std::int32_t>(accumulator->count())); });
}

}  // namespace troupe
