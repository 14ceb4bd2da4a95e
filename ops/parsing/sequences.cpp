// Sequence examples to tensors: features of the context and lists of features.
#include <troupe/ops/parsing/features.hpp>

#include <algorithm>

namespace troupe {
namespace {

/// One feature's bytes in every example; nothing where an example does not have it.
struct Found {
  FeatureKind kind = FeatureKind::dense;
  DType dtype = DType::invalid;
  std::vector<std::optional<std::string_view>> bytes;
};
using FoundByKey = std::unordered_map<std::string_view, Found>;

/// The values of one feature, which stands alone or in a list.
struct Cells {
  explicit Cells(DType dtype) : values(dtype) {}
  Column values;
  std::vector<std::int64_t> ends;      // of each row among the values; in a context each example is a row
  std::vector<std::int64_t> row_ends;  // of each example among the rows

  std::int64_t begin(std::int64_t row) const { return row == 0 ? 0 : ends[static_cast<std::size_t>(row) - 1]; }
  std::int64_t end(std::int64_t row) const { return ends[static_cast<std::size_t>(row)]; }
  std::int64_t first_row(std::size_t example) const { return example == 0 ? 0 : row_ends[example - 1]; }
  std::int64_t rows(std::size_t example) const { return row_ends[example] - first_row(example); }
  std::int64_t longest_row() const {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) most = std::max(most, ends[i] - begin(static_cast<std::int64_t>(i)));
    return most;
  }
  std::int64_t most_rows() const {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < row_ends.size(); ++i) most = std::max(most, rows(i));
    return most;
  }
};

/// Appends the values of a feature of this type; false when it is another.
bool append_feature(Column& values, std::string_view feature) {
  const auto split = split_feature(feature);
  return split.ok() && split->first == values.dtype() && values.append(split->second);
}

class Sequences {
 public:
  Sequences(const FeaturePlan& context, const FeaturePlan& lists, std::span<const std::string> serialized, std::span<const std::string> names,
            bool batch)
      : context_(context), lists_(lists), serialized_(serialized), names_(names), batch_(batch) {}

  StatusOr<ParsedSequences> run() {
    if (!names_.empty() && names_.size() != serialized_.size()) return invalid("example_names must be empty or have the correct number of elements");
    TRY_ASSIGN(context_found_, expected(context_, "Context"));
    for (const auto& f : context_.dense)
      if (f.otherwise.size() > 0 && !f.shape.compatible_with(f.otherwise.shape()))
        return invalid("Default value for context feature {} has an incorrect shape: saw {} but expected {}", f.key, f.otherwise.shape(), f.shape);
    TRY_ASSIGN(lists_found_, expected(lists_, "Sequence"));
    for (std::size_t i = 0; i < serialized_.size(); ++i)
      if (!find_features(i)) return invalid("Invalid protocol message input, example id: {}", name_at(names_, i));
    ParsedSequences out;
    TRY(read_context(out.context));
    TRY(read_lists(out.lists));
    return out;
  }

 private:
  StatusOr<FoundByKey> expected(const FeaturePlan& plan, const char* what) {
    FoundByKey found;
    const auto add = [&](const std::string& key, DType dtype, FeatureKind kind) {
      Found& f = found[key];
      if (f.bytes.empty()) f.kind = kind;
      f.dtype = dtype;
      f.bytes.resize(serialized_.size());
      return f.kind == kind;
    };
    for (const auto& f : plan.sparse) add(f.key, f.dtype, FeatureKind::sparse);
    for (const auto& f : plan.ragged)
      if (!add(f.key, f.dtype, FeatureKind::ragged)) return invalid("{} feature {} cannot be both ragged and sparse", what, f.key);
    for (const auto& f : plan.dense)
      if (!add(f.key, f.dtype, FeatureKind::dense)) return invalid("{} feature {} cannot be both dense and sparse", what, f.key);
    return found;
  }

  bool find_features(std::size_t at) {
    Entries entries;
    for (WireReader example(serialized_[at]); !example.at_end();) {
      FoundByKey* found = example.expect(delimited_tag(1)) ? &context_found_ : example.expect(delimited_tag(2)) ? &lists_found_ : nullptr;
      if (!found) {
        if (!example.skip_field()) return false;
        continue;
      }
      WireReader features;
      entries.clear();
      if (!example.part(features) || !read_entries(features, entries)) return false;
      for (const auto& [key, value] : entries)
        if (auto f = found->find(key); f != found->end()) f->second.bytes[at] = value;
    }
    return true;
  }

  StatusOr<Cells> context_cells(const std::string& key) {
    const Found& found = context_found_.at(key);
    Cells cells(found.dtype);
    for (std::size_t i = 0; i < serialized_.size(); ++i) {
      const auto bytes = found.bytes[i].value_or("");
      if (!bytes.empty() && !append_feature(cells.values, bytes))
        return invalid("Name: {}, Context feature: {}.  Data types don't match. Expected type: {}", name_at(names_, i), key, name_of(found.dtype));
      cells.ends.push_back(cells.values.size());
      cells.row_ends.push_back(static_cast<std::int64_t>(i) + 1);
    }
    return cells;
  }

  StatusOr<Cells> list_cells(const std::string& key) {
    const Found& found = lists_found_.at(key);
    Cells cells(found.dtype);
    for (std::size_t i = 0; i < serialized_.size(); ++i) {
      std::int64_t rows = 0;
      for (WireReader list(found.bytes[i].value_or("")); !list.at_end(); ++rows) {
        std::uint32_t size = 0;
        const bool begins = list.expect(delimited_tag(1));
        WireReader ahead = list, feature;
        if (!begins || !ahead.length(size) || size == 1 || !list.part(feature))
          return invalid("Error in sequence feature {} in example {}", key, name_at(names_, i));
        if (size > 0 && !append_feature(cells.values, {feature.data(), feature.size()}))
          return invalid("Name: {}, Feature list: {}, Index: {}.  Data types don't match. Expected type: {}", name_at(names_, i), key, rows,
                         name_of(found.dtype));
        cells.ends.push_back(cells.values.size());
      }
      cells.row_ends.push_back(static_cast<std::int64_t>(cells.ends.size()));
    }
    return cells;
  }

  /// A shape with the batch in front, where there is one.
  StatusOr<Shape> batched(Dims dims) const {
    if (batch_) dims.insert(0, static_cast<std::int64_t>(serialized_.size()));
    return Shape::checked({dims.data(), dims.size()});
  }
  static Dims with_inner(Dims dims, const PartialShape& shape) {
    for (std::int64_t n : shape.dims()) dims.push_back(n);
    return dims;
  }

  StatusOr<Tensor> context_dense(const DenseFeature& f) {
    TRY_ASSIGN(Cells cells, context_cells(f.key));
    const Found& found = context_found_.at(f.key);
    const auto shape = f.shape.known();
    const std::int64_t wanted = shape ? shape->elements() : 0, most = std::max(cells.longest_row(), f.otherwise.size());
    if (!shape || most != wanted)
      return invalid("Inconsistent max number of elements for feature {}: expected {}, but found {}", f.key, wanted, most);
    TRY_ASSIGN(Shape whole, batched(with_inner({}, f.shape)));
    Tensor out(f.dtype, std::move(whole));
    for (std::size_t i = 0; i < serialized_.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      if (found.bytes[i]) {
        if (cells.end(row) - cells.begin(row) != wanted) return invalid("Unexpected number of elements in example {}", name_at(names_, i));
        cells.values.copy(cells.begin(row), cells.end(row), out, row * wanted);
        continue;
      }
      if (f.otherwise.size() == 0) return invalid("Feature: {} (data type: {}) is required but could not be found.", f.key, name_of(f.dtype));
      by_feature_type(f.dtype, [&]<class T>() { std::ranges::copy(f.otherwise.values<T>(), out.mutable_data<T>() + row * wanted); });
    }
    return out;
  }

  /// Indices of the values, one column for the batch and one for the rows where there are such.
  Tensor indices_of(const Cells& cells, bool list) const {
    Tensor out(DType::i64, Shape{cells.values.size(), 1 + (batch_ ? 1 : 0) + (list ? 1 : 0)});
    std::int64_t* at = out.mutable_data<std::int64_t>();
    for (std::size_t e = 0; e < cells.row_ends.size(); ++e)
      for (std::int64_t row = cells.first_row(e); row < cells.row_ends[e]; ++row)
        for (std::int64_t i = 0; i < cells.end(row) - cells.begin(row); ++i) {
          if (batch_) *at++ = static_cast<std::int64_t>(e);
          if (list) *at++ = row - cells.first_row(e);
          *at++ = i;
        }
    return out;
  }

  void give_sparse(Cells& cells, bool list, ParsedFeatures& out) const {
    std::vector<std::int64_t> shape;
    if (batch_) shape.push_back(static_cast<std::int64_t>(serialized_.size()));
    if (list) shape.push_back(cells.most_rows());
    shape.push_back(cells.longest_row());
    out.sparse_indices.push_back(indices_of(cells, list));
    out.sparse_shapes.push_back(Tensor::vector(shape));
    out.sparse_values.push_back(cells.values.take(Shape{cells.values.size()}));
  }

  /// Without a batch the outer splits say nothing: a scalar stands in their place.
  Tensor outer_splits(const std::vector<std::int64_t>& ends, DType dtype) const {
    return batch_ ? splits_of(ends, dtype) : Tensor::zeros(dtype, Shape{});
  }

  Status read_context(ParsedFeatures& out) {
    for (const auto& f : context_.dense) {
      TRY_ASSIGN(Tensor values, context_dense(f));
      out.dense.push_back(std::move(values));
    }
    for (const auto& f : context_.sparse) {
      TRY_ASSIGN(Cells cells, context_cells(f.key));
      give_sparse(cells, false, out);
    }
    for (const auto& f : context_.ragged) {
      TRY_ASSIGN(Cells cells, context_cells(f.key));
      out.ragged_splits.push_back(outer_splits(cells.ends, f.splits));
      out.ragged_values.push_back(cells.values.take(Shape{cells.values.size()}));
    }
    return absl::OkStatus();
  }

  Status list_dense(const DenseFeature& f, ParsedFeatures& out) {
    TRY_ASSIGN(Cells cells, list_cells(f.key));
    const Found& found = lists_found_.at(f.key);
    std::int64_t most = 0;
    for (std::size_t i = 0; i < serialized_.size(); ++i)
      if (cells.rows(i) > 0) most = std::max(most, cells.end(cells.row_ends[i] - 1) - cells.begin(cells.first_row(i)));
    const auto row_shape = f.shape.known();
    const std::int64_t width = row_shape ? row_shape->elements() : 0;
    if (width == 0 || most % width != 0)
      return invalid(
          "Feature list '{}' has an unexpected number of values.  Total values size: {} is not consistent with output shape: {}", f.key, most,
          PartialShape(Shape(std::span<const std::int64_t>(with_inner({-1}, f.shape).data(), static_cast<std::size_t>(f.shape.rank()) + 1))));
    TRY_ASSIGN(Shape shape, batched(with_inner({most / width}, f.shape)));
    Tensor values = Tensor::zeros(f.dtype, std::move(shape));
    Tensor lengths(DType::i64, batch_ ? Shape{static_cast<std::int64_t>(serialized_.size())} : Shape{});
    for (std::size_t i = 0; i < serialized_.size(); ++i) {
      if (!found.bytes[i] && !f.variable)
        return invalid(
            "Name: {}, Feature list '{}' is required but could not be found.  Did you mean to include it in "
            "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
            name_at(names_, i), f.key);
      for (std::int64_t row = cells.first_row(i); row < cells.row_ends[i]; ++row)
        if (const std::int64_t n = cells.end(row) - cells.begin(row); n != width)
          return invalid("Name: {}, Key: {}, Index: {}.  Number of values != expected.  values size: {} but output shape: {}", name_at(names_, i),
                         f.key, row - cells.first_row(i), n, f.shape);
      lengths.mutable_data<std::int64_t>()[i] = cells.rows(i);
      if (cells.rows(i) > 0)
        cells.values.copy(cells.begin(cells.first_row(i)), cells.end(cells.row_ends[i] - 1), values, static_cast<std::int64_t>(i) * most);
    }
    out.dense.push_back(std::move(values));
    out.dense_lengths.push_back(std::move(lengths));
    return absl::OkStatus();
  }

  Status read_lists(ParsedFeatures& out) {
    for (const auto& f : lists_.dense) TRY(list_dense(f, out));
    for (const auto& f : lists_.sparse) {
      TRY_ASSIGN(Cells cells, list_cells(f.key));
      give_sparse(cells, true, out);
    }
    for (const auto& f : lists_.ragged) {
      TRY_ASSIGN(Cells cells, list_cells(f.key));
      out.ragged_splits.push_back(splits_of(cells.ends, f.splits));
      out.ragged_outer_splits.push_back(outer_splits(cells.row_ends, f.splits));
      out.ragged_values.push_back(cells.values.take(Shape{cells.values.size()}));
    }
    return absl::OkStatus();
  }

  const FeaturePlan& context_;
  const FeaturePlan& lists_;
  std::span<const std::string> serialized_, names_;
  bool batch_;
  FoundByKey context_found_, lists_found_;
};

}  // namespace

StatusOr<ParsedSequences> parse_sequences(const FeaturePlan& context, const FeaturePlan& lists, std::span<const std::string> serialized,
                                          std::span<const std::string> names, bool batch) {
  return Sequences(context, lists, serialized, names, batch).run();
}

}  // namespace troupe
