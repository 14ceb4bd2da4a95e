// Staging ops: Stage and MapStage with what belongs to them.
#include <troupe/ops/resources/staging.hpp>

#include <troupe/ops/kernel.hpp>
#include <troupe/ops/state/resource_name.hpp>

namespace troupe {
namespace {

/// The area or map that a node's attributes name; whoever comes first makes it.
struct StagePlace {
  ResourceName where;
  StagingLimits limits;
  std::size_t components = 0;
  std::string kind;  // "Stage", "Map" or "OrderedMap": three namespaces

  static StatusOr<StagePlace> make(Binding& binding) {
    StagePlace p;
    TRY_ASSIGN(p.where, ResourceName::make(binding));
    TRY_ASSIGN(p.limits.capacity, binding.attr<std::int64_t>("capacity"));
    TRY_ASSIGN(p.limits.bytes, binding.attr<std::int64_t>("memory_limit"));
    TRY_ASSIGN(const auto types, binding.attr<std::vector<DType>>("dtypes"));
    p.components = types.size();
    const std::string& op = binding.node().op();
    p.kind = op.starts_with("OrderedMap") ? "OrderedMap" : op.starts_with("Map") ? "Map" : "Stage";
    return p;
  }

  std::shared_ptr<StagingArea> area(Step& step) const {
    const auto make = [&]() -> StatusOr<std::shared_ptr<StagingArea>> { return std::make_shared<StagingArea>(limits); };
    return *step.resources->find_or_create<StagingArea>(step.resources->container_or_default(where.container), where.name, make);
  }
  std::shared_ptr<StagingMap> map(Step& step) const {
    const auto make = [&]() -> StatusOr<std::shared_ptr<StagingMap>> { return std::make_shared<StagingMap>(limits, components); };
    // A name of an ordered map may be that of a plain one, too.
    return *step.resources->find_or_create<StagingMap>(step.resources->container_or_default(where.container), kind + "/" + where.name, make);
  }
};

Tuple tuple_of(const List& list) {
  Tuple tuple;
  for (int i = 0; i < list.size(); ++i) tuple.push_back(list[i]);
  return tuple;
}

StatusOr<StagingMap::Indices> indices_of(const Tensor& t) {
  if (t.rank() != 1) return invalid("indices must be a vector, got shape {}", t.shape());
  const auto values = t.values<std::int32_t>();
  return StagingMap::Indices(values.begin(), values.end());
}

Status set_outputs(Call& call, int first, Tuple tuple) {
  if (static_cast<int>(tuple.size()) != call.outputs() - first)
    return invalid("Mismatch stage/unstage: {} vs. {}", tuple.size(), call.outputs() - first);
  for (std::size_t i = 0; i < tuple.size(); ++i) call.set(first + static_cast<int>(i), std::move(tuple[i]));
  return absl::OkStatus();
}

auto into_outputs(Call& call) {
  return [&call](Tuple tuple) { return set_outputs(call, 0, std::move(tuple)); };
}

void take_entry(Call& call, Step& step, StagingMap& map, const Tensor& key, const Tensor& at, bool only_look, Done done) {
  if (key.rank() != 0) return done(invalid("key must be an int64 scalar"));
  auto indices = indices_of(at);
  if (!indices.ok()) return done(indices.status());
  map.take(
      step, key.item<std::int64_t>(), *indices, only_look, [&call](std::int64_t, Tuple tuple) { return set_outputs(call, 0, std::move(tuple)); },
      std::move(done));
}

void add_maps(Registry& ops) {
  ops.add({"MapStage", "OrderedMapStage"},
          [](Call&, Step& step, State<StagePlace> place, In<std::int64_t> key, In<std::int32_t> at, List values, Done done) {
            if (key.dims() != 0) return done(invalid("key must be an int64 scalar"));
            auto indices = indices_of(at.tensor);
            if (!indices.ok()) return done(indices.status());
            place->map(step)->put(step, key[0], *indices, tuple_of(values), std::move(done));
          });
  ops.add({"MapUnstage", "OrderedMapUnstage"},
          [](Call& call, Step& step, State<StagePlace> place, In<std::int64_t> key, In<std::int32_t> at, Done done) {
            take_entry(call, step, *place->map(step), key.tensor, at.tensor, false, std::move(done));
          });
  ops.add({"MapPeek", "OrderedMapPeek"}, [](Call& call, Step& step, State<StagePlace> place, In<std::int64_t> key, In<std::int32_t> at, Done done) {
    take_entry(call, step, *place->map(step), key.tensor, at.tensor, true, std::move(done));
  });
  ops.add({"MapUnstageNoKey", "OrderedMapUnstageNoKey"}, [](Call& call, Step& step, State<StagePlace> place, In<std::int32_t> at, Done done) {
    auto indices = indices_of(at.tensor);
    if (!indices.ok()) return done(indices.status());
    const auto take = [&call](std::int64_t key, Tuple tuple) {
      call.set_scalar(0, key);
      return set_outputs(call, 1, std::move(tuple));
    };
    place->map(step)->take(step, std::nullopt, *indices, false, take, std::move(done));
  });
  ops.add({"MapSize", "OrderedMapSize"},
          [](Call& call, Step& step, State<StagePlace> place) { call.set_scalar(0, static_cast<std::int32_t>(place->map(step)->size())); });
  ops.add({"MapIncompleteSize", "OrderedMapIncompleteSize"}, [](Call& call, Step& step, State<StagePlace> place) {
    call.set_scalar(0, static_cast<std::int32_t>(place->map(step)->incomplete_size()));
  });
  ops.add({"MapClear", "OrderedMapClear"}, [](Call&, Step& step, State<StagePlace> place) { place->map(step)->clear(); });
}

}  // namespace

void add_staging(Registry& ops) {
  ops.add("Stage", [](Call&, Step& step, State<StagePlace> place, List values, Done done) {
    place->area(step)->put(step, tuple_of(values), std::move(done));
  });
  ops.add("Unstage",
          [](Call& call, Step& step, State<StagePlace> place, Done done) { place->area(step)->take(step, into_outputs(call), std::move(done)); });
  ops.add("StagePeek", [](Call& call, Step& step, State<StagePlace> place, Scalar<std::int32_t> index, Done done) {
    if (*index < 0) return done(invalid("index must not be negative, got {}", *index));
    place->area(step)->look(step, static_cast<std::size_t>(*index), into_outputs(call), std::move(done));
  });
  ops.add("StageSize",
          [](Call& call, Step& step, State<StagePlace> place) { call.set_scalar(0, static_cast<std::int32_t>(place->area(step)->size())); });
  ops.add("StageClear", [](Call&, Step& step, State<StagePlace> place) { place->area(step)->clear(); });
  add_maps(ops);
}

}  // namespace troupe
