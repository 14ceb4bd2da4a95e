// Finding of files by patterns.
#include <troupe/ops/files/local_files.hpp>

#include <dirent.h>
#include <fnmatch.h>

#include <memory>

namespace troupe {
namespace {

std::vector<std::string> children_of(const std::string& directory) {
  std::vector<std::string> names;
  const auto path = local_path(directory);
  if (!path.ok()) return names;
  struct Close {
    void operator()(DIR* d) const { ::closedir(d); }
  };
  const std::unique_ptr<DIR, Close> opened(::opendir(path->empty() ? "/" : path->c_str()));
  if (!opened) return names;
  while (const dirent* entry = ::readdir(opened.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> pieces_of(std::string_view pattern) {
  std::vector<std::string> pieces;
  while (!pattern.empty()) {
    const auto slash = pattern.find('/');
    if (slash != 0) pieces.emplace_back(pattern.substr(0, slash));
    pattern.remove_prefix(slash == std::string_view::npos ? pattern.size() : slash + 1);
  }
  return pieces;
}

}  // namespace

StatusOr<std::vector<std::string>> matching_files(const std::string& pattern) {
  TRY(local_path(pattern).status());
  const auto wild = pattern.find_first_of("*?[\\");
  if (wild == std::string::npos) return file_exists(pattern) ? std::vector{pattern} : std::vector<std::string>();
  const std::string_view fixed = directory_of(std::string_view(pattern).substr(0, wild));
  const auto pieces = pieces_of(std::string_view(pattern).substr(fixed.size()));
  std::vector<std::string> found{fixed.empty() ? "." : std::string(fixed)};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::vector<std::string> next;
    for (const std::string& directory : found) {
      for (const std::string& name : children_of(directory)) {
        if (::fnmatch(pieces[i].c_str(), name.c_str(), 0) != 0) continue;
        std::string path = join_path(directory, name);
        if (i + 1 == pieces.size() || is_directory(path)) next.push_back(std::move(path));
      }
    }
    found = std::move(next);
  }
  return found;
}

}  // namespace troupe
