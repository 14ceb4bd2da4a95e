// Files written under another name first.
#include <troupe/ops/checkpoint/new_file.hpp>

#include <troupe/ops/files/local_files.hpp>

#include <cerrno>
#include <random>
#include <utility>

namespace troupe {
namespace {

std::uint64_t any_number() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

}  // namespace

StatusOr<NewFile> NewFile::create(const std::string& name) {
  std::string temporary = fmt::format("{}.tempstate{}", name, any_number());
  TRY_ASSIGN(const std::string path, local_path(temporary));
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return errno_status(temporary, errno);
  return NewFile(name, std::move(temporary), file);
}

NewFile::~NewFile() {
  file_.reset();
  if (!temporary_.empty()) delete_file(temporary_).IgnoreError();
}

Status NewFile::append(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) return errno_status(temporary_, errno);
  size_ += bytes.size();
  return absl::OkStatus();
}

Status NewFile::close() {
  if (file_ && std::fclose(file_.release()) != 0) return errno_status(temporary_, errno);
  return absl::OkStatus();
}

Status NewFile::commit() {
  TRY(close());
  TRY(rename_file(temporary_, name_));
  temporary_.clear();
  return absl::OkStatus();
}

}  // namespace troupe
