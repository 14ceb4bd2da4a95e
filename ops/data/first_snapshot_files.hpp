// Datasets in directories in their first form: <path>/<hash>/snapshot.metadata, <path>/<hash>/<run>/<number>.snapshot.
#pragma once

#include <troupe/ops/data/snapshot_files.hpp>

namespace troupe {

/// The elements of a run on their way to its files, several of which may be open. Everything here may block.
class FirstSnapshotWriter {
 public:
  /// Known are "", GZIP and SNAPPY.
  FirstSnapshotWriter(std::string run, std::string compression, std::int64_t largest, std::int64_t at_once)
      : run_(std::move(run)), compression_(std::move(compression)), largest_(largest), at_once_(at_once) {}
  Status begin();
  Status write(const Tuple& element);
  Status finish();

 private:
  struct File;
  struct Place {
    std::shared_ptr<File> file;
    std::int64_t bytes = 0;
    double ratio = -1;  // of bytes written to those in the file, once that is known
  };
  Status open(Place& place);
  StatusOr<bool> is_full(Place& place) const;

  std::string run_, compression_;
  std::int64_t largest_, at_once_;
  std::vector<Place> places_;
  std::size_t turn_ = 0, files_ = 0;
};

/// Reads the files of a run one after another.
std::unique_ptr<Producer> first_snapshot_reader(std::vector<std::string> files, std::string compression, std::vector<DType> types);

}  // namespace troupe
