// Queue ops.
#include <troupe/ops/containers/shared.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/queue.hpp>

namespace troupe {
namespace {

/// What a queue's node declares.
struct Declaration {
  Exit exit;
  QueueFacts facts;
  std::string op;

  static StatusOr<Declaration> make(Binding& binding) {
    Declaration d;
    TRY_ASSIGN(d.exit, Exit::make_private(binding));
    QueueFacts& f = d.facts;
    f.kind = binding.node().op();
    if (f.kind.ends_with("V2")) f.kind.resize(f.kind.size() - 2);
    f.name = d.exit.where.name;
    d.op = binding.node().op();
    TRY_ASSIGN(f.capacity, binding.attr<std::int32_t>("capacity"));
    TRY_ASSIGN(f.types, binding.attr<std::vector<DType>>("component_types"));
    TRY_ASSIGN(f.shapes, binding.attr<std::vector<PartialShape>>("shapes"));
    if (f.kind == "PriorityQueue") {
      f.types.insert(f.types.begin(), DType::i64);
      if (!f.shapes.empty()) f.shapes.insert(f.shapes.begin(), PartialShape(Shape{}));
    }
    if (f.types.empty()) return invalid("Empty component types for queue {}", f.name);
    if (!f.shapes.empty() && f.shapes.size() != f.types.size())
      return invalid("Different number of component types.  Types: {}, Shapes: {}", f.types.size(), f.shapes.size());
    if (!f.pads())
      for (const PartialShape& shape : f.shapes)
        if (!shape.fully_known()) return invalid("Shape {} is not fully defined", shape);
    if (f.kind == "RandomShuffleQueue") TRY(read_shuffle(binding, f));
    return d;
  }

  static Status read_shuffle(Binding& binding, QueueFacts& f) {
    TRY_ASSIGN(f.min_after_dequeue, binding.attr<std::int32_t>("min_after_dequeue"));
    TRY_ASSIGN(f.seed, binding.attr<std::int64_t>("seed"));
    TRY_ASSIGN(f.seed2, binding.attr<std::int64_t>("seed2"));
    if (f.min_after_dequeue < 0) return invalid("min_after_dequeue {} must be >= 0", f.min_after_dequeue);
    if (f.capacity >= 0 && f.min_after_dequeue >= f.capacity)
      return invalid("min_after_dequeue {} must be < capacity {}", f.min_after_dequeue, f.capacity);
    return absl::OkStatus();
  }
};

Tuple tuple_of(const List& components) {
  Tuple tuple;
  for (int i = 0; i < components.size(); ++i) tuple.push_back(components[i]);
  return tuple;
}

std::vector<DType> types_of(const Tuple& tuple) {
  std::vector<DType> types;
  for (const Tensor& t : tuple) types.push_back(t.dtype());
  return types;
}

Status check_priority(const Queue& queue, const Tuple& tuple, bool batch) {
  if (queue.facts().kind != "PriorityQueue" || tuple[0].rank() == (batch ? 1 : 0)) return absl::OkStatus();
  return invalid("PriorityQueue priority index component must be a scalar, but shape is: {}", tuple[0].shape());
}

void enqueue(Call& call, Step& step, Queue& queue, const List& components, bool batch, Done done) {
  Tuple tuple = tuple_of(components);
  Status status = match_signature(call, types_of(tuple), queue.facts().types, {}, {});
  if (status.ok()) status = batch ? queue.check_batch(tuple) : queue.check_tuple(tuple);
  if (status.ok()) status = check_priority(queue, tuple, batch);
  if (!status.ok()) return done(status);
  if (batch) queue.enqueue_many(step, std::move(tuple), std::move(done));
  else queue.enqueue(step, std::move(tuple), std::move(done));
}

auto into_outputs(Call& call) {
  return [&call](Tuple tuple) {
    for (std::size_t i = 0; i < tuple.size(); ++i) call.set(static_cast<int>(i), std::move(tuple[i]));
  };
}

void dequeue_many(Call& call, Step& step, Queue& queue, const In<std::int32_t>& n, bool up_to, const std::vector<DType>& types, Done done) {
  if (n.size() == 0) return done(invalid("The number of elements to dequeue must not be empty, but has shape {}", n.shape()));
  const std::int32_t count = n[0];
  if (count < 0) return done(invalid("{} requested {} < 0 elements", up_to ? "DequeueUpToOp" : "DequeueManyOp", count));
  Status status = match_signature(call, {DType::i32}, {DType::i32}, types, queue.facts().types);
  if (status.ok()) status = queue.check_batching();
  if (!status.ok()) return done(status);
  queue.dequeue_many(step, count, up_to, into_outputs(call), std::move(done));
}

}  // namespace

void add_queues(Registry& ops) {
  ops.add({"FIFOQueue", "FIFOQueueV2", "PaddingFIFOQueue", "PaddingFIFOQueueV2", "RandomShuffleQueue", "RandomShuffleQueueV2", "PriorityQueue",
           "PriorityQueueV2"},
          [](Call& call, Step& step, State<Declaration> d) {
            const auto make = [&]() -> StatusOr<std::shared_ptr<Queue>> {
              d->facts.name = d->exit.where.name;
              return std::make_shared<Queue>(d->facts);
            };
            return d->exit.open<Queue>(call, step, make, [&](const Queue& queue) { return queue.check_same(d->facts, d->op); });
          });

  ops.add({"QueueEnqueue", "QueueEnqueueV2"}, [](Call& call, Step& step, Shared<Queue> queue, List components, Done done) {
    enqueue(call, step, *queue, components, false, std::move(done));
  });
  ops.add({"QueueEnqueueMany", "QueueEnqueueManyV2"}, [](Call& call, Step& step, Shared<Queue> queue, List components, Done done) {
    enqueue(call, step, *queue, components, true, std::move(done));
  });
  ops.add({"QueueDequeue", "QueueDequeueV2"},
          [](Call& call, Step& step, Shared<Queue> queue, Attr<"component_types", std::vector<DType>> types, Done done) {
            if (Status status = match_signature(call, {}, {}, *types, queue->facts().types); !status.ok()) return done(status);
            queue->dequeue(step, into_outputs(call), std::move(done));
          });
  ops.add({"QueueDequeueMany", "QueueDequeueManyV2"},
          [](Call& call, Step& step, Shared<Queue> queue, In<std::int32_t> n, Attr<"component_types", std::vector<DType>> types, Done done) {
            dequeue_many(call, step, *queue, n, false, *types, std::move(done));
          });
  ops.add({"QueueDequeueUpTo", "QueueDequeueUpToV2"},
          [](Call& call, Step& step, Shared<Queue> queue, In<std::int32_t> n, Attr<"component_types", std::vector<DType>> types, Done done) {
            dequeue_many(call, step, *queue, n, true, *types, std::move(done));
          });

  ops.add({"QueueClose", "QueueCloseV2"},
          [](Call&, Step&, Shared<Queue> queue, Attr<"cancel_pending_enqueues", bool> cancel, Done done) { queue->close(*cancel, std::move(done)); });
  ops.add({"QueueSize", "QueueSizeV2"}, [](Call& call, Step&, Shared<Queue> queue) { call.set_scalar(0, static_cast<std::int32_t>(queue->size())); });
  ops.add({"QueueIsClosed", "QueueIsClosedV2"}, [](Call& call, Step&, Shared<Queue> queue) { call.set_scalar(0, queue->closed()); });
}

}  // namespace troupe
