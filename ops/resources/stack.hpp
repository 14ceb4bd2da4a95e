// Stacks of tensors that live within one step; gradients of loops keep what they need on them.
#pragma once

#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/resources/store.hpp>

#include <string>
#include <vector>

namespace troupe {

/// Touched only on its device's actor.
class Stack final : public Resource {
 public:
  Stack(std::string name, DType dtype, std::int64_t most) : name_(std::move(name)), dtype_(dtype), most_(most) {}
  std::string describe() const override { return fmt::format("Stack[{}] of {} elements", name_, tensors_.size()); }

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }

  Status push(const Tensor& value) {
    TRY(check_open());
    if (most_ >= 0 && static_cast<std::int64_t>(tensors_.size()) >= most_) return invalid("Stack[{}] overflowed its max_size ({})", name_, most_);
    tensors_.push_back(value);
    return absl::OkStatus();
  }
  StatusOr<Tensor> pop() {
    TRY(check_open());
    if (tensors_.empty()) return invalid("Stack[{}] is empty when calling Pop().", name_);
    Tensor top = std::move(tensors_.back());
    tensors_.pop_back();
    return top;
  }
  void close() {
    tensors_.clear();
    closed_ = true;
  }

 private:
  Status check_open() const {
    if (closed_) return invalid("Stack[{}] has already been closed.", name_);
    return absl::OkStatus();
  }

  std::string name_;
  DType dtype_;
  std::int64_t most_;  // negative: no limit
  std::vector<Tensor> tensors_;
  bool closed_ = false;
};

template <>
struct resource_type<Stack> {
  static constexpr const char* name = "N10tensorflow5StackE";
};

}  // namespace troupe
