// Elements, or slices along a dimension, without repeats; and what of one list is not in another.
#include <troupe/ops/array/hash_key.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>

#include <unordered_map>
#include <unordered_set>

namespace troupe {
namespace {

/// The input as [outer, count, inner]; slices run along the middle.
struct Slices {
  std::int64_t outer = 1, count = 0, inner = 1;
};

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
    return h;
  }
  bool operator()(std::int64_t a, std::int64_t b) const {
    for (std::int64_t o = 0; o < s.outer; ++o)
      for (std::int64_t i = 0; i < s.inner; ++i)
        if (!same(at(a, o, i), at(b, o, i))) return false;
    return true;
  }
  /// TensorFlow hashes narrow floats by their bits, and so tells their zeros apart.
  static bool same(const T& x, const T& y) {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
      return x == y && Eigen::numext::bit_cast<std::uint16_t>(x) == Eigen::numext::bit_cast<std::uint16_t>(y);
    else return x == y;
  }
};

/// Number of the first equal slice for each slice, and how often each of those comes.
struct Found {
  std::vector<std::int64_t> first, group, counts;
};

template <class T>
Found find_groups(const T* data, Slices s) {
  const SliceOrder<T> order{data, s};
  std::unordered_map<std::int64_t, std::int64_t, SliceOrder<T>, SliceOrder<T>> seen(static_cast<std::size_t>(s.count), order, order);
  Found found;
  found.group.reserve(static_cast<std::size_t>(s.count));
  for (std::int64_t i = 0; i < s.count; ++i) {
    const auto [at, fresh] = seen.try_emplace(i, static_cast<std::int64_t>(found.first.size()));
    if (fresh) {
      found.first.push_back(i);
      found.counts.push_back(0);
    }
    found.group.push_back(at->second);
    ++found.counts[static_cast<std::size_t>(at->second)];
  }
  return found;
}

void write_integers(Call& call, int output, DType type, const std::vector<std::int64_t>& values) {
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
  TRY_ASSIGN(const int at, axis_of(x, axis));
  const Slices s{x.shape().elements(0, at), x.dim(at), x.shape().elements(at + 1, x.rank())};
  Found found;
  visit_dtype(joined<hashable_types, types<bool>>{}, x.dtype(), [&]<class T>() { found = find_groups<T>(x.data<T>(), s); });
  Shape shape = x.shape();
  shape.set_dim(at, static_cast<std::int64_t>(found.first.size()));
  Tensor& out = call.alloc(0, x.dtype(), shape);
  by_storage(x.dtype(), [&]<class S>() {
    S* to = out.mutable_data<S>();
    for (std::int64_t o = 0; o < s.outer; ++o)
      for (std::int64_t slice : found.first) to = std::copy_n(x.data<S>() + (o * s.count + slice) * s.inner, s.inner, to);
  });
  write_integers(call, 1, out_idx, found.group);
  if (call.outputs() > 2) write_integers(call, 2, out_idx, found.counts);
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
  ops.cost({"Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "ListDiff"}, 30);
}

}  // namespace troupe
