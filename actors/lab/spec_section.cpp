// Strict reading of YAML.
#include <troupe/actors/lab/spec_section.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace troupe::lab {
namespace {

std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t best = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = std::exchange(row[j], best);
    }
  }
  return row.back();
}

std::string advice(const std::string& word, const std::vector<std::string>& words) {
  const std::string near = closest(word, words);
  return near.empty() ? fmt::format("there are {}", fmt::join(words, ", ")) : fmt::format("did you mean '{}'?", near);
}

}  // namespace

std::string closest(const std::string& word, const std::vector<std::string>& words) {
  std::string best;
  std::size_t fewest = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : words)
    if (const std::size_t n = edits(word, candidate); n < fewest) {
      fewest = n;
      best = candidate;
    }
  return best;
}

void Mistakes::add(const YAML::Node& at, const std::string& what) {
  if (any()) return;
  const auto mark = at.Mark();
  first_ = mark.is_null() ? invalid("{}: {}", file_, what) : invalid("{}:{}: {}", file_, mark.line + 1, what);
}

std::string text_in(const YAML::Node& node, const std::string& what, Mistakes& mistakes) {
  if (node.IsScalar()) return node.Scalar();
  mistakes.add(node, fmt::format("{} is not a text", what));
  return "";
}

double number_in(const YAML::Node& node, const std::string& what, double least, Mistakes& mistakes) {
  double value = 0;
  if (!node.IsScalar() || !YAML::convert<double>::decode(node, value) || !std::isfinite(value)) {
    mistakes.add(node, fmt::format("{} is not a number", what));
  } else if (value < least) {
    mistakes.add(node, least == 0 ? fmt::format("{} is {}; it must not be negative", what, value)
                                  : fmt::format("{} is {}; the least is {}", what, value, least));
  }
  return value;
}

std::int64_t whole_in(const YAML::Node& node, const std::string& what, std::int64_t least, Mistakes& mistakes) {
  std::int64_t value = 0;
  const std::string text = node.IsScalar() ? node.Scalar() : "";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    mistakes.add(node, fmt::format("{} is not a whole number", what));
  } else if (value < least || value > 1'000'000'000'000) {
    mistakes.add(node, fmt::format("{} is {}; the least is {}", what, value, least));
  }
  return value;
}

std::string choice_in(const YAML::Node& node, const std::string& what, const std::vector<std::string>& choices, Mistakes& mistakes) {
  const std::string word = text_in(node, what, mistakes);
  if (std::find(choices.begin(), choices.end(), word) == choices.end())
    mistakes.add(node, fmt::format("unknown {} '{}'; {}", what, word, advice(word, choices)));
  return word;
}

Section::Section(const YAML::Node& node, const std::string& what, const std::vector<std::string>& keys, Mistakes& mistakes)
    : node_(node), mistakes_(mistakes) {
  if (!node.IsMap()) {
    mistakes.add(node, fmt::format("{} is not a mapping of keys to values", what));
    return;
  }
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const YAML::Node& key = entry.first;
    const std::string word = text_in(key, "a key", mistakes);
    if (!seen.insert(word).second) mistakes.add(key, fmt::format("key '{}' of {} comes twice", word, what));
    if (std::find(keys.begin(), keys.end(), word) == keys.end())
      mistakes.add(key, fmt::format("unknown key '{}' of {}; {}", word, what, advice(word, keys)));
  }
  sound_ = true;
}

void Section::text(const std::string& key, std::string& to) const {
  if (has(key)) to = text_in(at(key), key, mistakes_);
}

void Section::number(const std::string& key, double& to, double least) const {
  if (has(key)) to = number_in(at(key), key, least, mistakes_);
}

void Section::choice(const std::string& key, std::string& to, const std::vector<std::string>& choices) const {
  if (has(key)) to = choice_in(at(key), key, choices, mistakes_);
}

void Section::truth(const std::string& key, bool& to) const {
  if (has(key) && !YAML::convert<bool>::decode(at(key), to)) mistakes_.add(at(key), fmt::format("{} is neither true nor false", key));
}

}  // namespace troupe::lab
