// Passes that are written down while they are read, and passes over what was written.
#pragma once

#include <troupe/ops/data/snapshot_files.hpp>

namespace troupe {

/// Elements go to the shards that a function names, all to one where there is no function.
struct Keeping {
  std::string directory, compression, graph_hash;
  std::optional<Captured> shard;
  std::int64_t only_shard = 0;
  bool counts = false;
};

/// Gives the input's elements and writes them down; what is not read to its end is never complete.
SourcePtr kept(const DatasetPtr& input, Keeping keeping);

/// What a function makes of the datasets that the shards of a run are.
SourcePtr kept_before(std::string run, std::string compression, ElementFacts facts, Captured reader);

}  // namespace troupe
