// Sums of many tensors of one shape: AddN and AccumulateNV2.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/wrap.hpp>

namespace troupe {
namespace {

template <class T>
Status add_all(Call& call, const List& inputs) {
  const Tensor& first = inputs[0];
  for (int i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != dtype_of<T>::value) return detail::wrong_dtype(call, i, dtype_of<T>::value);
    if (inputs[i].shape() != first.shape())
      return invalid("Inputs to operation {} of type {} must have the same size and shape.  Input 0: {} != input {}: {}", call.node().name,
                     call.node().op, first.shape(), i, inputs[i].shape());
  }
  if (inputs.size() == 1) {
    call.set(0, first);
    return absl::OkStatus();
  }
  T* out = call.alloc_over<T>(0, inputs.first, first.shape());
  const std::int64_t n = first.size();
  const T* a = first.data<T>();
  for (int i = 1; i < inputs.size(); ++i) {
    const T* b = inputs[i].data<T>();
#pragma GCC ivdep
    for (std::int64_t k = 0; k < n; ++k) out[k] = wrap_add(a[k], b[k]);
    a = out;
  }
  return absl::OkStatus();
}

}  // namespace

void add_add_n(Registry& ops) {
  add_for(ops, {"AddN", "AccumulateNV2"}, {{"T", dtypes::numeric()}}, [](Call& call, List inputs, Attr<"T", DType> type) -> Status {
    Status status;
    visit_dtype(numbers{}, type, [&]<class T>() { status = add_all<T>(call, inputs); });
    return status;
  });
}

}  // namespace troupe
