// The two constants of the scaled exponential linear unit.
#pragma once

namespace troupe {

inline constexpr double selu_scale = 1.0507009873554804934193349852946;
inline constexpr double selu_scale_alpha = 1.7580993408473768599402175208123;

}  // namespace troupe
