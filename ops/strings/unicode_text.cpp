// Decoding and encoding of text through ICU.
#include <troupe/ops/strings/unicode_text.hpp>

#include <unicode/schriter.h>
#include <unicode/ucnv_err.h>

namespace troupe {
namespace {

void note_malformed(const void* context, UConverterToUnicodeArgs* args, const char* bytes, std::int32_t length, UConverterCallbackReason reason,
                    UErrorCode* status) {
  if (reason == UCNV_UNASSIGNED || reason == UCNV_ILLEGAL || reason == UCNV_IRREGULAR) *static_cast<bool*>(const_cast<void*>(context)) = true;
  UCNV_TO_U_CALLBACK_SUBSTITUTE(nullptr, args, bytes, length, reason, status);
}

}  // namespace

StatusOr<UnicodeErrors> UnicodeErrors::make(Binding& binding) {
  UnicodeErrors e;
  TRY_ASSIGN(const auto policy, binding.attr<std::string>("errors"));
  e.drop = policy == "ignore";
  e.refuse = policy == "strict";
  if (!e.drop && !e.refuse && policy != "replace") return invalid("errors policy must be one of 'strict', 'replace', or 'ignore'");
  TRY_ASSIGN(const auto replacement, binding.attr<std::int64_t>("replacement_char"));
  if (replacement < UCHAR_MIN_VALUE || replacement > UCHAR_MAX_VALUE) return invalid("replacement_char out of unicode codepoint range");
  e.replacement = static_cast<std::int32_t>(replacement);
  if (binding.find("replace_control_characters")) {
    TRY_ASSIGN(e.control_characters, binding.attr<bool>("replace_control_characters"));
  }
  return e;
}

StatusOr<UnicodeDecoder> UnicodeDecoder::open(const std::string& encoding) {
  UErrorCode status = U_ZERO_ERROR;
  UnicodeDecoder decoder;
  decoder.converter_.reset(ucnv_open(encoding.c_str(), &status));
  decoder.malformed_ = std::make_unique<bool>(false);
  if (U_SUCCESS(status)) ucnv_setToUCallBack(decoder.converter_.get(), note_malformed, decoder.malformed_.get(), nullptr, nullptr, &status);
  if (U_FAILURE(status)) return invalid("Could not create converter for input encoding: {}", encoding);
  return decoder;
}

StatusOr<UnicodeForm> unicode_form(const std::string& name) {
  if (name == "UTF-8") return UnicodeForm::utf8;
  if (name == "UTF-16-BE") return UnicodeForm::utf16_be;
  if (name == "UTF-32-BE") return UnicodeForm::utf32_be;
  return invalid("Invalid encoding \"{}\": Should be one of: UTF-8, UTF-16-BE, UTF-32-BE", name);
}

std::string encode_unicode(const icu::UnicodeString& text, UnicodeForm form) {
  std::string out;
  if (form == UnicodeForm::utf8) {
    text.toUTF8String(out);
  } else if (form == UnicodeForm::utf16_be) {
    for (std::int32_t i = 0; i < text.length(); ++i) {
      out += static_cast<char>(text[i] >> 8);
      out += static_cast<char>(text[i] & 0xff);
    }
  } else {
    for (icu::StringCharacterIterator at(text); at.hasNext();) {
      const auto code = static_cast<std::uint32_t>(at.next32PostInc());
      for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(code >> shift);
    }
  }
  return out;
}

}  // namespace troupe
