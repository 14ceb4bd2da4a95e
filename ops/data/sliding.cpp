// Batches of elements that lie next to each other, one behind another; and single tensors as a dataset of one window.
#include <troupe/ops/data/batch.hpp>
#include <troupe/ops/data/windows.hpp>

#include <deque>

namespace troupe {
namespace {

struct Sliding {
  std::int64_t size, shift, stride;
  bool drop_remainder;
  std::int64_t span() const { return (size - 1) * stride + 1; }
};

class SlidingBatches final : public Source {
 public:
  SlidingBatches(SourcePtr input, Sliding sliding) : input_(std::move(input)), sliding_(sliding) {}
  Poll next(Reading& reading, Tuple& out) override {
    for (; input_ && to_skip_ > 0; --to_skip_) {
      Tuple element;
      const Poll poll = input_->next(reading, element);
      if (poll == Poll::end) input_.reset();
      else if (poll != Poll::ready) return poll;
    }
    while (input_ && std::ssize(buffer_) < sliding_.span()) {
      Tuple element;
      const Poll poll = input_->next(reading, element);
      if (poll == Poll::end) input_.reset();
      else if (poll != Poll::ready) return poll;
      else buffer_.push_back(std::move(element));
    }
    if (buffer_.empty() || (sliding_.drop_remainder && std::ssize(buffer_) < sliding_.span())) {
      buffer_.clear();
      return Poll::end;
    }
    std::vector<Tuple> window;
    for (std::int64_t i = 0; i < sliding_.size && i * sliding_.stride < std::ssize(buffer_); ++i)
      window.push_back(buffer_[static_cast<std::size_t>(i * sliding_.stride)]);
    const std::int64_t leaving = std::min<std::int64_t>(sliding_.shift, std::ssize(buffer_));
    to_skip_ = sliding_.shift - leaving;
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(leaving));
    auto batch = stack_elements(window, false);
    if (!batch.ok()) return reading.fail(batch.status());
    out = *std::move(batch);
    return Poll::ready;
  }

 private:
  SourcePtr input_;
  Sliding sliding_;
  std::deque<Tuple> buffer_;
  std::int64_t to_skip_ = 0;
};

Status give_sliding(Call& call, const DatasetPtr& input, const Sliding& sliding, const ElementFacts& facts) {
  if (sliding.size <= 0) return invalid("Window size must be greater than zero.");
  if (sliding.shift <= 0) return invalid("Window shift must be greater than zero.");
  if (sliding.stride <= 0) return invalid("window_stride must be greater than zero.");
  std::int64_t span = 0;
  if (__builtin_mul_overflow(sliding.size - 1, sliding.stride, &span) || __builtin_add_overflow(span, 1, &span))
    return invalid("A window of {} elements {} apart is too large", sliding.size, sliding.stride);
  Dataset dataset = over(input, "SlidingWindow");
  dataset.element = facts;
  // As TensorFlow counts, though the last windows may be left out.
  if (const std::int64_t n = input->cardinality; n >= 0)
    dataset.cardinality = sliding.drop_remainder ? n / sliding.shift : n / sliding.shift + (n % sliding.shift == 0 ? 0 : 1);
  dataset.open = [input, sliding] { return std::make_unique<SlidingBatches>(input->open(), sliding); };
  return give(call, std::move(dataset));
}

}  // namespace

void add_sliding_datasets(Registry& ops) {
  using Count = Number<std::int64_t>;
  ops.add("SlidingWindowDataset",
          [](Call& call, DatasetIn input, Count size, Count shift, Count stride, Attr<"drop_remainder", bool> drop_remainder, Elements elements) {
            return give_sliding(call, input, {*size, *shift, *stride, *drop_remainder}, elements);
          });
  ops.add("ExperimentalSlidingWindowDataset", [](Call& call, DatasetIn input, Count size, Count shift, Count stride, Elements elements) {
    return give_sliding(call, input, {*size, *shift, *stride, true}, elements);
  });
  ops.add("WindowOp", [](Call& call, List inputs, Elements elements) -> Status {
    const auto width = static_cast<int>(elements->types.size());
    if (width == 0 || inputs.size() % width != 0) return invalid("{} tensors do not make elements of {}", inputs.size(), width);
    std::vector<Tuple> all(static_cast<std::size_t>(inputs.size() / width));
    for (int i = 0; i < inputs.size(); ++i) all[static_cast<std::size_t>(i / width)].push_back(inputs[i]);
    return give(call, window_of(std::move(all), elements));
  });
}

}  // namespace troupe
