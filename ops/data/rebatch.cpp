// Batches cut anew, and names of files that match patterns.
#include <troupe/ops/data/batch.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <deque>

namespace troupe {
namespace {

/// Takes batches apart into rows and puts these together again in other numbers, which go round.
class Rebatched final : public Source {
 public:
  Rebatched(SourcePtr input, std::vector<std::int64_t> sizes, bool drop_remainder)
      : input_(std::move(input)), sizes_(std::move(sizes)), drop_remainder_(drop_remainder) {}
  Poll next(Reading& reading, Tuple& out) override {
    const std::int64_t size = sizes_[at_];
    while (input_ && (rows_.empty() || std::ssize(rows_) < size))
      if (const Poll poll = pull(reading); poll == Poll::waits || poll == Poll::failed) {
        if (poll == Poll::failed) rows_.clear();
        return poll;
      }
    if (rows_.empty() || (drop_remainder_ && std::ssize(rows_) < size)) return Poll::end;
    at_ = (at_ + 1) % sizes_.size();
    const auto border = rows_.begin() + static_cast<std::ptrdiff_t>(std::min<std::int64_t>(size, std::ssize(rows_)));
    const std::vector<Tuple> taken(rows_.begin(), border);
    out.clear();
    if (taken.empty()) {
      for (const Tensor& t : rows_.front()) out.push_back(stack_rows(t.dtype(), t.shape(), {}));
      return Poll::ready;
    }
    rows_.erase(rows_.begin(), border);
    auto batch = stack_elements(taken, false);
    if (!batch.ok()) return reading.fail(batch.status());
    out = *std::move(batch);
    return Poll::ready;
  }

 private:
  Poll pull(Reading& reading) {
    Tuple batch;
    const Poll poll = input_->next(reading, batch);
    if (poll == Poll::end) input_.reset();
    if (poll != Poll::ready || batch.empty()) return poll;
    for (const Tensor& t : batch) {
      if (t.rank() == 0) return reading.fail(invalid("Input element must have a non-scalar value in each component."));
      if (t.dim(0) != batch[0].dim(0))
        return reading.fail(invalid("Input element must have the same batch size in each component. Component 0 had size {} but another had size {}.",
                                    batch[0].dim(0), t.dim(0)));
    }
    for (std::int64_t i = 0; i < batch[0].dim(0); ++i) {
      Tuple row;
      for (const Tensor& t : batch) row.push_back(row_of(t, i));
      rows_.push_back(std::move(row));
    }
    return poll;
  }

  SourcePtr input_;
  std::vector<std::int64_t> sizes_;
  bool drop_remainder_;
  std::size_t at_ = 0;
  std::deque<Tuple> rows_;
};

/// Cuts every batch into as many parts as there are replicas; the last ones may be smaller, or empty.
class Divided final : public Source {
 public:
  Divided(SourcePtr input, std::int64_t replicas) : input_(std::move(input)), replicas_(replicas) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (part_ == 0) {
      if (const Poll poll = input_->next(reading, batch_); poll != Poll::ready) return poll;
      if (Status fits = check(); !fits.ok()) return reading.fail(std::move(fits));
    }
    const std::int64_t rows = batch_.empty() ? 0 : batch_[0].dim(0), size = rows / replicas_ + (rows % replicas_ == 0 ? 0 : 1);
    const std::int64_t begin = std::min(rows, part_ * size), end = std::min(rows, begin + size);
    out.clear();
    for (const Tensor& t : batch_) {
      std::vector<Tensor> taken;
      for (std::int64_t i = begin; i < end; ++i) taken.push_back(row_of(t, i));
      Dims inner;
      for (int d = 1; d < t.rank(); ++d) inner.push_back(t.dim(d));
      out.push_back(stack_rows(t.dtype(), Shape(inner), taken));
    }
    part_ = (part_ + 1) % replicas_;
    return Poll::ready;
  }

 private:
  Status check() const {
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      if (batch_[i].rank() == 0)
        return invalid(
            "Cannot rebatch dataset: All components must have at least one dimension. Perhaps your input dataset is not batched? Component {} is "
            "scalar.",
            i);
      if (batch_[i].dim(0) != batch_[0].dim(0))
        return invalid("Cannot rebatch dataset: Components have different batch sizes: {} and {}.", batch_[0].dim(0), batch_[i].dim(0));
    }
    return absl::OkStatus();
  }

  SourcePtr input_;
  std::int64_t replicas_, part_ = 0;
  Tuple batch_;
};

/// Names in order, pattern by pattern, looked for on a thread that may block.
class MatchedNames final : public Source {
 public:
  explicit MatchedNames(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}
  Poll next(Reading& reading, Tuple& out) override {
    for (;;) {
      if (work_.started())
        if (const Poll poll = work_.take(reading); poll != Poll::ready) return poll;
      if (found_ && !found_->empty()) {
        any_ = true;
        out = {Tensor::scalar<std::string>(std::move(found_->front()))};
        found_->pop_front();
        return Poll::ready;
      }
      if (at_ == patterns_.size()) {
        if (any_) return Poll::end;
        return reading.fail(not_found("Don't find any matched files"));
      }
      found_ = std::make_shared<std::deque<std::string>>();
      work_.start(reading, [pattern = patterns_[at_++], found = found_]() -> Status {
        TRY_ASSIGN(auto names, matching_files(pattern));
        std::sort(names.begin(), names.end());
        found->assign(names.begin(), names.end());
        return absl::OkStatus();
      });
    }
  }

 private:
  std::vector<std::string> patterns_;
  std::size_t at_ = 0;
  std::shared_ptr<std::deque<std::string>> found_;
  BlockingWork work_;
  bool any_ = false;
};

}  // namespace

void add_rebatch_datasets(Registry& ops) {
  ops.add("RebatchDatasetV2", [](Call& call, DatasetIn input, In<std::int64_t> sizes, Number<bool> drop_remainder, Elements elements) -> Status {
    if (sizes.dims() > 1) return invalid("`batch_sizes` must be a scalar or a vector.");
    if (sizes.size() == 0) return invalid("batch_sizes must not be empty");
    for (std::int64_t size : sizes.values())
      if (size < 0) return invalid("batch_sizes must be >= 0, but one is {}", size);
    Dataset dataset = over(input, "Rebatch");
    dataset.element = elements;
    dataset.cardinality = unknown_count;
    dataset.open = [input = input.dataset, all = std::vector<std::int64_t>(sizes.values().begin(), sizes.values().end()), drop = *drop_remainder] {
      return std::make_unique<Rebatched>(input->open(), all, drop);
    };
    return give(call, std::move(dataset));
  });
  ops.add({"RebatchDataset", "ExperimentalRebatchDataset"},
          [](Call& call, DatasetIn input, Number<std::int64_t> replicas, Elements elements) -> Status {
            if (*replicas <= 0) return invalid("num_replicas must be greater than zero.");
            Dataset dataset = over(input, "Rebatch");
            dataset.element = elements;
            dataset.cardinality = unknown_count;
            dataset.open = [input = input.dataset, n = *replicas] { return std::make_unique<Divided>(input->open(), n); };
            return give(call, std::move(dataset));
          });
  ops.add({"MatchingFilesDataset", "ExperimentalMatchingFilesDataset"}, [](Call& call, In<std::string> patterns) {
    Dataset dataset;
    dataset.kind = "MatchingFiles";
    dataset.element = {{DType::string}, {PartialShape(Shape{})}};
    dataset.open = [all = std::vector<std::string>(patterns.values().begin(), patterns.values().end())] {
      return std::make_unique<MatchedNames>(all);
    };
    return give(call, std::move(dataset));
  });
}

}  // namespace troupe
