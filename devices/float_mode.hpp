// How threads that run kernels treat denormal numbers: as zero, like TensorFlow's.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace troupe {

/// Called first on every thread that runs kernels; results then agree with TensorFlow's on the smallest numbers too.
inline void flush_denormals() {
#if defined(__SSE2__)
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
#endif
}

/// How this thread computes, to be set again by who changes it for a while.
inline unsigned float_mode() {
#if defined(__SSE2__)
  return _mm_getcsr();
#else
  return 0;
#endif
}
inline void set_float_mode([[maybe_unused]] unsigned mode) {
#if defined(__SSE2__)
  _mm_setcsr(mode);
#endif
}

}  // namespace troupe
