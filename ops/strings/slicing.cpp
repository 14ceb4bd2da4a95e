// Parts and lengths of strings, in bytes or in characters of UTF-8.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/broadcast.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/strings/numbers.hpp>
#include <troupe/ops/strings/utf8.hpp>

#include <algorithm>
#include <optional>

namespace troupe {
namespace {

bool counts_characters(const std::string& unit) { return unit == "UTF8_CHAR"; }

std::int64_t characters_in(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); });
}

/// Where the character with this number begins; the end of the text when there are just as many.
std::size_t offset_of_character(std::string_view text, std::int64_t number) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (!continues_character(text[at]) && number-- == 0) return at;
  return at;
}

/// A position from the front or, when negative, from the end; nothing when it is beyond either.
std::optional<std::int64_t> position(std::int64_t pos, std::int64_t size) {
  const std::int64_t at = pos < 0 ? pos + size : pos;
  if (at < 0 || at > size) return std::nullopt;
  return at;
}

/// A negative length in bytes, as unsigned, is as good as endless.
std::int64_t clipped(std::int64_t length, std::int64_t left) { return length < 0 ? left : std::min(length, left); }

struct Slicer {
  bool characters;

  std::optional<std::string_view> operator()(std::string_view text, std::int64_t pos, std::int64_t length) const {
    const auto size = characters ? characters_in(text) : static_cast<std::int64_t>(text.size());
    const auto from = position(pos, size);
    if (!from) return std::nullopt;
    // Characters cannot be counted backwards: nothing from the front, no place from the end.
    if (characters && length < 0) return pos < 0 ? std::nullopt : std::optional(text.substr(0, 0));
    const std::int64_t to = *from + clipped(length, size - *from);
    if (!characters) return text.substr(static_cast<std::size_t>(*from), static_cast<std::size_t>(to - *from));
    const std::size_t begin = offset_of_character(text, *from), end = offset_of_character(text, to);
    return text.substr(begin, end - begin);
  }

  /// `columns` is 0 unless the place is in a matrix that was broadcast.
  Status refusal(std::int64_t pos, const std::string& text, std::int64_t at, std::int64_t columns) const {
    const std::int64_t row = columns == 0 ? at : at / columns;
    const std::string where = columns == 0 || characters ? std::to_string(row) : fmt::format("({}, {})", row, at % columns);
    if (characters) return invalid("pos {} out of range for string at index {}", pos, where);
    return invalid("pos {} out of range for string b'{}' at index {}", pos, text, where);
  }
};

Status slice_same_shape(Call& call, const In<std::string>& x, const Dims& pos, const Dims& length, const Slicer& slice) {
  std::string* out = call.alloc<std::string>(0, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const auto at = pos.size() == 1 && x.size() != 1 ? 0 : static_cast<std::size_t>(i);
    const auto part = slice(x[i], pos[at], length[at]);
    if (!part) return slice.refusal(pos[at], x[i], i, 0);
    out[i] = std::string(*part);
  }
  return absl::OkStatus();
}

Status slice_broadcast(Call& call, const In<std::string>& x, const Shape& parts, const Dims& pos, const Dims& length, const Slicer& slice) {
  const auto b = Broadcast::of(x.shape(), parts);
  if (!b) return invalid("Incompatible shapes: {} vs. {}", x.shape(), parts);
  const Shape& shape = b->output;
  if (shape.rank() > 2) return unimplemented("Substr broadcast not implemented for {} dimensions", shape.rank());
  std::string* out = call.alloc<std::string>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  Status status;
  b->for_each_row([&](std::int64_t o, std::int64_t l, std::int64_t r) {
    for (std::int64_t i = 0; i < b->size.back() && status.ok(); ++i) {
      const std::string& text = x[l + i * b->left_step.back()];
      const auto at = static_cast<std::size_t>(r + i * b->right_step.back());
      const auto part = slice(text, pos[at], length[at]);
      const std::int64_t offset = o + i;
      if (part) out[offset] = std::string(*part);
      else status = slice.refusal(pos[at], text, offset, shape.rank() < 2 ? 0 : shape.dim(1));
    }
  });
  return status;
}

Status substring(Call& call, const In<std::string>& x, const Tensor& pos, const Tensor& length, bool characters) {
  if (pos.shape() != length.shape()) return invalid("pos and len should have the same shape, got: {} vs. {}", pos.shape(), length.shape());
  const Dims from = as_dims(pos), count = as_dims(length);
  const Slicer slice{characters};
  if (pos.rank() == 0 || pos.shape() == x.shape()) return slice_same_shape(call, x, from, count, slice);
  return slice_broadcast(call, x, pos.shape(), from, count, slice);
}

}  // namespace

void add_slicing(Registry& ops) {
  ops.add("Substr", [](Call& call, In<std::string> x, Any pos, Any length, Attr<"unit", std::string> unit) {
    return substring(call, x, pos.tensor, length.tensor, counts_characters(*unit));
  });
  ops.add("StringLength", [](Call& call, In<std::string> x, Attr<"unit", std::string> unit) {
    std::int32_t* out = call.alloc<std::int32_t>(0, x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i)
      out[i] = static_cast<std::int32_t>(counts_characters(*unit) ? characters_in(x[i]) : static_cast<std::int64_t>(x[i].size()));
  });
  ops.add("StringStrip", [](Call& call, In<std::string> x) {
    std::string* out = call.alloc<std::string>(0, x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) out[i] = std::string(stripped(x[i]));
  });
}

}  // namespace troupe
