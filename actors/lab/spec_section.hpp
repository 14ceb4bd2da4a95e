// A mapping of a YAML file, read strictly: every key is taken once, every mistake has its line.
#pragma once

#include <troupe/messaging/status.hpp>

#include <yaml-cpp/yaml.h>

#include <set>
#include <string>
#include <vector>

namespace troupe::lab {

/// The closest of the words, when one is close.
std::string closest(const std::string& word, const std::vector<std::string>& words);

/// Where the first mistake goes; later ones are forgotten.
class Mistakes {
 public:
  explicit Mistakes(std::string file) : file_(std::move(file)) {}
  /// "file:3: what"
  void add(const YAML::Node& at, const std::string& what);
  const Status& first() const { return first_; }
  bool any() const { return !first_.ok(); }

 private:
  std::string file_;
  Status first_;
};

/// Reads a value; mistakes name `what`.
std::string text_in(const YAML::Node& node, const std::string& what, Mistakes& mistakes);
double number_in(const YAML::Node& node, const std::string& what, double least, Mistakes& mistakes);
std::int64_t whole_in(const YAML::Node& node, const std::string& what, std::int64_t least, Mistakes& mistakes);
std::string choice_in(const YAML::Node& node, const std::string& what, const std::vector<std::string>& choices, Mistakes& mistakes);

/// One mapping, all of whose keys are said before.
class Section {
 public:
  Section(const YAML::Node& node, const std::string& what, const std::vector<std::string>& keys, Mistakes& mistakes);

  bool has(const std::string& key) const { return sound_ && node_[key].IsDefined(); }
  YAML::Node at(const std::string& key) const { return node_[key]; }
  const YAML::Node& node() const { return node_; }

  // Each leaves its place as it is when the key is absent.
  void text(const std::string& key, std::string& to) const;
  void number(const std::string& key, double& to, double least) const;
  template <class T>
  void whole(const std::string& key, T& to, std::int64_t least) const {
    if (has(key)) to = static_cast<T>(whole_in(at(key), key, least, mistakes_));
  }
  void choice(const std::string& key, std::string& to, const std::vector<std::string>& choices) const;
  void truth(const std::string& key, bool& to) const;

 private:
  YAML::Node node_;
  Mistakes& mistakes_;
  bool sound_ = false;
};

}  // namespace troupe::lab
