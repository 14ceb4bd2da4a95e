// Operations on sets: the last dimension of a dense or sparse tensor holds the elements of each.
#include <troupe/ops/array/sparse_groups.hpp>
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace troupe {
namespace {

using set_types = types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::string>;

struct Sparse {
  const Tensor &indices, &values, &shape;
};

/// Checks a sparse tensor; returns its shape.
StatusOr<Shape> check_sparse(const Sparse& s, bool validate) {
  if (s.shape.rank() != 1) return invalid("Shape must be a 1D tensor.");
  TRY_ASSIGN(const Shape shape, Shape::checked(s.shape.values<std::int64_t>()));
  if (shape.rank() < 2) return invalid("Invalid rank {}.", shape.rank());
  if (s.values.rank() != 1) return invalid("vals must be a vec, but got: {}", s.values.shape());
  const std::int64_t rows = s.indices.rank() > 0 ? s.indices.dim(0) : 1;
  if (rows != s.values.size())
    return invalid("indices and values rows (indexing dimension) must match. (indices = {}, values = {})", rows, s.values.size());
  if (s.indices.rank() != 2 || s.indices.dim(1) != shape.rank()) return invalid("Order length must be SparseTensor rank.");
  if (validate) TRY(check_order(s.indices, shape.dims()));
  return shape;
}

StatusOr<Shape> group_shape(const Shape& shape) {
  if (shape.rank() < 2) return invalid("Shape {} has rank {} < 2", shape, shape.rank());
  return Shape(shape.dims().first(static_cast<std::size_t>(shape.rank()) - 1));
}

StatusOr<Shape> common_group_shape(const Shape& a, const Shape& b) {
  TRY_ASSIGN(Shape first, group_shape(a));
  TRY_ASSIGN(const Shape second, group_shape(b));
  if (first != second) return invalid("Mismatched shapes {} vs {}", first, second);
  return first;
}

template <class T>
using Set = std::vector<T>;  // sorted, no repeats

template <class T>
Set<T> make_set(std::span<const T> values) {
  Set<T> set(values.begin(), values.end());
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

/// The set of a sparse group, whose rows are looked at again: they may not have been validated.
template <class T>
StatusOr<Set<T>> make_set(const Sparse& s, const Shape& shape, const SparseGroups& group) {
  for (std::int64_t i = group.first(); i < group.last(); ++i)
    for (int d = 0; d < shape.rank(); ++d) {
      const std::int64_t at = group.row(i)[static_cast<std::size_t>(d)];
      if (at < 0 || at >= shape.dim(d)) return internal("indices[{}, {}] expected < {}, got {}.", i - group.first(), d, shape.dim(d), at);
    }
  return make_set<T>(s.values.values<T>().subspan(static_cast<std::size_t>(group.first()), static_cast<std::size_t>(group.last() - group.first())));
}

enum class SetOp { a_minus_b, b_minus_a, intersection, both };

StatusOr<SetOp> set_op(std::string name) {
  const std::string given = name;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name == "a-b") return SetOp::a_minus_b;
  if (name == "b-a") return SetOp::b_minus_a;
  if (name == "intersection") return SetOp::intersection;
  if (name == "union") return SetOp::both;
  return invalid("Invalid set_operation {}.", given);
}

template <class T>
Set<T> combined(SetOp op, const Set<T>& a, const Set<T>& b) {
  Set<T> result;
  auto into = std::back_inserter(result);
  if (op == SetOp::a_minus_b) std::ranges::set_difference(a, b, into);
  if (op == SetOp::b_minus_a) std::ranges::set_difference(b, a, into);
  if (op == SetOp::intersection) std::ranges::set_intersection(a, b, into);
  if (op == SetOp::both) std::ranges::set_union(a, b, into);
  return result;
}

/// Collects the sets that are not empty and writes them as a sparse tensor.
template <class T>
class Result {
 public:
  void add(std::span<const std::int64_t> key, Set<T> set) {
    if (set.empty()) return;
    largest_ = std::max(largest_, static_cast<std::int64_t>(set.size()));
    total_ += static_cast<std::int64_t>(set.size());
    groups_.push_back({Dims(key.begin(), key.end()), std::move(set)});
  }
  void write(Call& call, const Shape& groups) {
    std::int64_t* index = call.alloc<std::int64_t>(0, Shape{total_, groups.rank() + 1});
    T* value = call.alloc<T>(1, Shape{total_});
    for (auto& group : groups_)
      for (std::size_t i = 0; i < group.set.size(); ++i) {
        index = std::copy(group.key.begin(), group.key.end(), index);
        *index++ = static_cast<std::int64_t>(i);
        *value++ = std::move(group.set[i]);
      }
    std::int64_t* shape = call.alloc<std::int64_t>(2, Shape{groups.rank() + 1});
    *std::copy(groups.begin(), groups.end(), shape) = largest_;
  }

 private:
  struct Group {
    Dims key;
    Set<T> set;
  };
  std::vector<Group> groups_;
  std::int64_t largest_ = 0, total_ = 0;
};

/// Calls f(key, row) for the rows of a dense tensor's last dimension.
template <class F>
Status for_each_row(const Shape& groups, F&& f) {
  Dims key(static_cast<std::size_t>(groups.rank()), 0);
  for (std::int64_t row = 0; row < groups.elements(); ++row) {
    std::int64_t rest = row;
    for (std::size_t d = key.size(); d-- > 0; rest /= groups.dim(static_cast<int>(d))) key[d] = rest % groups.dim(static_cast<int>(d));
    TRY(f(std::span<const std::int64_t>(key.data(), key.size()), row));
  }
  return absl::OkStatus();
}

template <class T>
Set<T> dense_set(const Tensor& t, std::int64_t row) {
  const auto n = static_cast<std::size_t>(t.dim(t.rank() - 1));
  return make_set<T>(t.values<T>().subspan(static_cast<std::size_t>(row) * n, n));
}

template <class T>
Status dense_dense(Call& call, In<T> a, In<T> b, SetOp op) {
  TRY_ASSIGN(const Shape groups, common_group_shape(a.shape(), b.shape()));
  Result<T> result;
  TRY(for_each_row(groups, [&](auto key, std::int64_t row) {
    result.add(key, combined(op, dense_set<T>(a.tensor, row), dense_set<T>(b.tensor, row)));
    return absl::OkStatus();
  }));
  result.write(call, groups);
  return absl::OkStatus();
}

template <class T>
Status dense_sparse(Call& call, In<T> a, const Sparse& b, SetOp op, bool validate) {
  TRY_ASSIGN(const Shape shape, check_sparse(b, validate));
  TRY_ASSIGN(const Shape groups, common_group_shape(a.shape(), shape));
  SparseGroups other(b.indices, static_cast<std::size_t>(shape.rank()));
  Result<T> result;
  TRY(for_each_row(groups, [&](auto key, std::int64_t row) -> Status {
    Set<T> set;
    if (!other.done() && std::ranges::equal(other.key(), key)) {
      TRY_ASSIGN(set, make_set<T>(b, shape, other));
      other.next();
    }
    result.add(key, combined(op, dense_set<T>(a.tensor, row), set));
    return absl::OkStatus();
  }));
  result.write(call, groups);
  return absl::OkStatus();
}

template <class T>
Status sparse_sparse(Call& call, const Sparse& a, const Sparse& b, SetOp op, bool validate) {
  TRY_ASSIGN(const Shape shape_a, check_sparse(a, validate));
  TRY_ASSIGN(const Shape shape_b, check_sparse(b, validate));
  TRY_ASSIGN(const Shape groups, common_group_shape(shape_a, shape_b));
  const auto rank = static_cast<std::size_t>(shape_a.rank());
  SparseGroups at_a(a.indices, rank), at_b(b.indices, rank);
  Result<T> result;
  while (!at_a.done() || !at_b.done()) {
    const int order = compare_groups(at_a, at_b);
    const auto key = order <= 0 ? at_a.key() : at_b.key();
    Set<T> set_a, set_b;
    if (order <= 0) {
      TRY_ASSIGN(set_a, make_set<T>(a, shape_a, at_a));
      at_a.next();
    }
    if (order >= 0) {
      TRY_ASSIGN(set_b, make_set<T>(b, shape_b, at_b));
      at_b.next();
    }
    result.add(key, combined(op, set_a, set_b));
  }
  result.write(call, groups);
  return absl::OkStatus();
}

template <class T>
Status set_size(Call& call, const Sparse& s, bool validate) {
  TRY_ASSIGN(const Shape shape, check_sparse(s, validate));
  TRY_ASSIGN(const Shape groups, group_shape(shape));
  call.set(0, Tensor::zeros(DType::i32, groups));
  for (SparseGroups group(s.indices, static_cast<std::size_t>(shape.rank())); !group.done(); group.next()) {
    TRY_ASSIGN(const Set<T> set, make_set<T>(s, shape, group));
    std::int64_t at = 0;
    for (int d = 0; d < groups.rank(); ++d) at = at * groups.dim(d) + group.key()[static_cast<std::size_t>(d)];
    call.out(0).mutable_data<std::int32_t>()[at] = static_cast<std::int32_t>(set.size());
  }
  return absl::OkStatus();
}

}  // namespace

void add_sets(Registry& ops) {
  using Operation = Attr<"set_operation", std::string>;
  using Validate = Attr<"validate_indices", bool>;
  using Ints = In<std::int64_t>;
  ops.add("DenseToDenseSetOperation", set_types{}, []<class T>(Call& call, In<T> a, In<T> b, Operation name) -> Status {
    TRY_ASSIGN(const SetOp op, set_op(*name));
    return dense_dense<T>(call, a, b, op);
  });
  ops.add("DenseToSparseSetOperation", set_types{},
          []<class T>(Call& call, In<T> a, Ints indices, In<T> values, Ints shape, Operation name, Validate validate) -> Status {
            TRY_ASSIGN(const SetOp op, set_op(*name));
            return dense_sparse<T>(call, a, {indices.tensor, values.tensor, shape.tensor}, op, validate);
          });
  ops.add("SparseToSparseSetOperation", set_types{},
          []<class T>(Call& call, Ints i1, In<T> v1, Ints s1, Ints i2, In<T> v2, Ints s2, Operation name, Validate validate) -> Status {
            TRY_ASSIGN(const SetOp op, set_op(*name));
            return sparse_sparse<T>(call, {i1.tensor, v1.tensor, s1.tensor}, {i2.tensor, v2.tensor, s2.tensor}, op, validate);
          });
  ops.add("SetSize", set_types{}, []<class T>(Call& call, Ints indices, In<T> values, Ints shape, Validate validate) {
    return set_size<T>(call, {indices.tensor, values.tensor, shape.tensor}, validate);
  });
}

}  // namespace troupe
