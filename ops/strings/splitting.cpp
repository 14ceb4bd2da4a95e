// Strings taken apart: at delimiters, and the parts of a whole batch as a sparse matrix.
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <string_view>

namespace troupe {
namespace {

using Parts = std::vector<std::string_view>;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// At any character of `delimiters`; at every character when there are none.
Parts split_at_any(std::string_view text, std::string_view delimiters, bool skip_empty) {
  Parts parts;
  if (delimiters.empty()) {
    for (std::size_t i = 0; i < text.size(); ++i) parts.push_back(text.substr(i, 1));
    return parts;
  }
  if (text.empty()) return parts;
  std::size_t from = 0;
  while (true) {
    const std::size_t at = std::min(text.find_first_of(delimiters, from), text.size());
    if (at > from || !skip_empty) parts.push_back(text.substr(from, at - from));
    if (at == text.size()) return parts;
    from = at + 1;
  }
}

/// At runs of white space; after `most` parts, unless it is negative, comes the rest, even an empty one.
Parts split_at_spaces(std::string_view text, std::int64_t most) {
  Parts parts;
  const auto skip = [&] {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  };
  skip();
  while (!text.empty()) {
    const auto end = static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_space) - text.begin());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
    skip();
    if (most > 0 && static_cast<std::int64_t>(parts.size()) == most) {
      parts.push_back(text);
      break;
    }
  }
  return parts;
}

/// At each whole `separator`, as Python's split(separator) does.
Parts split_at(std::string_view text, std::string_view separator, std::int64_t most) {
  Parts parts;
  while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
    const std::size_t at = text.find(separator);
    if (at == text.npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

void set_sparse(Call& call, const std::vector<Parts>& rows) {
  std::int64_t total = 0, widest = 0;
  for (const Parts& parts : rows) {
    total += static_cast<std::int64_t>(parts.size());
    widest = std::max(widest, static_cast<std::int64_t>(parts.size()));
  }
  std::int64_t* index = call.alloc<std::int64_t>(0, Shape{total, 2});
  std::string* value = call.alloc<std::string>(1, Shape{total});
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      *index++ = static_cast<std::int64_t>(row);
      *index++ = static_cast<std::int64_t>(i);
      *value++ = std::string(rows[row][i]);
    }
  std::int64_t* shape = call.alloc<std::int64_t>(2, Shape{2});
  shape[0] = static_cast<std::int64_t>(rows.size());
  shape[1] = widest;
}

template <class Split>
Status split_all(Call& call, const In<std::string>& x, const In<std::string>& separator, const char* name, Split&& split) {
  if (x.dims() != 1) return invalid("input must be a vector, got shape: {}", x.shape());
  if (separator.dims() != 0) return invalid("{} must be a scalar, got shape: {}", name, separator.shape());
  std::vector<Parts> rows;
  for (const std::string& text : x.values()) rows.push_back(split(text, separator[0]));
  set_sparse(call, rows);
  return absl::OkStatus();
}

}  // namespace

void add_splitting(Registry& ops) {
  ops.add("StringSplit", [](Call& call, In<std::string> x, In<std::string> delimiter, Attr<"skip_empty", bool> skip) {
    return split_all(call, x, delimiter, "delimiter",
                     [&](const std::string& text, const std::string& any) { return split_at_any(text, any, *skip); });
  });
  ops.add("StringSplitV2", [](Call& call, In<std::string> x, In<std::string> separator, Attr<"maxsplit", std::int64_t> most) {
    return split_all(call, x, separator, "sep", [&](const std::string& text, const std::string& sep) {
      // No split at all keeps even the white space around.
      if (*most == 0) return Parts{text};
      return sep.empty() ? split_at_spaces(text, *most) : split_at(text, sep, *most);
    });
  });
}

}  // namespace troupe
