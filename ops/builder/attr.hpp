// Attributes of nodes, made from plain C++ values.
#pragma once

#include <troupe/wire/attr_value.pb.h>
#include <troupe/messaging/tensor.hpp>

#include <concepts>
#include <string>
#include <utility>
#include <vector>

namespace troupe::build {

class Attr {
 public:
  template <std::same_as<bool> B>
  Attr(B value) {
    value_.set_b(value);
  }
  template <std::integral I>
  requires(!std::same_as<I, bool>) Attr(I value) { value_.set_i(value); }
  template <std::floating_point F>
  Attr(F value) {
    value_.set_f(static_cast<float>(value));
  }
  Attr(const char* value) { value_.set_s(value); }
  Attr(const std::string& value) { value_.set_s(value); }
  Attr(DType value) { value_.set_type(static_cast<wire::DataType>(value)); }
  Attr(const Shape& value);
  Attr(const PartialShape& value);
  Attr(const Tensor& value);
  Attr(const std::vector<std::int64_t>& value);
  Attr(const std::vector<int>& value);
  Attr(const std::vector<std::string>& value);
  Attr(const std::vector<DType>& value);
  Attr(const std::vector<PartialShape>& value);
  Attr(wire::AttrValue value) : value_(std::move(value)) {}

  const wire::AttrValue& proto() const { return value_; }

 private:
  wire::AttrValue value_;
};

using Attrs = std::vector<std::pair<std::string, Attr>>;

}  // namespace troupe::build
