// Attributes that need more than one call to set.
#include <troupe/ops/builder/attr.hpp>

#include <troupe/messaging/tensor_codec.hpp>

namespace troupe::build {

Attr::Attr(const Shape& value) { to_proto(value, value_.mutable_shape()); }
Attr::Attr(const PartialShape& value) { to_proto(value, value_.mutable_shape()); }
Attr::Attr(const Tensor& value) { to_proto(value, value_.mutable_tensor()); }

Attr::Attr(const std::vector<std::int64_t>& value) {
  auto* list = value_.mutable_list();
  for (std::int64_t v : value) list->add_i(v);
}
Attr::Attr(const std::vector<int>& value) {
  auto* list = value_.mutable_list();
  for (int v : value) list->add_i(v);
}
Attr::Attr(const std::vector<std::string>& value) {
  auto* list = value_.mutable_list();
  for (const auto& v : value) list->add_s(v);
}
Attr::Attr(const std::vector<DType>& value) {
  auto* list = value_.mutable_list();
  for (DType v : value) list->add_type(static_cast<wire::DataType>(v));
}
Attr::Attr(const std::vector<PartialShape>& value) {
  auto* list = value_.mutable_list();
  for (const auto& v : value) to_proto(v, list->add_shape());
}

}  // namespace troupe::build
