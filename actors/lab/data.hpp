// What a model learns from: examples and tests, from files or made up from a seed.
#pragma once

#include <troupe/actors/lab/spec.hpp>
#include <troupe/messaging/tensor.hpp>

#include <vector>

namespace troupe::lab {

/// Rows of inputs with what belongs to each.
struct Examples {
  Tensor inputs;   // [n, width], float; int32 for words
  Tensor outputs;  // [n], int64 classes or float numbers
  std::int64_t size() const { return inputs.dim(0); }
  std::int64_t width() const { return inputs.dim(1); }
  /// These rows.
  Examples pick(const std::vector<std::int64_t>& rows) const;
};

struct Data {
  Examples train, test;
  int classes = 0;  // 0: numbers are learned
  bool classifies() const { return classes > 0; }
};

/// The same for the same spec.
StatusOr<Data> load_data(const DataSpec& spec);

/// What a worker computes its nth gradient from: a function of these numbers and of nothing else.
Examples batch_of(const Examples& all, int size, std::uint64_t seed, int worker, std::int64_t number);

// The sources, one each in a file of its own.
Data drawn_digits(const DataSpec& spec);
Data made_regression(const DataSpec& spec);
Data made_words(const DataSpec& spec);
StatusOr<Data> read_mnist(const DataSpec& spec);
StatusOr<Data> read_csv(const DataSpec& spec);

}  // namespace troupe::lab
