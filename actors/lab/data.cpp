// Choice of data, and batches of it.
#include <troupe/actors/lab/data.hpp>

#include <troupe/actors/lab/idx_digits.hpp>
#include <troupe/actors/lab/random.hpp>

#include <cstring>
#include <numeric>

namespace troupe::lab {
namespace {

Tensor pick_rows(const Tensor& from, const std::vector<std::int64_t>& rows) {
  Shape shape{static_cast<std::int64_t>(rows.size())};
  std::size_t bytes = stride_of(from.dtype());
  for (int i = 1; i < from.rank(); ++i) {
    shape.add_dim(from.dim(i));
    bytes *= static_cast<std::size_t>(from.dim(i));
  }
  Tensor to(from.dtype(), shape);
  char* out = to.mutable_data<char>();
  for (std::int64_t row : rows) {
    std::memcpy(out, from.data<char>() + static_cast<std::size_t>(row) * bytes, bytes);
    out += bytes;
  }
  return to;
}

Examples examples_of(const Digits& digits, std::size_t most) {
  std::vector<std::size_t> which(std::min(most, digits.size()));
  std::iota(which.begin(), which.end(), 0);
  return {digits.images_of(which), digits.labels_of(which)};
}

}  // namespace

Examples Examples::pick(const std::vector<std::int64_t>& rows) const { return {pick_rows(inputs, rows), pick_rows(outputs, rows)}; }

Examples batch_of(const Examples& all, int size, std::uint64_t seed, int worker, std::int64_t number) {
  Random random({seed, 0xba7c4, static_cast<std::uint64_t>(worker), static_cast<std::uint64_t>(number)});
  std::vector<std::int64_t> rows(static_cast<std::size_t>(size));
  for (auto& row : rows) row = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(all.size())));
  return all.pick(rows);
}

StatusOr<Data> read_mnist(const DataSpec& spec) {
  TRY_ASSIGN(const Digits train, read_digits(spec.folder, "train"));
  TRY_ASSIGN(const Digits test, read_digits(spec.folder, "t10k"));
  if (train.size() == 0 || test.size() == 0) return invalid("{}: no digits in it", spec.folder);
  return Data{examples_of(train, train.size()), examples_of(test, static_cast<std::size_t>(spec.tests)), 10};
}

StatusOr<Data> load_data(const DataSpec& spec) {
  if (spec.kind == "digits") return drawn_digits(spec);
  if (spec.kind == "regression") return made_regression(spec);
  if (spec.kind == "words") return made_words(spec);
  if (spec.kind == "mnist") return read_mnist(spec);
  return read_csv(spec);
}

}  // namespace troupe::lab
