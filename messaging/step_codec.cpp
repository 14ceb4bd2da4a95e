// The hot messages to and from their wire form, field by field.
#include <troupe/messaging/step_codec.hpp>

#include <troupe/messaging/proto_bytes.hpp>
#include <troupe/messaging/slices.hpp>
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/messaging/tensor_slices.hpp>

#include <optional>

namespace troupe {
namespace {

/// Reads one message: fields are read in the order they come, the first failure is kept.
class MessageReader {
 public:
  explicit MessageReader(const grpc::ByteBuffer& bytes) : slices_(dump(bytes)), reader_(slices_) {}
  explicit MessageReader(SliceReader bytes) : reader_(bytes) {}

  /// Calls on_field(tag) for every field, which uses one of the functions below.
  template <class F>
  Status read(F&& on_field) {
    const bool ok = reader_.read_fields(on_field);
    if (!failure_.ok()) return failure_;
    return ok ? absl::OkStatus() : unreadable();
  }

  bool skip(std::uint32_t tag) { return reader_.skip_value(tag); }
  bool text(std::string& out) { return reader_.read_text(&out); }
  bool texts(std::vector<std::string>& out) { return reader_.read_text(&out.emplace_back()); }
  bool message(google::protobuf::MessageLite& out) { return reader_.read_message(&out); }
  /// Clients write empty ones too.
  template <class M>
  bool message(Seldom<M>& out) {
    SliceReader after = reader_, bytes = reader_;
    if (!after.read_bytes(&bytes)) return false;
    if (bytes.left() > 0) return reader_.read_message(&out.edit());
    reader_ = after;
    return true;
  }
  template <class T>
  bool number(T& out) {
    std::uint64_t value = 0;
    const bool ok = reader_.read_varint(&value);
    out = static_cast<T>(value);
    return ok;
  }
  bool named_tensors(std::vector<NamedTensor>& out) {
    SliceReader bytes = reader_;
    if (!reader_.read_bytes(&bytes)) return false;
    auto named = read_named_tensor(bytes);
    if (!named.ok()) return failure_ = named.status(), false;
    out.push_back(*std::move(named));
    return true;
  }
  bool bytes(std::optional<SliceReader>& out) { return reader_.read_bytes(&out.emplace(reader_)); }

 private:
  static std::vector<grpc::Slice> dump(const grpc::ByteBuffer& bytes) {
    std::vector<grpc::Slice> slices;
    if (bytes.Valid() && !bytes.Dump(&slices).ok()) slices.clear();
    return slices;
  }
  std::vector<grpc::Slice> slices_;
  SliceReader reader_;
  Status failure_;
};

/// A status as responses carry it in their body.
struct BodyStatus {
  int code = 0;
  std::string text;
  Status status() const { return code == 0 ? absl::OkStatus() : make_status(static_cast<Code>(code), text); }
};

void write_status(SliceWriter& out, int code_field, int text_field, const Status& status) {
  out.optional_varint(code_field, static_cast<std::uint64_t>(status.code()));
  out.optional_text(text_field, text_of(status));
}

void write_named_tensors(SliceWriter& out, int field, const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& named : tensors) write_named_tensor(out, field, named);
}

void write_texts(SliceWriter& out, int field, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) out.text(field, text);
}

template <class M>
void write_message(SliceWriter& out, int field, const Seldom<M>& message) {
  if (message.untouched()) out.begin_bytes(field, 0);
  else out.message(field, *message);
}
template <class M>
void optional_message(SliceWriter& out, int field, const Seldom<M>& message) {
  if (!message.untouched() && message->ByteSizeLong() > 0) out.message(field, *message);
}

/// For a tensor that comes in several parts, which protobuf merges.
StatusOr<RecvTensorResponse> decode_by_protobuf(const grpc::ByteBuffer& bytes) {
  TRY_ASSIGN(const auto proto, parsed<wire::RecvTensorResponse>(bytes));
  TRY_ASSIGN(Tensor tensor, tensor_from_proto(proto.tensor()));
  return RecvTensorResponse{std::move(tensor), proto.is_dead(), proto.send_start_micros()};
}

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace

StatusOr<RunStepRequest> decode_run_step(const grpc::ByteBuffer& bytes) {
  RunStepRequest r;
  MessageReader in(bytes);
  TRY(in.read([&](std::uint32_t tag) {
    switch (tag) {
      case bytes_field(1): return in.text(r.session_handle);
      case bytes_field(2): return in.named_tensors(r.feeds);
      case bytes_field(3): return in.texts(r.fetches);
      case bytes_field(4): return in.texts(r.targets);
      case bytes_field(5): return in.message(r.options);
      case bytes_field(6): return in.text(r.partial_run_handle);
      case varint_field(7): return in.number(r.store_errors_in_response_body);
      case varint_field(8): return in.number(r.request_id);
      default: return in.skip(tag);
    }
  }));
  return r;
}

StatusOr<RunStepResponse> decode_run_step_response(const grpc::ByteBuffer& bytes) {
  RunStepResponse r;
  BodyStatus status;
  MessageReader in(bytes);
  TRY(in.read([&](std::uint32_t tag) {
    switch (tag) {
      case bytes_field(1): return in.named_tensors(r.tensors);
      case bytes_field(2): return in.message(r.metadata);
      case varint_field(3): return in.number(status.code);
      case bytes_field(4): return in.text(status.text);
      default: return in.skip(tag);
    }
  }));
  r.status = status.status();
  return r;
}

template <class Bytes>
StatusOr<RunGraphRequest> read_run_graph(const Bytes& bytes) {
  RunGraphRequest r;
  MessageReader in(bytes);
  TRY(in.read([&](std::uint32_t tag) {
    switch (tag) {
      case bytes_field(1): return in.text(r.graph_handle);
      case varint_field(2): return in.number(r.step_id);
      case bytes_field(3): return in.named_tensors(r.sends);
      case bytes_field(4): return in.texts(r.receive_keys);
      case bytes_field(5): return in.message(r.options);
      case varint_field(6): return in.number(r.is_partial);
      case varint_field(7): return in.number(r.is_last_partial_run);
      case bytes_field(8): return in.text(r.session_handle);
      case varint_field(9): return in.number(r.store_errors_in_response_body);
      case varint_field(10): return in.number(r.create_worker_session_called);
      case varint_field(11): return in.number(r.request_id);
      default: return in.skip(tag);
    }
  }));
  return r;
}

StatusOr<RunGraphRequest> decode_run_graph(const grpc::ByteBuffer& bytes) { return read_run_graph(bytes); }
StatusOr<RunGraphRequest> decode_run_graph(SliceReader bytes) { return read_run_graph(bytes); }

template <class Bytes>
StatusOr<RunGraphResponse> read_run_graph_response(const Bytes& bytes) {
  RunGraphResponse r;
  BodyStatus status;
  MessageReader in(bytes);
  TRY(in.read([&](std::uint32_t tag) {
    switch (tag) {
      case bytes_field(1): return in.named_tensors(r.received);
      case bytes_field(2): return in.message(r.step_stats);
      case bytes_field(3): return in.message(r.cost_graph);
      case bytes_field(4): return in.message(r.partition_graphs.emplace_back());
      case varint_field(5): return in.number(status.code);
      case bytes_field(6): return in.text(status.text);
      default: return in.skip(tag);
    }
  }));
  r.status = status.status();
  return r;
}

StatusOr<RunGraphResponse> decode_run_graph_response(const grpc::ByteBuffer& bytes) { return read_run_graph_response(bytes); }
StatusOr<RunGraphResponse> decode_run_graph_response(SliceReader bytes) { return read_run_graph_response(bytes); }

StatusOr<RecvTensorRequest> decode_recv_tensor(const grpc::ByteBuffer& bytes) {
  RecvTensorRequest r;
  MessageReader in(bytes);
  TRY(in.read([&](std::uint32_t tag) {
    switch (tag) {
      case varint_field(1): return in.number(r.step_id);
      case bytes_field(2): return in.text(r.rendezvous_key);
      case varint_field(3): return in.number(r.dma_ok);
      case varint_field(7): return in.number(r.request_id);
      default: return in.skip(tag);
    }
  }));
  return r;
}

StatusOr<RecvTensorResponse> decode_recv_tensor_response(const grpc::ByteBuffer& bytes) {
  RecvTensorResponse r;
  std::optional<SliceReader> tensor;
  bool repeated = false;
  MessageReader in(bytes);
  TRY(in.read([&](std::uint32_t tag) {
    switch (tag) {
      case bytes_field(1): repeated = tensor.has_value(); return in.bytes(tensor);
      case varint_field(2): return in.number(r.is_dead);
      case varint_field(3): return in.number(r.send_start_micros);
      default: return in.skip(tag);
    }
  }));
  if (repeated) return decode_by_protobuf(bytes);
  // A dead value's tensor says nothing; the sender may have left it out.
  if (!tensor && !r.is_dead) return unreadable();
  auto value = tensor ? read_tensor(*tensor) : StatusOr<Tensor>(Tensor());
  if (!value.ok() && !r.is_dead) return value.status();
  if (value.ok()) r.tensor = *std::move(value);
  return r;
}

grpc::ByteBuffer encode(const RunStepRequest& r) {
  SliceWriter out;
  out.optional_text(1, r.session_handle);
  write_named_tensors(out, 2, r.feeds);
  write_texts(out, 3, r.fetches);
  write_texts(out, 4, r.targets);
  optional_message(out, 5, r.options);
  out.optional_text(6, r.partial_run_handle);
  out.optional_varint(7, r.store_errors_in_response_body);
  out.optional_varint(8, bits(r.request_id));
  return out.finish();
}

grpc::ByteBuffer encode(const RunStepResponse& r) {
  SliceWriter out;
  write_named_tensors(out, 1, r.tensors);
  write_message(out, 2, r.metadata);
  write_status(out, 3, 4, r.status);
  return out.finish();
}

void write(SliceWriter& out, const RunGraphRequest& r) {
  out.optional_text(1, r.graph_handle);
  out.optional_varint(2, bits(r.step_id));
  write_named_tensors(out, 3, r.sends);
  write_texts(out, 4, r.receive_keys);
  write_message(out, 5, r.options);
  out.optional_varint(6, r.is_partial);
  out.optional_varint(7, r.is_last_partial_run);
  out.optional_text(8, r.session_handle);
  out.optional_varint(9, r.store_errors_in_response_body);
  out.optional_varint(10, r.create_worker_session_called);
  out.optional_varint(11, bits(r.request_id));
}

grpc::ByteBuffer encode(const RunGraphRequest& r) {
  SliceWriter out;
  write(out, r);
  return out.finish();
}

void write(SliceWriter& out, const RunGraphResponse& r) {
  write_named_tensors(out, 1, r.received);
  optional_message(out, 2, r.step_stats);
  write_message(out, 3, r.cost_graph);
  for (const wire::GraphDef& graph : r.partition_graphs) out.message(4, graph);
  write_status(out, 5, 6, r.status);
}

grpc::ByteBuffer encode(const RunGraphResponse& r) {
  SliceWriter out;
  write(out, r);
  return out.finish();
}

grpc::ByteBuffer encode(const RecvTensorRequest& r) {
  SliceWriter out;
  out.optional_varint(1, bits(r.step_id));
  out.optional_text(2, r.rendezvous_key);
  out.optional_varint(3, r.dma_ok);
  out.optional_varint(7, bits(r.request_id));
  return out.finish();
}

grpc::ByteBuffer encode(const RecvTensorResponse& r) {
  // TensorFlow's short reader wants the tensor last, and a dtype and shape even of a dead one.
  static const Tensor nothing = Tensor::zeros(DType::f32, Shape{0});
  SliceWriter out;
  out.optional_varint(2, r.is_dead);
  out.optional_varint(3, bits(r.send_start_micros));
  const TensorField tensor(r.tensor.valid() ? r.tensor : nothing, TensorField::Style::as_rendezvous);
  out.begin_bytes(1, tensor.size());
  tensor.write(out);
  return out.finish();
}

}  // namespace troupe
