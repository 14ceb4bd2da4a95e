// Staging areas: tuples put down by one step for another, in order or under keys.
#pragma once

#include <troupe/ops/resources/rows.hpp>
#include <troupe/ops/resources/store.hpp>
#include <troupe/ops/resources/waiting.hpp>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace troupe {

/// How much may be put down; zero: any amount.
struct StagingLimits {
  std::int64_t capacity = 0, bytes = 0;
};

/// A first-in first-out buffer. Touched only on its device's actor.
class StagingArea final : public Resource, public std::enable_shared_from_this<StagingArea> {
 public:
  explicit StagingArea(StagingLimits limits) : limits_(limits) {}
  std::string describe() const override { return fmt::format("Staging size: {}", tuples_.size()); }

  using Taker = std::function<Status(Tuple)>;
  void put(Step& step, Tuple tuple, Done done);
  void take(Step& step, Taker take, Done done);
  /// Looks at the element at an index, without taking it.
  void look(Step& step, std::size_t index, Taker take, Done done);
  std::size_t size() const { return tuples_.size(); }
  void clear();

 private:
  void settle();

  StagingLimits limits_;
  std::int64_t bytes_ = 0;
  std::deque<Tuple> tuples_;
  WaitingLine putting_, taking_;
};

/// Tuples by number, put down a component at a time. Touched only on its device's actor.
class StagingMap final : public Resource, public std::enable_shared_from_this<StagingMap> {
 public:
  using Key = std::int64_t;
  using Indices = std::vector<std::int32_t>;
  using Taker = std::function<Status(Key, Tuple)>;

  StagingMap(StagingLimits limits, std::size_t components) : limits_(limits), components_(components) {}
  std::string describe() const override {
    return fmt::format("staging map of {} complete and {} incomplete entries", complete_.size(), incomplete_.size());
  }

  void put(Step& step, Key key, const Indices& indices, Tuple values, Done done);
  /// Takes components of an entry, or only looks at them; of any entry where there is no key.
  void take(Step& step, std::optional<Key> key, const Indices& indices, bool only_look, Taker take, Done done);
  std::size_t size() const { return complete_.size(); }
  std::size_t incomplete_size() const { return incomplete_.size(); }
  void clear();

 private:
  using Entry = std::vector<std::optional<Tensor>>;
  Status check_bounds(const Indices& indices, Key key) const;
  Status put_now(Key key, const Indices& indices, const Tuple& values);
  StatusOr<Tuple> take_now(std::map<Key, Entry>::iterator entry, const Indices& indices, bool only_look);
  bool fits(std::int64_t more, bool new_key) const;
  void settle();

  StagingLimits limits_;
  std::size_t components_;
  std::int64_t bytes_ = 0;
  std::map<Key, Entry> complete_, incomplete_;
  WaitingLine putting_, taking_;
};

template <>
struct resource_type<StagingArea> {
  static constexpr const char* name = "N10tensorflow12_GLOBAL__N_16BufferE";
};
template <>
struct resource_type<StagingMap> {
  static constexpr const char* name = "N10tensorflow12_GLOBAL__N_110StagingMapE";
};

}  // namespace troupe
