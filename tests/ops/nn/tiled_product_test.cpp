// Products in tiles, against sums written out.
#include <troupe/ops/nn/tiled_product.hpp>

#include "../threads.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace troupe {
namespace {

template <class T>
using Matrix = std::vector<T>;

/// Small multiples of 1/8, so that sums are exact in any order.
template <class T>
Matrix<T> numbers(std::int64_t count, int seed) {
  Matrix<T> m(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < m.size(); ++i) m[i] = static_cast<T>((i * 7919 + static_cast<std::size_t>(seed) * 104729) % 31) / 8 - 2;
  return m;
}

template <class T>
Matrix<T> expected(const GemmSizes& s, const Matrix<T>& a, bool ta, const Matrix<T>& b, bool tb, Matrix<T> c, bool accumulate) {
  for (std::int64_t i = 0; i < s.rows; ++i)
    for (std::int64_t j = 0; j < s.columns; ++j) {
      T& sum = c[static_cast<std::size_t>(i * s.columns + j)];
      if (!accumulate) sum = 0;
      for (std::int64_t k = 0; k < s.inner; ++k)
        sum += a[static_cast<std::size_t>(ta ? k * s.rows + i : i * s.inner + k)] *
               b[static_cast<std::size_t>(tb ? j * s.inner + k : k * s.columns + j)];
    }
  return c;
}

/// Sets of instructions by name.
struct Set {
  const char* name;
  const Tiles<float>* floats;
  const Tiles<double>* doubles;
};

class TiledProduct : public testing::TestWithParam<Set> {
 protected:
  void SetUp() override {
    const bool avx512 = __builtin_cpu_supports("avx512f"), avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (!(GetParam().floats == &avx512::float_tiles ? avx512 : avx2)) GTEST_SKIP() << "This processor has no " << GetParam().name;
  }
  template <class T>
  static void check(const Tiles<T>& tiles, const GemmSizes& s) {
    const auto a = numbers<T>(s.rows * s.inner, 1), b = numbers<T>(s.inner * s.columns, 2), start = numbers<T>(s.elements(), 3);
    for (int way = 0; way < 8; ++way) {
      const bool ta = way & 1, tb = way & 2, accumulate = way & 4;
      auto c = start;
      multiply_in_tiles(tiles, s, a.data(), ta, b.data(), tb, c.data(), accumulate);
      EXPECT_EQ(c, expected(s, a, ta, b, tb, start, accumulate)) << s.rows << "x" << s.inner << "x" << s.columns << ", way " << way;
    }
  }
  static void check(const GemmSizes& s) {
    check(*GetParam().floats, s);
    check(*GetParam().doubles, s);
  }
};

TEST_P(TiledProduct, IsRightAtTheEdgesOfTiles) {
  for (std::int64_t rows : {1, 2, 5, 6, 7, 11, 12, 13, 24, 25})
    for (std::int64_t columns : {1, 3, 4, 7, 8, 9, 15, 16, 17, 32, 33, 65}) check({rows, 5, columns});
}

TEST_P(TiledProduct, IsRightForDeepHighAndWideOperands) {
  check({3, 2500, 19});
  check({600, 3, 40});
  check({31, 1030, 257});
}

TEST_P(TiledProduct, IsTheSameOnSeveralThreads) {
  const GemmSizes s{600, 300, 270};
  const auto a = numbers<float>(s.rows * s.inner, 1), b = numbers<float>(s.inner * s.columns, 2);
  Matrix<float> alone(static_cast<std::size_t>(s.elements())), split = alone;
  multiply_in_tiles(*GetParam().floats, s, a.data(), false, b.data(), true, alone.data(), false);
  Threads threads;
  const HelpersScope scope(&threads);
  multiply_in_tiles(*GetParam().floats, s, a.data(), false, b.data(), true, split.data(), false);
  EXPECT_GT(threads.started(), 0u);
  EXPECT_EQ(alone, split);
}

INSTANTIATE_TEST_SUITE_P(Sets, TiledProduct,
                         testing::Values(Set{"Avx2", &avx2::float_tiles, &avx2::double_tiles},
                                         Set{"Avx512", &avx512::float_tiles, &avx512::double_tiles}),
                         [](const auto& set) { return std::string(set.param.name); });

}  // namespace
}  // namespace troupe
