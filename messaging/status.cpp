// Payloads and text changes of statuses.
#include <troupe/messaging/status.hpp>

namespace troupe {
namespace {

constexpr const char* derived_key = "type.googleapis.com/tensorflow.DerivedStatus";
constexpr const char* restarted_key = "type.googleapis.com/tensorflow.distributed_runtime.WorkerPossiblyRestarted";

Status with_text(const Status& status, std::string_view text) {
  Status changed = make_status(status.code(), text);
  status.ForEachPayload([&](absl::string_view key, const absl::Cord& value) { changed.SetPayload(key, value); });
  return changed;
}

}  // namespace

Status append_text(const Status& status, std::string_view more) {
  if (status.ok()) return status;
  return with_text(status, text_of(status).append(more));
}

Status prepend_text(std::string_view before, const Status& status) {
  if (status.ok()) return status;
  return with_text(status, std::string(before).append(text_of(status)));
}

Status as_derived(Status status) {
  if (!status.ok()) status.SetPayload(derived_key, absl::Cord());
  return status;
}

bool is_derived(const Status& status) { return status.GetPayload(derived_key).has_value(); }

Status as_possibly_restarted(Status status) {
  if (!status.ok()) status.SetPayload(restarted_key, absl::Cord());
  return status;
}

}  // namespace troupe
