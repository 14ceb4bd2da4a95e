// Checkpoints of version 1: one table of a description and the parts of tensors, or several that match a pattern.
#pragma once

#include <troupe/wire/checkpoint.pb.h>
#include <troupe/ops/checkpoint/table_file.hpp>
#include <troupe/ops/checkpoint/tensor_slice.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

class SliceTableWriter {
 public:
  explicit SliceTableWriter(std::string file) : file_(std::move(file)) {}
  Status add(const std::string& name, const Shape& full, const TensorSlice& slice, const Tensor& value);
  Status finish();

 private:
  std::string file_;
  std::map<std::string, wire::SavedSliceMeta> tensors_;
  std::vector<std::string> order_;
  std::map<std::string, std::string> data_;
};

class SliceTableReader {
 public:
  /// NOT_FOUND when no file matches.
  static StatusOr<SliceTableReader> open(const std::string& pattern);
  /// A tensor, or the part of it that "4 5 0,2:-" says where that is not empty.
  StatusOr<Tensor> restore(const std::string& name, const std::string& shape_and_slice, DType type);

 private:
  struct Stored {
    Shape shape;
    DType type = DType::invalid;
    std::vector<TensorSlice> slices;
    std::vector<std::size_t> tables;  // one for each slice
  };
  Status load(const std::string& file);
  StatusOr<Tensor> read(const std::string& name, const Stored& stored, std::size_t slice);

  std::string pattern_;
  std::vector<TableReader> tables_;
  std::map<std::string, Stored> tensors_;
};

}  // namespace troupe
