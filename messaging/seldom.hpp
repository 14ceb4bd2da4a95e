// A part of a message that is mostly not there.
#pragma once

#include <memory>
#include <utility>

namespace troupe {

/// Reads as M's empty message until somebody writes to it; only then is there one.
template <class M>
class Seldom {
 public:
  Seldom() = default;
  Seldom(Seldom&&) noexcept = default;
  Seldom(const Seldom& other) : made_(other.made_ ? std::make_unique<M>(*other.made_) : nullptr) {}
  Seldom& operator=(Seldom other) noexcept {
    made_ = std::move(other.made_);
    return *this;
  }

  const M& operator*() const { return made_ ? *made_ : M::default_instance(); }
  const M* operator->() const { return &**this; }
  M& edit() {
    if (!made_) made_ = std::make_unique<M>();
    return *made_;
  }
  /// Nobody has written to it.
  bool untouched() const { return !made_; }

 private:
  std::unique_ptr<M> made_;
};

}  // namespace troupe
