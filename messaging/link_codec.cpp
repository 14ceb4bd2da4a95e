// Frames of a link to and from bytes: protobuf's wire format, one field per frame.
#include <troupe/messaging/link_codec.hpp>

#include <troupe/wire/payloads.pb.h>
#include <troupe/messaging/step_codec.hpp>
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/messaging/tensor_slices.hpp>

#include <charconv>
#include <optional>

namespace troupe {
namespace {

enum Kind { hello = 1, ran, push, abort_step, run, cancel, cleanup, want, unwant, invitation, have_mapped, released, brought };

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// Handles of sessions and graphs are numbers in 16 hexadecimal digits; a number is what travels.
std::optional<std::uint64_t> number_of(const std::string& handle) {
  std::uint64_t number = 0;
  if (handle.size() != 16) return std::nullopt;
  const auto [end, failed] = std::from_chars(handle.data(), handle.data() + 16, number, 16);
  if (failed != std::errc() || end != handle.data() + 16 || fmt::format("{:016x}", number) != handle) return std::nullopt;
  return number;
}

/// A request that says no more than which graph to run in which step.
bool is_plain(const RunGraphRequest& r) {
  return r.sends.empty() && r.receive_keys.empty() && !r.is_partial && !r.is_last_partial_run && r.create_worker_session_called &&
         r.store_errors_in_response_body && r.options->ByteSizeLong() == 0;
}

template <class T>
bool number(SliceReader& in, T& out) {
  std::uint64_t value = 0;
  const bool ok = in.read_varint(&value);
  out = static_cast<T>(value);
  return ok;
}

bool read(SliceReader in, LinkHello& frame) {
  return in.read_fields([&](std::uint32_t tag) {
    if (tag == varint_field(1)) return number(in, frame.incarnations.emplace_back());
    return tag == bytes_field(2) ? in.read_text(&frame.machine) : in.skip_value(tag);
  });
}

bool read(SliceReader in, LinkRan& frame, Status& failure) {
  return in.read_fields([&](std::uint32_t tag) {
    if (tag == varint_field(1)) return number(in, frame.call);
    if (tag != bytes_field(2)) return in.skip_value(tag);
    SliceReader body = in;
    if (!in.read_bytes(&body)) return false;
    auto response = decode_run_graph_response(body);
    if (!response.ok()) return failure = response.status(), false;
    frame.response = *std::move(response);
    return true;
  });
}

/// A tensor that lies elsewhere: its bytes must be as many as its type and shape say.
bool place_tensor(LinkPush& frame, DType dtype, const wire::TensorShapeProto& proto) {
  auto shape = shape_from_proto(proto);
  if (!shape.ok() || is_object(dtype) || is_ref(dtype) || dtype == DType::boolean || size_of(dtype) == 0) return false;
  if (frame.place->bytes / size_of(dtype) != static_cast<std::uint64_t>(shape->elements()) || frame.place->bytes % size_of(dtype) != 0) return false;
  frame.value.tensor = Tensor(dtype, *std::move(shape), nullptr);
  return true;
}

bool read(SliceReader in, LinkPush& frame, Status& failure) {
  std::optional<SliceReader> tensor;
  LinkPlace place;
  int dtype = 0;
  wire::TensorShapeProto shape;
  const bool ok = in.read_fields([&](std::uint32_t tag) {
    switch (tag) {
      case varint_field(1): return number(in, frame.want);
      case varint_field(2): return number(in, frame.step);
      case bytes_field(3): return in.read_text(&frame.key);
      case varint_field(4): return number(in, frame.value.is_dead);
      case bytes_field(5): return in.read_bytes(&tensor.emplace(in));
      case varint_field(6): return number(in, place.offset);
      case varint_field(7): return number(in, place.bytes);
      case varint_field(8): return number(in, dtype);
      case bytes_field(9): return in.read_message(&shape);
      default: return in.skip_value(tag);
    }
  });
  if (!ok) return false;
  if (place.bytes > 0) {
    frame.place = place;
    return place_tensor(frame, static_cast<DType>(dtype), shape);
  }
  if (!tensor && !frame.value.is_dead) return false;
  if (!tensor) return true;
  auto value = read_tensor(*tensor);
  if (!value.ok()) return failure = value.status(), false;
  frame.value.tensor = *std::move(value);
  return true;
}

bool read(SliceReader in, LinkAbort& frame) {
  std::uint64_t code = 0;
  std::string text;
  wire::GrpcPayloadContainer payloads;
  const bool ok = in.read_fields([&](std::uint32_t tag) {
    switch (tag) {
      case varint_field(1): return number(in, frame.step);
      case varint_field(2): return number(in, code);
      case bytes_field(3): return in.read_text(&text);
      case bytes_field(4): return in.read_message(&payloads);
      default: return in.skip_value(tag);
    }
  });
  if (!ok || code == 0 || code > 16) return false;
  frame.reason = make_status(static_cast<Code>(code), text);
  for (const auto& [key, value] : payloads.payloads()) frame.reason.SetPayload(key, absl::Cord(value));
  return true;
}

bool read(SliceReader in, LinkRun& frame, Status& failure) {
  return in.read_fields([&](std::uint32_t tag) {
    std::uint64_t value = 0;
    switch (tag) {
      case varint_field(1): return number(in, frame.call);
      case varint_field(2):
        if (!in.read_varint(&value)) return false;
        frame.request.session_handle = fmt::format("{:016x}", value);
        frame.request.create_worker_session_called = frame.request.store_errors_in_response_body = true;
        return true;
      case varint_field(3):
        if (!in.read_varint(&value)) return false;
        frame.request.graph_handle = fmt::format("{:016x}", value);
        return true;
      case varint_field(4): return number(in, frame.request.step_id);
      case bytes_field(5): {
        SliceReader body = in;
        if (!in.read_bytes(&body)) return false;
        auto request = decode_run_graph(body);
        if (!request.ok()) return failure = request.status(), false;
        frame.request = *std::move(request);
        return true;
      }
      default: return in.skip_value(tag);
    }
  });
}

bool read(SliceReader in, LinkWant& frame) {
  return in.read_fields([&](std::uint32_t tag) {
    switch (tag) {
      case varint_field(1): return number(in, frame.number);
      case bytes_field(2): return in.read_text(&frame.session);
      case bytes_field(3): return in.read_text(&frame.task);
      default: return in.skip_value(tag);
    }
  });
}

bool read(SliceReader in, LinkInvite& frame) {
  return in.read_fields([&](std::uint32_t tag) {
    switch (tag) {
      case bytes_field(1): return in.read_text(&frame.socket);
      case bytes_field(2): return in.read_text(&frame.secret);
      default: return in.skip_value(tag);
    }
  });
}

/// Reads one frame's body into a new frame of its kind.
template <class Frame>
bool read_frame(SliceReader& in, std::vector<LinkFrame>& frames, Status& failure) {
  SliceReader body = in;
  if (!in.read_bytes(&body)) return false;
  auto& frame = std::get<Frame>(frames.emplace_back(std::in_place_type<Frame>));
  if constexpr (requires { read(body, frame, failure); }) return read(body, frame, failure);
  else return read(body, frame);
}

template <class Frame, class T>
bool read_number(SliceReader& in, std::vector<LinkFrame>& frames, T Frame::*member) {
  return number(in, std::get<Frame>(frames.emplace_back(std::in_place_type<Frame>)).*member);
}

}  // namespace

void write(SliceWriter& out, const LinkHello& frame) {
  SliceWriter body;
  for (std::uint64_t incarnation : frame.incarnations) body.varint_value(1, incarnation);
  body.optional_text(2, frame.machine);
  out.nested(hello, std::move(body));
}

void write(SliceWriter& out, std::uint64_t call, const RunGraphResponse& response) {
  SliceWriter inner, body;
  write(inner, response);
  body.varint_value(1, call);
  body.nested(2, std::move(inner));
  out.nested(ran, std::move(body));
}

void write_push(SliceWriter& out, std::uint64_t want, std::int64_t step, const std::string& key, const RecvTensorResponse& value,
                std::optional<LinkPlace> place) {
  static const Tensor nothing = Tensor::zeros(DType::f32, Shape{0});
  SliceWriter body;
  body.varint_value(1, want);
  body.varint_value(2, bits(step));
  body.text(3, key);
  body.optional_varint(4, value.is_dead);
  if (place) {
    wire::TensorShapeProto shape;
    to_proto(value.tensor.shape(), &shape);
    body.varint_value(6, place->offset);
    body.varint_value(7, place->bytes);
    body.varint_value(8, static_cast<std::uint64_t>(value.tensor.dtype()));
    body.message(9, shape);
  } else if (!value.is_dead) {
    const TensorField tensor(value.tensor.valid() ? value.tensor : nothing, TensorField::Style::as_rendezvous);
    body.begin_bytes(5, tensor.size());
    tensor.write(body);
  }
  out.nested(push, std::move(body));
}

void write(SliceWriter& out, const LinkAbort& frame) {
  SliceWriter body;
  body.varint_value(1, bits(frame.step));
  body.varint_value(2, static_cast<std::uint64_t>(frame.reason.code()));
  body.optional_text(3, text_of(frame.reason));
  wire::GrpcPayloadContainer payloads;
  frame.reason.ForEachPayload([&](absl::string_view key, const absl::Cord& value) {
    (*payloads.mutable_payloads())[std::string(key.data(), key.size())] = std::string(value);
  });
  if (!payloads.payloads().empty()) body.message(4, payloads);
  out.nested(abort_step, std::move(body));
}

void write(SliceWriter& out, std::uint64_t call, const RunGraphRequest& request) {
  SliceWriter body;
  body.varint_value(1, call);
  const auto session = number_of(request.session_handle), graph = number_of(request.graph_handle);
  if (session && graph && is_plain(request)) {
    body.varint_value(2, *session);
    body.varint_value(3, *graph);
    body.varint_value(4, bits(request.step_id));
  } else {
    SliceWriter inner;
    write(inner, request);
    body.nested(5, std::move(inner));
  }
  out.nested(run, std::move(body));
}

void write(SliceWriter& out, const LinkCancel& frame) { out.varint_value(cancel, frame.call); }

void write(SliceWriter& out, const LinkCleanup& frame) { out.varint_value(cleanup, bits(frame.step)); }

void write(SliceWriter& out, const LinkWant& frame) {
  SliceWriter body;
  body.varint_value(1, frame.number);
  body.text(2, frame.session);
  body.text(3, frame.task);
  out.nested(want, std::move(body));
}

void write(SliceWriter& out, const LinkUnwant& frame) { out.varint_value(unwant, frame.number); }

void write(SliceWriter& out, const LinkInvite& frame) {
  SliceWriter body;
  body.text(1, frame.socket);
  body.text(2, frame.secret);
  out.nested(invitation, std::move(body));
}

void write(SliceWriter& out, const LinkBrought& frame) { out.varint_value(brought, frame.yes); }

void write(SliceWriter& out, const LinkMapped& frame) { out.varint_value(have_mapped, frame.yes); }

void write(SliceWriter& out, const LinkRelease& frame) { out.varint_value(released, frame.offset); }

StatusOr<std::vector<LinkFrame>> decode_link(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  if (message.Valid() && !message.Dump(&slices).ok()) return unreadable();
  SliceReader in(slices);
  std::vector<LinkFrame> frames;
  Status failure;
  const bool ok = in.read_fields([&](std::uint32_t tag) {
    switch (tag) {
      case bytes_field(hello): return read_frame<LinkHello>(in, frames, failure);
      case bytes_field(ran): return read_frame<LinkRan>(in, frames, failure);
      case bytes_field(push): return read_frame<LinkPush>(in, frames, failure);
      case bytes_field(abort_step): return read_frame<LinkAbort>(in, frames, failure);
      case bytes_field(run): return read_frame<LinkRun>(in, frames, failure);
      case varint_field(cancel): return read_number(in, frames, &LinkCancel::call);
      case varint_field(cleanup): return read_number(in, frames, &LinkCleanup::step);
      case bytes_field(want): return read_frame<LinkWant>(in, frames, failure);
      case varint_field(unwant): return read_number(in, frames, &LinkUnwant::number);
      case bytes_field(invitation): return read_frame<LinkInvite>(in, frames, failure);
      case varint_field(brought): return read_number(in, frames, &LinkBrought::yes);
      case varint_field(have_mapped): return read_number(in, frames, &LinkMapped::yes);
      case varint_field(released): return read_number(in, frames, &LinkRelease::offset);
      default: return in.skip_value(tag);
    }
  });
  if (!failure.ok()) return failure;
  if (!ok) return unreadable();
  return frames;
}

}  // namespace troupe
