// The graph of one shard of a model's parameters.
#include <troupe/actors/lab/model.hpp>
#include <troupe/ops/builder/optimizer.hpp>

namespace troupe::lab {
namespace {

using namespace build;

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, const Out& rate) {
  if (spec.kind == "momentum") return std::make_unique<Momentum>(rate, spec.momentum);
  if (spec.kind == "adagrad") return std::make_unique<Adagrad>(rate);
  if (spec.kind == "rmsprop") return std::make_unique<RmsProp>(rate);
  if (spec.kind == "adam") return std::make_unique<Adam>(rate);
  return std::make_unique<GradientDescent>(rate);
}

Grad gradient_of(Builder& b, const Parameter& p) {
  if (!p.sparse) return b.placeholder(DType::f32, PartialShape(p.shape), p.name + "/gradient");
  std::vector<std::int64_t> rows{-1};
  std::vector<std::int32_t> whole;
  for (int i = 0; i < p.shape.rank(); ++i) {
    if (i > 0) rows.push_back(p.shape.dim(i));
    whole.push_back(static_cast<std::int32_t>(p.shape.dim(i)));
  }
  const Out values = b.placeholder(DType::f32, PartialShape(std::span<const std::int64_t>(rows)), p.name + "/gradient");
  return IndexedSlices{values, b.placeholder(DType::i32, dims({-1}), p.name + "/rows"), b.constant(whole, p.name + "/shape")};
}

}  // namespace

std::vector<std::size_t> parameters_of_shard(const Model& model, int shard, int shards) {
  std::vector<std::size_t> which;
  for (std::size_t i = static_cast<std::size_t>(shard); i < model.parameters.size(); i += static_cast<std::size_t>(shards)) which.push_back(i);
  return which;
}

std::string read_name(const Parameter& parameter) { return parameter.name + "/Read/ReadVariableOp:0"; }

StatusOr<wire::GraphDef> build_shard(const Model& model, const std::vector<std::size_t>& which, const OptimizerSpec& spec) {
  Builder b;
  const Out rate = b.placeholder(DType::f32, dims({}), "rate");
  std::vector<GradientOf> gradients;
  std::vector<Op> resets;
  for (std::size_t i : which) {
    const Parameter& p = model.parameters[i];
    const build::Variable v = variable(b, p.name, p.initial);
    gradients.push_back({v, gradient_of(b, p)});
    resets.push_back(v.assign(b.placeholder(DType::f32, PartialShape(p.shape), p.name + "/value")));
  }
  const auto optimizer = make_optimizer(spec, rate);
  if (!gradients.empty()) b.group({optimizer->apply_gradients(gradients)}, "apply");
  b.group(resets, "reset");
  b.initializer("init");
  return b.graph();
}

}  // namespace troupe::lab
