// A reader of GIF files.
#include <troupe/ops/image/gif.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace troupe {

namespace {

using Color = std::array<std::uint8_t, 3>;

/// Bytes of the file in order; reading past the end gives nothing.
class Bytes {
 public:
  explicit Bytes(std::string_view file) : file_(file) {}
  std::optional<int> byte() {
    if (at_ >= file_.size()) return std::nullopt;
    return static_cast<std::uint8_t>(file_[at_++]);
  }
  std::optional<int> word() {
    const auto low = byte(), high = byte();
    return low && high ? std::optional(*low | *high << 8) : std::nullopt;
  }
  std::optional<std::vector<Color>> colors(int count) {
    std::vector<Color> table;
    for (int i = 0; i < count; ++i) {
      const auto r = byte(), g = byte(), b = byte();
      if (!b) return std::nullopt;
      table.push_back({static_cast<std::uint8_t>(*r), static_cast<std::uint8_t>(*g), static_cast<std::uint8_t>(*b)});
    }
    return table;
  }
  /// A chain of blocks, joined.
  std::optional<std::string> blocks() {
    std::string out;
    for (;;) {
      const auto n = byte();
      if (!n) return std::nullopt;
      if (*n == 0) return out;
      if (file_.size() - at_ < static_cast<std::size_t>(*n)) return std::nullopt;
      out.append(file_.substr(at_, static_cast<std::size_t>(*n)));
      at_ += static_cast<std::size_t>(*n);
    }
  }

 private:
  std::string_view file_;
  std::size_t at_ = 0;
};

/// Unpacks LZW codes to at most `count` colour numbers; shorter when the data is.
std::vector<std::uint8_t> unpack(const std::string& data, int root_bits, std::size_t count) {
  constexpr int none = -1, codes = 4096;
  const int clear = 1 << root_bits, end = clear + 1;
  std::vector<int> prefix(codes, none);
  std::vector<std::uint8_t> suffix(codes), out, chain;
  int next = end + 1, bits = root_bits + 1, previous = none;
  std::uint32_t buffer = 0;
  int held = 0;
  std::size_t at = 0;
  for (int i = 0; i < clear; ++i) suffix[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  while (out.size() < count) {
    for (; held < bits; held += 8) {
      if (at >= data.size()) return out;
      buffer |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(data[at++])) << held;
    }
    const int code = static_cast<int>(buffer & ((1u << bits) - 1));
    buffer >>= bits;
    held -= bits;
    if (code == end) return out;
    if (code == clear) {
      next = end + 1;
      bits = root_bits + 1;
      previous = none;
      continue;
    }
    if (code > next || (code == next && previous == none)) return out;
    chain.clear();
    int walk = code == next ? previous : code;
    for (; walk >= end + 1; walk = prefix[static_cast<std::size_t>(walk)]) chain.push_back(suffix[static_cast<std::size_t>(walk)]);
    if (walk >= clear) return out;
    const auto first = static_cast<std::uint8_t>(walk);
    chain.push_back(first);
    std::reverse(chain.begin(), chain.end());
    if (code == next) chain.push_back(first);
    out.insert(out.end(), chain.begin(), chain.end());
    if (previous != none && next < codes) {
      prefix[static_cast<std::size_t>(next)] = previous;
      suffix[static_cast<std::size_t>(next)] = first;
      if (++next == 1 << bits && bits < 12) ++bits;
    }
    previous = code;
  }
  out.resize(count);
  return out;
}

/// One image of the file.
struct Frame {
  int left, top, width, height;
  bool interlaced;
  std::vector<Color> colors;
  int transparent;
  std::vector<std::uint8_t> numbers;

  /// The row that the i-th line of the data belongs to.
  std::int64_t row(std::int64_t i) const {
    if (!interlaced) return i;
    static constexpr int starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
    for (int pass = 0; pass < 4; ++pass) {
      const std::int64_t rows = std::max(0, (height - starts[pass] + steps[pass] - 1) / steps[pass]);
      if (i < rows) return starts[pass] + i * steps[pass];
      i -= rows;
    }
    return height - 1;
  }
};

class Reader {
 public:
  explicit Reader(std::string_view file) : size_(file.size()), bytes_(file.substr(std::min<std::size_t>(6, file.size()))) {}

  StatusOr<Pixels<std::uint8_t>> read() {
    TRY(read_screen());
    Status status;
    while (auto kind = bytes_.byte()) {
      if (*kind == ';') break;
      status = *kind == ',' ? read_frame() : *kind == '!' ? read_extension() : fail("Wrong record type detected");
      if (!status.ok()) break;
    }
    // Frames before a fault are still good.
    if (image_.frames == 0) return status.ok() ? fail("gif file does not contain any image") : status;
    return std::move(image_);
  }

 private:
  Status fail(const char* why) const { return invalid("Invalid GIF data (size {}), {}", size_, why); }

  Status read_screen() {
    const auto width = bytes_.word(), height = bytes_.word(), flags = bytes_.byte(), background = bytes_.byte(), aspect = bytes_.byte();
    if (!aspect || !background || !flags || !height || !width) return fail("failed to open gif file: No screen descriptor detected");
    if (*flags & 0x80) {
      auto table = bytes_.colors(2 << (*flags & 7));
      if (!table) return fail("failed to open gif file: Failed to read from given file");
      colors_ = std::move(*table);
    }
    TRY(image_.resize(*height, *width, 3));
    image_.samples.clear();
    image_.frames = 0;
    return absl::OkStatus();
  }

  Status read_extension() {
    const auto label = bytes_.byte();
    const auto data = label ? bytes_.blocks() : std::nullopt;
    if (!data) return fail("failed to slurp gif file: Image EOF detected before image complete");
    if (*label == 0xf9 && data->size() >= 4) transparent_ = (*data)[0] & 1 ? static_cast<std::uint8_t>((*data)[3]) : -1;
    return absl::OkStatus();
  }

  Status read_frame() {
    const auto left = bytes_.word(), top = bytes_.word(), width = bytes_.word(), height = bytes_.word();
    const auto flags = bytes_.byte();
    if (!left || !top || !width || !height || !flags) return fail("failed to slurp gif file: Failed to read from given file");
    Frame frame{*left, *top, *width, *height, (*flags & 0x40) != 0, colors_, transparent_, {}};
    if (*flags & 0x80) {
      auto table = bytes_.colors(2 << (*flags & 7));
      if (!table) return fail("failed to slurp gif file: Failed to read from given file");
      frame.colors = std::move(*table);
    }
    const auto root = bytes_.byte();
    const auto data = root ? bytes_.blocks() : std::nullopt;
    if (!data || *root < 1 || *root > 8) return fail("failed to slurp gif file: Image EOF detected before image complete");
    if (frame.left + frame.width > image_.width || frame.top + frame.height > image_.height) return fail("frame is larger than the canvas");
    frame.numbers = unpack(*data, *root, static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height));
    if (frame.colors.empty()) return fail("missing color map for frame");
    transparent_ = -1;
    return compose(frame);
  }

  Status compose(const Frame& frame) {
    const auto canvas = static_cast<std::size_t>(image_.height * image_.row()), begin = image_.samples.size();
    if (begin + canvas > (std::size_t{1} << 30)) return fail("has too many frames");
    image_.samples.resize(begin + canvas, 0);
    std::uint8_t* to = image_.samples.data() + begin;
    if (begin > 0) std::copy_n(image_.samples.data() + begin - canvas, canvas, to);
    for (std::size_t i = 0; i < frame.numbers.size(); ++i) {
      const int number = frame.numbers[i];
      if (number == frame.transparent) continue;
      if (static_cast<std::size_t>(number) >= frame.colors.size()) return fail("found color index outside of color map");
      const auto line = static_cast<std::int64_t>(i) / frame.width, column = static_cast<std::int64_t>(i) % frame.width;
      std::copy_n(frame.colors[static_cast<std::size_t>(number)].data(), 3,
                  to + (frame.top + frame.row(line)) * image_.row() + (frame.left + column) * 3);
    }
    ++image_.frames;
    return absl::OkStatus();
  }

  std::size_t size_;
  Bytes bytes_;
  Pixels<std::uint8_t> image_;
  std::vector<Color> colors_;
  int transparent_ = -1;
};

}  // namespace

StatusOr<Pixels<std::uint8_t>> decode_gif(std::string_view file) { return Reader(file).read(); }

}  // namespace troupe
