// What is not finite: IsNan, IsInf, IsFinite, CheckNumerics.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace troupe {
namespace {

struct Abnormal {
  bool nan = false, positive = false, negative = false;
};

template <class T>
Abnormal abnormal_in(const In<T>& x) {
  Abnormal found;
  for (const T& value : x.values()) {
    const auto v = static_cast<Computed<T>>(value);
    if (std::isfinite(v)) continue;
    if (std::isnan(v)) found.nan = true;
    else (v > 0 ? found.positive : found.negative) = true;
  }
  return found;
}

/// "a", "a and b", "a, b, and c".
std::string enumerated(const std::vector<std::string>& names) {
  if (names.size() == 1) return names[0];
  if (names.size() == 2) return names[0] + " and " + names[1];
  return names[0] + ", " + names[1] + ", and " + names[2];
}

Status refuse(const std::vector<std::string>& names, const std::string& message) {
  return invalid("{} : Tensor had {} values", message, enumerated(names));
}

Status check_plain(const Abnormal& found, const std::string& message) {
  std::vector<std::string> names;
  if (found.positive || found.negative) names.push_back("Inf");
  if (found.nan) names.push_back("NaN");
  return names.empty() ? absl::OkStatus() : refuse(names, message);
}

Status check_signed(const Abnormal& found, const std::string& message) {
  std::vector<std::string> names;
  if (found.negative) names.push_back("-Inf");
  if (found.positive) names.push_back("+Inf");
  if (found.nan) names.push_back("NaN");
  return names.empty() ? absl::OkStatus() : refuse(names, message);
}

}  // namespace

void add_checks(Registry& ops) {
  each1<bool>(ops, {"IsNan"}, floats{}, []<class T>(const T& x) { return std::isnan(static_cast<Computed<T>>(x)); });
  each1<bool>(ops, {"IsInf"}, floats{}, []<class T>(const T& x) { return std::isinf(static_cast<Computed<T>>(x)); });
  each1<bool>(ops, {"IsFinite"}, floats{}, []<class T>(const T& x) { return std::isfinite(static_cast<Computed<T>>(x)); });
  ops.add({"CheckNumerics"}, floats{}, []<class T>(Call& call, In<T> x, Attr<"message", std::string> message) -> Status {
    call.set(0, x.tensor);
    return check_plain(abnormal_in(x), message);
  });
  ops.add({"CheckNumericsV2"}, floats{}, []<class T>(Call& call, In<T> x, Attr<"message", std::string> message) -> Status {
    call.set(0, x.tensor);
    return check_signed(abnormal_in(x), message);
  });
}

}  // namespace troupe
