// Statuses to and from CAF's errors.
#include <troupe/messaging/caf_status.hpp>

#include <caf/all.hpp>

namespace troupe {
namespace {

constexpr caf::atom_value category = caf::atom("status");

Code code_of(const caf::error& error) {
  if (error.category() == caf::atom("exit")) return Code::kUnavailable;
  if (error.category() != caf::atom("system")) return Code::kInternal;
  switch (static_cast<caf::sec>(error.code())) {
    case caf::sec::request_receiver_down:
    case caf::sec::bad_function_call: return Code::kUnavailable;
    case caf::sec::request_timeout: return Code::kDeadlineExceeded;
    default: return Code::kInternal;
  }
}

}  // namespace

caf::error to_caf(const Status& status) {
  if (status.ok()) return caf::none;
  return caf::error(static_cast<std::uint8_t>(status.code()), category, caf::make_message(status));
}

Status from_caf(const caf::error& error) {
  if (!error) return absl::OkStatus();
  if (error.category() == category && error.context().match_elements<Status>()) return error.context().get_as<Status>(0);
  return make_status(code_of(error), "Actor failed: " + caf::to_string(error));
}

}  // namespace troupe
