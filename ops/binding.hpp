// What a kernel learns of its node once, when the graph is registered: attributes, types, argument ranges.
#pragma once

#include <troupe/wire/node_def.pb.h>
#include <troupe/wire/op_def.pb.h>
#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/call.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Types of a node's inputs and outputs in order, and where each argument of the op definition begins.
struct Signature {
  std::vector<DType> inputs, outputs;
  std::vector<int> input_begin, output_begin;  // one more entry than arguments
};

/// Resolves an op definition's arguments with a node's attributes (defaults already filled in).
StatusOr<Signature> resolve_signature(const wire::NodeDef& node, const wire::OpDef& op);

class Binding {
 public:
  Binding(const wire::NodeDef& node, const wire::OpDef& op, const Signature& signature) : node_(node), op_(op), signature_(signature) {}

  const wire::NodeDef& node() const { return node_; }
  const wire::OpDef& op() const { return op_; }
  const Signature& signature() const { return signature_; }
  const wire::AttrValue* find(std::string_view attr) const;

  /// Reads an attribute as bool, int64_t, int32_t, float, std::string, DType, PartialShape, Tensor, wire::NameAttrList or a std::vector of the simple ones.
  template <class T>
  StatusOr<T> attr(std::string_view name) const;

  /// Inputs that the next argument of the definition stands for; signatures of kernels take arguments in order.
  StatusOr<std::pair<int, int>> next_argument();

 private:
  const wire::NodeDef& node_;
  const wire::OpDef& op_;
  const Signature& signature_;
  std::size_t argument_ = 0;
};

#define TROUPE_ATTR(Type) \
  template <>             \
  StatusOr<Type> Binding::attr<Type>(std::string_view name) const;
TROUPE_ATTR(bool)
TROUPE_ATTR(std::int64_t)
TROUPE_ATTR(std::int32_t)
TROUPE_ATTR(float)
TROUPE_ATTR(std::string)
TROUPE_ATTR(DType)
TROUPE_ATTR(PartialShape)
TROUPE_ATTR(Tensor)
TROUPE_ATTR(wire::NameAttrList)
TROUPE_ATTR(std::vector<bool>)
TROUPE_ATTR(std::vector<std::int64_t>)
TROUPE_ATTR(std::vector<std::int32_t>)
TROUPE_ATTR(std::vector<float>)
TROUPE_ATTR(std::vector<std::string>)
TROUPE_ATTR(std::vector<DType>)
TROUPE_ATTR(std::vector<PartialShape>)
TROUPE_ATTR(std::vector<wire::NameAttrList>)
#undef TROUPE_ATTR

}  // namespace troupe
