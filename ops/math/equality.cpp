// Equal and NotEqual with broadcasting, for every type that can be compared.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/loops.hpp>

namespace troupe {
namespace {

using comparable = joined<plain_types, types<std::string>>;

/// Shapes that do not fit together are an error, or make the answer one scalar.
template <bool equal>
void add_equality(Registry& ops, const char* op) {
  ops.add({op}, comparable{}, []<class T>(Call& call, In<T> x, In<T> y, Attr<"incompatible_shape_error", bool> strict) -> Status {
    if (!strict && !Broadcast::of(x.shape(), y.shape())) {
      call.set_scalar(0, !equal);
      return absl::OkStatus();
    }
    return detail::each_pair<T, bool>(call, x, y, [](const T& a, const T& b) { return (a == b) == equal; });
  });
}

}  // namespace

void add_equality(Registry& ops) {
  add_equality<true>(ops, "Equal");
  add_equality<false>(ops, "NotEqual");
}

}  // namespace troupe
