// Files of this machine.
#include <troupe/ops/files/local_files.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace troupe {
namespace {

/// Calls a function of the C library that takes a path and says -1 with errno.
template <class F>
Status on_path(const std::string& name, F&& f) {
  TRY_ASSIGN(const std::string path, local_path(name));
  return f(path.c_str()) == 0 ? absl::OkStatus() : errno_status(name, errno);
}

/// How long the scheme and host of a name are; nothing for a plain path.
std::size_t prefix_length(std::string_view name) {
  const auto colon = name.find("://");
  if (colon == std::string_view::npos || colon == 0) return 0;
  for (const char c : name.substr(0, colon))
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') return 0;
  const auto slash = name.find('/', colon + 3);
  return slash == std::string_view::npos ? name.size() : slash;
}

}  // namespace

Status errno_status(std::string_view name, int error) {
  return make_status(absl::ErrnoToStatusCode(error), fmt::format("{}; {}", name, std::strerror(error)));
}

StatusOr<std::string> local_path(const std::string& name) {
  if (name.find('\0') != std::string::npos) return invalid("A file's name must not have zero bytes");
  const std::size_t prefix = prefix_length(name);
  if (prefix == 0) return name;
  const std::string scheme = name.substr(0, name.find("://"));
  if (scheme != "file") return unimplemented("File system scheme '{}' not implemented (file: '{}')", scheme, name);
  return name.substr(prefix);
}

StatusOr<RandomFile> RandomFile::open(const std::string& name) {
  TRY_ASSIGN(const std::string path, local_path(name));
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno_status(name, errno);
  return RandomFile(name, file);
}

RandomFile::~RandomFile() {
  if (file_ >= 0) ::close(file_);
}

StatusOr<std::size_t> RandomFile::read(std::uint64_t offset, char* to, std::size_t n) const {
  std::size_t done = 0;
  while (done < n) {
    const ssize_t count = ::pread(file_, to + done, std::min<std::size_t>(n - done, 1U << 30), static_cast<off_t>(offset + done));
    if (count < 0 && errno != EINTR) return errno_status(name_, errno);
    if (count == 0) break;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return done;
}

StatusOr<std::uint64_t> RandomFile::size() const {
  struct stat facts {};
  if (::fstat(file_, &facts) != 0) return errno_status(name_, errno);
  return static_cast<std::uint64_t>(facts.st_size);
}

StatusOr<std::uint64_t> file_size(const std::string& name) {
  struct stat facts {};
  TRY(on_path(name, [&](const char* path) { return ::stat(path, &facts); }));
  return static_cast<std::uint64_t>(facts.st_size);
}

bool file_exists(const std::string& name) {
  return on_path(name, [](const char* path) { return ::access(path, F_OK); }).ok();
}

bool is_directory(const std::string& name) {
  struct stat facts {};
  return on_path(name, [&](const char* path) { return ::stat(path, &facts); }).ok() && S_ISDIR(facts.st_mode);
}

StatusOr<std::string> read_file(const std::string& name) {
  TRY_ASSIGN(const RandomFile file, RandomFile::open(name));
  TRY_ASSIGN(const std::uint64_t size, file.size());
  std::string content(static_cast<std::size_t>(size), '\0');
  TRY_ASSIGN(std::size_t filled, file.read(0, content.data(), content.size()));
  content.resize(filled);
  while (filled == content.size()) {  // files of /proc say no size, and a file may have grown
    content.resize(filled + 4096);
    TRY_ASSIGN(const std::size_t more, file.read(filled, content.data() + filled, 4096));
    if (more == 0) break;
    filled += more;
  }
  content.resize(filled);
  return content;
}

Status write_file(const std::string& name, std::string_view content) {
  TRY_ASSIGN(const std::string path, local_path(name));
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return errno_status(name, errno);
  const bool whole = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!whole) return errno_status(name, error);
  return closed ? absl::OkStatus() : errno_status(name, errno);
}

Status rename_file(const std::string& from, const std::string& to) {
  TRY_ASSIGN(const std::string target, local_path(to));
  return on_path(from, [&](const char* path) { return ::rename(path, target.c_str()); });
}

Status delete_file(const std::string& name) { return on_path(name, ::unlink); }
Status delete_directory(const std::string& name) { return on_path(name, ::rmdir); }

Status make_directory(const std::string& name) {
  return on_path(name, [](const char* path) { return ::mkdir(path, 0755); });
}

Status make_directories(const std::string& name) {
  if (name.empty() || is_directory(name)) return absl::OkStatus();
  const std::string above(directory_of(name));
  if (!above.empty() && above != name) TRY(make_directories(above));
  const Status made = make_directory(name);
  return absl::IsAlreadyExists(made) ? absl::OkStatus() : made;
}

std::string_view directory_of(std::string_view name) {
  const std::size_t prefix = prefix_length(name);
  const auto slash = name.rfind('/');
  if (slash == std::string_view::npos || slash < prefix) return name.substr(0, prefix);
  return name.substr(0, slash == prefix ? slash + 1 : slash);
}

std::string_view base_name_of(std::string_view name) {
  const std::size_t prefix = prefix_length(name);
  const auto slash = name.rfind('/');
  return name.substr(slash == std::string_view::npos || slash < prefix ? prefix : slash + 1);
}

std::string join_path(std::string_view directory, std::string_view name) {
  if (directory.empty()) return std::string(name);
  return fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", name);
}

}  // namespace troupe
