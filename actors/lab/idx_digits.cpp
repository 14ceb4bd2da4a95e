// Reading of idx files.
#include <troupe/actors/lab/idx_digits.hpp>

#include <zlib.h>

#include <filesystem>
#include <memory>

namespace troupe::lab {
namespace {

StatusOr<std::vector<unsigned char>> unpack(const std::string& file) {
  const std::string name = std::filesystem::exists(file) ? file : file + ".gz";
  std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(name.c_str(), "rb"), gzclose);
  if (!in) return not_found("{}: no such file", name);
  std::vector<unsigned char> bytes, chunk(1 << 20);
  int n = 0;
  while ((n = gzread(in.get(), chunk.data(), static_cast<unsigned>(chunk.size()))) > 0) bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + n);
  if (n < 0) return data_loss("{} cannot be unpacked", name);
  return bytes;
}

/// The bytes behind the header, which says how many there are in each dimension.
StatusOr<std::vector<unsigned char>> read_idx(const std::string& file, std::size_t rank, std::size_t each) {
  TRY_ASSIGN(auto bytes, unpack(file));
  const std::size_t header = 4 + 4 * rank;
  if (bytes.size() < header || bytes[2] != 8 || bytes[3] != rank || (bytes.size() - header) % each != 0)
    return data_loss("{} is not an idx file of {} dimensions", file, rank);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header));
  return bytes;
}

}  // namespace

StatusOr<Digits> read_digits(const std::string& directory, const std::string& which) {
  TRY_ASSIGN(const auto pixels, read_idx(fmt::format("{}/{}-images-idx3-ubyte", directory, which), 3, 784));
  TRY_ASSIGN(const auto labels, read_idx(fmt::format("{}/{}-labels-idx1-ubyte", directory, which), 1, 1));
  if (pixels.size() != labels.size() * 784) return data_loss("{}: {} images with {} labels", directory, pixels.size() / 784, labels.size());
  Digits out;
  for (unsigned char p : pixels) out.images.push_back(static_cast<float>(p) / 255.0f);
  out.labels.assign(labels.begin(), labels.end());
  return out;
}

Tensor Digits::images_of(const std::vector<std::size_t>& which) const {
  Tensor t(DType::f32, Shape{static_cast<std::int64_t>(which.size()), 784});
  float* to = t.mutable_data<float>();
  for (std::size_t i : which) to = std::copy_n(images.begin() + static_cast<std::ptrdiff_t>(i * 784), 784, to);
  return t;
}

Tensor Digits::labels_of(const std::vector<std::size_t>& which) const {
  std::vector<std::int64_t> some;
  for (std::size_t i : which) some.push_back(labels[i]);
  return Tensor::vector(some);
}

}  // namespace troupe::lab
