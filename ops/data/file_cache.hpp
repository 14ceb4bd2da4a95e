// Datasets that are read once and then given from a file, also by processes that come later.
#pragma once

#include <troupe/ops/data/dataset.hpp>

namespace troupe {

/// A pass over what is kept under the prefix of files; the first one reads the input and keeps it.
SourcePtr cached_in_file(DatasetPtr input, std::string prefix);

}  // namespace troupe
