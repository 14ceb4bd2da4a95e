// Tiles for processors with AVX-512: 24 of its 32 registers are sums. Twelve rows, as a line of the first cache has twelve places.
#define TROUPE_TILES avx512
namespace troupe::avx512 {
constexpr int vector_bytes = 64, most_rows = 12;
}
#include <troupe/ops/nn/tiles_body.hpp>
