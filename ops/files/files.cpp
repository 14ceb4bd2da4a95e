// Ops on whole files.
#include <troupe/ops/files/local_files.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>

namespace troupe {

void add_files(Registry& ops) {
  ops.io("ReadFile", [](Call& call, In<std::string> filename) -> Status {
    if (filename.dims() != 0) return invalid("Input filename tensor must be scalar, but had shape: {}", filename.shape());
    TRY_ASSIGN(std::string content, read_file(filename[0]));
    call.set_scalar(0, std::move(content));
    return absl::OkStatus();
  });

  ops.io("WriteFile", [](Call&, In<std::string> filename, In<std::string> contents) -> Status {
    if (filename.dims() != 0) return invalid("Input filename tensor must be scalar, but had shape: {}", filename.shape());
    if (contents.dims() != 0) return invalid("Contents tensor must be scalar, but had shape: {}", contents.shape());
    const std::string directory(directory_of(filename[0]));
    if (!directory.empty() && !file_exists(directory)) TRY(make_directories(directory));
    return write_file(filename[0], contents[0]);
  });

  ops.io("MatchingFiles", [](Call& call, In<std::string> patterns) -> Status {
    if (patterns.dims() > 1) return invalid("Input patterns tensor must be scalar or vector, but had shape: {}", patterns.shape());
    std::vector<std::string> all;
    for (const std::string& pattern : patterns.values()) {
      TRY_ASSIGN(auto found, matching_files(pattern));
      std::move(found.begin(), found.end(), std::back_inserter(all));
    }
    std::sort(all.begin(), all.end());
    call.set(0, Tensor::vector(all));
    return absl::OkStatus();
  });
}

}  // namespace troupe
