// Parts of tensors.
#include <troupe/ops/checkpoint/tensor_slice.hpp>

#include <troupe/ops/resources/rows.hpp>

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <algorithm>

namespace troupe {

StatusOr<TensorSlice> TensorSlice::parse(std::string_view text) {
  TensorSlice slice;
  const absl::string_view whole(text.data(), text.size());
  for (const absl::string_view item : absl::StrSplit(whole, ':', absl::SkipEmpty())) {
    Extent extent;
    if (item != "-") {
      const std::vector<absl::string_view> pair = absl::StrSplit(item, ',', absl::SkipEmpty());
      if (pair.size() != 2 || !absl::SimpleAtoi(pair[0], &extent.start) || !absl::SimpleAtoi(pair[1], &extent.length))
        return invalid("Expected a pair of numbers or '-' but got '{}': string = {}", std::string_view(item.data(), item.size()), text);
      if (extent.start < 0 || extent.length <= 0)
        return invalid("Expected non-negative start and positive length but got start = {}, length = {}: string = {}", extent.start, extent.length,
                       text);
    }
    slice.extents_.push_back(extent);
  }
  return slice;
}

StatusOr<TensorSlice> TensorSlice::from_proto(const wire::TensorSliceProto& proto) {
  TensorSlice slice;
  for (const auto& e : proto.extent()) {
    Extent extent{e.start(), e.has_length_case() == wire::TensorSliceProto::Extent::kLength ? e.length() : full_length};
    if (extent.start < 0 || extent.length < full_length) return invalid("Extent has a negative start or length: {}, {}", extent.start, extent.length);
    slice.extents_.push_back(extent);
  }
  return slice;
}

void TensorSlice::to_proto(wire::TensorSliceProto* proto) const {
  proto->Clear();
  for (const Extent& e : extents_) {
    auto* extent = proto->add_extent();
    if (e.length == full_length) continue;
    extent->set_start(e.start);
    extent->set_length(e.length);
  }
}

bool TensorSlice::is_full() const {
  return std::all_of(extents_.begin(), extents_.end(), [](const Extent& e) { return e == Extent{}; });
}

bool TensorSlice::is_all_of(const Shape& full) const {
  if (is_full()) return true;
  const auto part = shape_in(full);
  return part.ok() && *part == full;
}

StatusOr<Shape> TensorSlice::shape_in(const Shape& full) const {
  if (rank() != full.rank()) return internal("Mismatching ranks: shape = {}, slice = {}", full, to_string(*this));
  Shape part;
  for (int i = 0; i < rank(); ++i) {
    const Extent& e = extents_[static_cast<std::size_t>(i)];
    if (e.length == full_length) {
      part.add_dim(full[i]);
    } else if (e.length > full[i] || e.start > full[i] - e.length) {
      return internal("Extent in dimension {} out of bounds: shape = {}, slice = {}", i, full, to_string(*this));
    } else {
      part.add_dim(e.length);
    }
  }
  return part;
}

TensorSlice TensorSlice::within(const Shape& full) const {
  TensorSlice slice = *this;
  for (int i = 0; i < rank(); ++i) {
    Extent& e = slice.extents_[static_cast<std::size_t>(i)];
    if (e.length == full_length) e = {0, full[i]};
  }
  return slice;
}

std::optional<TensorSlice> TensorSlice::common_with(const TensorSlice& other) const {
  if (rank() != other.rank()) return std::nullopt;
  TensorSlice common;
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    const Extent &a = extents_[i], &b = other.extents_[i];
    const std::int64_t start = std::max(a.start, b.start), end = std::min(a.start + a.length, b.start + b.length);
    if (end <= start) return std::nullopt;
    common.extents_.push_back({start, end - start});
  }
  return common;
}

std::int64_t TensorSlice::elements() const {
  std::int64_t n = 1;
  for (const Extent& e : extents_) n *= e.length;
  return n;
}

TensorSlice TensorSlice::rows(std::int64_t first, std::int64_t count) const {
  TensorSlice part = *this;
  if (!part.extents_.empty()) part.extents_[0] = {part.extents_[0].start + first, count};
  return part;
}

std::string to_string(const TensorSlice& slice) {
  std::vector<std::string> texts;
  for (const auto& e : slice.extents()) texts.push_back(e.length == TensorSlice::full_length ? "-" : fmt::format("{},{}", e.start, e.length));
  return fmt::format("{}", fmt::join(texts, ":"));
}

StatusOr<ShapeAndSlice> ShapeAndSlice::parse(const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  if (words.size() < 2) return invalid("Need least two elements in shape_and_slice specification: {}", text);
  std::vector<std::int64_t> dims(words.size() - 1);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!absl::SimpleAtoi(words[i], &dims[i])) return invalid("Non numerical dimension in shape_and_slice: {}", text);
  ShapeAndSlice parsed;
  TRY_ASSIGN(parsed.full, Shape::checked(dims));
  TRY_ASSIGN(parsed.slice, TensorSlice::parse(words.back()));
  TRY_ASSIGN(parsed.part, parsed.slice.shape_in(parsed.full));
  return parsed;
}

void copy_common(const Tensor& from, const TensorSlice& from_slice, Tensor& to, const TensorSlice& to_slice) {
  const auto common = from_slice.common_with(to_slice);
  if (!common) return;
  const std::size_t rank = common->extents().size();
  const std::int64_t row = rank == 0 ? 1 : common->extents()[rank - 1].length;
  std::vector<std::int64_t> at(rank, 0);  // within the common part; the last dimension is copied at once
  const auto place = [&](const TensorSlice& slice) {
    std::int64_t index = 0;
    for (std::size_t i = 0; i < rank; ++i)
      index = index * slice.extents()[i].length + (common->extents()[i].start + at[i] - slice.extents()[i].start);
    return index;
  };
  for (std::int64_t rows = common->elements() / row; rows > 0; --rows) {
    copy_elements(from, place(from_slice), to, place(to_slice), row);
    for (std::size_t i = rank < 2 ? 0 : rank - 1; i-- > 0;) {
      if (++at[i] < common->extents()[i].length) break;
      at[i] = 0;
    }
  }
}

StatusOr<std::optional<std::vector<TensorSlice>>> covering_slices(const std::vector<TensorSlice>& stored, const TensorSlice& wanted,
                                                                  const Shape& full) {
  const TensorSlice target = wanted.within(full);
  std::vector<TensorSlice> parts, known;
  std::int64_t covered = 0;
  for (const TensorSlice& slice : stored) {
    TRY(slice.shape_in(full).status());
    const TensorSlice here = slice.within(full);
    for (std::size_t i = 0; i < known.size(); ++i)
      if (here.common_with(known[i]))
        return internal("Overlapping slices: existing slice = {}, new slice = {}", to_string(stored[i]), to_string(slice));
    known.push_back(here);
    if (here == target) parts = {slice};
  }
  if (!parts.empty()) return parts;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto common = known[i].common_with(target);
    if (!common) continue;
    covered += common->elements();
    parts.push_back(stored[i]);
  }
  if (covered != target.elements()) return std::nullopt;
  return parts;
}

}  // namespace troupe
