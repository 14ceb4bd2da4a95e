// Files of this machine: opened, read, written and found, with TensorFlow's errors.
#pragma once

#include <troupe/messaging/status.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

/// A status with the code that TensorFlow gives an errno, and the text "name; No such file or directory".
Status errno_status(std::string_view name, int error);

/// The path on this machine that a name means, which may begin with file://; UNIMPLEMENTED for other schemes.
StatusOr<std::string> local_path(const std::string& name);

/// An open file that is read at any place.
class RandomFile {
 public:
  static StatusOr<RandomFile> open(const std::string& name);
  RandomFile(RandomFile&& other) noexcept : name_(std::move(other.name_)), file_(std::exchange(other.file_, -1)) {}
  RandomFile& operator=(RandomFile&& other) noexcept {
    std::swap(name_, other.name_);
    std::swap(file_, other.file_);
    return *this;
  }
  ~RandomFile();

  const std::string& name() const { return name_; }
  /// Bytes read: fewer than asked for only at the end.
  StatusOr<std::size_t> read(std::uint64_t offset, char* to, std::size_t n) const;
  StatusOr<std::uint64_t> size() const;

 private:
  RandomFile(std::string name, int file) : name_(std::move(name)), file_(file) {}
  std::string name_;
  int file_ = -1;
};

StatusOr<std::uint64_t> file_size(const std::string& name);
bool file_exists(const std::string& name);
bool is_directory(const std::string& name);
StatusOr<std::string> read_file(const std::string& name);
Status write_file(const std::string& name, std::string_view content);
/// Also replaces what is there.
Status rename_file(const std::string& from, const std::string& to);
Status delete_file(const std::string& name);
/// Deletes an empty directory.
Status delete_directory(const std::string& name);
Status make_directory(const std::string& name);
/// Makes a directory and those above it that are missing.
Status make_directories(const std::string& name);

/// What stands before and behind the last slash.
std::string_view directory_of(std::string_view name);
std::string_view base_name_of(std::string_view name);
std::string join_path(std::string_view directory, std::string_view name);

/// The files that match a pattern with *, ?, [a-z] and \, in any order; * does not match a slash.
StatusOr<std::vector<std::string>> matching_files(const std::string& pattern);

}  // namespace troupe
