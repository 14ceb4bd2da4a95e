// Numbers to text and back.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/strings/numbers.hpp>

#include <cstdio>

namespace troupe {
namespace {

template <class T>
std::optional<T> parse(std::string_view text) {
  if constexpr (std::is_integral_v<T>) return parse_integer<T>(text);
  else return parse_float<T>(text);
}

template <class T>
Status to_numbers(Call& call, const In<std::string>& x) {
  T* out = call.alloc<T>(0, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const auto value = parse<T>(x[i]);
    if (!value) return invalid("StringToNumberOp could not correctly convert string: {}", x[i]);
    out[i] = *value;
  }
  return absl::OkStatus();
}

/// The format of AsString, checked when the node is bound.
struct NumberFormat {
  std::string flags;  // between % and the conversion
  char real = 'f';

  static StatusOr<NumberFormat> make(Binding& binding) {
    TRY_ASSIGN(DType dtype, binding.attr<DType>("T"));
    TRY_ASSIGN(std::int64_t precision, binding.attr<std::int64_t>("precision"));
    TRY_ASSIGN(bool scientific, binding.attr<bool>("scientific"));
    TRY_ASSIGN(bool shortest, binding.attr<bool>("shortest"));
    TRY_ASSIGN(std::int64_t width, binding.attr<std::int64_t>("width"));
    TRY_ASSIGN(std::string fill, binding.attr<std::string>("fill"));
    const bool is_text = dtype == DType::string;  // takes any format; only its width matters
    const bool is_real = is_text || dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32 || dtype == DType::f64 ||
                         dtype == DType::c64 || dtype == DType::c128;
    if (!is_real && (scientific || shortest)) return invalid("scientific and shortest format not supported for datatype {}", name_of(dtype));
    if (!is_real && precision > -1) return invalid("precision not supported for datatype {}", name_of(dtype));
    if (scientific && shortest) return invalid("Cannot select both scientific and shortest notation");
    if (fill.size() > 1) return invalid("Fill string must be one or fewer characters");
    if (!fill.empty() && std::string_view(" +-0#").find(fill[0]) == std::string_view::npos)
      return invalid("Fill argument not supported: \"{}\"", fill);
    NumberFormat format{fill, scientific ? 'e' : shortest ? 'g' : 'f'};
    if (width > -1) format.flags += std::to_string(width);
    if (precision > -1 && !is_text) format.flags += '.' + std::to_string(precision);
    return format;
  }

  template <class... A>
  static std::string print(const std::string& format, A... values) {
    const int n = std::snprintf(nullptr, 0, format.c_str(), values...);
    if (n < 0) return {};
    std::string text(static_cast<std::size_t>(n), '\0');
    std::snprintf(text.data(), text.size() + 1, format.c_str(), values...);
    return text;
  }

  template <class T>
  std::string operator()(const T& x) const {
    const std::string one = '%' + flags;
    if constexpr (std::is_same_v<T, bool>) return x ? "true" : "false";
    else if constexpr (std::is_same_v<T, std::string>) return print(one + 's', x.c_str());
    else if constexpr (is_complex<T>)
      return print('(' + one + real + ',' + one + real + ')', static_cast<double>(x.real()), static_cast<double>(x.imag()));
    else if constexpr (is_floating<T>) return print(one + real, static_cast<double>(x));
    else if constexpr (std::is_signed_v<T>) return print(one + "lld", static_cast<long long>(x));
    else return print(one + "llu", static_cast<unsigned long long>(x));
  }
};

}  // namespace

void add_conversions(Registry& ops) {
  ops.add("StringToNumber", [](Call& call, In<std::string> x, Attr<"out_type", DType> type) {
    switch (*type) {
      case DType::f64: return to_numbers<double>(call, x);
      case DType::i32: return to_numbers<std::int32_t>(call, x);
      case DType::i64: return to_numbers<std::int64_t>(call, x);
      default: return to_numbers<float>(call, x);
    }
  });
  ops.add("AsString", [](Call& call, Any x, State<NumberFormat> format) {
    std::string* out = call.alloc<std::string>(0, x->shape());
    visit_dtype(joined<numbers, types<bool, std::string>>{}, x->dtype(), [&]<class T>() {
      for (std::int64_t i = 0; i < x->size(); ++i) out[i] = (*format)(x->data<T>()[i]);
    });
  });
}

}  // namespace troupe
