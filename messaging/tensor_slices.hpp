// Tensors in slices: TensorProto read and written without copying its content where that can be.
#pragma once

#include <troupe/messaging/messages.hpp>
#include <troupe/messaging/slices.hpp>

#include <string>

namespace troupe {

/// What TensorFlow answers to a body it cannot read.
Status unreadable();

/// Reads a TensorProto from a reader of just its bytes.
StatusOr<Tensor> read_tensor(SliceReader bytes);
/// Reads a NamedTensorProto from a reader of just its bytes.
StatusOr<NamedTensor> read_named_tensor(SliceReader bytes);

/// A TensorProto about to be written: its size is known before its bytes.
class TensorField {
 public:
  /// How a scalar's shape and an empty content are written.
  enum class Style {
    as_protobuf,   // a shape always, no empty content
    as_rendezvous  // no shape for scalars, content always
  };
  TensorField(const Tensor& tensor, Style style);
  std::size_t size() const;
  void write(SliceWriter& out) const;

 private:
  const Tensor& tensor_;
  std::string head_;     // up to and with the content's length
  std::string objects_;  // content of tensors whose elements are objects
  std::size_t content_size_ = 0;
};

void write_named_tensor(SliceWriter& out, int field, const NamedTensor& named);

}  // namespace troupe
