// Decompression of strings.
#include <troupe/ops/files/records.hpp>
#include <troupe/ops/kernel.hpp>

#include <limits>

namespace troupe {

void add_decompression(Registry& ops) {
  ops.add("DecodeCompressed", [](Call& call, In<std::string> in, Attr<"compression_type", std::string> type) -> Status {
    const auto compression = compression_named(*type);
    if (!compression.ok()) return invalid("Only ZLIB, GZIP or NONE are supported compressions");
    if (*compression == Compression::none) {
      call.set(0, in.tensor);
      return absl::OkStatus();
    }
    constexpr int zlib_window = 15, gzip_window = zlib_window + 16;
    std::string* out = call.alloc<std::string>(0, in.shape());
    for (const std::string& bytes : in.values()) {
      auto source = inflated(bytes_of(bytes), *compression == Compression::gzip ? gzip_window : zlib_window);
      TRY(source->read(std::numeric_limits<std::size_t>::max(), *out++));
    }
    return absl::OkStatus();
  });
  ops.cost({"DecodeCompressed"}, 1000);
}

}  // namespace troupe
