// Elements, or slices along a dimension, without repeats; and what of one list is not in another.
#include <troupe/ops/array/hash_key.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_set>

namespace troupe {
namespace {

/// The input as [outer, count, inner]; slices run along the middle.
struct Slices {
  std::int64_t outer = 1, count = 0, inner = 1;
};

/// TensorFlow hashes narrow floats by their bits, and so tells their zeros apart.
template <class T>
bool same(const T& x, const T& y) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
    return x == y && Eigen::numext::bit_cast<std::uint16_t>(x) == Eigen::numext::bit_cast<std::uint16_t>(y);
  else return x == y;
}

/// Hashes and compares slices by their number.
template <class T>
struct SliceOrder {
  const T* data;
  Slices s;

  const T& at(std::int64_t slice, std::int64_t o, std::int64_t i) const { return data[(o * s.count + slice) * s.inner + i]; }
  std::size_t operator()(std::int64_t slice) const {
    std::size_t h = 0;
    for (std::int64_t o = 0; o < s.outer; ++o)
      for (std::int64_t i = 0; i < s.inner; ++i) h = h * 31 + hash_of(at(slice, o, i));
    // All bits have a part in the upper ones of the product.
    return h * 0x9e3779b97f4a7c15ULL;
  }
  bool operator()(std::int64_t a, std::int64_t b) const {
    for (std::int64_t o = 0; o < s.outer; ++o)
      for (std::int64_t i = 0; i < s.inner; ++i)
        if (!same(at(a, o, i), at(b, o, i))) return false;
    return true;
  }
};

/// The same for slices of one element.
template <class T>
struct ElementOrder {
  const T* data;

  std::size_t operator()(std::int64_t at) const { return hash_of(data[at]); }
  bool operator()(std::int64_t a, std::int64_t b) const { return same(data[a], data[b]); }
};

/// Numbers of slices: TensorFlow refuses more of them.
using Numbers = std::vector<std::int32_t>;

/// Which group has a slice, by the slice's hash. Places in a flat array that grows with the groups: no memory of its own for each of them.
template <class Order>
class GroupTable {
 public:
  GroupTable(const Order& order, std::int64_t slices) : order_(order) {
    const auto roomy = std::bit_ceil(2 * static_cast<std::size_t>(slices));
    resize(std::clamp(roomy, least, at_once), {});
  }

  /// The group whose first slice equals this one, which becomes the first of a new one where there is none.
  std::int32_t find(std::int32_t slice, Numbers& first) {
    if (2 * first.size() >= places_.size()) resize(4 * places_.size(), first);
    std::int32_t& place = seek(slice, first);
    if (place == none) {
      place = static_cast<std::int32_t>(first.size());
      first.push_back(slice);
    }
    return place;
  }

 private:
  static constexpr std::int32_t none = -1;
  // What a processor's first cache holds is there at once; the many slices of few groups need no more.
  static constexpr std::size_t least = 64, at_once = 16384;

  std::int32_t& seek(std::int32_t slice, const Numbers& first) {
    std::size_t at = order_(slice) >> shift_;
    while (places_[at] != none && !order_(first[static_cast<std::size_t>(places_[at])], slice)) at = (at + 1) & (places_.size() - 1);
    return places_[at];
  }
  void resize(std::size_t size, const Numbers& first) {
    places_.assign(size, none);
    shift_ = 64 - std::countr_zero(size);
    for (std::size_t group = 0; group < first.size(); ++group) seek(first[group], first) = static_cast<std::int32_t>(group);
  }

  const Order order_;
  Numbers places_;
  int shift_ = 0;
};

/// Number of the first equal slice for each slice, and the group of each slice.
struct Found {
  Numbers first, group;
};

template <class Order>
Found find_groups(const Order& order, std::int64_t count) {
  GroupTable<Order> groups(order, count);
  Found found;
  found.group.resize(static_cast<std::size_t>(count));
  std::int32_t slice = 0;
  for (std::int32_t& group : found.group) group = groups.find(slice++, found.first);
  return found;
}

template <class T>
Found find_groups(const T* data, Slices s) {
  if (s.outer == 1 && s.inner == 1) return find_groups(ElementOrder<T>{data}, s.count);
  return find_groups(SliceOrder<T>{data, s}, s.count);
}

Numbers counts_of(const Found& found) {
  Numbers counts(found.first.size());
  for (std::int32_t group : found.group) ++counts[static_cast<std::size_t>(group)];
  return counts;
}

template <class V>
void write_integers(Call& call, int output, DType type, const std::vector<V>& values) {
  by_index(type, [&]<class I>() { std::copy(values.begin(), values.end(), call.alloc<I>(output, Shape{static_cast<std::int64_t>(values.size())})); });
}

StatusOr<int> axis_of(const Tensor& x, const Tensor* axis) {
  if (!axis || (axis->rank() == 1 && axis->size() == 0)) {
    if (x.rank() != 1) return invalid("unique expects a 1D vector.");
    return 0;
  }
  if (axis->rank() != 1) return invalid("axis expects a 1D vector.");
  if (axis->size() > 1) return invalid("axis does not support input tensors larger than 1 elements");
  const std::int64_t given = as_integer(*axis), at = given < 0 ? given + x.rank() : given;
  if (at < 0 || at >= x.rank()) return invalid("axis has to be between [0, {})", x.rank());
  return static_cast<int>(at);
}

Status unique(Call& call, const Tensor& x, const Tensor* axis, DType out_idx) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (x.size() > most) return invalid("unique does not support input tensors larger than {} elements", most);
  TRY_ASSIGN(const int at, axis_of(x, axis));
  if (x.dim(at) > most) return invalid("unique does not support more than {} slices", most);  // of no elements
  const Slices s{x.shape().elements(0, at), x.dim(at), x.shape().elements(at + 1, x.rank())};
  Found found;
  visit_dtype(joined<hashable_types, types<bool>>{}, x.dtype(), [&]<class T>() { found = find_groups<T>(x.data<T>(), s); });
  Shape shape = x.shape();
  shape.set_dim(at, static_cast<std::int64_t>(found.first.size()));
  Tensor& out = call.alloc(0, x.dtype(), shape);
  by_storage(x.dtype(), [&]<class S>() {
    S* to = out.mutable_data<S>();
    for (std::int64_t o = 0; o < s.outer; ++o)
      for (std::int32_t slice : found.first) to = std::copy_n(x.data<S>() + (o * s.count + slice) * s.inner, s.inner, to);
  });
  write_integers(call, 1, out_idx, found.group);
  if (call.outputs() > 2) write_integers(call, 2, out_idx, counts_of(found));
  return absl::OkStatus();
}

template <class T>
Status list_difference(Call& call, In<T> x, In<T> y, DType out_idx) {
  if (x.dims() != 1) return invalid("x should be a 1D vector.");
  if (y.dims() != 1) return invalid("y should be a 1D vector.");
  struct Hash {
    std::size_t operator()(const HashKey<T>& key) const { return std::hash<HashKey<T>>{}(key)*0x9e3779b97f4a7c15ULL; }
  };
  std::unordered_set<HashKey<T>, Hash> excluded(static_cast<std::size_t>(y.size()));
  for (const T& value : y.values()) excluded.insert(hash_key(value));
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < x.size(); ++i)
    if (!excluded.contains(hash_key(x[i]))) kept.push_back(i);
  T* out = call.alloc<T>(0, Shape{static_cast<std::int64_t>(kept.size())});
  for (std::int64_t i : kept) *out++ = x[i];
  write_integers(call, 1, out_idx, kept);
  return absl::OkStatus();
}

}  // namespace

void add_unique(Registry& ops) {
  const ForTypes types{"T", list_of(hashable_types{}) + DTypes{DType::boolean}};
  add_for(ops, {"Unique", "UniqueWithCounts"}, {types},
          [](Call& call, Any x, Attr<"out_idx", DType> out_idx) { return unique(call, x.tensor, nullptr, out_idx); });
  add_for(ops, {"UniqueV2", "UniqueWithCountsV2"}, {types},
          [](Call& call, Any x, Any axis, Attr<"out_idx", DType> out_idx) { return unique(call, x.tensor, &axis.tensor, out_idx); });
  ops.add("ListDiff", hashable_types{},
          []<class T>(Call& call, In<T> x, In<T> y, Attr<"out_idx", DType> out_idx) { return list_difference<T>(call, x, y, out_idx); });
  ops.cost({"Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2"}, 10);
  ops.cost({"ListDiff"}, 30);
}

}  // namespace troupe
