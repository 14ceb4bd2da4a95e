// Layout of tensor values as text.
#include <troupe/ops/logging/summarize.hpp>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <functional>

namespace troupe {
namespace {

/// Text of the element at an offset.
using Element = std::function<std::string(std::int64_t)>;

template <class T>
std::string number(const T& x) {
  if constexpr (std::is_floating_point_v<T>) return shortest(x);
  else if constexpr (is_floating<T>) return shortest(static_cast<float>(x));
  else if constexpr (is_complex<T>) return "?";
  else if constexpr (std::is_integral_v<T>)
    return fmt::format("{}", static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(x));
  else return fmt::format("{}", static_cast<int>(x.value));
}

Element elements_of(const Tensor& t, bool quoted) {
  if (t.dtype() == DType::string)
    return [&t, quoted](std::int64_t i) {
      const std::string text = escaped(t.data<std::string>()[i]);
      return quoted ? '"' + text + '"' : text;
    };
  Element element = [](std::int64_t) { return std::string("?"); };
  visit_dtype(plain_types{}, t.dtype(), [&]<class T>() { element = [&t](std::int64_t i) { return number(t.data<T>()[i]); }; });
  return element;
}

struct FlatPrinter {
  const Shape& shape;
  const Element& element;
  std::int64_t limit, at = 0;
  std::string out;

  void dimension(int d) {
    if (at >= limit) return;
    for (std::int64_t i = 0; i < shape.dim(d); ++i) {
      if (d == shape.rank() - 1) {
        if (at >= limit) {
          if (d != 0) out += "...";
          return;
        }
        if (i > 0) out += ' ';
        out += element(at++);
      } else if (at < limit) {
        out += '[';
        dimension(d + 1);
        out += ']';
      }
    }
  }
};

struct NestedPrinter {
  const Shape& shape;
  const Element& element;
  std::int64_t ends;
  std::string out;

  void spacing(int d) {
    const int rank = shape.rank();
    if (d == rank - 1) {
      out += ' ';
      return;
    }
    out.append(static_cast<std::size_t>(rank - d - 1), '\n');
    out.append(static_cast<std::size_t>(d + 1), ' ');
  }
  void dimension(int d, std::int64_t at) {
    if (d == shape.rank()) {
      out += element(at);
      return;
    }
    const std::int64_t n = shape.dim(d), step = shape.elements(d + 1, shape.rank());
    out += '[';
    for (std::int64_t i = 0; i < std::min(ends, n); ++i) {
      if (i > 0) spacing(d);
      dimension(d + 1, at + i * step);
    }
    // Compared this way round, a great number of ends does not overflow.
    if (n - ends > ends) {
      spacing(d);
      out += "...";
    }
    for (std::int64_t i = std::max(ends, n - ends); i < n; ++i) {
      spacing(d);
      dimension(d + 1, at + i * step);
    }
    out += ']';
  }
};

template <class T>
std::string printed(T x, int digits, T (*parse)(const char*, char**)) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(x));
  if (parse(text, nullptr) != x) std::snprintf(text, sizeof text, "%.*g", digits + (sizeof(T) == 4 ? 3 : 2), static_cast<double>(x));
  return text;
}

}  // namespace

std::string shortest(float x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return printed<float>(x, FLT_DIG, std::strtof);
}

std::string shortest(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return printed<double>(x, DBL_DIG, std::strtod);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '"': out += "\\\""; break;
      case '\'': out += "\\'"; break;
      case '\\': out += "\\\\"; break;
      default:
        if (byte < 0x20 || byte == 0x7f) out += fmt::format("\\{:03o}", byte);
        else out += c;
    }
  }
  return out;
}

std::string summarize(const Tensor& tensor, std::int64_t limit) {
  const std::int64_t n = tensor.size();
  limit = limit < 0 ? n : std::min(limit, n);
  const Element element = elements_of(tensor, false);
  std::string out;
  if (tensor.rank() == 0) {
    if (limit > 0) out = element(0);
  } else {
    FlatPrinter printer{tensor.shape(), element, limit, 0, {}};
    printer.dimension(0);
    out = std::move(printer.out);
  }
  return n > limit ? out + "..." : out;
}

std::string summarize_nested(const Tensor& tensor, std::int64_t ends) {
  const Element element = elements_of(tensor, true);
  const std::int64_t n = tensor.size();
  NestedPrinter printer{tensor.shape(), element, ends < 0 ? n : std::min(ends, n), {}};
  printer.dimension(0, 0);
  return std::move(printer.out);
}

std::string describe(const Tensor& tensor) {
  return fmt::format("Tensor<type: {} shape: {} values: {}>", name_of(tensor.dtype()), tensor.shape(), summarize(tensor, 3));
}

}  // namespace troupe
