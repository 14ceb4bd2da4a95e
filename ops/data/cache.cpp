// Datasets that are read once and then given from memory or a file.
#include <troupe/ops/data/dataset.hpp>
#include <troupe/ops/data/file_cache.hpp>
#include <troupe/ops/resources/store.hpp>

namespace troupe {
namespace {

/// Elements of a whole pass, once there was one.
struct Memory final : Resource {
  std::string describe() const override { return "memory of a dataset"; }
  std::vector<Tuple> elements;
  bool complete = false;
};

class Cached final : public Source {
 public:
  Cached(DatasetPtr input, std::shared_ptr<Memory> memory) : input_(std::move(input)), memory_(std::move(memory)) {}
  Poll next(Reading& reading, Tuple& out) override {
    if (memory_->complete && !pass_) {
      if (at_ >= memory_->elements.size()) return Poll::end;
      out = memory_->elements[at_++];
      return Poll::ready;
    }
    if (!pass_) pass_ = input_->open();
    const Poll poll = pass_->next(reading, out);
    if (poll == Poll::ready) read_.push_back(out);
    if (poll == Poll::end) {
      pass_.reset();
      at_ = read_.size();
      if (!memory_->complete) memory_->elements = std::move(read_);
      memory_->complete = true;
      at_ = memory_->elements.size();
    }
    return poll;
  }

 private:
  DatasetPtr input_;
  std::shared_ptr<Memory> memory_;
  SourcePtr pass_;
  std::vector<Tuple> read_;
  std::size_t at_ = 0;
};

Status give_cached(Call& call, const DatasetPtr& input, const std::string& file, std::shared_ptr<Memory> memory) {
  Dataset dataset = over(input, "Cache");
  if (file.empty()) dataset.open = [input, memory = std::move(memory)] { return std::make_unique<Cached>(input, memory); };
  else dataset.open = [input, file] { return cached_in_file(input, file); };
  return give(call, std::move(dataset));
}

}  // namespace

template <>
struct resource_type<Memory> {
  static constexpr const char* name = "N10tensorflow4data18MemoryCacheManagerE";
};

namespace {

Tensor memory_handle(Step& step) {
  ResourceHandle handle = step.resources->handle_to<Memory>(step.device, step.resources->default_container(),
                                                            fmt::format("AnonymousMemoryCache{}", step.resources->next_number()));
  handle.resource = std::make_shared<Memory>();
  return Tensor::scalar<ResourceHandle>(std::move(handle));
}

}  // namespace

void add_cached_datasets(Registry& ops) {
  ops.add("CacheDataset",
          [](Call& call, DatasetIn input, Number<std::string> file) { return give_cached(call, input, *file, std::make_shared<Memory>()); });
  ops.add("CacheDatasetV2", [](Call& call, Step& step, DatasetIn input, Number<std::string> file, Handle cache) {
    auto found = step.resources->find<Memory>(cache.handle);
    return give_cached(call, input, *file, found.ok() ? *found : std::make_shared<Memory>());
  });
  ops.add("AnonymousMemoryCache", [](Call& call, Step& step) {
    call.set(0, memory_handle(step));
    call.set(1, Tensor(DType::variant, Shape{}));
  });
  ops.add("DummyMemoryCache", [](Call& call, Step& step) { call.set(0, memory_handle(step)); });
}

}  // namespace troupe
