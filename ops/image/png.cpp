// PNG through libpng.
#include <troupe/ops/image/png.hpp>

#include <png.h>

#include <csetjmp>
#include <cstring>

namespace troupe {

namespace {

/// libpng's objects; errors jump to the frame that has called setjmp.
struct Reader {
  std::string_view file;
  std::size_t at = 0;
  png_structp png = nullptr;
  png_infop info = nullptr;

  explicit Reader(std::string_view bytes) : file(bytes) {
    png = png_create_read_struct(
        PNG_LIBPNG_VER_STRING, nullptr, [](png_structp p, png_const_charp) { png_longjmp(p, 1); }, [](png_structp, png_const_charp) {});
    if (png) info = png_create_info_struct(png);
    if (png)
      png_set_read_fn(png, this, [](png_structp p, png_bytep out, png_size_t n) {
        auto& self = *static_cast<Reader*>(png_get_io_ptr(p));
        if (n > self.file.size() - self.at) png_error(p, "end of file");
        std::memcpy(out, self.file.data() + self.at, n);
        self.at += n;
      });
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }

  bool read_header() {
    if (!png || !info || setjmp(png_jmpbuf(png))) return false;
    png_read_info(png, info);
    return true;
  }
  int own_channels() const {
    if (png_get_color_type(png, info) != PNG_COLOR_TYPE_PALETTE) return png_get_channels(png, info);
    return png_get_valid(png, info, PNG_INFO_tRNS) ? 4 : 3;
  }
  bool convert(int channels, int bits);
  bool read_rows(png_bytep first, std::size_t row_bytes, std::int64_t height);
};

/// Tells libpng how to make what is wanted of what is there; the order of calls matters to it.
bool Reader::convert(int channels, int bits) {
  if (setjmp(png_jmpbuf(png))) return false;
  const int type = png_get_color_type(png, info), depth = png_get_bit_depth(png, info);
  const bool has_alpha = type & PNG_COLOR_MASK_ALPHA, has_mask = png_get_valid(png, info, PNG_INFO_tRNS);
  if (channels % 2 == 0) {
    if (!has_alpha && has_mask) png_set_tRNS_to_alpha(png);
    else if (!has_alpha) png_set_add_alpha(png, static_cast<png_uint_32>((1 << depth) - 1), PNG_FILLER_AFTER);
  } else if (has_alpha || has_mask) {
    png_set_strip_alpha(png);
  }
  if (depth > 8 && bits <= 8) png_set_strip_16(png);
  png_set_packing(png);
  png_set_interlace_handling(png);
  if (bits > 8) png_set_swap(png);
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  const bool gray = !(type & PNG_COLOR_MASK_COLOR), want_gray = channels < 3;
  if (gray && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (want_gray && !gray) png_set_rgb_to_gray(png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (!want_gray && gray) png_set_gray_to_rgb(png);
  return true;
}

bool Reader::read_rows(png_bytep first, std::size_t row_bytes, std::int64_t height) {
  std::vector<png_bytep> rows;
  for (std::int64_t y = 0; y < height; ++y) rows.push_back(first + static_cast<std::size_t>(y) * row_bytes);
  if (setjmp(png_jmpbuf(png))) return false;
  png_read_update_info(png, info);
  if (png_get_rowbytes(png, info) > row_bytes) return false;
  png_read_image(png, rows.data());
  png_read_end(png, info);
  return true;
}

/// Samples of eight bits, spread over sixteen, read in place from the front half of each row.
void widen_rows(Pixels<std::uint16_t>& image) {
  for (std::int64_t y = 0; y < image.height; ++y) {
    std::uint16_t* row = image.samples.data() + y * image.row();
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(row);
    for (std::int64_t i = image.row(); i-- > 0;) row[i] = static_cast<std::uint16_t>(bytes[i] * 257);
  }
}

}  // namespace

Status check_png(std::string_view file, int channels) {
  Reader reader(file);
  if (!reader.read_header() || !reader.convert(channels == 0 ? reader.own_channels() : channels, 8))
    return invalid("Invalid PNG. Failed to initialize decoder.");
  return absl::OkStatus();
}

template <class Sample>
StatusOr<Pixels<Sample>> decode_png(std::string_view file, int channels) {
  Reader reader(file);
  if (!reader.read_header()) return invalid("Invalid PNG. Failed to initialize decoder.");
  if (channels == 0) channels = reader.own_channels();
  const bool narrow = png_get_bit_depth(reader.png, reader.info) <= 8;
  Pixels<Sample> image;
  TRY(image.resize(png_get_image_height(reader.png, reader.info), png_get_image_width(reader.png, reader.info), channels));
  if (!reader.convert(channels, 8 * static_cast<int>(sizeof(Sample)))) return invalid("Invalid PNG. Failed to initialize decoder.");
  if (!reader.read_rows(reinterpret_cast<png_bytep>(image.samples.data()), static_cast<std::size_t>(image.row()) * sizeof(Sample), image.height))
    return invalid("Invalid PNG data, size {}", file.size());
  if constexpr (sizeof(Sample) == 2)
    if (narrow) widen_rows(image);
  (void)narrow;
  return image;
}

template <class Sample>
std::string encode_png(const Sample* samples, std::int64_t height, std::int64_t width, int channels, int compression) {
  static constexpr int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  std::string out;
  std::vector<png_bytep> rows;
  for (std::int64_t y = 0; y < height; ++y) rows.push_back(reinterpret_cast<png_bytep>(const_cast<Sample*>(samples + y * width * channels)));
  png_structp png = png_create_write_struct(
      PNG_LIBPNG_VER_STRING, nullptr, [](png_structp p, png_const_charp) { png_longjmp(p, 1); }, [](png_structp, png_const_charp) {});
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (!info || setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return {};
  }
  png_set_write_fn(
      png, &out,
      [](png_structp p, png_bytep data, png_size_t n) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<const char*>(data), n);
      },
      [](png_structp) {});
  png_set_compression_level(png, compression);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), 8 * static_cast<int>(sizeof(Sample)),
               types[channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  if (sizeof(Sample) == 2) png_set_swap(png);
  png_write_image(png, rows.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

template StatusOr<Pixels<std::uint8_t>> decode_png<std::uint8_t>(std::string_view, int);
template StatusOr<Pixels<std::uint16_t>> decode_png<std::uint16_t>(std::string_view, int);
template std::string encode_png<std::uint8_t>(const std::uint8_t*, std::int64_t, std::int64_t, int, int);
template std::string encode_png<std::uint16_t>(const std::uint16_t*, std::int64_t, std::int64_t, int, int);

}  // namespace troupe
