// Sparse tensors that are kept on a device under numbers, to be taken by another node.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/sparse/stacked.hpp>
#include <troupe/ops/state/resource_name.hpp>

#include <unordered_map>

namespace troupe {

/// Touched only on its device's actor.
class SparseTensorsMap final : public Resource {
 public:
  explicit SparseTensorsMap(std::string name) : name_(std::move(name)) {}
  std::string describe() const override { return fmt::format("map of {} sparse tensors", tensors_.size()); }

  std::int64_t add(SparseParts parts) {
    tensors_.emplace(next_, std::move(parts));
    return next_++;
  }
  StatusOr<SparseParts> take(std::int64_t number) {
    auto found = tensors_.find(number);
    if (found == tensors_.end()) return invalid("Unable to find SparseTensor: {} in map: {}", number, name_);
    SparseParts parts = std::move(found->second);
    tensors_.erase(found);
    return parts;
  }

 private:
  std::string name_;
  std::unordered_map<std::int64_t, SparseParts> tensors_;
  std::int64_t next_ = 0;
};

template <>
struct resource_type<SparseTensorsMap> {
  static constexpr const char* name = "N10tensorflow16SparseTensorsMapE";
};

namespace {

/// Where a node finds its map. One that takes without a shared name has a map for itself, which stays empty.
struct MapPlace {
  ResourceName where;
  bool nameless = false;

  static StatusOr<MapPlace> make(Binding& binding) {
    MapPlace place;
    TRY_ASSIGN(place.where, ResourceName::make(binding));
    TRY_ASSIGN(const auto shared_name, binding.attr<std::string>("shared_name"));
    place.nameless = shared_name.empty() && binding.node().op().starts_with("Take");
    return place;
  }
  StatusOr<std::shared_ptr<SparseTensorsMap>> map(Step& step) {
    if (nameless) {
      where.name = fmt::format("_{}_{}", step.resources->next_number(), where.name);
      nameless = false;
    }
    return step.resources->find_or_create<SparseTensorsMap>(
        step.resources->container_or_default(where.container), where.name,
        [this]() -> StatusOr<std::shared_ptr<SparseTensorsMap>> { return std::make_shared<SparseTensorsMap>(where.name); });
  }
};

Status add_one(Call& call, SparseTensorsMap& map, const SparseIn& s) {
  TRY(check_ranks(s));
  TRY_ASSIGN(const Shape shape, make_shape(s.sizes()));
  TRY(check_parts(s.indices, s.values, shape.rank()));
  call.set_scalar<std::int64_t>(0, map.add({s.indices, s.values, s.shape}));
  return absl::OkStatus();
}

Status add_many(Call& call, SparseTensorsMap& map, const SparseIn& s) {
  TRY(check_ranks(s));
  if (s.values.dim(0) != s.rows())
    return invalid("Number of values must match first dimension of indices. Got {} values, indices shape: {}", s.values.dim(0), s.indices.shape());
  if (s.shape.dim(0) != s.rank())
    return invalid("Number of dimensions must match second dimension of indices. Got {} dimensions, indices shape: {}", s.shape.dim(0),
                   s.indices.shape());
  TRY_ASSIGN(std::vector<SparseParts> parts, unstack(s));
  std::int64_t* out = call.alloc<std::int64_t>(0, Shape{static_cast<std::int64_t>(parts.size())});
  // Those without values come last.
  for (const bool empty : {false, true})
    for (std::size_t i = 0; i < parts.size(); ++i)
      if ((parts[i].values.size() == 0) == empty) out[i] = map.add(parts[i]);
  return absl::OkStatus();
}

Status take_many(Call& call, SparseTensorsMap& map, const Tensor& handles, DType dtype) {
  if (handles.rank() != 1) return invalid("sparse_handles should be a vector but received shape {}", handles.shape());
  if (handles.size() == 0) return invalid("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows");
  std::vector<SparseParts> parts;
  for (std::int64_t handle : handles.values<std::int64_t>()) {
    TRY_ASSIGN(SparseParts one, map.take(handle));
    parts.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].values.dtype() != dtype)
      return invalid("Requested SparseTensor of type {} but SparseTensor[{}].values.dtype() == {}", name_of(dtype), i,
                     name_of(parts[i].values.dtype()));
    if (parts[i].shape.size() != parts[0].shape.size())
      return invalid("Inconsistent rank across SparseTensors: rank prior to SparseTensor[{}] was: {} but rank of SparseTensor[{}] is: {}", i,
                     parts[0].shape.size() + 1, i, parts[i].shape.size() + 1);
  }
  SparseParts whole = stack(parts, Shape{handles.size()});
  call.set(0, std::move(whole.indices));
  call.set(1, std::move(whole.values));
  call.set(2, std::move(whole.shape));
  return absl::OkStatus();
}

}  // namespace

void add_sparse_tensors_map(Registry& ops) {
  add_for(ops, "AddSparseToTensorsMap", {}, [](Call& call, Step& step, State<MapPlace> place, Any indices, Any values, Any shape) -> Status {
    TRY_ASSIGN(const auto map, place->map(step));
    return add_one(call, *map, {indices.tensor, values.tensor, shape.tensor});
  });
  add_for(ops, "AddManySparseToTensorsMap", {{"T", dtypes::all()}},
          [](Call& call, Step& step, State<MapPlace> place, Any indices, Any values, Any shape) -> Status {
            TRY_ASSIGN(const auto map, place->map(step));
            return add_many(call, *map, {indices.tensor, values.tensor, shape.tensor});
          });
  add_for(ops, "TakeManySparseFromTensorsMap", {{"dtype", dtypes::all()}},
          [](Call& call, Step& step, State<MapPlace> place, Any handles, Attr<"dtype", DType> dtype) -> Status {
            TRY_ASSIGN(const auto map, place->map(step));
            return take_many(call, *map, handles.tensor, *dtype);
          });
}

}  // namespace troupe
