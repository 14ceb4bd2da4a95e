// Sorted tables of keys and values in files: the format of LevelDB's tables, which checkpoints have too.
#pragma once

#include <troupe/ops/checkpoint/new_file.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

class TableWriter {
 public:
  static StatusOr<TableWriter> create(const std::string& name);
  TableWriter(TableWriter&&) noexcept;
  TableWriter& operator=(TableWriter&&) noexcept;
  ~TableWriter();
  /// Keys come in increasing order.
  void add(std::string_view key, std::string_view value);
  /// Makes the file complete, so that commit has only to rename.
  Status close();
  /// Makes the file complete, and visible under its name.
  Status commit();

 private:
  struct State;
  explicit TableWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Not to be used by two threads at once.
class TableReader {
 public:
  static StatusOr<TableReader> open(const std::string& name);
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;
  ~TableReader();
  /// Nothing when there is no such key, or no key at all that could be read.
  StatusOr<std::optional<std::string>> find(std::string_view key);
  /// In the order of the keys, until `visit` fails.
  Status each(const std::function<Status(std::string_view key, std::string_view value)>& visit);

 private:
  struct State;
  explicit TableReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace troupe
