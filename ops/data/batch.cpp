// Batches of elements of equal shapes.
#include <troupe/ops/data/batch.hpp>

namespace troupe {
namespace {

class Batched final : public Source {
 public:
  Batched(SourcePtr input, std::int64_t size, bool drop_remainder, bool fused)
      : input_(std::move(input)), size_(size), drop_remainder_(drop_remainder), fused_(fused) {}
  Poll next(Reading& reading, Tuple& out) override {
    while (input_ && std::ssize(elements_) < size_) {
      Tuple element;
      const Poll poll = input_->next(reading, element);
      if (poll == Poll::ready) elements_.push_back(std::move(element));
      else if (poll == Poll::end) input_.reset();
      else if (poll == Poll::waits) return poll;
      else if (fused_ && !cancelled(reading)) {
        if (failure_.ok()) failure_ = reading.status();
        elements_.emplace_back();
      } else {
        elements_.clear();
        failure_ = absl::OkStatus();
        return poll;
      }
    }
    const std::vector<Tuple> elements = std::exchange(elements_, {});
    if (!failure_.ok()) return reading.fail(std::exchange(failure_, absl::OkStatus()));
    if (elements.empty() || (drop_remainder_ && std::ssize(elements) < size_)) return Poll::end;
    auto batch = stack_elements(elements, fused_);
    if (!batch.ok()) return reading.fail(batch.status());
    out = *std::move(batch);
    return Poll::ready;
  }

 private:
  static bool cancelled(Reading& reading) { return reading.step().cancellation && reading.step().cancellation->cancelled(); }

  SourcePtr input_;
  std::int64_t size_;
  bool drop_remainder_, fused_;  // fused: who maps and batches at once reads all of a batch before it tells of a failure
  std::vector<Tuple> elements_;
  Status failure_;
};

}  // namespace

SourcePtr batched(SourcePtr input, std::int64_t size, bool drop_remainder, bool fused) {
  return std::make_unique<Batched>(std::move(input), size, drop_remainder, fused);
}

std::int64_t batch_count(std::int64_t elements, std::int64_t size, bool drop_remainder) {
  if (elements < 0) return elements;
  return elements / size + (!drop_remainder && elements % size != 0 ? 1 : 0);
}

StatusOr<Tuple> stack_elements(const std::vector<Tuple>& elements, bool fused) {
  Tuple batch;
  for (std::size_t c = 0; c < elements[0].size(); ++c) {
    const Tensor& first = elements[0][c];
    std::vector<Tensor> rows;
    for (const Tuple& element : elements) {
      const Tensor& row = element[c];
      if (fused && row.size() != first.size())
        return invalid("Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]: {}, [batch]: {}", row.shape(),
                       first.shape());
      if (!fused && row.shape() != first.shape())
        return invalid("Cannot batch tensors with different shapes in component {}. First element had shape {} and element {} had shape {}.", c,
                       first.shape(), rows.size(), row.shape());
      rows.push_back(row);
    }
    Dims dims{static_cast<std::int64_t>(rows.size())};
    for (std::int64_t d : first.shape()) dims.push_back(d);
    TRY(Shape::checked(std::span<const std::int64_t>(dims.data(), dims.size())).status());
    batch.push_back(stack_rows(first.dtype(), first.shape(), rows));
  }
  return batch;
}

std::vector<PartialShape> batch_shapes(const Dataset& input, std::int64_t size, bool drop_remainder) {
  std::vector<PartialShape> shapes;
  const std::int64_t n = input.cardinality;
  const bool always = drop_remainder || n == infinite || (n >= 0 && n % size == 0);
  for (const auto& shape : input.element.shapes) {
    if (shape.unknown_rank()) {
      shapes.emplace_back();
      continue;
    }
    Dims dims{always ? size : -1};
    for (std::int64_t d : shape.dims()) dims.push_back(d);
    shapes.emplace_back(std::span<const std::int64_t>(dims.data(), dims.size()));
  }
  return shapes;
}

void add_batch_datasets(Registry& ops) {
  auto make = [](Call& call, const DatasetPtr& input, const char* kind, std::int64_t size, bool drop_remainder) -> Status {
    if (size <= 0) return invalid("Batch size must be greater than zero.");
    Dataset dataset = over(input, kind);
    dataset.element.shapes = batch_shapes(*input, size, drop_remainder);
    dataset.cardinality = batch_count(input->cardinality, size, drop_remainder);
    if (dataset.kind != "ParallelBatch") dataset.batch = size;
    // TensorFlow makes one dataset of a map and its batches.
    const bool fused = dataset.kind != "ParallelBatch" && (input->kind == "Map" || input->kind == "ParallelMap");
    dataset.open = [input, size, drop_remainder, fused] { return batched(input->open(), size, drop_remainder, fused); };
    return give(call, std::move(dataset));
  };
  ops.add("BatchDataset", [make](Call& call, DatasetIn input, Number<std::int64_t> size) { return make(call, input, "Batch", *size, false); });
  ops.add("BatchDatasetV2", [make](Call& call, DatasetIn input, Number<std::int64_t> size, Number<bool> drop_remainder) {
    return make(call, input, "BatchV2", *size, *drop_remainder);
  });
  ops.add("ParallelBatchDataset", [make](Call& call, DatasetIn input, Number<std::int64_t> size, Number<std::int64_t>, Number<bool> drop_remainder) {
    return make(call, input, "ParallelBatch", *size, *drop_remainder);
  });
}

}  // namespace troupe
