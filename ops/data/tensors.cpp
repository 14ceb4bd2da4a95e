// Datasets out of tensors and numbers.
#include <troupe/ops/data/dataset.hpp>

#include <limits>

namespace troupe {
namespace {

class OneElement final : public Source {
 public:
  explicit OneElement(Tuple element) : element_(std::move(element)) {}
  Poll next(Reading&, Tuple& out) override {
    if (given_) return Poll::end;
    given_ = true;
    out = std::move(element_);
    return Poll::ready;
  }

 private:
  Tuple element_;
  bool given_ = false;
};

class Slices final : public Source {
 public:
  explicit Slices(Tuple batches) : batches_(std::move(batches)), count_(batches_.empty() ? 0 : batches_[0].dim(0)) {}
  Poll next(Reading&, Tuple& out) override {
    if (at_ >= count_) return Poll::end;
    out.clear();
    for (const Tensor& batch : batches_) out.push_back(row_of(batch, at_));
    ++at_;
    return Poll::ready;
  }

 private:
  Tuple batches_;
  std::int64_t at_ = 0, count_;
};

/// Slices of a sparse tensor along its first dimension, as sparse tensors.
class SparseSlices final : public Source {
 public:
  SparseSlices(Tensor indices, Tensor values, Tensor shape) : indices_(std::move(indices)), values_(std::move(values)), shape_(std::move(shape)) {}
  Poll next(Reading&, Tuple& out) override {
    const auto* shape = shape_.data<std::int64_t>();
    if (at_ >= shape[0]) return Poll::end;
    const std::int64_t rank = shape_.size(), first = entry_;
    const auto* index = indices_.data<std::int64_t>();
    while (entry_ < indices_.dim(0) && index[entry_ * rank] == at_) ++entry_;
    const std::int64_t n = entry_ - first;
    Tensor places(DType::i64, Shape{n, rank - 1}), rest(DType::i64, Shape{rank - 1}), values(values_.dtype(), Shape{n});
    for (std::int64_t i = 0; i < n; ++i) std::copy_n(index + (first + i) * rank + 1, rank - 1, places.mutable_data<std::int64_t>() + i * (rank - 1));
    std::copy_n(shape + 1, rank - 1, rest.mutable_data<std::int64_t>());
    copy_elements(values_, first, values, 0, n);
    out = {std::move(places), std::move(values), std::move(rest)};
    ++at_;
    return Poll::ready;
  }

 private:
  Tensor indices_, values_, shape_;
  std::int64_t at_ = 0, entry_ = 0;
};

Status check_sparse(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  if (indices.rank() != 2) return invalid("Input indices must be a matrix. Got: {}", indices.shape());
  if (values.rank() != 1) return invalid("Input values must be a vector. Got: {}", values.shape());
  if (shape.rank() != 1) return invalid("Input shape must be a vector. Got: {}", shape.shape());
  if (values.dim(0) != indices.dim(0))
    return invalid("Number of values must match first dimension of indices. Got {} values, indices shape: {}", values.dim(0), indices.shape());
  if (shape.dim(0) != indices.dim(1))
    return invalid("Number of dimensions must match second dimension of indices. Got {} dimensions, indices shape: {}", shape.dim(0),
                   indices.shape());
  if (shape.size() <= 0) return invalid("The shape argument requires at least one element.");
  for (std::int64_t d : shape.values<std::int64_t>())
    if (d < 0) return invalid("Dense shape must be non-negative. Got: [{}]", fmt::join(shape.values<std::int64_t>(), ","));
  const std::int64_t rank = indices.dim(1);
  std::int64_t before = -1;
  for (std::int64_t i = 0; i < indices.dim(0); ++i) {
    const std::int64_t next = indices.data<std::int64_t>()[i * rank];
    if (next < before)
      return unimplemented("The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input is not currently supported.");
    before = next;
  }
  return absl::OkStatus();
}

Tensor number(DType dtype, std::int64_t value) {
  Tensor t(dtype, Shape{});
  visit_dtype(reals{}, dtype, [&]<class T>() {
    if constexpr (is_floating<T>) *t.mutable_data<T>() = static_cast<T>(static_cast<double>(value));
    else *t.mutable_data<T>() = static_cast<T>(value);
  });
  return t;
}

/// Wraps around where numbers end, as TensorFlow's does.
class Range final : public Source {
 public:
  Range(std::int64_t start, std::int64_t stop, std::int64_t step, DType dtype) : at_(start), stop_(stop), step_(step), dtype_(dtype) {}
  Poll next(Reading&, Tuple& out) override {
    if (step_ > 0 ? at_ >= stop_ : at_ <= stop_) return Poll::end;
    out = {number(dtype_, at_)};
    at_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(at_) + static_cast<std::uint64_t>(step_));
    return Poll::ready;
  }

 private:
  std::int64_t at_, stop_, step_;
  DType dtype_;
};

std::int64_t count_of(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const __int128 span = step > 0 ? static_cast<__int128>(stop) - start : static_cast<__int128>(start) - stop;
  const __int128 stride = step > 0 ? static_cast<__int128>(step) : -static_cast<__int128>(step);
  const __int128 count = (span + stride - 1) / stride;
  return count > std::numeric_limits<std::int64_t>::max() ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(count);
}

}  // namespace

void add_tensor_datasets(Registry& ops) {
  ops.add("TensorDataset", [](Call& call, List components, Elements elements) {
    Dataset dataset;
    dataset.kind = "Tensor";
    dataset.element = elements;
    dataset.cardinality = 1;
    dataset.open = [element = tensors_in(components)] { return std::make_unique<OneElement>(element); };
    return give(call, std::move(dataset));
  });
  ops.add("TensorSliceDataset", [](Call& call, List components, Elements elements) -> Status {
    if (components.size() == 0) return invalid("No components");
    if (components[0].rank() == 0) return invalid("All components must be at least 1-dimensional");
    for (int i = 1; i < components.size(); ++i) {
      if (components[i].rank() == 0) return invalid("All components must be at least 1-dimensional");
      if (components[i].dim(0) != components[0].dim(0)) return invalid("All components must have the same size in the 0th dimension");
    }
    Dataset dataset;
    dataset.kind = "TensorSlice";
    dataset.element = elements;
    dataset.cardinality = components[0].dim(0);
    dataset.open = [batches = tensors_in(components)] { return std::make_unique<Slices>(batches); };
    return give(call, std::move(dataset));
  });
  ops.add("SparseTensorSliceDataset", [](Call& call, In<std::int64_t> indices, Any values, In<std::int64_t> shape) -> Status {
    TRY(check_sparse(indices.tensor, values.tensor, shape.tensor));
    Dataset dataset;
    dataset.kind = "SparseTensorSlice";
    const std::int64_t rank = shape.size();
    dataset.element.types = {DType::i64, values->dtype(), DType::i64};
    const std::int64_t places[] = {-1, rank - 1}, any[] = {-1}, rest[] = {rank - 1};
    dataset.element.shapes = {PartialShape(places), PartialShape(any), PartialShape(rest)};
    dataset.cardinality = shape[0];
    dataset.open = [i = indices.tensor, v = values.tensor, s = shape.tensor] { return std::make_unique<SparseSlices>(i, v, s); };
    return give(call, std::move(dataset));
  });
  ops.add("RangeDataset",
          [](Call& call, Number<std::int64_t> start, Number<std::int64_t> stop, Number<std::int64_t> step, Elements elements) -> Status {
            if (*step == 0) return invalid("step must be a non-zero integer.");
            if (elements->types.size() != 1 || !visit_dtype(reals{}, elements->types[0], []<class T>() {}))
              return invalid("A range has one component of numbers");
            Dataset dataset;
            dataset.kind = "Range";
            dataset.element = elements;
            dataset.cardinality = count_of(*start, *stop, *step);
            dataset.open = [start = *start, stop = *stop, step = *step, dtype = elements->types[0]] {
              return std::make_unique<Range>(start, stop, step, dtype);
            };
            return give(call, std::move(dataset));
          });
}

}  // namespace troupe
