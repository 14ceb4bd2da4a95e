// Tensors that stay on their device between steps, as steps find them again.
#pragma once

#include <troupe/ops/kernel.hpp>

namespace troupe {

/// The container that clients name in the handles that they feed.
inline constexpr const char* kept_tensor_container = "TensorHandle";

/// What a handle that was fed in a tensor's place stands for.
StatusOr<Tensor> kept_tensor(Step& step, const ResourceHandle& handle);

}  // namespace troupe
