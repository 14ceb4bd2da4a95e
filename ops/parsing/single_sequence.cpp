// ParseSingleSequenceExample: one sequence example, read as a message.
#include <troupe/wire/example.pb.h>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/parsing/feature_options.hpp>

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace troupe {
namespace {

struct SingleOptions {
  std::vector<DType> context_sparse, context_dense, list_sparse, list_dense;
  std::vector<PartialShape> context_shapes, list_shapes;

  static StatusOr<SingleOptions> make(Binding& binding) {
    SingleOptions o;
    TRY_ASSIGN(o.context_sparse, binding.attr<std::vector<DType>>("context_sparse_types"));
    TRY_ASSIGN(o.context_dense, binding.attr<std::vector<DType>>("Tcontext_dense"));
    TRY_ASSIGN(o.list_sparse, binding.attr<std::vector<DType>>("feature_list_sparse_types"));
    TRY_ASSIGN(o.list_dense, binding.attr<std::vector<DType>>("feature_list_dense_types"));
    TRY_ASSIGN(o.context_shapes, binding.attr<std::vector<PartialShape>>("context_dense_shapes"));
    TRY_ASSIGN(o.list_shapes, binding.attr<std::vector<PartialShape>>("feature_list_dense_shapes"));
    const auto as_many = [&](const char* attr, std::size_t n) {
      const auto count = binding.attr<std::int64_t>(attr);
      return count.ok() && static_cast<std::size_t>(*count) == n;
    };
    if (!as_many("Ncontext_sparse", o.context_sparse.size())) return invalid("len(context_sparse_keys) != len(context_sparse_types)");
    if (!as_many("Ncontext_dense", o.context_dense.size())) return invalid("len(context_dense_keys) != len(context_dense_types)");
    if (o.context_dense.size() != o.context_shapes.size()) return invalid("len(context_dense_keys) != len(context_dense_shapes)");
    if (!as_many("Nfeature_list_sparse", o.list_sparse.size())) return invalid("len(feature_list_sparse_keys) != len(feature_list_sparse_types)");
    if (!as_many("Nfeature_list_dense", o.list_dense.size())) return invalid("len(feature_list_dense_keys) != len(feature_list_dense_types)");
    if (o.list_dense.size() != o.list_shapes.size()) return invalid("len(feature_list_dense_keys) != len(feature_list_dense_shapes)");
    for (const auto* types : {&o.context_dense, &o.context_sparse, &o.list_dense, &o.list_sparse}) TRY(check_feature_types(*types));
    for (const auto* shapes : {&o.context_shapes, &o.list_shapes})
      for (const auto& shape : *shapes)
        if (!shape.fully_known()) return invalid("Shape {} is not fully defined", shape);
    return o;
  }
};

DType type_of(const wire::Feature& f) {
  switch (f.kind_case()) {
    case wire::Feature::kBytesList: return DType::string;
    case wire::Feature::kFloatList: return DType::f32;
    case wire::Feature::kInt64List: return DType::i64;
    default: return DType::invalid;
  }
}

/// Calls f with the list of values that a feature of this type has.
template <class F>
void with_values(const wire::Feature& f, DType dtype, F&& use) {
  if (dtype == DType::i64) use(f.int64_list().value());
  else if (dtype == DType::f32) use(f.float_list().value());
  else use(f.bytes_list().value());
}

std::int64_t size_of_feature(const wire::Feature& f, DType dtype) {
  std::int64_t n = 0;
  with_values(f, dtype, [&](const auto& values) { n = values.size(); });
  return n;
}

void copy_values(const wire::Feature& f, Tensor& to, std::int64_t at) {
  by_feature_type(to.dtype(), [&]<class T>() {
    with_values(f, to.dtype(), [&](const auto& values) {
      if constexpr (std::is_convertible_v<decltype(*values.begin()), T>) std::copy(values.begin(), values.end(), to.mutable_data<T>() + at);
    });
  });
}

Status check_size(const wire::Feature& f, DType dtype, const std::string& name, const std::string& key, std::int64_t index, const Shape& shape) {
  const std::int64_t n = size_of_feature(f, dtype);
  if (n == shape.elements()) return absl::OkStatus();
  if (dtype == DType::string)
    return invalid("Name: {}, Key {}, Index: {}.  Number of bytes values != expected.  Values size: {} but output shape: {}", name, key, index, n,
                   shape);
  const char* what = dtype == DType::i64 ? "int64" : "float";
  return invalid("Name: {}, Key: {}, Index: {}.  Number of {} values != expected.  values size: {} but output shape: {}", name, key, index, what, n,
                 shape);
}

class SingleSequence {
 public:
  SingleSequence(Call& call, const SingleOptions& o, const wire::SequenceExample& example, std::string name)
      : call_(call), o_(o), example_(example), name_(std::move(name)) {}

  Status context_dense(const std::vector<std::string>& keys, const List& defaults) {
    const auto& features = example_.context().feature();
    for (std::size_t d = 0; d < keys.size(); ++d) {
      const Shape shape = *o_.context_shapes[d].known();
      const Tensor& otherwise = defaults[static_cast<int>(d)];
      const auto found = features.find(keys[d]);
      if (found == features.end()) {
        if (otherwise.size() == 0) return invalid("Name: {}, Context feature '{}' is required but could not be found.", name_, keys[d]);
        dense_.push_back(otherwise);
        continue;
      }
      TRY(check_type("Context feature: " + keys[d], found->second, o_.context_dense[d]));
      TRY(check_size(found->second, o_.context_dense[d], name_, keys[d], 0, shape));
      dense_.emplace_back(o_.context_dense[d], shape);
      copy_values(found->second, dense_.back(), 0);
    }
    return absl::OkStatus();
  }

  Status context_sparse(const std::vector<std::string>& keys) {
    const auto& features = example_.context().feature();
    for (std::size_t d = 0; d < keys.size(); ++d) {
      const DType dtype = o_.context_sparse[d];
      const auto found = features.find(keys[d]);
      const bool has = found != features.end() && type_of(found->second) != DType::invalid;
      if (has) TRY(check_type("Context feature: " + keys[d], found->second, dtype));
      const std::int64_t n = has ? size_of_feature(found->second, dtype) : 0;
      Tensor values(dtype, Shape{n}), indices(DType::i64, Shape{n, 1});
      if (has) copy_values(found->second, values, 0);
      const auto all = indices.mutable_values<std::int64_t>();
      std::iota(all.begin(), all.end(), std::int64_t{0});
      indices_.push_back(std::move(indices));
      values_.push_back(std::move(values));
      shapes_.push_back(Tensor::vector(std::vector<std::int64_t>{n}));
    }
    return absl::OkStatus();
  }

  Status list_dense(const std::vector<std::string>& keys, const std::unordered_set<std::string>& may_miss) {
    const auto& lists = example_.feature_lists().feature_list();
    for (std::size_t d = 0; d < keys.size(); ++d) {
      const Shape row = *o_.list_shapes[d].known();
      const auto found = lists.find(keys[d]);
      if (found == lists.end() && !may_miss.contains(keys[d]))
        return invalid(
            "Name: {}, Feature list '{}' is required but could not be found.  Did you mean to include it in "
            "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
            name_, keys[d]);
      const wire::FeatureList none;
      const wire::FeatureList& list = found == lists.end() ? none : found->second;
      Dims dims{list.feature_size()};
      for (std::int64_t n : row.dims()) dims.push_back(n);
      TRY_ASSIGN(Shape shape, Shape::checked({dims.data(), dims.size()}));
      Tensor out(o_.list_dense[d], std::move(shape));
      for (int t = 0; t < list.feature_size(); ++t) {
        TRY(check_type(fmt::format("Feature list: {}, Index: {}", keys[d], t), list.feature(t), o_.list_dense[d]));
        TRY(check_size(list.feature(t), o_.list_dense[d], name_, keys[d], t, row));
        copy_values(list.feature(t), out, t * row.elements());
      }
      list_dense_.push_back(std::move(out));
    }
    return absl::OkStatus();
  }

  Status list_sparse(const std::vector<std::string>& keys) {
    const auto& lists = example_.feature_lists().feature_list();
    for (std::size_t d = 0; d < keys.size(); ++d) {
      const DType dtype = o_.list_sparse[d];
      const auto found = lists.find(keys[d]);
      const wire::FeatureList none;
      const wire::FeatureList& list = found == lists.end() ? none : found->second;
      std::int64_t total = 0, most = 0;
      for (int t = 0; t < list.feature_size(); ++t) {
        const wire::Feature& f = list.feature(t);
        if (type_of(f) != DType::invalid) TRY(check_type(fmt::format("Feature List: {}, Index: {}", keys[d], t), f, dtype));
        total += size_of_feature(f, dtype);
        most = std::max(most, size_of_feature(f, dtype));
      }
      Tensor values(dtype, Shape{total}), indices(DType::i64, Shape{total, 2});
      std::int64_t* index = indices.mutable_data<std::int64_t>();
      std::int64_t at = 0;
      for (int t = 0; t < list.feature_size(); ++t) {
        const std::int64_t n = size_of_feature(list.feature(t), dtype);
        if (n > 0) copy_values(list.feature(t), values, at);
        for (std::int64_t i = 0; i < n; ++i) {
          *index++ = t;
          *index++ = i;
        }
        at += n;
      }
      list_indices_.push_back(std::move(indices));
      list_values_.push_back(std::move(values));
      list_shapes_.push_back(Tensor::vector(std::vector<std::int64_t>{list.feature_size(), most}));
    }
    return absl::OkStatus();
  }

  void give() {
    Outputs(call_).add(indices_).add(values_).add(shapes_).add(dense_).add(list_indices_).add(list_values_).add(list_shapes_).add(list_dense_);
  }

 private:
  Status check_type(const std::string& where, const wire::Feature& f, DType wanted) const {
    if (type_of(f) == wanted) return absl::OkStatus();
    return invalid("Name: {}, {}.  Data types don't match. Expected type: {}  Feature is: {}", name_, where, name_of(wanted), f.DebugString());
  }

  Call& call_;
  const SingleOptions& o_;
  const wire::SequenceExample& example_;
  std::string name_;
  std::vector<Tensor> indices_, values_, shapes_, dense_, list_indices_, list_values_, list_shapes_, list_dense_;
};

StatusOr<std::vector<std::string>> keys_of(const List& keys, const char* what) {
  std::vector<std::string> out;
  for (int i = 0; i < keys.size(); ++i) {
    if (keys[i].rank() != 0) return invalid("Expected {}[{}] to be a scalar, got shape: {}", what, i, keys[i].shape());
    out.push_back(keys[i].item<std::string>());
  }
  return out;
}

Status check_defaults(const List& defaults, const SingleOptions& o) {
  if (static_cast<std::size_t>(defaults.size()) != o.context_dense.size())
    return invalid("Expected len(context_dense_defaults) == len(context_dense_keys) but got: {} vs. {}", defaults.size(), o.context_dense.size());
  for (int i = 0; i < defaults.size(); ++i) {
    const auto& shape = o.context_shapes[static_cast<std::size_t>(i)];
    if (defaults[i].size() > 0 && PartialShape(defaults[i].shape()) != shape)
      return invalid("def_value[{}].shape() == {} != context_dense_shapes_[{}] == {}", i, defaults[i].shape(), i, shape);
  }
  return absl::OkStatus();
}

}  // namespace

void add_single_sequence(Registry& ops) {
  ops.add("ParseSingleSequenceExample",
          [](Call& call, In<std::string> serialized, In<std::string> may_miss, List context_sparse, List context_dense, List list_sparse,
             List list_dense, List defaults, In<std::string> debug_name, const SingleOptions& o) -> Status {
            TRY_ASSIGN(const auto context_dense_keys, keys_of(context_dense, "context_dense_keys"));
            TRY_ASSIGN(const auto context_sparse_keys, keys_of(context_sparse, "context_sparse_keys"));
            TRY_ASSIGN(const auto list_dense_keys, keys_of(list_dense, "feature_list_dense_keys"));
            TRY_ASSIGN(const auto list_sparse_keys, keys_of(list_sparse, "feature_list_sparse_keys"));
            if (may_miss.dims() != 1)
              return invalid("Expected feature_list_dense_missing_assumed_empty to be a vector, got shape: {}", may_miss.shape());
            if (debug_name.size() > 0 && debug_name.dims() != 0)
              return invalid("Expected debug_name to be a scalar, got shape: {}", debug_name.shape());
            if (serialized.dims() != 0) return invalid("Expected serialized to be a scalar, got shape: {}", serialized.shape());
            TRY(check_defaults(defaults, o));
            wire::SequenceExample example;
            if (!example.ParseFromString(serialized[0])) return invalid("Could not parse example input, value: '{}'", serialized[0]);
            SingleSequence sequence(call, o, example, debug_name.size() > 0 ? debug_name[0] : "<unknown>");
            TRY(sequence.context_dense(context_dense_keys, defaults));
            TRY(sequence.context_sparse(context_sparse_keys));
            TRY(sequence.list_dense(list_dense_keys, {may_miss.values().begin(), may_miss.values().end()}));
            TRY(sequence.list_sparse(list_sparse_keys));
            sequence.give();
            return absl::OkStatus();
          });
  ops.cost({"ParseSingleSequenceExample"}, 5000);
}

}  // namespace troupe
