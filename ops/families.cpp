// The registry with every family in it.
#include <troupe/ops/families.hpp>

namespace troupe {

const Registry& all_kernels() {
  static const Registry registry = [] {
    Registry ops;
#define FAMILY(name) add_##name(ops);
#include <troupe/ops/families.def>
#undef FAMILY
    return ops;
  }();
  return registry;
}

}  // namespace troupe
