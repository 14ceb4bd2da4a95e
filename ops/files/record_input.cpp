// An endless input of shuffled records, epoch by epoch.
#include <troupe/ops/files/local_files.hpp>
#include <troupe/ops/files/records.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <optional>
#include <random>

namespace troupe {
namespace {

/// Keeps a buffer of records that lie ahead and gives out any of them; an epoch's last comes before the next one's first.
class ShuffledRecords {
 public:
  static StatusOr<ShuffledRecords> make(Binding& binding) {
    ShuffledRecords records;
    TRY_ASSIGN(records.pattern_, binding.attr<std::string>("file_pattern"));
    TRY_ASSIGN(const auto seed, binding.attr<std::int64_t>("file_random_seed"));
    TRY_ASSIGN(records.shift_, binding.attr<float>("file_shuffle_shift_ratio"));
    TRY_ASSIGN(const auto buffer, binding.attr<std::int64_t>("file_buffer_size"));
    TRY_ASSIGN(const auto compression, binding.attr<std::string>("compression_type"));
    if (const auto known = compression_named(compression); known.ok()) records.compression_ = *known;
    records.most_ = static_cast<std::size_t>(std::max<std::int64_t>(buffer, 1));
    records.random_.seed(static_cast<std::uint64_t>(seed));
    return records;
  }

  Status next(std::string& record) {
    if (buffer_.empty() && !reader_ && files_.empty()) TRY(begin_epoch());
    TRY(fill());
    if (buffer_.empty()) return not_found("Found no records at {}", pattern_);
    std::swap(buffer_[random_() % buffer_.size()], buffer_.back());
    record = std::move(buffer_.back());
    buffer_.pop_back();
    return absl::OkStatus();
  }

 private:
  Status begin_epoch() {
    TRY_ASSIGN(files_, matching_files(pattern_));
    if (files_.empty()) return not_found("Found no files at {}", pattern_);
    std::sort(files_.begin(), files_.end());
    std::shuffle(files_.begin(), files_.end(), random_);
    const float turn = static_cast<float>(epoch_++) * shift_;
    const auto shift = static_cast<std::int64_t>((turn - std::floor(turn)) * static_cast<float>(files_.size()));
    if (shift > 0 && shift < static_cast<std::int64_t>(files_.size())) std::rotate(files_.begin(), files_.begin() + shift, files_.end());
    return absl::OkStatus();
  }

  Status fill() {
    while (buffer_.size() < most_) {
      if (!reader_) {
        if (files_.empty()) break;
        TRY_ASSIGN(auto bytes, open_bytes(files_.back(), compression_));
        reader_.emplace(std::move(bytes));
        files_.pop_back();
      }
      std::string record;
      TRY_ASSIGN(const bool more, reader_->next(record));
      if (more) buffer_.push_back(std::move(record));
      else reader_.reset();
    }
    return absl::OkStatus();
  }

  std::string pattern_;
  float shift_ = 0;
  Compression compression_ = Compression::none;
  std::size_t most_ = 1;
  std::mt19937_64 random_;
  std::int64_t epoch_ = 0;
  std::vector<std::string> files_;  // left of this epoch
  std::optional<RecordReader> reader_;
  std::vector<std::string> buffer_;
};

}  // namespace

void add_record_input(Registry& ops) {
  ops.add("RecordInput", [](Call& call, State<ShuffledRecords> records, Attr<"batch_size", std::int64_t> size) -> Status {
    if (*size < 0) return invalid("batch_size must be >= 0 not {}", *size);
    std::string* out = call.alloc<std::string>(0, Shape{*size});
    for (std::int64_t i = 0; i < *size; ++i) TRY(records->next(out[i]));
    return absl::OkStatus();
  });
}

}  // namespace troupe
