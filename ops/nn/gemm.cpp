// The products themselves.
#include <troupe/ops/nn/gemm.hpp>

#include <troupe/ops/nn/tiled_product.hpp>
#include <troupe/ops/parallel.hpp>

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <Eigen/Core>

#include <algorithm>
#include <vector>

namespace troupe {

namespace {

// Below this many multiplications preparations cost more than what is computed.
constexpr std::int64_t tiny = 512;
// What a multiplication with its addition costs, roughly.
constexpr double float_ns = 0.03, other_ns = 0.2;

template <class T>
void loops(const GemmSizes& s, const T* a, bool ta, const T* b, bool tb, T* c, bool accumulate) {
  const std::int64_t a_row = ta ? 1 : s.inner, a_step = ta ? s.rows : 1;
  const std::int64_t b_step = tb ? 1 : s.columns, b_column = tb ? s.inner : 1;
  for (std::int64_t i = 0; i < s.rows; ++i)
    for (std::int64_t j = 0; j < s.columns; ++j) {
      T sum = accumulate ? c[i * s.columns + j] : T(0);
      for (std::int64_t k = 0; k < s.inner; ++k) sum += a[i * a_row + k * a_step] * b[k * b_step + j * b_column];
      c[i * s.columns + j] = sum;
    }
}

/// Few rows do not repay what a tile takes before and after its sums; what is small has no time for oneDNN's preparations.
bool tiles_beat_onednn(const GemmSizes& s) {
  constexpr std::int64_t many_rows = 48, many_columns = 32, small = 32 * 32 * 32;
  if (s.rows == 1 || s.columns == 1) return false;
  return s.rows * s.inner * s.columns <= small || (s.rows >= many_rows && s.columns >= many_columns);
}

void multiply(const GemmSizes& s, const float* a, Side side_a, const float* b, Side side_b, float* c, bool accumulate) {
  const bool ta = side_a != Side::plain, tb = side_b != Side::plain;
  if (s.rows * s.inner * s.columns <= tiny) return loops(s, a, ta, b, tb, c, accumulate);
  if (const auto* of_this_processor = tiles<float>(); of_this_processor && !tb && tiles_beat_onednn(s))
    return multiply_in_tiles(*of_this_processor, s, a, ta, b, tb, c, accumulate);
  const auto block = [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
    keep_to_this_thread();
    dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', rows, columns, s.inner, 1.0f, ta ? a + row : a + row * s.inner, ta ? s.rows : s.inner,
               tb ? b + column * s.inner : b + column, tb ? s.inner : s.columns, accumulate ? 1.0f : 0.0f, c + row * s.columns + column, s.columns);
  };
  // Every part packs the other operand for itself, so the longer side is the one to cut.
  const double work = float_ns * static_cast<double>(s.inner);
  if (s.rows >= s.columns)
    in_parallel(s.rows, work * static_cast<double>(s.columns), [&](std::int64_t i, std::int64_t end) { block(i, end - i, 0, s.columns); });
  else in_parallel(s.columns, work * static_cast<double>(s.rows), [&](std::int64_t i, std::int64_t end) { block(0, s.rows, i, end - i); });
}

/// The operand as a plain matrix: itself, or its transpose in `memory`.
template <class T>
const T* plain(const T* x, Side side, std::int64_t rows, std::int64_t columns, std::vector<T>& memory) {
  if (side == Side::plain) return x;
  memory.resize(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      T value = x[j * rows + i];
      if constexpr (is_complex<T>)
        if (side == Side::adjoint) value = std::conj(value);
      memory[static_cast<std::size_t>(i * columns + j)] = value;
    }
  return memory.data();
}

/// Sums of signed integers wrap around, which only unsigned arithmetic may do.
template <class T>
struct Wrapping {
  using type = T;
};
template <std::signed_integral T>
struct Wrapping<T> {
  using type = std::make_unsigned_t<T>;
};

/// c += a * b for rows [first, last) of integers, which Eigen does not multiply in vectors.
template <class W>
__attribute__((optimize("O3"))) void multiply_integers(const GemmSizes& s, const W* a, const W* b, W* c, std::int64_t first, std::int64_t last) {
  using Product = std::conditional_t<sizeof(W) < sizeof(int), unsigned, W>;  // short factors would be multiplied as int, which must not overflow
  constexpr std::int64_t block = 64;                                         // rows of b that stay in the cache
  for (std::int64_t from = 0; from < s.inner; from += block)
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t k = from; k < std::min(s.inner, from + block); ++k) {
        const Product factor = a[i * s.inner + k];
        const W* right = b + k * s.columns;
        W* to = c + i * s.columns;
#pragma GCC ivdep
        for (std::int64_t j = 0; j < s.columns; ++j) to[j] = static_cast<W>(to[j] + factor * right[j]);
      }
}

template <class T>
void multiply(const GemmSizes& s, const T* a, Side side_a, const T* b, Side side_b, T* c, bool accumulate) {
  using W = typename Wrapping<T>::type;
  using Matrix = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::vector<T> memory_a, memory_b;
  const T* x = plain(a, side_a, s.rows, s.inner, memory_a);
  const T* y = plain(b, side_b, s.inner, s.columns, memory_b);
  if constexpr (std::is_integral_v<T>) {
    if (!accumulate) std::fill_n(c, s.elements(), T(0));
    in_parallel(s.rows, other_ns * static_cast<double>(s.inner * s.columns), [&](std::int64_t row, std::int64_t end) {
      multiply_integers(s, reinterpret_cast<const W*>(x), reinterpret_cast<const W*>(y), reinterpret_cast<W*>(c), row, end);
    });
    return;
  }
  Eigen::Map<const Matrix> right(reinterpret_cast<const W*>(y), s.inner, s.columns);
  in_parallel(s.rows, other_ns * static_cast<double>(s.inner * s.columns), [&](std::int64_t row, std::int64_t end) {
    Eigen::Map<const Matrix> left(reinterpret_cast<const W*>(x) + row * s.inner, end - row, s.inner);
    Eigen::Map<Matrix> out(reinterpret_cast<W*>(c) + row * s.columns, end - row, s.columns);
    if (accumulate) out.noalias() += left * right;
    else out.noalias() = left * right;
  });
}

void multiply(const GemmSizes& s, const double* a, Side side_a, const double* b, Side side_b, double* c, bool accumulate) {
  const bool is_vector = s.rows == 1 || s.columns == 1;
  if (const auto* of_this_processor = tiles<double>(); of_this_processor && !is_vector && s.rows * s.inner * s.columns > tiny)
    return multiply_in_tiles(*of_this_processor, s, a, side_a != Side::plain, b, side_b != Side::plain, c, accumulate);
  multiply<double>(s, a, side_a, b, side_b, c, accumulate);
}

/// Sixteen-bit floats are multiplied as floats and rounded once.
template <class T>
void multiply_short(const GemmSizes& s, const T* a, Side side_a, const T* b, Side side_b, T* c, bool accumulate) {
  std::vector<float> x(a, a + s.rows * s.inner), y(b, b + s.inner * s.columns), z(static_cast<std::size_t>(s.elements()));
  if (accumulate) std::copy(c, c + s.elements(), z.begin());
  multiply(s, x.data(), side_a, y.data(), side_b, z.data(), accumulate);
  std::transform(z.begin(), z.end(), c, [](float v) { return static_cast<T>(v); });
}
void multiply(const GemmSizes& s, const half* a, Side side_a, const half* b, Side side_b, half* c, bool accumulate) {
  multiply_short(s, a, side_a, b, side_b, c, accumulate);
}
void multiply(const GemmSizes& s, const bfloat16* a, Side side_a, const bfloat16* b, Side side_b, bfloat16* c, bool accumulate) {
  multiply_short(s, a, side_a, b, side_b, c, accumulate);
}

}  // namespace

void keep_to_this_thread() {
  // oneDNN brings its own OpenMP along; its thread count belongs to the calling thread.
  using SetThreads = void (*)(int);
  static const auto set_threads = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  thread_local const bool done = (set_threads ? set_threads(1) : void(), true);
  (void)done;
}

template <class T>
void gemm(const GemmSizes& sizes, const T* a, Side side_a, const T* b, Side side_b, T* c, bool accumulate) {
  if (sizes.elements() == 0) return;
  if (sizes.inner == 0) {
    if (!accumulate) std::fill_n(c, sizes.elements(), T(0));
    return;
  }
  multiply(sizes, a, side_a, b, side_b, c, accumulate);
}

#define TROUPE_GEMM(T) template void gemm<T>(const GemmSizes&, const T*, Side, const T*, Side, T*, bool);
TROUPE_GEMM(float)
TROUPE_GEMM(double)
TROUPE_GEMM(half)
TROUPE_GEMM(bfloat16)
TROUPE_GEMM(std::int16_t)
TROUPE_GEMM(std::int32_t)
TROUPE_GEMM(std::int64_t)
TROUPE_GEMM(complex64)
TROUPE_GEMM(complex128)
#undef TROUPE_GEMM

}  // namespace troupe
