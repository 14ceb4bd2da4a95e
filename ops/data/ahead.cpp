// A shelf between who makes elements and who takes them.
#include <troupe/ops/data/ahead.hpp>

#include <deque>

namespace troupe {
namespace {

struct Shelf {
  static constexpr std::size_t most_elements = 256, most_bytes = 256 * 1024;
  std::unique_ptr<Producer> producer;
  std::deque<Tuple> elements;
  Status failure;  // after the elements
  bool over = false;

  void fill() {
    std::size_t bytes = 0;
    while (!over && failure.ok() && elements.size() < most_elements && bytes < most_bytes) {
      Tuple element;
      auto more = producer->next(element);
      if (!more.ok()) failure = more.status();
      else if (!*more) over = true;
      else
        for (const Tensor& t : elements.emplace_back(std::move(element))) bytes += t.bytes();
    }
  }
};

class Ahead final : public Source {
 public:
  explicit Ahead(std::unique_ptr<Producer> producer) : shelf_(std::make_shared<Shelf>()) { shelf_->producer = std::move(producer); }
  Poll next(Reading& reading, Tuple& out) override {
    for (;;) {
      if (work_.started())
        if (const Poll poll = work_.take(reading); poll != Poll::ready) return poll;
      if (!shelf_->elements.empty()) {
        out = std::move(shelf_->elements.front());
        shelf_->elements.pop_front();
        return Poll::ready;
      }
      if (!shelf_->failure.ok()) return reading.fail(std::exchange(shelf_->failure, absl::OkStatus()));
      if (shelf_->over) return Poll::end;
      work_.start(reading, [shelf = shelf_] {
        shelf->fill();
        return absl::OkStatus();
      });
    }
  }

 private:
  std::shared_ptr<Shelf> shelf_;
  BlockingWork work_;
};

}  // namespace

SourcePtr read_ahead(std::unique_ptr<Producer> producer) { return std::make_unique<Ahead>(std::move(producer)); }

}  // namespace troupe
