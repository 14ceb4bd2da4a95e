// Strings to buckets and data to fingerprints.
#include <troupe/messaging/hash64.hpp>
#include <troupe/ops/kernel.hpp>

#include <farmhash.h>
#include <highwayhash/sip_hash.h>

namespace troupe {
namespace {

template <class Hash>
void to_buckets(Call& call, const In<std::string>& x, std::int64_t buckets, Hash&& hash) {
  std::int64_t* out = call.alloc<std::int64_t>(0, x.shape());
  // The definition demands at least one bucket.
  for (std::int64_t i = 0; i < x.size(); ++i) out[i] = static_cast<std::int64_t>(hash(x[i]) % static_cast<std::uint64_t>(buckets));
}

struct StrongKey {
  highwayhash::HH_U64 words[2];
  static StatusOr<StrongKey> make(Binding& binding) {
    TRY_ASSIGN(auto key, binding.attr<std::vector<std::int64_t>>("key"));
    if (key.size() != 2) return invalid("Key must have 2 elements");
    return StrongKey{{static_cast<std::uint64_t>(key[0]), static_cast<std::uint64_t>(key[1])}};
  }
};

/// Eight bytes, the lowest first, for each of `rows` equal parts of some bytes.
void fingerprint_rows(const char* bytes, std::int64_t rows, std::size_t row_bytes, std::uint8_t* out) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::uint64_t print = ::util::Fingerprint64(bytes + static_cast<std::size_t>(i) * row_bytes, row_bytes);
    std::memcpy(out + i * 8, &print, 8);
  }
}

Status fingerprint(Call& call, const Tensor& data, const In<std::string>& method) {
  if (data.rank() < 1) return invalid("`data` should have at least one dimension: {}", data.shape());
  if (method.dims() != 0) return invalid("`method` should be a scalar string: {}", method.shape());
  if (method[0] != "farmhash64") return invalid("Unsupported fingerprint method: {}", method[0]);
  const std::int64_t rows = data.dim(0);
  std::uint8_t* out = call.alloc<std::uint8_t>(0, Shape{rows, 8});
  if (rows == 0) return absl::OkStatus();
  const std::int64_t row = data.shape().elements(1, data.rank());
  if (data.dtype() != DType::string) {
    fingerprint_rows(data.data<char>(), rows, static_cast<std::size_t>(row) * size_of(data.dtype()), out);
    return absl::OkStatus();
  }
  std::vector<std::uint8_t> prints(static_cast<std::size_t>(data.size()) * 8);
  for (std::int64_t i = 0; i < data.size(); ++i) {
    const std::string& text = data.data<std::string>()[i];
    fingerprint_rows(text.data(), 1, text.size(), prints.data() + i * 8);
  }
  if (row == 1) std::copy(prints.begin(), prints.end(), out);
  else fingerprint_rows(reinterpret_cast<const char*>(prints.data()), rows, static_cast<std::size_t>(row) * 8, out);
  return absl::OkStatus();
}

}  // namespace

void add_hashing(Registry& ops) {
  ops.add("StringToHashBucket",
          [](Call& call, In<std::string> x, Attr<"num_buckets", std::int64_t> buckets) { to_buckets(call, x, *buckets, hash64); });
  ops.add("StringToHashBucketFast", [](Call& call, In<std::string> x, Attr<"num_buckets", std::int64_t> buckets) {
    to_buckets(call, x, *buckets, [](const std::string& text) { return ::util::Fingerprint64(text.data(), text.size()); });
  });
  ops.add("StringToHashBucketStrong", [](Call& call, In<std::string> x, Attr<"num_buckets", std::int64_t> buckets, State<StrongKey> key) {
    to_buckets(call, x, *buckets, [&](const std::string& text) { return highwayhash::SipHash(key->words, text.data(), text.size()); });
  });
  ops.add("Fingerprint", [](Call& call, Any data, In<std::string> method) { return fingerprint(call, data.tensor, method); });
}

}  // namespace troupe
