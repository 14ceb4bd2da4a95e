// JPEG through libjpeg.
#include <troupe/ops/image/jpeg.hpp>

#include <cstdio>

#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>

namespace troupe {

namespace {

/// Errors jump back to the frame that has called setjmp; warnings are silent.
struct Errors : jpeg_error_mgr {
  std::jmp_buf jump;

  Errors() {
    jpeg_std_error(this);
    error_exit = [](j_common_ptr info) { std::longjmp(static_cast<Errors*>(info->err)->jump, 1); };
    output_message = [](j_common_ptr) {};
    emit_message = [](j_common_ptr, int) {};
  }
};

/// A source that ends in an end-of-image marker where truncated files are to be recovered, and otherwise just ends.
struct Memory : jpeg_source_mgr {
  bool recover;
  JOCTET end[2] = {0xff, JPEG_EOI};

  Memory(std::string_view file, bool recover_truncated) : jpeg_source_mgr{}, recover(recover_truncated) {
    next_input_byte = reinterpret_cast<const JOCTET*>(file.data());
    bytes_in_buffer = file.size();
    init_source = [](j_decompress_ptr) {};
    term_source = [](j_decompress_ptr) {};
    resync_to_restart = jpeg_resync_to_restart;
    fill_input_buffer = [](j_decompress_ptr info) -> boolean {
      auto& self = *static_cast<Memory*>(info->src);
      if (!self.recover) return FALSE;
      self.next_input_byte = self.end;
      self.bytes_in_buffer = sizeof self.end;
      return TRUE;
    };
    skip_input_data = [](j_decompress_ptr info, long n) {
      auto& self = *info->src;
      const auto skipped = std::min(static_cast<std::size_t>(std::max(n, 0L)), self.bytes_in_buffer);
      self.next_input_byte += skipped;
      self.bytes_in_buffer -= skipped;
    };
  }
};

/// A file being read; everything that may jump is called from a frame without objects of its own.
struct Reader {
  jpeg_decompress_struct info{};
  Errors errors;
  Memory memory;

  Reader(std::string_view file, bool recover) : memory(file, recover) {
    info.err = &errors;
    if (setjmp(errors.jump)) return;
    jpeg_create_decompress(&info);
    info.src = &memory;
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { jpeg_destroy_decompress(&info); }

  bool read_header() {
    if (setjmp(errors.jump)) return false;
    return jpeg_read_header(&info, TRUE) == JPEG_HEADER_OK;
  }
  bool start(const JpegReading& reading, int channels) {
    if (setjmp(errors.jump)) return false;
    const bool four_colors = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
    info.out_color_space = channels == 1 ? JCS_GRAYSCALE : four_colors ? JCS_CMYK : JCS_RGB;
    info.do_fancy_upsampling = reading.fancy_upscaling;
    info.scale_num = 1;
    info.scale_denom = static_cast<unsigned>(reading.ratio);
    info.dct_method = reading.accurate ? JDCT_ISLOW : JDCT_IFAST;
    jpeg_calc_output_dimensions(&info);
    return jpeg_start_decompress(&info) == TRUE;
  }
  /// Goes to the first row of a crop. Columns are decoded by blocks: `left` of them come before those wanted.
  bool go_to(const JpegCrop& crop, JDIMENSION& left) {
    if (setjmp(errors.jump)) return false;
    auto first = static_cast<JDIMENSION>(crop.x), width = static_cast<JDIMENSION>(crop.width);
    jpeg_crop_scanline(&info, &first, &width);
    left = static_cast<JDIMENSION>(crop.x) - first;
    const auto rows = static_cast<JDIMENSION>(crop.y);
    return jpeg_skip_scanlines(&info, rows) == rows;
  }
  /// Reads one row; false at an error or at the end of the data.
  bool read_row(JSAMPLE* row) {
    if (setjmp(errors.jump)) return false;
    return jpeg_read_scanlines(&info, &row, 1) == 1;
  }
  bool finish() {
    if (setjmp(errors.jump)) return false;
    if (info.output_scanline < info.output_height) jpeg_abort_decompress(&info);
    else return jpeg_finish_decompress(&info) == TRUE;
    return true;
  }
};

/// Cyan, magenta, yellow and black, as Adobe stores them inverted, to red, green and blue.
void mix_colors(const std::uint8_t* from, std::uint8_t* to, std::int64_t pixels, bool inverted) {
  for (std::int64_t i = 0; i < pixels; ++i, from += 4, to += 3) {
    const int black = from[3];
    for (int c = 0; c < 3; ++c) to[c] = static_cast<std::uint8_t>(inverted ? black * from[c] / 255 : (255 - black) * (255 - from[c]) / 255);
  }
}

}  // namespace

std::optional<JpegShape> jpeg_shape(std::string_view file) {
  Reader reader(file, false);
  if (!reader.read_header()) return std::nullopt;
  return JpegShape{reader.info.image_height, reader.info.image_width, reader.info.num_components};
}

std::optional<Pixels<std::uint8_t>> decode_jpeg(std::string_view file, const JpegReading& reading) {
  Reader reader(file, reading.recover_truncated);
  if (!reader.read_header()) return std::nullopt;
  const int channels = reading.channels != 0 ? reading.channels : std::min(reader.info.num_components, 3);
  if ((channels != 1 && channels != 3) || !reader.start(reading, channels)) return std::nullopt;
  Pixels<std::uint8_t> image;
  const std::int64_t height = reader.info.output_height, width = reader.info.output_width;
  const JpegCrop crop = reading.crop.value_or(JpegCrop{0, 0, height, width});
  if (crop.y < 0 || crop.x < 0 || crop.height <= 0 || crop.width <= 0 || crop.height > height - crop.y || crop.width > width - crop.x)
    return std::nullopt;
  if (!image.resize(crop.height, crop.width, channels).ok()) return std::nullopt;
  JDIMENSION left = 0;
  if (reading.crop && !reader.go_to(crop, left)) return std::nullopt;
  const bool mixes = reader.info.out_color_space == JCS_CMYK;
  const std::int64_t samples = mixes ? 4 : channels;
  std::vector<std::uint8_t> whole(mixes || reading.crop ? static_cast<std::size_t>(reader.info.output_width * samples) : 0);
  std::int64_t y = 0;
  for (; y < image.height; ++y) {
    std::uint8_t* row = image.samples.data() + y * image.row();
    if (!reader.read_row(whole.empty() ? row : whole.data())) break;
    if (whole.empty()) continue;
    const std::uint8_t* wanted = whole.data() + left * samples;
    if (mixes) mix_colors(wanted, row, image.width, reader.info.saw_Adobe_marker);
    else std::copy_n(wanted, image.row(), row);
  }
  if (y < image.height) {
    if (static_cast<float>(y) < reading.acceptable_fraction * static_cast<float>(image.height)) return std::nullopt;
    for (; y < image.height && y > 0; ++y)
      std::copy_n(image.samples.data() + (y - 1) * image.row(), image.row(), image.samples.data() + y * image.row());
    return image;
  }
  if (!reader.finish() && reading.acceptable_fraction >= 1) return std::nullopt;
  return image;
}

std::string encode_jpeg(const std::uint8_t* samples, std::int64_t height, std::int64_t width, int channels, const JpegWriting& writing) {
  if (height <= 0 || width <= 0 || height > JPEG_MAX_DIMENSION || width > JPEG_MAX_DIMENSION) return {};
  jpeg_compress_struct info{};
  Errors errors;
  info.err = &errors;
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  if (setjmp(errors.jump)) {
    jpeg_destroy_compress(&info);
    std::free(memory);
    return {};
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  info.optimize_coding = writing.optimize_size;
  info.density_unit = static_cast<UINT8>(writing.density_unit);
  info.X_density = static_cast<UINT16>(writing.x_density);
  info.Y_density = static_cast<UINT16>(writing.y_density);
  jpeg_set_quality(&info, writing.quality, TRUE);
  if (writing.progressive) jpeg_simple_progression(&info);
  if (!writing.chroma_downsampling) info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&info, TRUE);
  static constexpr char xmp_name[] = "http://ns.adobe.com/xap/1.0/";
  if (!writing.xmp.empty()) {
    const std::size_t length = writing.xmp.size() + sizeof xmp_name;
    jpeg_write_m_header(&info, JPEG_APP0 + 1, static_cast<unsigned>(length));
    for (char c : xmp_name) jpeg_write_m_byte(&info, c);
    for (char c : writing.xmp) jpeg_write_m_byte(&info, static_cast<unsigned char>(c));
  }
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPLE*>(samples + static_cast<std::int64_t>(info.next_scanline) * width * channels);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string out(reinterpret_cast<const char*>(memory), size);
  std::free(memory);
  return out;
}

}  // namespace troupe
