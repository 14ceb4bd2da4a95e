// The orders in which queues hand out their elements.
#include <troupe/ops/random/philox.hpp>
#include <troupe/ops/resources/queue.hpp>

#include <deque>
#include <queue>

namespace troupe {
namespace {

class FirstInFirstOut final : public Shelf {
 public:
  std::size_t size() const override { return elements_.size(); }
  void put(Tuple element) override { elements_.push_back(std::move(element)); }
  Tuple take() override {
    Tuple element = std::move(elements_.front());
    elements_.pop_front();
    return element;
  }
  void put_back(Tuple element) override { elements_.push_front(std::move(element)); }

 private:
  std::deque<Tuple> elements_;
};

class Shuffled final : public Shelf {
 public:
  Shuffled(std::uint64_t seed, std::uint64_t seed2) : words_(Philox::seeded(seed, seed2)) {}
  std::size_t size() const override { return elements_.size(); }
  void put(Tuple element) override { elements_.push_back(std::move(element)); }
  Tuple take() override {
    std::swap(elements_[words_() % elements_.size()], elements_.back());
    Tuple element = std::move(elements_.back());
    elements_.pop_back();
    return element;
  }
  void put_back(Tuple element) override { put(std::move(element)); }

 private:
  PhiloxWords words_;
  std::vector<Tuple> elements_;
};

class ByPriority final : public Shelf {
 public:
  std::size_t size() const override { return elements_.size(); }
  void put(Tuple element) override {
    const auto priority = element[0].item<std::int64_t>();
    elements_.emplace(priority, std::move(element));
  }
  Tuple take() override {
    Tuple element = elements_.top().second;
    elements_.pop();
    return element;
  }
  void put_back(Tuple element) override { put(std::move(element)); }

 private:
  using Entry = std::pair<std::int64_t, Tuple>;
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const { return a.first > b.first; }
  };
  std::priority_queue<Entry, std::vector<Entry>, Later> elements_;
};

}  // namespace

std::unique_ptr<Shelf> first_in_first_out() { return std::make_unique<FirstInFirstOut>(); }
std::unique_ptr<Shelf> shuffled(std::uint64_t seed, std::uint64_t seed2) { return std::make_unique<Shuffled>(seed, seed2); }
std::unique_ptr<Shelf> by_priority() { return std::make_unique<ByPriority>(); }

}  // namespace troupe
