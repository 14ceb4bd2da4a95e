// Keys in buckets, where TensorFlow's dense tables put them: what one of them writes down, buckets and all, the other can take.
#include <troupe/messaging/hash64.hpp>
#include <troupe/ops/resources/table.hpp>

#include <algorithm>
#include <bit>
#include <type_traits>

namespace troupe {
namespace {

template <class K>
class Buckets final : public KeyRows {
 public:
  explicit Buckets(const TableFacts& facts)
      : width_(facts.key_shape.elements()), initial_(facts.buckets), load_(facts.load), empty_(elements(facts.empty_key)) {
    if (facts.deleted_key.valid()) deleted_ = elements(facts.deleted_key);
    reset(initial_);
  }

  std::int64_t find(const Tensor& keys, std::int64_t i) const override {
    const std::int64_t bucket = bucket_of(key_at(keys, i));
    return bucket == none ? none : rows_[at(bucket)];
  }

  std::int64_t find_or_add(const Tensor& keys, std::int64_t i, std::int64_t fresh) override { return place(key_at(keys, i), fresh); }

  std::int64_t remove(const Tensor& keys, std::int64_t i) override {
    const std::int64_t bucket = bucket_of(key_at(keys, i));
    if (bucket == none || deleted_.empty()) return none;
    std::copy(deleted_.begin(), deleted_.end(), key(bucket));
    --count_;
    return none;  // the bucket keeps its row
  }

  std::int64_t size() const override { return count_; }
  std::int64_t places() const override { return static_cast<std::int64_t>(rows_.size()); }
  void clear() override { reset(initial_); }

  std::vector<std::int64_t> list(Tensor& keys) const override {
    std::copy(keys_.begin(), keys_.end(), keys.mutable_data<K>());
    return rows_;
  }

  Status expect(std::int64_t more) override {
    const auto wanted = static_cast<float>(count_ + more);
    if (wanted <= static_cast<float>(places()) * load_) return absl::OkStatus();
    std::int64_t buckets = places();
    do buckets *= 2;
    while (wanted > static_cast<float>(buckets) * load_);
    TRY(check_buckets(buckets));
    rebuild(buckets);
    return absl::OkStatus();
  }

  bool take_places(const Tensor& keys) override {
    keys_ = elements(keys);
    rows_.resize(keys_.size() / at(width_));
    count_ = 0;
    for (std::int64_t b = 0; b < places(); ++b) {
      rows_[at(b)] = b;
      if (!is(key(b), empty_) && !is(key(b), deleted_)) ++count_;
    }
    return true;
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  static std::vector<K> elements(const Tensor& t) { return std::vector<K>(t.data<K>(), t.data<K>() + t.size()); }
  const K* key_at(const Tensor& keys, std::int64_t i) const { return keys.data<K>() + i * width_; }
  K* key(std::int64_t bucket) { return keys_.data() + bucket * width_; }
  const K* key(std::int64_t bucket) const { return keys_.data() + bucket * width_; }
  bool is(const K* key, const std::vector<K>& reserved) const { return !reserved.empty() && std::equal(reserved.begin(), reserved.end(), key); }

  static std::uint64_t hash_of(const K& element) {
    if constexpr (std::is_same_v<K, std::string>) return hash64(element);
    else return static_cast<std::uint64_t>(element);
  }
  std::uint64_t hash(const K* key) const {
    if (width_ == 1) return hash_of(*key);
    std::uint64_t all = 0;
    for (std::int64_t k = 0; k < width_; ++k) all ^= hash_of(key[k]) + 0x9e3779b97f4a7800 + (all << 10) + (all >> 4);
    return all;
  }

  /// Calls visit(bucket) along a key's way until it says to stop; none when it never does.
  template <class Visit>
  std::int64_t search(const K* key, Visit&& visit) const {
    const auto mask = static_cast<std::uint64_t>(places() - 1);
    std::uint64_t bucket = hash(key) & mask;
    for (std::int64_t probes = 1; probes <= places(); ++probes) {
      if (visit(static_cast<std::int64_t>(bucket))) return static_cast<std::int64_t>(bucket);
      bucket = (bucket + static_cast<std::uint64_t>(probes)) & mask;
    }
    return none;
  }
  std::int64_t bucket_of(const K* wanted) const {
    const std::int64_t bucket = search(wanted, [&](std::int64_t b) { return std::equal(wanted, wanted + width_, key(b)) || is(key(b), empty_); });
    return bucket == none || is(key(bucket), empty_) ? none : bucket;
  }

  std::int64_t place(const K* wanted, std::int64_t fresh) {
    for (;;) {
      const std::int64_t bucket =
          search(wanted, [&](std::int64_t b) { return std::equal(wanted, wanted + width_, key(b)) || is(key(b), empty_) || is(key(b), deleted_); });
      if (bucket == none) {  // only places that were taken as they came can be full
        rebuild(std::max(initial_, 2 * static_cast<std::int64_t>(std::bit_ceil(rows_.size()))));
        continue;
      }
      if (!std::equal(wanted, wanted + width_, key(bucket))) {
        std::copy_n(wanted, width_, key(bucket));
        ++count_;
      }
      std::int64_t& row = rows_[at(bucket)];
      if (row == none) row = fresh;
      return row;
    }
  }

  void reset(std::int64_t buckets) {
    keys_.clear();
    for (std::int64_t b = 0; b < buckets; ++b) keys_.insert(keys_.end(), empty_.begin(), empty_.end());
    rows_.assign(at(buckets), none);
    count_ = 0;
  }
  void rebuild(std::int64_t buckets) {
    const std::vector<K> keys = std::move(keys_);
    const std::vector<std::int64_t> rows = std::move(rows_);
    reset(buckets);
    for (std::size_t b = 0; b < rows.size(); ++b)
      if (const K* old = keys.data() + b * at(width_); !is(old, empty_) && !is(old, deleted_)) place(old, rows[b]);
  }

  std::int64_t width_, initial_;
  float load_;
  std::vector<K> empty_, deleted_, keys_;  // by bucket
  std::vector<std::int64_t> rows_;         // by bucket; of removed keys too
  std::int64_t count_ = 0;
};

}  // namespace

Status check_buckets(std::int64_t buckets) {
  if (buckets < 4 || (buckets & (buckets - 1)) != 0) return invalid("Number of buckets must be at least 4 and a power of 2, got: {}", buckets);
  return absl::OkStatus();
}

std::unique_ptr<KeyRows> make_dense_rows(const TableFacts& facts) {
  switch (facts.key) {
    case DType::string: return std::make_unique<Buckets<std::string>>(facts);
    case DType::i32: return std::make_unique<Buckets<std::int32_t>>(facts);
    default: return std::make_unique<Buckets<std::int64_t>>(facts);
  }
}

}  // namespace troupe
