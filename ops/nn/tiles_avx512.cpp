// Tiles for processors with AVX-512: 24 of its 32 registers are sums. Twelve rows, since a set of the first cache has places for twelve lines.
#define TROUPE_TILES avx512
namespace troupe::avx512 {
constexpr int vector_bytes = 64, most_rows = 12;
}
#include <troupe/ops/nn/tiles_body.hpp>
