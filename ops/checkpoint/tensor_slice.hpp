// Parts of tensors: for every dimension where a part starts and how long it is.
#pragma once

#include <troupe/wire/tensor.pb.h>
#include <troupe/messaging/tensor.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class TensorSlice {
 public:
  static constexpr std::int64_t full_length = -1;
  struct Extent {
    std::int64_t start = 0;
    std::int64_t length = full_length;  // all of the dimension
    friend bool operator==(const Extent&, const Extent&) = default;
  };

  TensorSlice() = default;
  explicit TensorSlice(int rank) : extents_(static_cast<std::size_t>(rank)) {}
  /// "0,2:-": start and length, or a dash for all.
  static StatusOr<TensorSlice> parse(std::string_view text);
  static StatusOr<TensorSlice> from_proto(const wire::TensorSliceProto& proto);
  void to_proto(wire::TensorSliceProto* proto) const;

  int rank() const { return static_cast<int>(extents_.size()); }
  const std::vector<Extent>& extents() const { return extents_; }
  bool is_full() const;
  /// Whether nothing of a tensor of this shape is left out.
  bool is_all_of(const Shape& full) const;
  /// The shape that the part of such a tensor has.
  StatusOr<Shape> shape_in(const Shape& full) const;
  /// The same with every length said.
  TensorSlice within(const Shape& full) const;
  /// What both have; of slices with every length said.
  std::optional<TensorSlice> common_with(const TensorSlice& other) const;
  std::int64_t elements() const;
  /// Some rows of it; of a slice with every length said.
  TensorSlice rows(std::int64_t first, std::int64_t count) const;

  friend bool operator==(const TensorSlice&, const TensorSlice&) = default;

 private:
  std::vector<Extent> extents_;
};

std::string to_string(const TensorSlice& slice);

/// What "4 5 0,2:-" says: the shape of a whole, a part of it, and the shape of that.
struct ShapeAndSlice {
  Shape full;
  TensorSlice slice;
  Shape part;
  static StatusOr<ShapeAndSlice> parse(const std::string& text);
};

/// Copies what two parts of one whole (with every length said) have in common. Tensors of plain elements or strings.
void copy_common(const Tensor& from, const TensorSlice& from_slice, Tensor& to, const TensorSlice& to_slice);

/// Which of the stored parts make up a wanted part: one alone where it is exactly that. INVALID_ARGUMENT when stored parts overlap; none
/// when something is missing.
StatusOr<std::optional<std::vector<TensorSlice>>> covering_slices(const std::vector<TensorSlice>& stored, const TensorSlice& wanted,
                                                                  const Shape& full);

}  // namespace troupe
