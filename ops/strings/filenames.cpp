// Names of the files of a sharded whole.
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

template <class T>
Status scalar(const In<T>& x, const char* name) {
  return x.dims() == 0 ? absl::OkStatus() : invalid("{} must be a scalar, got shape {}", name, x.shape());
}

}  // namespace

void add_filenames(Registry& ops) {
  ops.add("ShardedFilename", [](Call& call, In<std::string> base, In<std::int32_t> shard, In<std::int32_t> shards) -> Status {
    TRY(scalar(base, "basename"));
    TRY(scalar(shard, "shard"));
    TRY(scalar(shards, "num_shards"));
    call.set_scalar(0, fmt::format("{}-{:05}-of-{:05}", base[0], shard[0], shards[0]));
    return absl::OkStatus();
  });
  ops.add("ShardedFilespec", [](Call& call, In<std::string> base, In<std::int32_t> shards) -> Status {
    TRY(scalar(base, "basename"));
    TRY(scalar(shards, "num_shards"));
    call.set_scalar(0, fmt::format("{}-{}-of-{:05}", base[0], std::string(5, '?'), shards[0]));
    return absl::OkStatus();
  });
}

}  // namespace troupe
