// Which tiles this processor gets.
#include <troupe/ops/nn/tiles.hpp>

#include <oneapi/dnnl/dnnl.h>

namespace troupe {

namespace {

template <class T>
const Tiles<T>* choose(const Tiles<T>& for_avx512, const Tiles<T>& for_avx2) {
  // oneDNN knows what the processor has, and what it is held to.
  static const unsigned isa = dnnl_get_effective_cpu_isa();
  const auto has = [](unsigned wanted) { return (isa & wanted) == wanted; };
  return has(dnnl_cpu_isa_avx512_core) ? &for_avx512 : has(dnnl_cpu_isa_avx2) && __builtin_cpu_supports("fma") ? &for_avx2 : nullptr;
}

}  // namespace

template <>
const Tiles<float>* tiles() {
  return choose(avx512::float_tiles, avx2::float_tiles);
}
template <>
const Tiles<double>* tiles() {
  return choose(avx512::double_tiles, avx2::double_tiles);
}

}  // namespace troupe
