// Strings as code points: decoded, encoded, transcoded, and the scripts they belong to.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/strings/unicode_text.hpp>

#include <unicode/uscript.h>

#include <limits>

namespace troupe {
namespace {

/// The attributes that say how text is read.
struct ReadOptions {
  std::string encoding;
  UnicodeErrors errors;

  static StatusOr<ReadOptions> make(Binding& binding) {
    ReadOptions o;
    TRY_ASSIGN(o.errors, UnicodeErrors::make(binding));
    TRY_ASSIGN(o.encoding, binding.attr<std::string>("input_encoding"));
    TRY(UnicodeDecoder::open(o.encoding).status());
    return o;
  }
};

/// The attributes that say how text is written.
struct WriteOptions {
  UnicodeForm form = UnicodeForm::utf8;
  UnicodeErrors errors;

  static StatusOr<WriteOptions> make(Binding& binding) {
    WriteOptions o;
    TRY_ASSIGN(const auto name, binding.attr<std::string>("output_encoding"));
    TRY_ASSIGN(o.form, unicode_form(name));
    TRY_ASSIGN(o.errors, UnicodeErrors::make(binding));
    return o;
  }
};

Status malformed() { return invalid("Invalid formatting on input string"); }

Status transcode(Call& call, const In<std::string>& x, const ReadOptions& from, const WriteOptions& to) {
  TRY_ASSIGN(auto decoder, UnicodeDecoder::open(from.encoding));
  std::string* out = call.alloc<std::string>(0, x.shape());
  bool wrong = false;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (x[i].size() > std::numeric_limits<std::int32_t>::max() / 4)
      return resource_exhausted("A string of {} bytes is too long to transcode", x[i].size());
    icu::UnicodeString text;
    decoder.each(x[i], [&](std::int32_t code, std::int64_t, bool bad) {
      if (from.errors.concerns(code, bad)) {
        wrong = true;
        if (from.errors.drop) return;
        code = from.errors.replacement;
      }
      text.append(static_cast<UChar32>(code));
    });
    out[i] = encode_unicode(text, to.form);
  }
  return wrong && from.errors.refuse ? malformed() : absl::OkStatus();
}

template <class Split>
Status decode(Call& call, const In<std::string>& x, const ReadOptions& o, bool with_offsets) {
  TRY_ASSIGN(auto decoder, UnicodeDecoder::open(o.encoding));
  std::vector<std::int32_t> codes;
  std::vector<std::int64_t> offsets;
  Split* splits = call.alloc<Split>(0, Shape{x.size() + 1});
  bool wrong = false;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    *splits++ = static_cast<Split>(codes.size());
    std::int64_t offset = 0;
    decoder.each(x[i], [&](std::int32_t code, std::int64_t bytes, bool bad) {
      const std::int64_t at = std::exchange(offset, offset + bytes);
      wrong = wrong || bad;
      if (o.errors.concerns(code, bad)) {
        if (o.errors.drop) return;
        code = o.errors.replacement;
      }
      codes.push_back(code);
      offsets.push_back(at);
    });
  }
  *splits = static_cast<Split>(codes.size());
  if (wrong && o.errors.refuse) return malformed();
  call.set(1, Tensor::vector(codes));
  if (with_offsets) call.set(2, Tensor::vector(offsets));
  return absl::OkStatus();
}

template <class Split>
Status encode(Call& call, const In<std::int32_t>& codes, const In<Split>& splits, const WriteOptions& o) {
  if (splits.size() == 0) return invalid("Input_splits should contain elements, but given input_values has 0 elements");
  if (splits[0] != 0) return invalid("First value in input_splits must be zero.");
  if (splits[splits.size() - 1] != codes.size()) return invalid("Last value in input_splits must be equal to length of input_tensor.");
  for (std::int64_t i = 1; i < splits.size(); ++i) {
    if (splits[i] < splits[i - 1]) return invalid("Values in input_splits must be equal or in ascending order.");
    if (splits[i] > codes.size()) return invalid("Values in input_splits must be less than or equal to input_tensor length.");
  }
  std::string* out = call.alloc<std::string>(0, Shape{splits.size() - 1});
  for (std::int64_t i = 1; i < splits.size(); ++i) {
    icu::UnicodeString text;
    for (std::int64_t k = splits[i - 1]; k < splits[i]; ++k) {
      std::int32_t code = codes[k];
      if (!U_IS_UNICODE_CHAR(code)) {
        if (o.errors.refuse) return invalid("Code point is out of range for Unicode, or a noncharacter.");
        if (o.errors.drop) continue;
        code = o.errors.replacement;
      }
      text.append(static_cast<UChar32>(code));
    }
    out[i - 1] = encode_unicode(text, o.form);
  }
  return absl::OkStatus();
}

/// TensorFlow's tables are those of Unicode 13: what came later belongs to no script.
std::int32_t script_of(std::int32_t code) {
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(code, &status);
  if (U_FAILURE(status)) return USCRIPT_INVALID_CODE;
  UVersionInfo age;
  u_charAge(code, age);
  return age[0] > 13 ? USCRIPT_UNKNOWN : script;
}

}  // namespace

void add_unicode(Registry& ops) {
  ops.add("UnicodeTranscode",
          [](Call& call, In<std::string> x, const ReadOptions& from, const WriteOptions& to) { return transcode(call, x, from, to); });
  ops.add("UnicodeDecode", On<"Tsplits", indices>{},
          []<class Split>(Call& call, In<std::string> x, const ReadOptions& o, Gives<Split>) { return decode<Split>(call, x, o, false); });
  ops.add("UnicodeDecodeWithOffsets", On<"Tsplits", indices>{},
          []<class Split>(Call& call, In<std::string> x, const ReadOptions& o, Gives<Split>) { return decode<Split>(call, x, o, true); });
  ops.add("UnicodeEncode", On<"Tsplits", indices>{},
          []<class Split>(Call& call, In<std::int32_t> codes, In<Split> splits, const WriteOptions& o) { return encode(call, codes, splits, o); });
  ops.add("UnicodeScript", [](Call& call, In<std::int32_t> codes) {
    std::int32_t* out = call.alloc<std::int32_t>(0, codes.shape());
    for (std::int64_t i = 0; i < codes.size(); ++i) out[i] = script_of(codes[i]);
  });
  ops.cost({"UnicodeTranscode", "UnicodeDecode", "UnicodeDecodeWithOffsets"}, 200);
}

}  // namespace troupe
