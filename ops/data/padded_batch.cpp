// Batches of elements that are filled up to one shape.
#include <troupe/ops/data/batch.hpp>

namespace troupe {
namespace {

struct Padding {
  std::int64_t size;
  std::vector<PartialShape> shapes;
  Tuple values;
  bool drop_remainder;
};

template <class S>
void copy_corner(const S* from, const Shape& small, S* to, const Shape& large, int dim) {
  if (dim == small.rank()) return void(*to = *from);
  const std::int64_t from_step = small.elements(dim + 1, small.rank()), to_step = large.elements(dim + 1, large.rank());
  for (std::int64_t i = 0; i < small.dim(dim); ++i) copy_corner(from + i * from_step, small, to + i * to_step, large, dim + 1);
}

StatusOr<Tensor> padded(const std::vector<Tuple>& elements, std::size_t c, const PartialShape& wanted, const Tensor& filling) {
  Shape largest;
  if (wanted.unknown_rank()) largest = elements[0][c].shape();
  for (int d = 0; d < wanted.rank(); ++d) largest.add_dim(std::max<std::int64_t>(wanted.dim(d), 0));
  for (const Tuple& element : elements) {
    const Shape& shape = element[c].shape();
    if (shape.rank() != largest.rank())
      return invalid("All elements in a batch must have the same rank as the padded shape for component{}: expected rank {} got element with rank {}",
                     c, largest.rank(), shape.rank());
    for (int d = 0; d < shape.rank(); ++d) {
      if (!wanted.unknown_rank() && wanted.dim(d) == -1) largest.set_dim(d, std::max(largest.dim(d), shape.dim(d)));
      else if (shape.dim(d) > largest.dim(d)) return data_loss("Attempted to pad to a smaller size than the input element.");
    }
  }
  Dims dims{static_cast<std::int64_t>(elements.size())};
  for (std::int64_t d : largest) dims.push_back(d);
  TRY_ASSIGN(const Shape all, Shape::checked(std::span<const std::int64_t>(dims.data(), dims.size())));
  Tensor batch(filling.dtype(), all);
  by_storage(filling.dtype(), [&]<class S>() {
    std::fill_n(batch.mutable_data<S>(), batch.size(), filling.item<S>());
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (elements[i][c].size() > 0)
        copy_corner<S>(elements[i][c].data<S>(), elements[i][c].shape(), batch.mutable_data<S>() + static_cast<std::int64_t>(i) * largest.elements(),
                       largest, 0);
  });
  return batch;
}

class PaddedBatches final : public Source {
 public:
  PaddedBatches(SourcePtr input, std::shared_ptr<const Padding> padding) : input_(std::move(input)), padding_(std::move(padding)) {}
  Poll next(Reading& reading, Tuple& out) override {
    while (input_ && std::ssize(elements_) < padding_->size) {
      Tuple element;
      const Poll poll = input_->next(reading, element);
      if (poll == Poll::ready) elements_.push_back(std::move(element));
      else if (poll == Poll::end) input_.reset();
      else {
        if (poll == Poll::failed) elements_.clear();
        return poll;
      }
    }
    const std::vector<Tuple> elements = std::exchange(elements_, {});
    if (elements.empty() || (padding_->drop_remainder && std::ssize(elements) < padding_->size)) return Poll::end;
    out.clear();
    for (std::size_t c = 0; c < elements[0].size(); ++c) {
      auto batch = padded(elements, c, padding_->shapes[c], padding_->values[c]);
      if (!batch.ok()) return reading.fail(batch.status());
      out.push_back(*std::move(batch));
    }
    return Poll::ready;
  }

 private:
  SourcePtr input_;
  std::shared_ptr<const Padding> padding_;
  std::vector<Tuple> elements_;
};

Status give_padded(Call& call, const DatasetPtr& input, std::int64_t size, const List& shapes, const List& values, bool drop_remainder,
                   const ElementFacts& facts) {
  if (size <= 0) return invalid("Batch size must be greater than zero.");
  const auto& types = input->element.types;
  if (static_cast<std::size_t>(shapes.size()) != types.size())
    return invalid("Number of padded shapes ({}) must match the number of components in the input dataset's elements ({})", shapes.size(),
                   types.size());
  auto padding = std::make_shared<Padding>();
  padding->size = size;
  padding->drop_remainder = drop_remainder;
  for (int i = 0; i < shapes.size(); ++i) {
    if (shapes[i].rank() != 1 || shapes[i].dtype() != DType::i64) return invalid("All padded shapes must be vectors");
    for (std::int64_t d : shapes[i].values<std::int64_t>())
      if (d < -1) return invalid("Dimension {} must be >= -1", d);
    padding->shapes.emplace_back(shapes[i].values<std::int64_t>());
  }
  if (static_cast<std::size_t>(values.size()) != types.size())
    return invalid("Number of padding values ({}) must match the number of components in the input dataset's elements ({})", values.size(),
                   types.size());
  for (int i = 0; i < values.size(); ++i) {
    if (values[i].rank() != 0) return invalid("All padding values must be scalars");
    if (values[i].dtype() != types[static_cast<std::size_t>(i)])
      return invalid("Mismatched type between padding value {} and input dataset's component {}: {} vs. {}", i, i, name_of(values[i].dtype()),
                     name_of(types[static_cast<std::size_t>(i)]));
    padding->values.push_back(values[i]);
  }
  Dataset dataset = over(input, "PaddedBatch");
  dataset.element = facts;
  dataset.element.types = types;
  dataset.cardinality = batch_count(input->cardinality, size, drop_remainder);
  dataset.batch = size;
  dataset.open = [input, padding] { return std::make_unique<PaddedBatches>(input->open(), padding); };
  return give(call, std::move(dataset));
}

}  // namespace

void add_padded_batch_datasets(Registry& ops) {
  ops.add("PaddedBatchDataset", [](Call& call, DatasetIn input, Number<std::int64_t> size, List shapes, List values, Elements elements) {
    return give_padded(call, input, *size, shapes, values, false, elements);
  });
  ops.add("PaddedBatchDatasetV2", [](Call& call, DatasetIn input, Number<std::int64_t> size, List shapes, List values, Number<bool> drop_remainder,
                                     Elements elements) { return give_padded(call, input, *size, shapes, values, *drop_remainder, elements); });
}

}  // namespace troupe
