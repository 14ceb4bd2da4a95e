// Status makers: the one place where an error text meets absl::Status.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

namespace troupe {

using Status = absl::Status;
template <class T>
using StatusOr = absl::StatusOr<T>;
using Code = absl::StatusCode;

inline Status make_status(Code code, std::string_view text) { return Status(code, absl::string_view(text.data(), text.size())); }

inline std::string text_of(const Status& status) { return std::string(status.message().data(), status.message().size()); }

#define TROUPE_STATUS_MAKER(name, code)                                    \
  template <class... A>                                                    \
  Status name(fmt::format_string<A...> text, A&&... args) {                \
    return make_status(code, fmt::format(text, std::forward<A>(args)...)); \
  }
TROUPE_STATUS_MAKER(cancelled, Code::kCancelled)
TROUPE_STATUS_MAKER(unknown, Code::kUnknown)
TROUPE_STATUS_MAKER(invalid, Code::kInvalidArgument)
TROUPE_STATUS_MAKER(deadline_exceeded, Code::kDeadlineExceeded)
TROUPE_STATUS_MAKER(not_found, Code::kNotFound)
TROUPE_STATUS_MAKER(already_exists, Code::kAlreadyExists)
TROUPE_STATUS_MAKER(permission_denied, Code::kPermissionDenied)
TROUPE_STATUS_MAKER(resource_exhausted, Code::kResourceExhausted)
TROUPE_STATUS_MAKER(failed_precondition, Code::kFailedPrecondition)
TROUPE_STATUS_MAKER(aborted, Code::kAborted)
TROUPE_STATUS_MAKER(out_of_range, Code::kOutOfRange)
TROUPE_STATUS_MAKER(unimplemented, Code::kUnimplemented)
TROUPE_STATUS_MAKER(internal, Code::kInternal)
TROUPE_STATUS_MAKER(unavailable, Code::kUnavailable)
TROUPE_STATUS_MAKER(data_loss, Code::kDataLoss)
#undef TROUPE_STATUS_MAKER

/// The same status with text appended; payloads are kept.
Status append_text(const Status& status, std::string_view more);
/// The same status with text in front; payloads are kept.
Status prepend_text(std::string_view before, const Status& status);

/// Marks a status as the consequence of another task's or step's failure, so that the root cause wins when statuses are merged.
Status as_derived(Status status);
bool is_derived(const Status& status);

/// Marks that the receiver may have restarted since the sender met it; clients recover from it.
Status as_possibly_restarted(Status status);

}  // namespace troupe

#define TROUPE_CONCAT_(a, b) a##b
#define TROUPE_CONCAT(a, b) TROUPE_CONCAT_(a, b)

/// Returns from the enclosing function when the expression is not OK.
#define TRY(expression)                                                                  \
  do {                                                                                   \
    if (auto troupe_status_ = (expression); !troupe_status_.ok()) return troupe_status_; \
  } while (false)

/// Declares `place` from a StatusOr, or returns its status.
#define TRY_ASSIGN(place, expression) TRY_ASSIGN_(place, expression, TROUPE_CONCAT(troupe_result_, __LINE__))
#define TRY_ASSIGN_(place, expression, result) \
  auto result = (expression);                  \
  if (!result.ok()) return result.status();    \
  place = std::move(result).value()
