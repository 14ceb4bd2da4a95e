// The state of a random generator that lives in a variable.
#pragma once

#include <troupe/ops/random/philox.hpp>
#include <troupe/ops/resources/variable.hpp>

namespace troupe {

/// The stream that a state stands for; the state moves on by 256 blocks for each of `numbers`. The first `before` elements are not the stream's.
StatusOr<Philox> take_from_state(Variable& state, std::int64_t algorithm, std::uint64_t numbers, std::int64_t before);

}  // namespace troupe
