// Text in any encoding to code points and back.
#pragma once

#include <troupe/ops/binding.hpp>

#include <unicode/uchar.h>
#include <unicode/ucnv.h>
#include <unicode/unistr.h>

#include <memory>
#include <string>

namespace troupe {

/// What is done about bytes that are no characters.
struct UnicodeErrors {
  std::int32_t replacement = 0xfffd;
  bool drop = false, refuse = false;
  bool control_characters = false;  // count as errors too

  static StatusOr<UnicodeErrors> make(Binding& binding);
  bool concerns(std::int32_t code, bool malformed) const { return malformed || (control_characters && code <= 0x1f); }
};

/// Decodes one text after another; each call of a kernel needs its own.
class UnicodeDecoder {
 public:
  static StatusOr<UnicodeDecoder> open(const std::string& encoding);

  /// Calls f(code point, bytes it took, whether these were malformed) along the text.
  template <class F>
  void each(const std::string& text, F&& f) {
    UErrorCode status = U_ZERO_ERROR;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
      const char* const before = at;
      *malformed_ = false;
      const UChar32 code = ucnv_getNextUChar(converter_.get(), &at, end, &status);
      if (U_FAILURE(status)) at = end;
      f(static_cast<std::int32_t>(code), static_cast<std::int64_t>(at - before), *malformed_);
    }
  }

 private:
  struct Close {
    void operator()(UConverter* converter) const { ucnv_close(converter); }
  };
  std::unique_ptr<UConverter, Close> converter_;
  std::unique_ptr<bool> malformed_;  // set by the converter's callback, hence at a fixed place
};

enum class UnicodeForm { utf8, utf16_be, utf32_be };
StatusOr<UnicodeForm> unicode_form(const std::string& name);
std::string encode_unicode(const icu::UnicodeString& text, UnicodeForm form);

}  // namespace troupe
