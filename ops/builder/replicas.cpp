// Placement of replicas, and the graph of synchronous steps.
#include <troupe/ops/builder/replicas.hpp>

#include <troupe/ops/builder/array.hpp>

#include <algorithm>
#include <set>

namespace troupe::build {
namespace {

bool goes_to_ps(const std::string& kind) {
  static const std::set<std::string> kinds{"Variable",
                                           "VariableV2",
                                           "AutoReloadVariable",
                                           "VarHandleOp",
                                           "MutableHashTable",
                                           "MutableHashTableV2",
                                           "MutableHashTableOfTensors",
                                           "MutableHashTableOfTensorsV2",
                                           "MutableDenseHashTable",
                                           "MutableDenseHashTableV2",
                                           "BoostedTreesEnsembleResourceHandleOp",
                                           "BoostedTreesQuantileStreamResourceHandleOp",
                                           "ResourceConditionalAccumulator",
                                           "DecisionTreeResource"};
  return kinds.contains(kind);
}

std::string job_of(const std::string& device) {
  const auto at = device.find("/job:");
  return at == std::string::npos ? "" : device.substr(at + 5, device.find('/', at + 5) - at - 5);
}

/// One variable's accumulator: what workers hand in, and what the chief takes out.
struct Accumulator {
  Op handle, hand_in, set_step;
  Grad average;
};

Accumulator accumulate(Builder& b, const GradientOf& g, const Variable& global_step, const Out& local_step, int wanted) {
  auto place = b.device(op_of(g.variable.handle).device());
  const std::string shared = g.variable.name() + ":0/grad_accum";
  const DType type = g.variable.dtype;
  const Out required = b.constant(wanted, "num_required");
  if (!g.grad.is_sparse()) {
    const Op handle = b.op("ResourceConditionalAccumulator", {}, {{"dtype", type}, {"shape", g.variable.shape}, {"shared_name", shared}},
                           "conditional_accumulator");
    return {handle, b.op("ResourceAccumulatorApplyGradient", {handle, local_step, g.grad.dense()}),
            b.op("ResourceAccumulatorSetGlobalStep", {handle, global_step.read()}, {}, "SetGlobalStep"),
            Out(b.op("ResourceAccumulatorTakeGradient", {handle, required}, {{"dtype", type}}))};
  }
  const auto& rows = g.grad.sparse();
  const Op handle = b.op("SparseConditionalAccumulator", {}, {{"dtype", type}, {"shape", PartialShape()}, {"shared_name", shared}},
                         "sparse_conditional_accumulator");
  const Op hand_in =
      b.op("SparseAccumulatorApplyGradient", {handle, local_step, cast(rows.indices, DType::i64), rows.values, cast(rows.dense_shape, DType::i64)},
           {{"has_known_shape", true}});
  const Op set_step = b.op("AccumulatorSetGlobalStep", {handle, global_step.read()}, {}, "SetGlobalStep");
  const Op taken = b.op("SparseAccumulatorTakeGradient", {handle, required}, {{"dtype", type}});
  if (!taken.valid()) return {};
  return {handle, hand_in, set_step, IndexedSlices{taken[1], taken[0], taken[2]}};
}

Op give_tokens(Builder& b, const Out& queue, const Variable& global_step, int count) {
  const Out tokens = fill(b.constant(std::vector<std::int32_t>{count}), global_step.read());
  return b.op("QueueEnqueueManyV2", {queue, std::vector<Out>{tokens}}, {}, "sync_token_q_EnqueueMany");
}

}  // namespace

DeviceFunction replica_device_setter(const ReplicaDevices& devices) {
  auto next = std::make_shared<int>(0);
  return [devices, next](const wire::NodeDef& node) -> std::string {
    if (!devices.merge && !node.device().empty()) return node.device();
    std::string chosen = devices.worker_device;
    if (devices.ps_tasks > 0 && !devices.ps_device.empty() && goes_to_ps(node.op())) {
      chosen = devices.ps_device;
      const std::string said = job_of(node.device()), ps = job_of(devices.ps_device);
      // Whoever has said another job is not taken in turn.
      if (!ps.empty() && (said.empty() || said == ps)) chosen = merge_devices(fmt::format("/task:{}", (*next)++ % devices.ps_tasks), chosen);
    }
    return merge_devices(node.device(), chosen);
  };
}

SyncReplicas synchronize(Optimizer& optimizer, const std::vector<GradientOf>& gradients, const Variable& global_step, const SyncOptions& options) {
  if (!global_step.valid()) return {};
  Builder& b = *global_step.handle.builder;
  const int wanted = options.replicas_to_aggregate, replicas = options.total_replicas > 0 ? options.total_replicas : wanted;
  const int at_start = options.tokens_at_start >= 0 ? options.tokens_at_start : wanted;
  if (wanted < 1) b.fail(invalid("Synchronous replicas aggregate at least one gradient, not {}", wanted));
  if (at_start < wanted - replicas)
    b.fail(invalid("Too few tokens to finish the first step: {} (given) vs {} (needed)", at_start, wanted - replicas));
  if (global_step.dtype != DType::i64) b.fail(invalid("The global step '{}' is {}, not int64", global_step.name(), name_of(global_step.dtype)));

  SyncReplicas sync;
  Variable local_step;
  {
    const Op here = b.op("NoOp", {}, {}, "local_anchor");
    auto beside = b.beside(here);
    local_step = variable(b, "sync_rep_local_step", zeros({}, DType::i64), {.trainable = false, .local = true});
  }
  sync.local_init = local_step.assign(global_step.read());

  std::vector<Op> handed_in, init{sync.local_init};
  std::vector<GradientOf> averages;
  {
    auto scope = b.scope("sync_replicas");
    for (const auto& g : gradients) {
      if (g.grad.none() || !g.variable.valid()) continue;
      const auto made = accumulate(b, g, global_step, local_step.read(), wanted);
      handed_in.push_back(made.hand_in);
      init.push_back(made.set_step);
      averages.push_back({g.variable, made.average});
    }
  }
  if (!b.status().ok()) return {};
  auto place = b.device(op_of(global_step.handle).device());
  const Op applied = optimizer.apply_gradients(averages, global_step);
  const Out queue = b.op("FIFOQueueV2", {},
                         {{"component_types", std::vector<DType>{DType::i64}},
                          {"shapes", std::vector<PartialShape>{dims({})}},
                          {"capacity", -1},
                          {"shared_name", "sync_token_q"}},
                         "sync_token_q");
  Out token;
  {
    auto after = b.after(handed_in);
    token = b.op("QueueDequeueV2", {queue}, {{"component_types", std::vector<DType>{DType::i64}}}, "sync_token_q_Dequeue");
  }
  b.refine(token, dims({}));
  {
    auto beside = b.beside(op_of(local_step.handle));
    sync.train = local_step.assign(token);
  }
  {
    auto after = b.after({applied});
    sync.update = give_tokens(b, queue, global_step, std::max(replicas, wanted));
  }
  sync.init_tokens = at_start > 0 ? give_tokens(b, queue, global_step, at_start) : b.op("NoOp", {}, {}, "no_init_tokens");
  sync.chief_init = b.group(init, "chief_init");
  return sync;
}

}  // namespace troupe::build
