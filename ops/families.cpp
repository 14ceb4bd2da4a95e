// The registry with every family in it. A family is declared here alone, so that a new one rebuilds only this file.
#include <troupe/ops/kernel.hpp>

namespace troupe {

#define FAMILY(name) void add_##name(Registry& ops);
#include <troupe/ops/families.def>
#undef FAMILY

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
