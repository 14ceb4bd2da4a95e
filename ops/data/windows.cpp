// Windows of elements, batches taken apart, and elements only once.
#include <troupe/ops/data/windows.hpp>

#include <deque>
#include <unordered_set>

namespace troupe {
namespace {

class Window final : public Source {
 public:
  explicit Window(std::shared_ptr<const std::vector<Tuple>> elements) : elements_(std::move(elements)) {}
  Poll next(Reading&, Tuple& out) override {
    if (at_ >= elements_->size()) return Poll::end;
    out = (*elements_)[at_++];
    return Poll::ready;
  }

 private:
  std::shared_ptr<const std::vector<Tuple>> elements_;
  std::size_t at_ = 0;
};

struct Sliding {
  std::int64_t size, shift, stride;
  bool drop_remainder;
  /// Elements that a full window spans.
  std::int64_t span() const { return (size - 1) * stride + 1; }
};

class Windows final : public Source {
 public:
  Windows(SourcePtr input, Sliding sliding, ElementFacts facts) : input_(std::move(input)), sliding_(sliding), facts_(std::move(facts)) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (!input_ && buffer_.empty()) return Poll::end;
    for (; input_ && to_skip_ > 0; --to_skip_) {
      if (pull(reading) == Poll::waits) return Poll::waits;
      buffer_.clear();
    }
    while (input_ && std::ssize(buffer_) < sliding_.span())
      if (pull(reading) == Poll::waits) return Poll::waits;
    if (buffer_.empty() || (sliding_.drop_remainder && std::ssize(buffer_) < sliding_.span())) {
      buffer_.clear();
      return Poll::end;
    }
    std::vector<Tuple> window;
    Status failure;
    for (std::int64_t i = 0; i < sliding_.size && i * sliding_.stride < std::ssize(buffer_); ++i) {
      const auto& element = buffer_[static_cast<std::size_t>(i * sliding_.stride)];
      if (element.ok()) window.push_back(*element);
      else failure.Update(element.status());
    }
    if (sliding_.shift >= std::ssize(buffer_)) {
      to_skip_ = sliding_.shift - std::ssize(buffer_);
      buffer_.clear();
    } else {
      buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(sliding_.shift));
    }
    if (!failure.ok()) return reading.fail(failure);
    out.clear();
    for (std::size_t c = 0; c < facts_.types.size(); ++c) {
      std::vector<Tuple> parts;
      for (const Tuple& element : window) parts.push_back({element[c]});
      out.push_back(to_tensor(window_of(std::move(parts), {{facts_.types[c]}, {facts_.shapes[c]}})));
    }
    return Poll::ready;
  }

 private:
  Poll pull(Reading& reading) {
    Tuple element;
    const Poll poll = input_->next(reading, element);
    if (poll == Poll::ready) buffer_.emplace_back(std::move(element));
    if (poll == Poll::failed) buffer_.emplace_back(reading.status());
    if (poll == Poll::end) input_.reset();
    return poll;
  }

  SourcePtr input_;
  Sliding sliding_;
  ElementFacts facts_;
  std::deque<StatusOr<Tuple>> buffer_;  // a failure has its place among the elements
  std::int64_t to_skip_ = 0;
};

class Unbatched final : public Source {
 public:
  explicit Unbatched(SourcePtr input) : input_(std::move(input)) {}
  Poll next(Reading& reading, Tuple& out) override {
    while (at_ >= size_) {
      if (const Poll poll = input_->next(reading, batch_); poll != Poll::ready) return poll;
      at_ = size_ = 0;
      if (batch_.empty()) return reading.fail(invalid("Unbatching needs elements of at least one component."));
      for (std::size_t i = 0; i < batch_.size(); ++i) {
        if (batch_[i].rank() == 0) return reading.fail(invalid("Input element must have a non-scalar value in each component."));
        if (batch_[i].dim(0) != batch_[0].dim(0))
          return reading.fail(
              invalid("Input element must have the same batch size in each component. Component 0 had size {} but component {} had size, {}.",
                      batch_[0].dim(0), i, batch_[i].dim(0)));
      }
      size_ = batch_[0].dim(0);
    }
    out.clear();
    for (const Tensor& t : batch_) out.push_back(row_of(t, at_));
    ++at_;
    return Poll::ready;
  }

 private:
  SourcePtr input_;
  Tuple batch_;
  std::int64_t at_ = 0, size_ = 0;
};

/// What makes elements of one component equal: their type's bytes and their shape.
std::string identity_of(const Tensor& t) {
  std::string key = to_string(t.shape());
  if (t.dtype() == DType::string) {
    for (const auto& s : t.values<std::string>()) key += fmt::format("|{}|{}", s.size(), s);
    return key;
  }
  return key.append(static_cast<const char*>(t.raw() ? t.raw() : ""), t.bytes());
}

class Unique final : public Source {
 public:
  explicit Unique(SourcePtr input) : input_(std::move(input)) {}
  Poll next(Reading& reading, Tuple& out) override {
    for (;;) {
      if (const Poll poll = input_->next(reading, out); poll != Poll::ready) return poll;
      if (seen_.insert(identity_of(out[0])).second) return Poll::ready;
    }
  }

 private:
  SourcePtr input_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

Dataset window_of(std::vector<Tuple> elements, ElementFacts facts) {
  Dataset dataset;
  dataset.kind = "Window";
  dataset.element = std::move(facts);
  dataset.cardinality = std::ssize(elements);
  dataset.open = [all = std::make_shared<const std::vector<Tuple>>(std::move(elements))] { return std::make_unique<Window>(all); };
  return dataset;
}

void add_window_datasets(Registry& ops) {
  using Count = Number<std::int64_t>;
  ops.add("WindowDataset",
          [](Call& call, DatasetIn input, Count size, Count shift, Count stride, Number<bool> drop_remainder, Elements elements) -> Status {
            if (*size <= 0) return invalid("Window size must be greater than zero.");
            if (*shift <= 0) return invalid("Window shift must be greater than zero.");
            if (*stride <= 0) return invalid("Window stride must be greater than zero.");
            std::int64_t span = 0;
            if (__builtin_mul_overflow(*size - 1, *stride, &span) || __builtin_add_overflow(span, 1, &span))
              return invalid("A window of {} elements {} apart is too large", *size, *stride);
            Dataset dataset = over(input, "Window");
            dataset.element = elements;
            const std::int64_t n = input->cardinality;
            if (n >= 0) dataset.cardinality = *drop_remainder ? (n < span ? 0 : (n - span) / *shift + 1) : n / *shift + (n % *shift == 0 ? 0 : 1);
            dataset.open = [input = input.dataset, sliding = Sliding{*size, *shift, *stride, *drop_remainder}] {
              return std::make_unique<Windows>(input->open(), sliding, input->element);
            };
            return give(call, std::move(dataset));
          });
  ops.add("ListDataset", [](Call& call, List tensors, Elements elements) -> Status {
    const auto width = static_cast<int>(elements->types.size());
    if (width == 0 || tensors.size() % width != 0) return invalid("{} tensors do not make elements of {}", tensors.size(), width);
    std::vector<Tuple> all(static_cast<std::size_t>(tensors.size() / width));
    for (int i = 0; i < tensors.size(); ++i) all[static_cast<std::size_t>(i / width)].push_back(tensors[i]);
    Dataset dataset = window_of(std::move(all), elements);
    dataset.kind = "List";
    return give(call, std::move(dataset));
  });
  ops.add({"UnbatchDataset", "ExperimentalUnbatchDataset"}, [](Call& call, DatasetIn input, Elements elements) {
    Dataset dataset = over(input, "Unbatch");
    const auto& shapes = input->element.shapes;
    const std::int64_t n = input->cardinality, size = !shapes.empty() && shapes[0].rank() > 0 ? shapes[0].dim(0) : -1;
    dataset.cardinality = n == infinite ? n : unknown_count;
    if (n >= 0 && size > 0 && __builtin_mul_overflow(n, size, &dataset.cardinality)) dataset.cardinality = unknown_count;
    dataset.element = elements;
    dataset.open = [input = input.dataset] { return std::make_unique<Unbatched>(input->open()); };
    return give(call, std::move(dataset));
  });
  ops.add({"UniqueDataset", "ExperimentalUniqueDataset"}, [](Call& call, DatasetIn input) -> Status {
    const auto& types = input->element.types;
    if (types.size() != 1) return invalid("UniqueDataset only supports inputs with a single component.");
    if (types[0] != DType::i32 && types[0] != DType::i64 && types[0] != DType::string)
      return invalid("UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` component.");
    Dataset dataset = over(input, "Unique");
    dataset.cardinality = unknown_count;
    dataset.open = [input = input.dataset] { return std::make_unique<Unique>(input->open()); };
    return give(call, std::move(dataset));
  });
}

}  // namespace troupe
