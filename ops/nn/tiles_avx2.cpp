// Tiles for processors with AVX2 and FMA: 12 of their 16 registers are sums.
#define TROUPE_TILES avx2
namespace troupe::avx2 {
constexpr int vector_bytes = 32, most_rows = 6;
}
#include <troupe/ops/nn/tiles_body.hpp>
