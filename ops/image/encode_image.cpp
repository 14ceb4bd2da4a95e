// The ops that encode images as PNG or JPEG files.
#include <troupe/ops/image/jpeg.hpp>
#include <troupe/ops/image/png.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>

#include <limits>

namespace troupe {

namespace {

template <class Sample>
Status encode_pngs(Call& call, const In<Sample>& image, std::int64_t compression) {
  if (compression < -1 || compression > 9) return invalid("compression should be in [-1,9], got {}", compression);
  if (image.dims() < 3) return invalid("images must be at least rank 3{}", image.shape());
  const int rank = image.dims();
  const std::int64_t height = image.dim(rank - 3), width = image.dim(rank - 2), channels = image.dim(rank - 1);
  if (image.size() >= std::numeric_limits<std::int32_t>::max()) return invalid("image cannot have >= int32 max elements");
  if (channels < 1 || channels > 4) return invalid("image must have 1, 2, 3, or 4 channels, got {}", channels);
  Shape outer = image.shape();
  for (int i = 0; i < 3; ++i) outer.remove_dim(outer.rank() - 1);
  std::string* out = call.alloc<std::string>(0, outer);
  std::string failed;
  for (std::int64_t i = 0, n = outer.elements(); i < n; ++i) {
    if (height > 0 && width > 0)
      out[i] = encode_png(image.data() + i * height * width * channels, height, width, static_cast<int>(channels), static_cast<int>(compression));
    if (out[i].empty()) failed += fmt::format("{}{}", failed.empty() ? "" : ", ", i);
  }
  return failed.empty() ? absl::OkStatus() : internal("PNG encoding failed at the following flattened batch indices: {}", failed);
}

Status check_quality(std::int64_t quality) {
  return quality >= 0 && quality <= 100 ? absl::OkStatus() : invalid("quality must be in [0,100], got {}", quality);
}

/// The attributes of EncodeJpeg.
struct JpegOptions {
  std::string format;
  JpegWriting writing;

  static StatusOr<JpegOptions> make(Binding& binding) {
    JpegOptions o;
    TRY_ASSIGN(o.format, binding.attr<std::string>("format"));
    if (!o.format.empty() && o.format != "grayscale" && o.format != "rgb") return invalid("format must be '', grayscale or rgb, got {}", o.format);
    TRY_ASSIGN(auto quality, binding.attr<std::int64_t>("quality"));
    TRY(check_quality(quality));
    TRY_ASSIGN(o.writing.progressive, binding.attr<bool>("progressive"));
    TRY_ASSIGN(o.writing.optimize_size, binding.attr<bool>("optimize_size"));
    TRY_ASSIGN(o.writing.chroma_downsampling, binding.attr<bool>("chroma_downsampling"));
    TRY_ASSIGN(auto unit, binding.attr<std::string>("density_unit"));
    if (unit != "in" && unit != "cm") return invalid("Invalid density_unit {}", unit);
    TRY_ASSIGN(auto x, binding.attr<std::int64_t>("x_density"));
    TRY_ASSIGN(auto y, binding.attr<std::int64_t>("y_density"));
    TRY_ASSIGN(o.writing.xmp, binding.attr<std::string>("xmp_metadata"));
    o.writing.quality = static_cast<int>(quality);
    o.writing.density_unit = unit == "in" ? 1 : 2;
    o.writing.x_density = static_cast<int>(x);
    o.writing.y_density = static_cast<int>(y);
    return o;
  }
};

Status encode(Call& call, const In<std::uint8_t>& image, const std::string& format, const JpegWriting& writing) {
  if (image.dims() != 3) return invalid("image must be 3-dimensional{}", image.shape());
  const std::int64_t channels = image.dim(2);
  if (image.size() >= std::numeric_limits<std::int32_t>::max()) return invalid("image cannot have >= int32 max elements");
  if (format.empty() && channels != 1 && channels != 3) return invalid("image must have 1 or 3 channels, got {}", image.shape());
  const std::int64_t expected = format == "grayscale" ? 1 : format == "rgb" ? 3 : channels;
  if (channels != expected) return invalid("format {} expects {} channels, got {}", format, expected, image.shape());
  std::string file = encode_jpeg(image.data(), image.dim(0), image.dim(1), static_cast<int>(channels), writing);
  if (file.empty()) return internal("JPEG encoding failed");
  call.set_scalar<std::string>(0, std::move(file));
  return absl::OkStatus();
}

}  // namespace

void add_encode_image(Registry& ops) {
  ops.add("EncodePng", types<std::uint8_t, std::uint16_t>{},
          []<class T>(Call& call, In<T> image, Attr<"compression", std::int64_t> compression) { return encode_pngs(call, image, *compression); });
  ops.add("EncodeJpeg", [](Call& call, In<std::uint8_t> image, const JpegOptions& o) { return encode(call, image, o.format, o.writing); });
  ops.add("EncodeJpegVariableQuality", [](Call& call, In<std::uint8_t> image, In<std::int32_t> quality) -> Status {
    if (image.dims() != 3) return invalid("image must be 3-dimensional{}", image.shape());
    if (quality.dims() != 0) return invalid("quality must be scalar: {}", quality.shape());
    TRY(check_quality(quality[0]));
    JpegWriting writing;
    writing.quality = quality[0];
    return encode(call, image, "", writing);
  });
  ops.cost({"EncodePng", "EncodeJpeg", "EncodeJpegVariableQuality"}, 20);
}

}  // namespace troupe
