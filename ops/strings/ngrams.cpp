// Runs of neighbouring strings, with padding at the ends of each sequence.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>

namespace troupe {
namespace {

struct NGrams {
  std::string separator, left_pad, right_pad;
  std::vector<std::int64_t> widths;
  std::int64_t pad_width = -1;
  bool preserve_short = false;

  static StatusOr<NGrams> make(Binding& binding) {
    NGrams n;
    TRY_ASSIGN(n.separator, binding.attr<std::string>("separator"));
    TRY_ASSIGN(n.left_pad, binding.attr<std::string>("left_pad"));
    TRY_ASSIGN(n.right_pad, binding.attr<std::string>("right_pad"));
    TRY_ASSIGN(n.widths, binding.attr<std::vector<std::int64_t>>("ngram_widths"));
    TRY_ASSIGN(n.pad_width, binding.attr<std::int64_t>("pad_width"));
    TRY_ASSIGN(n.preserve_short, binding.attr<bool>("preserve_short_sequences"));
    for (std::int64_t width : n.widths)
      if (width <= 0) return invalid("ngram_widths must contain positive values");
    return n;
  }

  std::int64_t padding(std::int64_t width) const { return pad_width < 0 ? width - 1 : std::min(pad_width, width - 1); }
  std::int64_t count(std::int64_t length, std::int64_t width) const { return std::max<std::int64_t>(0, length + 2 * padding(width) - width + 1); }

  /// The n-gram at `index` of `all` over a sequence.
  std::string one(std::span<const std::string> sequence, std::int64_t index, std::int64_t all, std::int64_t width) const {
    const std::int64_t pad = padding(width);
    const std::int64_t left = std::max<std::int64_t>(0, pad - index), right = std::max<std::int64_t>(0, pad - (all - (index + 1)));
    std::vector<const std::string*> pieces(static_cast<std::size_t>(left), &left_pad);
    const std::int64_t first = left > 0 ? 0 : index - pad, tokens = width - left - right;
    for (std::int64_t i = 0; i < tokens; ++i) pieces.push_back(&sequence[static_cast<std::size_t>(first + i)]);
    pieces.insert(pieces.end(), static_cast<std::size_t>(right), &right_pad);
    std::string text;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (i > 0) text += separator;
      text += *pieces[i];
    }
    return text;
  }

  Status of_sequence(std::span<const std::string> sequence, std::vector<std::string>& out) const {
    const auto length = static_cast<std::int64_t>(sequence.size());
    const std::size_t before = out.size();
    for (std::int64_t width : widths) {
      const std::int64_t n = count(length, width);
      for (std::int64_t i = 0; i < n; ++i) out.push_back(one(sequence, i, n, width));
    }
    if (!preserve_short || out.size() != before || length == 0) return absl::OkStatus();
    if (pad_width < 0)
      return invalid("Pad width should be >= 0 when preserve_short_sequences is True and ngram_widths are not provided, got {}", pad_width);
    out.push_back(one(sequence, 0, 1, length + 2 * pad_width));
    return absl::OkStatus();
  }
};

Status check_splits(const Dims& splits, std::int64_t size) {
  if (splits.empty()) return absl::OkStatus();
  if (splits[0] != 0) return invalid("First split value must be 0, got {}", splits[0]);
  for (std::size_t i = 1; i < splits.size(); ++i)
    if (splits[i] < splits[i - 1] || splits[i] > size) return invalid("Invalid split value {}, must be in [{}, {}]", splits[i], splits[i - 1], size);
  if (splits.back() != size) return invalid("Last split value must be data size. Expected {}, got {}", size, splits.back());
  return absl::OkStatus();
}

Status make_ngrams(Call& call, const In<std::string>& data, const Tensor& split_input, const NGrams& ngrams) {
  const Dims splits = as_dims(split_input);
  TRY(check_splits(splits, data.size()));
  Tensor& out_splits = call.alloc(1, split_input.dtype(), split_input.shape());
  std::vector<std::string> out;
  std::vector<std::int64_t> ends(splits.size(), 0);
  const bool nothing = data.size() == 0 || splits.empty();
  for (std::size_t i = 0; !nothing && i + 1 < splits.size(); ++i) {
    TRY(ngrams.of_sequence(data.values().subspan(static_cast<std::size_t>(splits[i]), static_cast<std::size_t>(splits[i + 1] - splits[i])), out));
    ends[i + 1] = static_cast<std::int64_t>(out.size());
  }
  by_index(split_input.dtype(), [&]<class I>() { std::copy(ends.begin(), ends.end(), out_splits.mutable_data<I>()); });
  if (nothing) {
    call.alloc(0, DType::string, data.shape());
    return absl::OkStatus();
  }
  std::move(out.begin(), out.end(), call.alloc<std::string>(0, Shape{static_cast<std::int64_t>(out.size())}));
  return absl::OkStatus();
}

}  // namespace

void add_ngrams(Registry& ops) {
  ops.add("StringNGrams",
          [](Call& call, In<std::string> data, Any splits, State<NGrams> ngrams) { return make_ngrams(call, data, splits.tensor, *ngrams); });
}

}  // namespace troupe
