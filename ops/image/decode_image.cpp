// The ops that decode image files. Most take any format, whatever their name says.
#include <troupe/ops/image/bmp.hpp>
#include <troupe/ops/image/gif.hpp>
#include <troupe/ops/image/jpeg.hpp>
#include <troupe/ops/image/png.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>

#include <algorithm>

namespace troupe {

namespace {

enum class Format { unknown, jpeg, png, gif, bmp };
constexpr const char* format_names[] = {"unknown", "JPEG", "PNG", "GIF", "BMP"};
constexpr const char* decoder_names[] = {"", "decode_jpeg", "decode_png", "decode_gif", "decode_bmp"};

Format format_of(std::string_view file) {
  if (file.starts_with("\xff\xd8\xff")) return Format::jpeg;
  if (file.starts_with("\x89PNG\r\n\x1a\n")) return Format::png;
  if (file.starts_with("GIF8")) return Format::gif;
  if (file.starts_with("BM")) return Format::bmp;
  return Format::unknown;
}

/// What the node says about decoding.
struct Decoding {
  std::string op;
  DType dtype = DType::u8;
  bool expand_animations = true;
  JpegReading jpeg;

  static StatusOr<Decoding> make(Binding& binding);
  bool animates() const { return op == "DecodeGif" || (op == "DecodeImage" && expand_animations); }
};

StatusOr<Decoding> Decoding::make(Binding& binding) {
  Decoding d;
  d.op = binding.node().op();
  const auto take = [&]<class T>(const char* name, T& to) -> Status {
    if (!binding.find(name)) return absl::OkStatus();
    TRY_ASSIGN(to, binding.attr<T>(name));
    return absl::OkStatus();
  };
  std::int64_t channels = d.op == "DecodeGif" ? 3 : 0, ratio = 1;
  std::string method;
  TRY(take("channels", channels));
  TRY(take("dtype", d.dtype));
  TRY(take("expand_animations", d.expand_animations));
  TRY(take("ratio", ratio));
  TRY(take("fancy_upscaling", d.jpeg.fancy_upscaling));
  TRY(take("try_recover_truncated", d.jpeg.recover_truncated));
  TRY(take("acceptable_fraction", d.jpeg.acceptable_fraction));
  TRY(take("dct_method", method));
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4) return invalid("`channels` must be 0, 1, 3 or 4 but got {}", channels);
  if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8) return invalid("ratio must be 1, 2, 4, or 8, got {}", ratio);
  if (!method.empty() && method != "INTEGER_FAST" && method != "INTEGER_ACCURATE")
    return invalid("dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}");
  d.jpeg.channels = static_cast<int>(channels);
  d.jpeg.ratio = static_cast<int>(ratio);
  d.jpeg.accurate = method == "INTEGER_ACCURATE";
  return d;
}

/// Stores samples as the output's type: sixteen bits are scaled by 256, floats to the unit interval.
template <class Sample>
void store(Call& call, const Pixels<Sample>& image, DType dtype, bool with_frames) {
  Shape shape{image.height, image.width, image.channels};
  if (with_frames) shape.insert_dim(0, image.frames);
  const auto count = static_cast<std::size_t>(shape.elements());
  constexpr bool wide = sizeof(Sample) == 2;
  if (dtype == DType::u8) {
    std::uint8_t* out = call.alloc<std::uint8_t>(0, shape);
    std::transform(image.samples.begin(), image.samples.begin() + static_cast<std::ptrdiff_t>(count), out,
                   [](Sample v) { return static_cast<std::uint8_t>(wide ? v >> 8 : v); });
  } else if (dtype == DType::u16) {
    std::uint16_t* out = call.alloc<std::uint16_t>(0, shape);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint16_t>(wide ? image.samples[i] : image.samples[i] << 8);
  } else {
    float* out = call.alloc<float>(0, shape);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(image.samples[i]) / (wide ? 65535.0f : 255.0f);
  }
}

Status decode_as_jpeg(Call& call, std::string_view file, const Decoding& d) {
  if (d.jpeg.channels == 4) return invalid("JPEG does not support 4 channels");
  const auto image = decode_jpeg(file, d.jpeg);
  if (!image) return invalid("jpeg::Uncompress failed. Invalid JPEG data or crop window.");
  store(call, *image, d.dtype, d.op == "DecodeGif");
  return absl::OkStatus();
}

Status decode_as_png(Call& call, std::string_view file, const Decoding& d) {
  const bool frames = d.op == "DecodeGif";
  if (d.dtype == DType::u8) {
    TRY_ASSIGN(auto image, decode_png<std::uint8_t>(file, d.jpeg.channels));
    store(call, image, d.dtype, frames);
  } else {
    TRY_ASSIGN(auto image, decode_png<std::uint16_t>(file, d.jpeg.channels));
    store(call, image, d.dtype, frames);
  }
  return absl::OkStatus();
}

Status decode_as_gif(Call& call, std::string_view file, const Decoding& d) {
  if (d.jpeg.channels != 0 && d.jpeg.channels != 3) return invalid("channels must be 0 or 3 for GIF, got {}", d.jpeg.channels);
  TRY_ASSIGN(auto image, decode_gif(file));
  if (d.op != "DecodeGif" && d.op != "DecodeImage" && image.frames > 1)
    return invalid("Got {} frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image", image.frames);
  store(call, image, d.dtype, d.animates());
  return absl::OkStatus();
}

StatusOr<std::string_view> contents_of(const In<std::string>& contents) {
  if (contents.dims() != 0) return invalid("`contents` must be scalar but got shape{}", contents.shape());
  const std::string& file = contents[0];
  if (file.empty()) return invalid("Input is empty.");
  return std::string_view(file);
}

Status decode(Call& call, const In<std::string>& contents, const Decoding& d) {
  TRY_ASSIGN(auto file, contents_of(contents));
  const Format format = format_of(file);
  if (format == Format::unknown) return invalid("Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
  const auto at = static_cast<std::size_t>(format);
  if (d.op == "DecodeBmp" && format != Format::bmp) {
    if (format == Format::png) TRY(check_png(file, d.jpeg.channels));
    return invalid("Trying to decode {} format using DecodeBmp op. Use `{}` or `decode_image` instead.", format_names[at], decoder_names[at]);
  }
  switch (format) {
    case Format::jpeg: return decode_as_jpeg(call, file, d);
    case Format::png: return decode_as_png(call, file, d);
    case Format::gif: return decode_as_gif(call, file, d);
    default: break;
  }
  if (d.jpeg.channels == 1) return invalid("`channels` must be 0, 3 or 4 for BMP, but got {}", d.jpeg.channels);
  if (d.op != "DecodeBmp" && d.op != "DecodeImage")
    return invalid("Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: {}", d.op);
  TRY_ASSIGN(auto image, decode_bmp(file, d.jpeg.channels));
  store(call, image, d.dtype, false);
  return absl::OkStatus();
}

Status decode_crop(Call& call, const In<std::string>& contents, const In<std::int32_t>& window, const Decoding& d) {
  TRY_ASSIGN(auto file, contents_of(contents));
  const Format format = format_of(file);
  if (format == Format::unknown) return invalid("Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
  if (format == Format::png) TRY(check_png(file, d.jpeg.channels));
  if (format != Format::jpeg)
    return invalid("DecodeAndCropJpeg operation can run on JPEG only, but detected {}.", format_names[static_cast<std::size_t>(format)]);
  if (d.jpeg.channels == 4) return invalid("JPEG does not support 4 channels");
  if (window.dims() != 1) return invalid("crop_window must be 1-D, got shape {}", window.shape());
  if (window.size() != 4) return invalid("crop_size must have four elements {}", window.shape());
  JpegReading reading = d.jpeg;
  reading.crop = JpegCrop{window[0], window[1], window[2], window[3]};
  const auto image = decode_jpeg(file, reading);
  if (!image) return invalid("jpeg::Uncompress failed. Invalid JPEG data or crop window.");
  store(call, *image, DType::u8, false);
  return absl::OkStatus();
}

}  // namespace

void add_decode_image(Registry& ops) {
  ops.add({"DecodePng", "DecodeJpeg", "DecodeGif", "DecodeBmp", "DecodeImage"},
          [](Call& call, In<std::string> contents, const Decoding& decoding) { return decode(call, contents, decoding); });
  ops.add("DecodeAndCropJpeg", [](Call& call, In<std::string> contents, In<std::int32_t> window, const Decoding& decoding) {
    return decode_crop(call, contents, window, decoding);
  });
  ops.add("ExtractJpegShape", On<"output_type", indices>{}, []<class I>(Call& call, In<std::string> contents, Gives<I>) -> Status {
    if (contents.dims() != 0) return invalid("contents must be scalar, got shape {}", contents.shape());
    const auto shape = jpeg_shape(contents[0]);
    if (!shape) return invalid("Invalid JPEG data, size {}", contents[0].size());
    I* out = call.alloc<I>(0, Shape{3});
    out[0] = static_cast<I>(shape->height);
    out[1] = static_cast<I>(shape->width);
    out[2] = static_cast<I>(shape->channels);
    return absl::OkStatus();
  });
  // The file's size says little of the image's: what matters is that decoding is worth a hand-off.
  ops.cost({"DecodePng", "DecodeJpeg", "DecodeGif", "DecodeBmp", "DecodeImage", "DecodeAndCropJpeg"}, 100000);
}

}  // namespace troupe
