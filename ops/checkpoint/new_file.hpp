// A file that is there when it is complete: written under another name, then renamed.
#pragma once

#include <troupe/messaging/status.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

class NewFile {
 public:
  static StatusOr<NewFile> create(const std::string& name);
  NewFile(NewFile&&) noexcept = default;
  NewFile& operator=(NewFile&&) = delete;
  /// What was not committed is deleted.
  ~NewFile();

  Status append(std::string_view bytes);
  std::uint64_t size() const { return size_; }
  /// Closes the file, so that commit has only to rename.
  Status close();
  Status commit();

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  NewFile(std::string name, std::string temporary, std::FILE* file) : name_(std::move(name)), temporary_(std::move(temporary)), file_(file) {}

  std::string name_, temporary_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t size_ = 0;
};

}  // namespace troupe
