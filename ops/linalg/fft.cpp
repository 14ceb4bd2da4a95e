// The Fourier transform ops, over one to three innermost dimensions, complex and real.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/linalg/fourier.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>

namespace troupe {

namespace {

using Complex = std::complex<double>;

/// What a value of a transform costs, roughly.
constexpr double ns_of_value = 10;

/// Values of several innermost dimensions, of one element of the batch.
struct Block {
  std::vector<std::int64_t> dims;
  std::vector<Complex> values;

  explicit Block(std::vector<std::int64_t> sizes) : dims(std::move(sizes)), values(static_cast<std::size_t>(size())) {}
  std::int64_t size() const {
    std::int64_t n = 1;
    for (std::int64_t d : dims) n *= d;
    return n;
  }
};

/// Transforms lines along one dimension, `length` values each; lines that are all padding are not special.
void transform_along(Block& block, std::size_t axis, Fourier& fourier) {
  const std::int64_t n = block.dims[axis];
  std::int64_t step = 1;
  for (std::size_t i = axis + 1; i < block.dims.size(); ++i) step *= block.dims[i];
  std::vector<Complex> line(static_cast<std::size_t>(n));
  if (step == 1) {
    for (std::int64_t at = 0, all = block.size(); at < all; at += n) fourier.run(block.values.data() + at);
    return;
  }
  for (std::int64_t i = 0, lines = block.size() / n; i < lines; ++i) {
    const std::int64_t at = i / step * step * n + i % step;
    for (std::int64_t k = 0; k < n; ++k) line[static_cast<std::size_t>(k)] = block.values[static_cast<std::size_t>(at + k * step)];
    fourier.run(line.data());
    for (std::int64_t k = 0; k < n; ++k) block.values[static_cast<std::size_t>(at + k * step)] = line[static_cast<std::size_t>(k)];
  }
}

/// Calls each(offset) of the first dims of a larger block, in order.
template <class F>
void for_each_within(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& larger, F&& each) {
  std::int64_t total = 1;
  for (std::int64_t d : dims) total *= d;
  const std::int64_t row = dims.back();
  for (std::int64_t i = 0; i < total; i += row) {
    std::int64_t rest = i / row, at = 0, step = larger.back();
    for (std::size_t k = dims.size() - 1; k-- > 0;) {
      at += rest % dims[k] * step;
      rest /= dims[k];
      step *= larger[k];
    }
    for (std::int64_t k = 0; k < row; ++k) each(i + k, at + k);
  }
}

std::vector<std::int64_t> innermost(const Shape& shape, int rank) { return {shape.begin() + (shape.rank() - rank), shape.end()}; }

Shape with_innermost(const Shape& shape, const std::vector<std::int64_t>& dims) {
  Shape out = shape;
  for (std::size_t i = 0; i < dims.size(); ++i) out.set_dim(shape.rank() - static_cast<int>(dims.size() - i), dims[i]);
  return out;
}

Status check_rank(const Shape& shape, int rank) {
  return shape.rank() >= rank ? absl::OkStatus() : invalid("Input must have rank of at least {} but got: {}", rank, shape);
}

template <class C>
Status transform(Call& call, const In<C>& x, int rank, bool inverse) {
  TRY(check_rank(x.shape(), rank));
  C* out = call.alloc<C>(0, x.shape());
  if (x.size() == 0) return absl::OkStatus();
  const Block whole(innermost(x.shape(), rank));
  std::vector<Fourier> prepared;
  for (std::int64_t n : whole.dims) prepared.emplace_back(n, inverse);
  const double scale = inverse ? 1 / static_cast<double>(whole.size()) : 1;
  in_parallel(x.size() / whole.size(), ns_of_value * static_cast<double>(whole.size()), [&](std::int64_t first, std::int64_t last) {
    Block block = whole;
    std::vector<Fourier> along = prepared;
    for (std::int64_t at = first * block.size(); at < last * block.size(); at += block.size()) {
      std::copy_n(x.data() + at, block.size(), block.values.begin());
      for (std::size_t axis = block.dims.size(); axis-- > 0;) transform_along(block, axis, along[axis]);
      std::transform(block.values.begin(), block.values.end(), out + at,
                     [&](const Complex& v) { return C(Complex(v.real() * scale, v.imag() * scale)); });
    }
  });
  return absl::OkStatus();
}

/// The lengths asked for, checked against the input; `half` where the input's last dimension holds half a spectrum.
StatusOr<std::vector<std::int64_t>> lengths(const Shape& shape, const In<std::int32_t>& given, int rank, bool half_spectrum) {
  if (given.dims() != 1 || given.size() != rank) return invalid("fft_length must have shape [{}]", rank);
  std::vector<std::int64_t> sizes(given.data(), given.data() + given.size());
  for (int i = 0; i < rank; ++i) {
    const std::int64_t n = sizes[static_cast<std::size_t>(i)];
    if (n < 0) return invalid("fft_length[{}] must >= 0, but got: {}", i, n);
    const bool last = half_spectrum && i == rank - 1;
    const std::int64_t needed = last && n > 0 ? n / 2 + 1 : n, have = shape[shape.rank() - rank + i];
    if (have != 0 && have < needed) return invalid("Input dimension {} must have length of at least {} but got: {}", i, needed, have);
  }
  return sizes;
}

Status refuse_empty(const std::vector<std::int64_t>& sizes) {
  for (std::int64_t n : sizes)
    if (n == 0) return internal("no zero-sized FFTs");
  return absl::OkStatus();
}

template <class R, class C>
Status transform_real(Call& call, const In<R>& x, const In<std::int32_t>& given, int rank) {
  TRY(check_rank(x.shape(), rank));
  TRY_ASSIGN(auto sizes, lengths(x.shape(), given, rank, false));
  auto halved = sizes;
  halved.back() = sizes.back() / 2 + 1;
  if (sizes.back() == 0) halved.back() = 0;
  const Shape shape = with_innermost(x.shape(), halved);
  C* out = call.alloc<C>(0, shape);
  if (shape.elements() == 0 && x.size() == 0) return absl::OkStatus();
  TRY(refuse_empty(sizes));
  if (x.size() == 0) {
    std::fill_n(out, shape.elements(), C(0));
    return absl::OkStatus();
  }
  Block block(sizes);
  const auto whole = innermost(x.shape(), rank);
  std::vector<Fourier> along;
  for (std::int64_t n : sizes) along.emplace_back(n, false);
  const std::int64_t input_step = x.shape().elements(x.dims() - rank, x.dims()), output_step = shape.elements(shape.rank() - rank, shape.rank());
  for (std::int64_t from = 0, to = 0; from < x.size(); from += input_step, to += output_step) {
    for_each_within(sizes, whole, [&](std::int64_t i, std::int64_t at) { block.values[static_cast<std::size_t>(i)] = x[from + at]; });
    for (std::size_t axis = sizes.size(); axis-- > 0;) transform_along(block, axis, along[axis]);
    for_each_within(halved, sizes,
                    [&](std::int64_t i, std::int64_t at) { out[to + i] = static_cast<C>(block.values[static_cast<std::size_t>(at)]); });
  }
  return absl::OkStatus();
}

/// Completes the innermost line of a spectrum by its symmetry.
void mirror_lines(Block& block) {
  const std::int64_t n = block.dims.back();
  for (std::int64_t at = 0; at < block.size(); at += n)
    for (std::int64_t k = n / 2 + 1; k < n; ++k)
      block.values[static_cast<std::size_t>(at + k)] = std::conj(block.values[static_cast<std::size_t>(at + n - k)]);
}

template <class R, class C>
Status transform_to_real(Call& call, const In<C>& x, const In<std::int32_t>& given, int rank) {
  TRY(check_rank(x.shape(), rank));
  TRY_ASSIGN(auto sizes, lengths(x.shape(), given, rank, true));
  const Shape shape = with_innermost(x.shape(), sizes);
  R* out = call.alloc<R>(0, shape);
  if (shape.elements() == 0 && x.size() == 0) return absl::OkStatus();
  TRY(refuse_empty(sizes));
  if (x.size() == 0) {
    std::fill_n(out, shape.elements(), R(0));
    return absl::OkStatus();
  }
  Block block(sizes);
  auto halved = sizes;
  halved.back() = sizes.back() / 2 + 1;
  const auto whole = innermost(x.shape(), rank);
  std::vector<Fourier> along;
  for (std::int64_t n : sizes) along.emplace_back(n, true);
  const double scale = 1 / static_cast<double>(block.size());
  const std::int64_t step = x.shape().elements(x.dims() - rank, x.dims());
  for (std::int64_t from = 0; from < x.size(); from += step) {
    std::fill(block.values.begin(), block.values.end(), Complex(0));
    std::vector<std::int64_t> places;
    for_each_within(halved, sizes, [&](std::int64_t, std::int64_t at) { places.push_back(at); });
    for_each_within(halved, whole, [&](std::int64_t i, std::int64_t at) {
      block.values[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])] = x[from + at];
    });
    for (std::size_t axis = 0; axis + 1 < sizes.size(); ++axis) transform_along(block, axis, along[axis]);
    mirror_lines(block);
    transform_along(block, sizes.size() - 1, along.back());
    out = std::transform(block.values.begin(), block.values.end(), out, [&](const Complex& v) { return static_cast<R>(v.real() * scale); });
  }
  return absl::OkStatus();
}

template <class R, class C>
void add_real(Registry& ops, const char* forward, const char* backward, int rank) {
  ops.add(forward, On<"Treal", types<R>>{}, On<"Tcomplex", types<C>>{},
          [rank]<class A, class B>(Call& call, In<A> x, In<std::int32_t> sizes, Gives<B>) { return transform_real<A, B>(call, x, sizes, rank); });
  ops.add(backward, On<"Treal", types<R>>{}, On<"Tcomplex", types<C>>{},
          [rank]<class A, class B>(Call& call, In<B> x, In<std::int32_t> sizes, Gives<A>) { return transform_to_real<A, B>(call, x, sizes, rank); });
  ops.cost({forward, backward}, 50);
}

}  // namespace

void add_fft(Registry& ops) {
  static constexpr const char* names[][4] = {
      {"FFT", "IFFT", "RFFT", "IRFFT"}, {"FFT2D", "IFFT2D", "RFFT2D", "IRFFT2D"}, {"FFT3D", "IFFT3D", "RFFT3D", "IRFFT3D"}};
  for (int rank = 1; rank <= 3; ++rank) {
    const auto& [forward, backward, real, to_real] = names[rank - 1];
    ops.add(forward, On<"Tcomplex", complexes>{}, [rank]<class C>(Call& call, In<C> x) { return transform(call, x, rank, false); });
    ops.add(backward, On<"Tcomplex", complexes>{}, [rank]<class C>(Call& call, In<C> x) { return transform(call, x, rank, true); });
    ops.cost({forward, backward}, 50);
    add_real<float, complex64>(ops, real, to_real, rank);
    add_real<double, complex128>(ops, real, to_real, rank);
  }
}

}  // namespace troupe
