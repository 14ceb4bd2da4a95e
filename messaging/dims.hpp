// A short list of sizes that needs no allocation for up to six of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace troupe {

/// A vector of int64 with its first six in place; what shapes and walks over them are made of.
class Dims {
 public:
  using value_type = std::int64_t;

  Dims() = default;
  explicit Dims(std::size_t n, std::int64_t value) {
    for (std::size_t i = 0; i < n; ++i) push_back(value);
  }
  Dims(std::initializer_list<std::int64_t> values) : Dims(values.begin(), values.end()) {}
  template <std::input_iterator It>
  Dims(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  Dims(const Dims& other) { copy_from(other); }
  Dims(Dims&& other) noexcept { take(other); }
  Dims& operator=(const Dims& other) {
    if (this != &other) {
      release();
      copy_from(other);
    }
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~Dims() { release(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t* data() { return data_; }
  const std::int64_t* data() const { return data_; }
  std::int64_t* begin() { return data_; }
  std::int64_t* end() { return data_ + size_; }
  const std::int64_t* begin() const { return data_; }
  const std::int64_t* end() const { return data_ + size_; }
  std::int64_t& operator[](std::size_t i) { return data_[i]; }
  std::int64_t operator[](std::size_t i) const { return data_[i]; }
  std::int64_t& back() { return data_[size_ - 1]; }
  std::int64_t back() const { return data_[size_ - 1]; }

  void push_back(std::int64_t value) {
    if (size_ == capacity_) grow();
    data_[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void insert(std::size_t at, std::int64_t value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(std::size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }
  friend bool operator==(const Dims& a, const Dims& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  static constexpr std::uint32_t in_place = 6;

  void grow() {
    auto* larger = new std::int64_t[2 * capacity_];
    std::copy(begin(), end(), larger);
    const std::uint32_t capacity = 2 * capacity_;
    release();
    data_ = larger;
    capacity_ = capacity;
  }
  void copy_from(const Dims& other) {
    size_ = 0;
    for (std::int64_t v : other) push_back(v);
  }
  void take(Dims& other) {
    size_ = other.size_;
    if (other.data_ == other.local_) {
      std::copy(other.begin(), other.end(), local_);
      return;
    }
    data_ = std::exchange(other.data_, other.local_);
    capacity_ = std::exchange(other.capacity_, in_place);
    other.size_ = 0;
  }
  void release() {
    if (data_ != local_) delete[] data_;
    data_ = local_;
    capacity_ = in_place;
  }

  std::int64_t local_[in_place];
  std::int64_t* data_ = local_;
  std::uint32_t size_ = 0, capacity_ = in_place;
};

}  // namespace troupe
