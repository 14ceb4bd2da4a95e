// Batches of dense rows of different sizes, as sparse tensors.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/data/batch.hpp>
#include <troupe/ops/sparse/boxed_tensor.hpp>
#include <troupe/ops/sparse/sparse_tensor.hpp>

namespace troupe {
namespace {

/// A serialized sparse tensor: indices, values and sizes in a vector of three variants.
Tensor as_sparse(const std::vector<Tensor>& rows, const PartialShape& row_shape) {
  const int rank = row_shape.rank();
  Dims sizes(static_cast<std::size_t>(rank) + 1, 0);
  std::int64_t total = 0;
  sizes[0] = std::ssize(rows);
  for (int d = 0; d < rank; ++d) sizes[static_cast<std::size_t>(d) + 1] = std::max<std::int64_t>(row_shape.dim(d), 0);
  for (const Tensor& row : rows) {
    total += row.size();
    for (int d = 0; d < rank; ++d)
      if (row_shape.dim(d) < 0) sizes[static_cast<std::size_t>(d) + 1] = std::max(sizes[static_cast<std::size_t>(d) + 1], row.dim(d));
  }
  Tensor indices(DType::i64, Shape{total, rank + 1}), values(rows[0].dtype(), Shape{total});
  auto* index = indices.mutable_data<std::int64_t>();
  std::int64_t at = 0;
  for (std::int64_t r = 0; r < std::ssize(rows); ++r) {
    const Tensor& row = rows[static_cast<std::size_t>(r)];
    copy_elements(row, 0, values, at, row.size());
    for (std::int64_t i = 0; i < row.size(); ++i, ++at) {
      index[at * (rank + 1)] = r;
      std::int64_t rest = i;
      for (int d = rank - 1; d >= 0; --d) {
        index[at * (rank + 1) + d + 1] = rest % row.dim(d);
        rest /= row.dim(d);
      }
    }
  }
  Tensor parts(DType::variant, Shape{3});
  parts.mutable_data<Variant>()[0] = boxed(std::move(indices));
  parts.mutable_data<Variant>()[1] = boxed(std::move(values));
  parts.mutable_data<Variant>()[2] = boxed(sizes_tensor(sizes));
  return parts;
}

class SparseBatches final : public Source {
 public:
  SparseBatches(SourcePtr input, std::int64_t size, PartialShape row) : input_(std::move(input)), size_(size), row_(std::move(row)) {}
  Poll next(Reading& reading, Tuple& out) override {
    while (input_ && std::ssize(rows_) < size_) {
      Tuple element;
      const Poll poll = input_->next(reading, element);
      if (poll == Poll::failed) rows_.clear();
      if (poll == Poll::waits || poll == Poll::failed) return poll;
      if (poll == Poll::end) {
        input_.reset();
      } else {
        if (Status fits = check(element[0]); !fits.ok()) {
          rows_.clear();
          return reading.fail(std::move(fits));
        }
        rows_.push_back(std::move(element[0]));
      }
    }
    if (rows_.empty()) return Poll::end;
    out = {as_sparse(rows_, row_)};
    rows_.clear();
    return Poll::ready;
  }

 private:
  Status check(const Tensor& row) const {
    if (row.rank() != row_.rank()) return invalid("Input element had shape ({}) that is incompatible with the row shape ({}).", row.shape(), row_);
    for (int d = 0; d < row.rank(); ++d)
      if (row_.dim(d) >= 0 && row.dim(d) > row_.dim(d))
        return data_loss("Input element had shape ({}) that is larger than the row shape ({}).", row.shape(), row_);
    return absl::OkStatus();
  }

  SourcePtr input_;
  std::int64_t size_;
  PartialShape row_;
  std::vector<Tensor> rows_;
};

}  // namespace

void add_sparse_batch_datasets(Registry& ops) {
  ops.add({"DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset"},
          [](Call& call, DatasetIn input, Number<std::int64_t> size, In<std::int64_t> row_shape) -> Status {
            if (input->element.types.size() != 1) return invalid("DenseToSparseDataset only supports inputs with a single component.");
            if (*size <= 0) return invalid("Batch size must be greater than zero.");
            if (row_shape.dims() != 1) return invalid("row_shape must be a vector");
            for (std::int64_t d : row_shape.values())
              if (d < -1) return invalid("Dimension {} must be >= -1", d);
            PartialShape row(row_shape.values());
            Dataset dataset = over(input, "DenseToSparseBatch");
            // The shape is said to be that of the dense batch, though what is given are three variants.
            Dims dense{-1};
            for (std::int64_t d : row_shape.values()) dense.push_back(d);
            dataset.element = {{DType::variant}, {PartialShape(dense)}};
            dataset.cardinality = batch_count(input->cardinality, *size, false);
            dataset.open = [input = input.dataset, n = *size, row] { return std::make_unique<SparseBatches>(input->open(), n, row); };
            return give(call, std::move(dataset));
          });
}

}  // namespace troupe
