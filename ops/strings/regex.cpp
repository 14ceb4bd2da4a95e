// Regular expressions, given as input or as an attribute.
#include <troupe/ops/kernel.hpp>

#include <re2/re2.h>

#include <memory>

namespace troupe {
namespace {

using Pattern = std::shared_ptr<const RE2>;

StatusOr<Pattern> compile(const std::string& pattern) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  auto compiled = std::make_shared<const RE2>(pattern, quiet);
  if (!compiled->ok()) return invalid("Invalid pattern: {}, error: {}", pattern, compiled->error());
  return compiled;
}

/// The pattern of an attribute, compiled once.
struct StaticPattern {
  Pattern pattern;
  static StatusOr<StaticPattern> make(Binding& binding) {
    TRY_ASSIGN(std::string text, binding.attr<std::string>("pattern"));
    TRY_ASSIGN(Pattern pattern, compile(text));
    return StaticPattern{std::move(pattern)};
  }
};

/// The pattern of an input, compiled anew only when it changes.
struct LastPattern {
  Pattern pattern;
  StatusOr<Pattern> of(const In<std::string>& text) {
    if (text.dims() != 0) return invalid("Pattern must be scalar, but received {}", text.shape());
    if (!pattern || pattern->pattern() != text[0]) {
      TRY_ASSIGN(pattern, compile(text[0]));
    }
    return pattern;
  }
};

void replace(Call& call, const In<std::string>& x, const RE2& pattern, const std::string& rewrite, bool all) {
  std::string* out = call.alloc<std::string>(0, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    out[i] = x[i];
    if (all) RE2::GlobalReplace(&out[i], pattern, rewrite);
    else RE2::Replace(&out[i], pattern, rewrite);
  }
}

void match(Call& call, const In<std::string>& x, const RE2& pattern) {
  bool* out = call.alloc<bool>(0, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) out[i] = RE2::FullMatch(x[i], pattern);
}

}  // namespace

void add_regex(Registry& ops) {
  ops.add("RegexReplace",
          [](Call& call, In<std::string> x, In<std::string> text, In<std::string> rewrite, Attr<"replace_global", bool> all,
             State<LastPattern> last) -> Status {
            TRY_ASSIGN(Pattern pattern, last->of(text));
            if (rewrite.dims() != 0) return invalid("Rewrite must be scalar, but received {}", rewrite.shape());
            replace(call, x, *pattern, rewrite[0], *all);
            return absl::OkStatus();
          });
  ops.add("StaticRegexReplace", [](Call& call, In<std::string> x, Attr<"rewrite", std::string> rewrite, Attr<"replace_global", bool> all,
                                   State<StaticPattern> pattern) { replace(call, x, *pattern->pattern, *rewrite, *all); });
  ops.add("RegexFullMatch", [](Call& call, In<std::string> x, In<std::string> text, State<LastPattern> last) -> Status {
    TRY_ASSIGN(Pattern pattern, last->of(text));
    match(call, x, *pattern);
    return absl::OkStatus();
  });
  ops.add("StaticRegexFullMatch", [](Call& call, In<std::string> x, State<StaticPattern> pattern) { match(call, x, *pattern->pattern); });
}

}  // namespace troupe
