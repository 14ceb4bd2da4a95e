// Shapes: the fully known one of a tensor and the partly known one of an attribute.
#pragma once

#include <troupe/messaging/dims.hpp>
#include <troupe/messaging/status.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace troupe {

/// Sizes of a tensor's dimensions, each >= 0. A value; up to six dimensions need no allocation.
class Shape {
 public:
  using Dims = troupe::Dims;
  static constexpr int max_rank = 254;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::span<const std::int64_t> dims) : dims_(dims.begin(), dims.end()) {}

  /// Refuses negative sizes, too many dimensions and more than 2^63-1 elements with TensorFlow's texts.
  static StatusOr<Shape> checked(std::span<const std::int64_t> dims);

  int rank() const { return static_cast<int>(dims_.size()); }
  std::int64_t dim(int i) const { return dims_[static_cast<std::size_t>(i)]; }
  std::int64_t operator[](int i) const { return dim(i); }
  void set_dim(int i, std::int64_t n) { dims_[static_cast<std::size_t>(i)] = n; }
  void add_dim(std::int64_t n) { dims_.push_back(n); }
  void insert_dim(int at, std::int64_t n) { dims_.insert(static_cast<std::size_t>(at), n); }
  void clear() { dims_.clear(); }
  void remove_dim(int at) { dims_.erase(static_cast<std::size_t>(at)); }
  std::span<const std::int64_t> dims() const { return {dims_.data(), dims_.size()}; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }

  /// Product of the sizes; of a range of dimensions where given.
  std::int64_t elements() const { return elements(0, rank()); }
  std::int64_t elements(int first, int last) const {
    std::int64_t n = 1;
    for (int i = first; i < last; ++i) n *= dims_[static_cast<std::size_t>(i)];
    return n;
  }
  bool is_scalar() const { return dims_.empty(); }
  bool is_vector() const { return rank() == 1; }
  bool is_matrix() const { return rank() == 2; }

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  Dims dims_;
};

/// "[2,3]": what TensorFlow prints.
std::string to_string(const Shape& shape);

/// A shape with unknown sizes (-1) or unknown rank, as attributes carry it.
class PartialShape {
 public:
  PartialShape() = default;  // unknown rank
  explicit PartialShape(std::span<const std::int64_t> dims) : dims_(std::in_place, dims.begin(), dims.end()) {}
  explicit PartialShape(const Shape& shape) : PartialShape(shape.dims()) {}

  bool unknown_rank() const { return !dims_.has_value(); }
  int rank() const { return dims_ ? static_cast<int>(dims_->size()) : -1; }
  std::int64_t dim(int i) const { return (*dims_)[static_cast<std::size_t>(i)]; }
  std::span<const std::int64_t> dims() const {
    return dims_ ? std::span<const std::int64_t>(dims_->data(), dims_->size()) : std::span<const std::int64_t>();
  }
  bool fully_known() const;
  std::optional<Shape> known() const;
  bool compatible_with(const Shape& shape) const;
  friend bool operator==(const PartialShape&, const PartialShape&) = default;

 private:
  std::optional<Shape::Dims> dims_;
};

/// "[2,?]" or "<unknown>": what TensorFlow prints.
std::string to_string(const PartialShape& shape);

}  // namespace troupe

template <>
struct fmt::formatter<troupe::Shape> : fmt::formatter<std::string> {
  auto format(const troupe::Shape& s, fmt::format_context& c) const { return fmt::formatter<std::string>::format(troupe::to_string(s), c); }
};
template <>
struct fmt::formatter<troupe::PartialShape> : fmt::formatter<std::string> {
  auto format(const troupe::PartialShape& s, fmt::format_context& c) const { return fmt::formatter<std::string>::format(troupe::to_string(s), c); }
};
template <>
struct fmt::is_range<troupe::Shape, char> : std::false_type {};
