// Upper and lower case, of ASCII or of all Unicode.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>

#include <absl/strings/ascii.h>
#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <limits>

namespace troupe {
namespace {

struct Encoding {
  bool utf8 = false;

  static StatusOr<Encoding> make(Binding& binding) {
    TRY_ASSIGN(const auto name, binding.attr<std::string>("encoding"));
    if (!name.empty() && name != "utf-8") return invalid("only utf-8 or '' (no encoding) is supported, received {}", name);
    return Encoding{!name.empty()};
  }
};

/// The text up to a zero, which ends it for TensorFlow.
StatusOr<icu::UnicodeString> from_utf8(const std::string& text) {
  const std::size_t size = std::min(text.find('\0'), text.size());
  if (size > std::numeric_limits<std::int32_t>::max() / 4) return resource_exhausted("A string of {} bytes is too long to change its case", size);
  return icu::UnicodeString(text.data(), static_cast<std::int32_t>(size), "UTF-8");
}

template <class Ascii, class Unicode>
Status change(Call& call, const In<std::string>& x, const Encoding& encoding, Ascii ascii, Unicode unicode) {
  std::string* out = call.alloc<std::string>(0, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (!encoding.utf8) {
      out[i] = x[i];
      ascii(&out[i]);
      continue;
    }
    TRY_ASSIGN(icu::UnicodeString text, from_utf8(x[i]));
    unicode(text);
    text.toUTF8String(out[i]);
  }
  return absl::OkStatus();
}

}  // namespace

void add_letters(Registry& ops) {
  ops.add("StringLower", [](Call& call, In<std::string> x, const Encoding& encoding) {
    return change(
        call, x, encoding, [](std::string* s) { absl::AsciiStrToLower(s); }, [](icu::UnicodeString& s) { s.toLower(icu::Locale::getRoot()); });
  });
  ops.add("StringUpper", [](Call& call, In<std::string> x, const Encoding& encoding) {
    return change(
        call, x, encoding, [](std::string* s) { absl::AsciiStrToUpper(s); }, [](icu::UnicodeString& s) { s.toUpper(icu::Locale::getRoot()); });
  });
  ops.cost({"StringLower", "StringUpper"}, 100);
}

}  // namespace troupe
