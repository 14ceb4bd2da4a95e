// Barriers: tuples under keys, put together a component at a time, taken when complete in the order their keys first came.
#pragma once

#include <troupe/ops/resources/queue.hpp>

#include <map>
#include <memory>
#include <string>

namespace troupe {

/// Touched only on its device's actor.
class Barrier final : public Resource {
 public:
  Barrier(std::string name, std::vector<DType> types, std::vector<PartialShape> shapes);
  std::string describe() const override {
    return fmt::format("barrier with {} complete and {} incomplete elements", ready_->size(), incomplete_.size());
  }

  const std::vector<DType>& types() const { return types_; }
  const std::vector<PartialShape>& shapes() const { return shapes_; }

  void insert_many(Step& step, const Tensor& keys, std::size_t component, const Tensor& values, Done done);
  /// Takes (indices, keys, components…).
  void take_many(Step& step, std::int32_t count, bool allow_small_batch, Queue::Taker take, Done done);
  void close(bool cancel_pending, Done done);
  std::size_t ready_size() const { return ready_->size(); }
  std::size_t incomplete_size() const { return incomplete_.size(); }

 private:
  Status insert_one(const std::string& key, std::int64_t i, std::size_t component, Tensor value, std::vector<Tuple>& ready, bool& fresh);
  void close_ready(bool cancel_pending, Done done);

  std::string name_;
  std::vector<DType> types_;
  std::vector<PartialShape> shapes_;
  std::shared_ptr<Queue> ready_;
  std::map<std::string, Tuple> incomplete_;  // index, then components
  bool closed_ = false, cancelled_ = false, ready_closed_ = false;
  std::int64_t next_index_;
};

template <>
struct resource_type<Barrier> {
  static constexpr const char* name = "N10tensorflow7barrier7BarrierE";
};

}  // namespace troupe
