// Vocabulary files: lines of text that become keys and values of a table.
#pragma once

#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/binding.hpp>

#include <string>
#include <utility>

namespace troupe {

/// Which column of a line is the key and which the value; see the two special ones.
struct VocabularyFormat {
  static constexpr std::int64_t whole_line = -2, line_number = -1;
  std::int64_t key = whole_line, value = line_number;
  std::int64_t size = -1;  // lines to read; -1: all
  char delimiter = '\t';
  std::int64_t offset = 0;  // number of the first line

  static StatusOr<VocabularyFormat> make(Binding& binding);
};

StatusOr<std::pair<Tensor, Tensor>> read_vocabulary(const std::string& file, const VocabularyFormat& format, DType key, DType value);

}  // namespace troupe
