// The cache is a checkpoint with a tensor for each component of each element; a lock file stands beside it while it is written.
#include <troupe/ops/checkpoint/bundle.hpp>
#include <troupe/ops/data/ahead.hpp>
#include <troupe/ops/data/file_cache.hpp>

#include <chrono>

namespace troupe {
namespace {

/// Components by the number of their element and their own.
std::string key_of(std::size_t element, std::size_t component, std::size_t components) {
  const auto width = std::to_string(components == 0 ? 0 : components - 1).size();
  return fmt::format("{:>7}_{:>{}}", element, component, width);
}

class CacheReader final : public Producer {
 public:
  CacheReader(std::string prefix, std::size_t components) : prefix_(std::move(prefix)), components_(components) {}
  StatusOr<bool> next(Tuple& out) override {
    if (!reader_) {
      TRY_ASSIGN(BundleReader opened, BundleReader::open(prefix_));
      reader_.emplace(std::move(opened));
    }
    for (std::size_t c = 0; c < components_; ++c) {
      const std::string key = key_of(element_, c, components_);
      if (c == 0 && !reader_->entry(key).ok()) return false;
      TRY_ASSIGN(Tensor value, reader_->read(key));
      out.push_back(std::move(value));
    }
    ++element_;
    return components_ > 0;
  }

 private:
  std::string prefix_;
  std::size_t components_, element_ = 0;
  std::optional<BundleReader> reader_;
};

/// A cache that is being written: all of it is touched by one thread at a time.
struct NewCache {
  std::string prefix, part, lock;
  std::optional<BundleWriter> writer;
  std::vector<Tuple> waiting;
  std::size_t elements = 0;
  bool there = false, locked = false;

  explicit NewCache(std::string p) : prefix(std::move(p)), part(prefix + "_0"), lock(part + ".lockfile") {}
  // What was not read to its end is no cache.
  ~NewCache() {
    if (locked) (void)delete_file(lock);
  }

  Status begin() {
    there = file_exists(bundle::index_file(prefix));
    if (there) return absl::OkStatus();
    if (file_exists(lock)) {
      const auto content = read_file(lock);
      return already_exists(
          "There appears to be a concurrent caching iterator running - cache lockfile already exists ('{}'). If you are sure no other running TF "
          "computations are using this cache prefix, delete the lockfile and re-initialize the iterator. Lockfile contents: {}",
          lock, content.ok() ? *content : "");
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    TRY(write_file(lock, fmt::format("Created at: {}", std::chrono::duration_cast<std::chrono::seconds>(now).count())));
    locked = true;
    TRY_ASSIGN(BundleWriter made, BundleWriter::create(part));
    writer.emplace(std::move(made));
    return absl::OkStatus();
  }

  Status write(bool over) {
    for (const Tuple& element : std::exchange(waiting, {})) {
      for (std::size_t c = 0; c < element.size(); ++c) TRY(writer->add(key_of(elements, c, element.size()), element[c]));
      ++elements;
    }
    if (!over) return absl::OkStatus();
    TRY(writer->finish());
    TRY(merge_bundles({part}, prefix, false));
    locked = false;
    return delete_file(lock);
  }
};

class FileCached final : public Source {
 public:
  static constexpr std::size_t at_once = 64;
  FileCached(DatasetPtr input, std::string prefix) : input_(std::move(input)), cache_(std::make_shared<NewCache>(std::move(prefix))) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (over_) return Poll::end;
    if (kept_) return kept_->next(reading, out);
    if (!pass_) {
      if (!work_.started()) work_.start(reading, [cache = cache_] { return cache->begin(); });
      if (const Poll poll = work_.take(reading); poll != Poll::ready) return poll;
      if (cache_->there) {
        kept_ = read_ahead(std::make_unique<CacheReader>(cache_->prefix, input_->element.types.size()));
        return kept_->next(reading, out);
      }
      pass_ = input_->open();
    }
    for (;;) {
      if (work_.started()) {
        if (const Poll poll = work_.take(reading); poll != Poll::ready) return poll;
        if (ended_) {
          over_ = true;
          return Poll::end;
        }
      }
      if (!ended_ && cache_->waiting.size() < at_once) {
        const Poll poll = pass_->next(reading, out);
        if (poll == Poll::ready) cache_->waiting.push_back(out);
        if (poll != Poll::end) return poll;
        ended_ = true;
      }
      work_.start(reading, [cache = cache_, over = ended_] { return cache->write(over); });
    }
  }

 private:
  DatasetPtr input_;
  std::shared_ptr<NewCache> cache_;
  SourcePtr pass_, kept_;
  BlockingWork work_;
  bool ended_ = false, over_ = false;
};

}  // namespace

SourcePtr cached_in_file(DatasetPtr input, std::string prefix) { return std::make_unique<FileCached>(std::move(input), std::move(prefix)); }

}  // namespace troupe
