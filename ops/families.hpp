// The list of op families; each is a function that fills the registry.
#pragma once

#include <troupe/ops/kernel.hpp>

namespace troupe {

#define FAMILY(name) void add_##name(Registry& ops);
#include <troupe/ops/families.def>
#undef FAMILY

}  // namespace troupe
