// SparseCross, SparseCrossV2 and SparseCrossHashed.
#include <troupe/ops/sparse/cross.hpp>

#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>

#include <farmhash.h>
#include <highwayhash/sip_hash.h>

#include <limits>

namespace troupe {
namespace {

std::uint64_t shift_mix(std::uint64_t x) { return x ^ (x >> 47); }

std::uint64_t joined_prints(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t k = 0xc6a4a7935bd1e995;
  const std::uint64_t mixed = ((a ^ k) ^ shift_mix(b * k) * k) * k;
  return shift_mix(shift_mix(mixed) * k);
}

struct CrossInputs {
  List indices, values, shapes, dense;
};

std::int64_t row_count(const CrossInputs& in) {
  if (in.shapes.size() > 0) return in.shapes[0].item<std::int64_t>();
  return in.dense.size() > 0 ? in.dense[0].dim(0) : 0;
}

Status check_types(const CrossInputs& in, bool texts_only) {
  if (!texts_only) return absl::OkStatus();
  for (int i = 0; i < in.values.size(); ++i)
    if (in.values[i].dtype() == DType::i64) return invalid("Input values should be of internal type 7 but received 9");
  return absl::OkStatus();
}

Status check_sparse(const CrossInputs& in, bool texts_only) {
  for (int i = 0; i < in.indices.size(); ++i) {
    const Shape& shape = in.indices[i].shape();
    if (shape.rank() != 2) return invalid("Input indices should be a matrix but received shape {} at position {}", shape, i);
    if (shape.dim(1) != 2) return invalid("Expected D2 of index to be 2 got {} at position {}", shape.dim(1), i);
  }
  if (in.values.size() != in.indices.size()) return invalid("Expected {} input values, got {}", in.indices.size(), in.values.size());
  TRY(check_types(in, texts_only));
  for (int i = 0; i < in.values.size(); ++i) {
    if (in.values[i].rank() != 1) return invalid("Input values should be a vector but received shape {} at position {}", in.values[i].shape(), i);
    if (in.indices[i].dim(0) != in.values[i].dim(0))
      return invalid("Expected size of values to be {} got {} at position {}", in.indices[i].dim(0), in.values[i].dim(0), i);
  }
  if (in.shapes.size() != in.indices.size()) return invalid("Expected {} input shapes, got {}", in.indices.size(), in.shapes.size());
  for (int i = 0; i < in.shapes.size(); ++i) {
    if (in.shapes[i].rank() != 1) return invalid("Input shapes should be a vector but received shape {} at position {}", in.shapes[i].shape(), i);
    if (in.shapes[i].size() != 2) return invalid("shape should imply a 2D tensor, but got {} at position {}", in.shapes[i].shape(), i);
  }
  return absl::OkStatus();
}

Status check_inputs(const CrossInputs& in, bool texts_only) {
  TRY(check_sparse(in, texts_only));
  for (int i = 0; i < in.dense.size(); ++i) {
    if (texts_only && in.dense[i].dtype() == DType::i64) return invalid("Dense inputs should be of internal type 7 but received 9");
    if (in.dense[i].rank() != 2) return invalid("Dense inputs should be a matrix but received shape {} at position {}", in.dense[i].shape(), i);
  }
  const std::int64_t rows = row_count(in);
  for (int i = 0; i < in.shapes.size(); ++i)
    if (const std::int64_t n = in.shapes[i].item<std::int64_t>(); n != rows)
      return invalid("Expected batch size {} got {} at position {}", rows, n, i);
  for (int i = 0; i < in.dense.size(); ++i)
    if (in.dense[i].dim(0) != rows) return invalid("Expected batch size {} got {} at dense tensor {}", rows, in.dense[i].dim(0), i);
  if (rows < 0) return invalid("Expected a non-negative batch size, got {}", rows);
  return absl::OkStatus();
}

FeatureColumn sparse_column(const Tensor& indices, const Tensor& values, std::int64_t rows) {
  FeatureColumn column{&values, {0}};
  column.splits.reserve(static_cast<std::size_t>(rows) + 1);
  const auto* index = indices.data<std::int64_t>();
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    while (at < indices.dim(0) && index[at * 2] == row) ++at;
    column.splits.push_back(at);
  }
  return column;
}

FeatureColumns columns_of(const CrossInputs& in) {
  FeatureColumns columns;
  for (int i = 0; i < in.values.size(); ++i) columns.push_back(sparse_column(in.indices[i], in.values[i], row_count(in)));
  for (int i = 0; i < in.dense.size(); ++i) columns.push_back(dense_column(in.dense[i]));
  return columns;
}

template <class T>
Status cross(Call& call, const CrossInputs& in, const FeatureColumns& columns, const Joiner<T>& join) {
  const std::int64_t rows = row_count(in);
  TRY_ASSIGN(const auto splits, cross_splits(columns, rows));
  std::int64_t* index = call.alloc<std::int64_t>(0, Shape{splits.back(), 2});
  std::int64_t most = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t n = splits[static_cast<std::size_t>(row) + 1] - splits[static_cast<std::size_t>(row)];
    most = std::max(most, n);
    for (std::int64_t i = 0; i < n; ++i) {
      *index++ = row;
      *index++ = i;
    }
  }
  write_crosses(columns, rows, join, call.alloc<T>(1, Shape{splits.back()}));
  call.set(2, Tensor::vector<std::int64_t>(std::vector<std::int64_t>{rows, most}));
  return absl::OkStatus();
}

std::span<const char> bytes_of(const FeatureColumn& column, std::int64_t at) {
  if (column.is_text()) return column.values->data<std::string>()[at];
  // Only the low half of a number counts: TensorFlow takes the size of its type's name for that of the number.
  return {reinterpret_cast<const char*>(column.values->data<std::int64_t>() + at), 4};
}

std::uint64_t weak_fingerprint(const FeatureColumn& column, std::int64_t at) {
  if (column.dense && !column.is_text()) return plain_fingerprint(column, at);
  const auto bytes = bytes_of(column, at);
  return ::util::Fingerprint64(bytes.data(), bytes.size());
}

Status cross_hashed(Call& call, const CrossInputs& in, const Tensor& buckets, const Tensor& strong, const Tensor& salt) {
  TRY(check_inputs(in, false));
  if (buckets.size() != 1 || strong.size() != 1)
    return invalid("num_buckets and strong_hash must be scalars, got {} and {}", buckets.shape(), strong.shape());
  if (salt.size() != 2) return invalid("Input \"salt\" must have length 2 but has length {}", salt.size());
  const auto* words = salt.data<std::int64_t>();
  const highwayhash::HH_U64 key[2] = {static_cast<std::uint64_t>(words[0]), static_cast<std::uint64_t>(words[1])};
  const Fingerprint keyed = [&key](const FeatureColumn& column, std::int64_t at) -> std::uint64_t {
    const auto bytes = bytes_of(column, at);
    return highwayhash::SipHash(key, bytes.data(), bytes.size());
  };
  const FeatureColumns columns = columns_of(in);
  return cross(call, in, columns,
               join_fingerprints(columns, strong.item<bool>() ? keyed : Fingerprint(weak_fingerprint), nullptr, buckets.item<std::int64_t>()));
}

}  // namespace

FeatureColumn dense_column(const Tensor& matrix) {
  FeatureColumn column{&matrix, {}, true};
  for (std::int64_t row = 0; row <= matrix.dim(0); ++row) column.splits.push_back(row * matrix.dim(1));
  return column;
}

StatusOr<std::vector<std::int64_t>> cross_splits(const FeatureColumns& columns, std::int64_t rows) {
  std::vector<std::int64_t> splits{0};
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t n = 1, total = 0;
    for (const FeatureColumn& column : columns)
      if (column.count(row) == 0) n = 0;
    for (const FeatureColumn& column : columns)
      if (__builtin_mul_overflow(n, column.count(row), &n)) return resource_exhausted("Too many crosses in row {}", row);
    if (columns.empty()) n = 0;
    if (__builtin_add_overflow(splits.back(), n, &total)) return resource_exhausted("Too many crosses");
    splits.push_back(total);
  }
  return splits;
}

Joiner<std::string> join_texts(const FeatureColumns& columns, std::string separator) {
  return [&columns, separator = std::move(separator)](std::span<const std::int64_t> at) {
    std::string text;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) text += separator;
      text += columns[c].is_text() ? columns[c].values->data<std::string>()[at[c]] : std::to_string(columns[c].values->data<std::int64_t>()[at[c]]);
    }
    return text;
  };
}

Joiner<std::int64_t> join_fingerprints(const FeatureColumns& columns, Fingerprint print, const std::uint64_t* start, std::int64_t buckets) {
  const std::uint64_t modulus = buckets > 0 ? static_cast<std::uint64_t>(buckets) : std::numeric_limits<std::int64_t>::max();
  return [&columns, print = std::move(print), begun = start != nullptr, first = start ? *start : 0, modulus](std::span<const std::int64_t> at) {
    std::uint64_t hash = first;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::uint64_t one = print(columns[c], at[c]);
      hash = c == 0 && !begun ? one : joined_prints(hash, one);
    }
    return static_cast<std::int64_t>(hash % modulus);
  };
}

std::uint64_t plain_fingerprint(const FeatureColumn& column, std::int64_t at) {
  if (!column.is_text()) return static_cast<std::uint64_t>(column.values->data<std::int64_t>()[at]);
  const std::string& text = column.values->data<std::string>()[at];
  return ::util::Fingerprint64(text.data(), text.size());
}

void add_sparse_cross(Registry& ops) {
  const DTypes features{DType::i64, DType::string};
  add_for(ops, "SparseCross", {{"out_type", features}, {"internal_type", features}},
          [](Call& call, List indices, List values, List shapes, List dense, Attr<"out_type", DType> out, Attr<"internal_type", DType> internal,
             Attr<"num_buckets", std::int64_t> buckets, Attr<"hash_key", std::int64_t> key) -> Status {
            const CrossInputs in{indices, values, shapes, dense};
            TRY(check_inputs(in, *internal == DType::string));
            const FeatureColumns columns = columns_of(in);
            if (*out == DType::string) return cross(call, in, columns, join_texts(columns, "_X_"));
            const auto start = static_cast<std::uint64_t>(*key);
            return cross(call, in, columns, join_fingerprints(columns, plain_fingerprint, &start, buckets));
          });
  add_for(ops, "SparseCrossV2", {}, [](Call& call, List indices, List values, List shapes, List dense, Any separator) -> Status {
    const CrossInputs in{indices, values, shapes, dense};
    TRY(check_inputs(in, false));
    if (separator->rank() != 0) return invalid("Input separator should be a scalar. Received: {}", describe(separator.tensor));
    const FeatureColumns columns = columns_of(in);
    return cross(call, in, columns, join_texts(columns, separator->item<std::string>()));
  });
  add_for(ops, "SparseCrossHashed", {}, [](Call& call, List indices, List values, List shapes, List dense, Any buckets, Any strong, Any salt) {
    return cross_hashed(call, {indices, values, shapes, dense}, buckets.tensor, strong.tensor, salt.tensor);
  });
}

}  // namespace troupe
