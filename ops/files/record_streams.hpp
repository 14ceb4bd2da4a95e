// The kinds of readers by what they make of a file.
#pragma once

#include <troupe/ops/files/records.hpp>
#include <troupe/ops/resources/reader.hpp>

#include <memory>

namespace troupe {

std::unique_ptr<RecordStream> identity_stream();
std::unique_ptr<RecordStream> whole_file_stream();
std::unique_ptr<RecordStream> line_stream(std::int64_t skipped_lines);
std::unique_ptr<RecordStream> record_stream(Compression compression);

struct FixedLength {
  std::int64_t header = 0, record = 0, footer = 0, hop = 0;  // bytes; no hop: records follow each other
  Compression compression = Compression::none;
};
std::unique_ptr<RecordStream> fixed_length_stream(FixedLength layout);

}  // namespace troupe
