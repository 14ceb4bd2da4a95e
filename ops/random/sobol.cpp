// Points of the Sobol sequence, which fill a cube evenly. Direction numbers are those of Joe and Kuo, out of Boost's tables.
#include <troupe/ops/kernel.hpp>

#include <boost/random/detail/sobol_table.hpp>

#include <bit>
#include <limits>

namespace troupe {
namespace {

using Table = boost::random::detail::qrng_tables::sobol;

/// The first `digits` direction numbers of a dimension, as binary fractions of `digits` digits.
std::vector<std::uint32_t> directions(std::int64_t dimension, int digits) {
  std::vector<std::uint32_t> m(static_cast<std::size_t>(digits), 1);
  if (dimension > 0) {
    const auto at = static_cast<std::size_t>(dimension - 1);
    const auto polynomial = static_cast<unsigned>(Table::polynomial(at));
    const int degree = std::bit_width(polynomial) - 1;
    for (int k = 0; k < digits; ++k) {
      std::uint32_t& number = m[static_cast<std::size_t>(k)];
      if (k < degree) {
        number = Table::minit(at, static_cast<std::size_t>(k));
        continue;
      }
      const auto before = [&](int by) { return m[static_cast<std::size_t>(k - by)]; };
      number = before(degree) ^ (before(degree) << degree);
      for (int i = 1; i < degree; ++i)
        if ((polynomial >> (degree - i)) & 1) number ^= before(i) << i;
    }
  }
  for (int k = 0; k < digits; ++k) m[static_cast<std::size_t>(k)] <<= digits - k - 1;
  return m;
}

template <class T>
void fill(std::int64_t dimensions, std::int64_t points, std::int64_t skip, T* out) {
  const int digits = std::bit_width(static_cast<std::uint64_t>(skip + points + 1));
  // TensorFlow divides by a power of two in an int, which is negative for the largest one.
  const T scale = static_cast<T>(1.0 / static_cast<double>(static_cast<std::int32_t>(std::uint32_t{1} << digits)));
  for (std::int64_t d = 0; d < dimensions; ++d) {
    const auto v = directions(d, digits);
    std::uint32_t x = 0;
    const auto first = static_cast<std::uint64_t>(skip + 1), gray = first ^ (first >> 1);
    for (int k = 0; k < digits; ++k)
      if ((gray >> k) & 1) x ^= v[static_cast<std::size_t>(k)];
    for (std::int64_t i = 0; i < points; ++i) {
      if (i > 0) x ^= v[static_cast<std::size_t>(std::countr_one(static_cast<std::uint64_t>(skip + i)))];
      out[i * dimensions + d] = static_cast<T>(static_cast<std::int32_t>(x)) * scale;
    }
  }
}

Status sobol(Call& call, In<std::int32_t> dimensions, In<std::int32_t> points, In<std::int32_t> skip, DType dtype) {
  constexpr int most_dimensions = 21200;
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  if (dimensions.dims() != 0) return invalid("dim must be a scalar");
  if (points.dims() != 0) return invalid("num_results must be a scalar");
  if (skip.dims() != 0) return invalid("skip must be a scalar");
  const std::int32_t d = dimensions[0], n = points[0], s = skip[0];
  if (d < 1) return invalid("dim must be at least one");
  if (d > most_dimensions) return invalid("dim must be at most {}", most_dimensions);
  if (n < 1) return invalid("num_results must be at least one");
  if (s < 0) return invalid("skip must be non-negative");
  if (n >= most - s) return invalid("num_results+skip must be less than {}", most);
  constexpr auto known = static_cast<std::int32_t>(BOOST_RANDOM_SOBOL_MAX_DIMENSION);
  if (d > known) return unimplemented("dim must be at most {} here, got {}", known, d);
  Tensor& out = call.alloc(0, dtype, Shape{n, d});
  if (dtype == DType::f64) fill(d, n, s, out.mutable_data<double>());
  else fill(d, n, s, out.mutable_data<float>());
  return absl::OkStatus();
}

}  // namespace

void add_sobol(Registry& ops) {
  ops.add("SobolSample", [](Call& call, In<std::int32_t> dimensions, In<std::int32_t> points, In<std::int32_t> skip, Attr<"dtype", DType> dtype) {
    return sobol(call, dimensions, points, skip, dtype);
  });
}

}  // namespace troupe
