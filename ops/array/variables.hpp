// Variables as array ops see them: of any type, by reference or by handle.
#pragma once

#include <troupe/ops/params.hpp>

namespace troupe {

/// Refuses a variable that has no value; it is input 0.
inline Status check_readable(Call& call, const AnyVar& variable) {
  return variable->initialized() ? absl::OkStatus() : detail::uninitialized(call, 0, *variable.variable);
}

/// The same, and one of another type than the node says.
inline Status check_readable(Call& call, const AnyVar& variable, DType dtype) {
  TRY(check_readable(call, variable));
  if (variable->snapshot().dtype() == dtype) return absl::OkStatus();
  return invalid("Trying to access variable {} with wrong dtype. Expected {} got {}", variable->name(), name_of(variable->snapshot().dtype()),
                 name_of(dtype));
}

}  // namespace troupe
